//! Promotions: a member that takes over while a grant is live should have its record.

use picklock_model::ids::HostId;
use picklock_model::trace::What;

use crate::history::{Granted, History, Record};

/// The promotions of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Promotions {
    /// A member took over while a grant was live.
    pub(super) under_a_grant: bool,
    /// It lacked the record of that grant.
    pub(super) lacking: bool,
}

pub(super) fn of(history: &History<'_>) -> Promotions {
    let mut all = Promotions::default();
    let promoted = history.host_changes.iter().filter(|event| matches!(event.what, What::BecameLeader));
    for event in promoted.filter(|event| !history.is_silent(event.host)) {
        for (section, _) in history.grants().filter(|(_, grant)| is_live_at(grant, event.at)) {
            let known = |record: &&Record<'_>| record.key == section.key && record.created.at <= event.at;
            let of_grant: Vec<&Record<'_>> = history.records_of(section).filter(known).collect();
            // Of a lock that another group keeps this member knows nothing.
            if of_grant.iter().any(|record| are_of_one_group(history, record.created.host, event.host)) {
                all.under_a_grant = true;
                // A copy of all data names no owner.
                let copies =
                    history.records.iter().filter(known).filter(|record| record.created.grant.is_none());
                all.lacking |= !of_grant.into_iter().chain(copies).any(|record| {
                    record.created.host == event.host && record.ended.is_none_or(|ended| ended.at > event.at)
                });
            }
        }
    }
    all
}

fn is_live_at(grant: &Granted<'_>, at: picklock_model::time::TrueTime) -> bool {
    grant.granted_at < at && at < grant.believed_until
}

fn are_of_one_group(history: &History<'_>, one: HostId, other: HostId) -> bool {
    let group =
        |host: HostId| history.trace.hosts.get(usize::from(host.0)).map(|info| (info.store, info.group));
    one != other && group(one) == group(other)
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::Key;

    use super::*;
    use crate::invariants::testing::*;

    fn promotions(script: Script) -> Promotions {
        of(&History::of(&script.trace()))
    }

    fn held() -> Script {
        Script::new().at(0).waits(A1).at(3).creates(A1, NODE_1).at(5).acquires(A1)
    }

    #[test]
    fn a_promoted_member_has_the_record_of_a_live_grant_or_lacks_it() {
        let promotes = |script: Script| script.at(50).event(REPLICA, None, What::BecameLeader);
        let copied = held().at(6).creates(A1, REPLICA);
        let both = |lacking| Promotions { under_a_grant: true, lacking };
        assert_eq!(promotions(promotes(held())), both(true));
        assert_eq!(promotions(promotes(copied)), both(false));
        // A full copy of the data names no owner.
        let whole = held().at(6).event(REPLICA, None, What::Created { key: Key::new("stock") });
        assert_eq!(promotions(promotes(whole)), both(false));
        let released = held().at(20).releasing(A1).released(A1);
        assert_eq!(promotions(promotes(released)), Promotions::default());
        assert_eq!(promotions(held()), Promotions::default());
    }
}
