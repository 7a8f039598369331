//! The ends of leases that members count by clocks of their own, where a leader counts them for all: etcd and ZooKeeper.
//!
//! A new leader gives every lease its full time again. An earlier one that stood still may find a lease over by its own clock, and
//! propose to end it before it learns that it leads no longer: such a lease is revoked, and has not run out.

use picklock_model::ids::HostId;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, LeaseClock, What};

use super::parts::History;

impl History<'_> {
    /// When the lease of a record ran out that a store drops in this event; the instant of the event for any other one, and for a lease
    /// that an earlier leader revoked.
    #[must_use]
    pub fn ran_out(&self, event: &Event) -> TrueTime {
        match self.revoked_by(event) {
            Some(_) => event.at,
            None => self.claimed_end(event),
        }
    }

    /// The earlier leader by whose clock a lease was over that the present one had given its full time.
    #[must_use]
    pub fn revoked_by(&self, event: &Event) -> Option<HostId> {
        let What::Expired { .. } = event.what else { return None };
        let info = self.trace.hosts.get(usize::from(event.host.0))?;
        if info.lease_clock != LeaseClock::Monotonic {
            return None;
        }
        let claimed = self.claimed_end(event);
        let of_group = |host: HostId| {
            let other = self.trace.hosts.get(usize::from(host.0));
            other.is_some_and(|other| (other.store, other.group) == (info.store, info.group))
        };
        let leads = |change: &&&Event| {
            change.what == What::BecameLeader && change.id < event.id && of_group(change.host)
        };
        let mut leaders = self.host_changes.iter().filter(leads).copied();
        let former = leaders.clone().take_while(|change| change.at <= claimed).last()?;
        leaders.any(|change| change.at > claimed && change.host != former.host).then_some(former.host)
    }

    /// When a lease was over by the clock that counted it.
    fn claimed_end(&self, event: &Event) -> TrueTime {
        let What::Expired { overdue_ns, .. } = event.what else { return event.at };
        // A lease that is overdue by the clock of the store need not be overdue in true time.
        match self.walls.get(&event.host) {
            Some(wall) => wall.before(event.at, std::time::Duration::from_nanos(overdue_ns)),
            None => TrueTime(event.at.0.saturating_sub(overdue_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::trace::Trace;

    use super::*;
    use crate::invariants::testing::*;

    /// A member drops a record at 100 ms, as it was over 40 ms ago, and another one leads from 70 ms on, if it does.
    fn dropped(clock: LeaseClock, other_leads: bool) -> Trace {
        let leads = |script: Script, host| script.event(host, None, What::BecameLeader);
        let script =
            leads(Script::new().at(0), NODE_1).at(1).waits(A1).creates(A1, NODE_2).at(2).acquires(A1).at(70);
        let script = if other_leads { leads(script, NODE_2) } else { script };
        let mut trace = script.at(100).expires_late(NODE_2, 40).trace();
        trace.hosts.iter_mut().for_each(|host| host.lease_clock = clock);
        trace
    }

    fn end(trace: &Trace) -> (Option<HostId>, u64) {
        let history = History::of(trace);
        let expired = trace.events.iter().find(|event| matches!(event.what, What::Expired { .. })).unwrap();
        (history.revoked_by(expired), history.ran_out(expired).as_millis())
    }

    #[test]
    fn a_lease_that_was_over_before_the_present_leader_came_is_revoked_by_the_one_before() {
        assert_eq!(end(&dropped(LeaseClock::Monotonic, true)), (Some(NODE_1), 100));
    }

    #[test]
    fn a_lease_ran_out_under_one_leader_or_by_a_date() {
        assert_eq!(end(&dropped(LeaseClock::Monotonic, false)), (None, 60));
        assert_eq!(end(&dropped(LeaseClock::Wall, true)), (None, 60));
    }
}
