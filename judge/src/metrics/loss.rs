//! I11, loss notice, which is measured and not judged: how long a holder that has lost its lease does not know.
//!
//! A grant is lost when fewer stores than a majority still keep its record, while its holder believes and for another
//! reason than its own release. The holder knows when it gives the section up, when its own deadline passes, if it heeds
//! one, or when its release is answered with an error. One whose release is answered as if all were well never knows.
//! A client that died is not counted.

use std::time::Duration;

use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, What};

use crate::history::{Granted, History, Record, Section};

/// The losses of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// How long each took to be noticed.
    pub(super) noticed: Vec<Duration>,
    /// How many never were.
    pub(super) unnoticed: u64,
}

pub(super) fn of(history: &History<'_>) -> Losses {
    let mut losses = Losses::default();
    if history.trace.quorum == 0 {
        return losses;
    }
    for (section, grant) in history.grants() {
        let Some(lost) = lost_at(history, section, grant) else { continue };
        if lost >= grant.believed_until {
            continue;
        }
        match noticed(history, section, grant) {
            Notice::At(at) => losses.noticed.push(at.since(lost)),
            Notice::Never => losses.unnoticed += 1,
            Notice::Died => {}
        }
    }
    losses
}

enum Notice {
    At(TrueTime),
    Never,
    Died,
}

fn noticed(history: &History<'_>, section: &Section<'_>, grant: &Granted<'_>) -> Notice {
    let shows_it = |event: &&Event| match &event.what {
        What::Aborted { .. } => true,
        What::Released { error, .. } => error.is_some(),
        What::DeadlinePassed { .. } => grant.belief_end.is_some_and(|end| end.id == event.id),
        _ => false,
    };
    let heard = section.steps_since(grant.acquired.at).find(shows_it);
    let death = history.death_of(section, grant.acquired.at);
    match (heard, death) {
        (None, None) => Notice::Never,
        (Some(heard), Some(death)) if (death.at, death.id) < (heard.at, heard.id) => Notice::Died,
        (Some(heard), _) => Notice::At(heard.at),
        (None, Some(_)) => Notice::Died,
    }
}

/// When the stores that still kept the grant became too few.
fn lost_at(history: &History<'_>, section: &Section<'_>, grant: &Granted<'_>) -> Option<TrueTime> {
    let own = |record: &&Record<'_>| record.on_store && record.key == section.key;
    let records: Vec<&Record<'_>> = history.records_of_grant(section, grant).filter(own).collect();
    let kept = |at: TrueTime| {
        let live =
            |record: &&&Record<'_>| record.created.at <= at && record.ended.is_none_or(|event| event.at > at);
        records.iter().filter(live).count()
    };
    let released =
        |event: &Event| matches!(event.what, What::Deleted { .. }) && event.grant == Some(section.id);
    let ends = records.iter().filter_map(|record| record.ended).filter(|event| !released(event));
    let late = ends.map(|event| event.at).filter(|at| *at >= grant.granted_at);
    late.filter(|at| kept(*at) < history.trace.quorum as usize).min()
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::Key;

    use super::*;
    use crate::invariants::testing::*;

    /// A1 holds on one store, whose record runs out at 100 ms.
    fn lost() -> Script {
        Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1).at(100).expires(NODE_1)
    }

    fn losses(script: Script) -> (Vec<u64>, u64) {
        let trace = script.trace();
        let Losses { noticed, unnoticed } = of(&History::of(&trace));
        (noticed.iter().map(|span| span.as_millis() as u64).collect(), unnoticed)
    }

    #[test]
    fn a_loss_is_noticed_by_giving_up_or_by_a_release_that_fails() {
        assert_eq!(losses(lost().at(130).aborts(A1)), (vec![30], 0));
        let failed = What::Released { key: Key::new("stock"), error: Some("lost".to_owned()), denied: true };
        assert_eq!(
            losses(lost().at(140).releasing(A1).at(150).event(CLIENT_1, Some(A1), failed)),
            (vec![50], 0)
        );
    }

    #[test]
    fn a_release_that_says_nothing_leaves_the_loss_unnoticed() {
        assert_eq!(losses(lost().at(140).releasing(A1).at(150).released(A1)), (vec![], 1));
        assert_eq!(losses(lost().at(140).crashes(CLIENT_1)), (vec![], 0));
    }

    #[test]
    fn a_grant_that_is_released_in_time_is_not_lost() {
        let script = Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1);
        assert_eq!(losses(script.at(50).releasing(A1).deletes(A1, NODE_1).released(A1)), (vec![], 0));
    }
}
