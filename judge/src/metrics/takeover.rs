//! Takeovers: a client that is granted the lock while the process of its holder stands still.

use picklock_model::trace::{Broken, Halt};

use crate::history::History;

/// The takeovers of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Takeovers {
    /// A holder stood still while another client waited.
    pub(super) halted: bool,
    /// The other client was granted the lock meanwhile.
    pub(super) taken: bool,
}

pub(super) fn of(history: &History<'_>) -> Takeovers {
    let mut all = Takeovers::default();
    for outage in &history.trace.outages {
        let Broken::Halted(client, Halt::Pause | Halt::Suspend) = outage.what else { continue };
        let (from, until) = (outage.from, outage.until.unwrap_or(history.trace.end));
        let held = history.grants().filter(|(section, grant)| {
            section.id.client == client
                && grant.granted_at <= from
                && grant.let_go.is_none_or(|end| end.at > from)
        });
        for (holder, _) in held {
            let others = history.sections.iter().filter(|other| {
                other.key == holder.key
                    && other.id.client != client
                    && other.asked.is_some_and(|asked| asked.at < until)
                    && other.answered.is_none_or(|answered| answered.at > from)
            });
            for other in others {
                all.halted = true;
                all.taken |=
                    other.grant.as_ref().is_some_and(|grant| (from..=until).contains(&grant.granted_at));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    fn takeovers(gets: u64) -> Takeovers {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(10).waits(B1);
        let script =
            script.at(gets).acquires(B1).at(gets + 1).released(B1).at(900).releasing(A1).released(A1);
        let trace = script.at(50).breaks(Broken::Halted(CLIENT_1, Halt::Pause), Some(400)).trace();
        of(&History::of(&trace))
    }

    #[test]
    fn a_grant_while_the_holder_stands_still_is_a_takeover_and_a_later_one_is_not() {
        assert_eq!(takeovers(300), Takeovers { halted: true, taken: true });
        assert_eq!(takeovers(450), Takeovers { halted: true, taken: false });
        assert_eq!(of(&History::of(&Script::new().held(A1, 0, 50).trace())), Takeovers::default());
    }
}
