//! Processes that die and hosts that lose their power.

use std::time::Duration;

use picklock_model::plan::{Action, Settings, Target};
use picklock_model::trace::{Event, What};

use super::assert_sound;
use crate::stage::*;

fn crash(restart_after: Option<Duration>, power_loss: bool) -> Action {
    Action::Crash { power_loss, restart_after }
}

#[test]
fn the_lock_of_a_dead_client_is_free_when_its_lease_has_run_out_and_not_earlier() {
    for spelling in ["single", "watchdog", "redlock", "single-fenced"] {
        for power_loss in [false, true] {
            let run = run(spelling, stage([injection(at(200), first(), crash(None, power_loss))]));
            assert_eq!(run.violated(), [""; 0], "{spelling}");
            assert_eq!(written(&run, "client-1"), []);
            let next = granted(&run, "client-2").unwrap();
            assert!((at_ms(1_000)..at_ms(2_000)).contains(&next), "{spelling}: {next}");
        }
    }
}

#[test]
fn a_killed_process_closes_its_connections_and_a_lost_power_does_not() {
    let noticed = |power_loss| {
        let run = run("single", stage([injection(at(200), first(), crash(None, power_loss))]));
        let from_client = |event: &&Event| match event.what {
            What::Disconnected { peer, .. } => run.trace.host_name(peer) == "client-1",
            _ => false,
        };
        of(&run, "node-1").find(from_client).map(|event| event.at)
    };
    assert!((at_ms(200)..at_ms(202)).contains(&noticed(false).unwrap()));
    assert_eq!(noticed(true), None);
}

#[test]
fn a_restarted_client_continues_with_its_next_section() {
    let mut plan = stage([injection(at(200), first(), crash(Some(ms(100)), false))]);
    plan.clients[0] = client("client-1", ms(0), ms(300), 2);
    let run = run("single", plan);
    assert_eq!(run.violated(), [""; 0]);
    assert_eq!(when(&run, "client-1", |what| matches!(what, What::Restarted)), Some(at_ms(300)));
    assert_eq!(written(&run, "client-1").len(), 1, "the section that it died in is not taken up again");
}

#[test]
fn a_store_that_restarts_keeps_what_it_wrote_to_disk_and_nothing_else() {
    let restarted = |persistence| {
        let mut plan = stage([injection(at(150), Target::host("node-1"), crash(Some(ms(20)), true))]);
        plan.world.store = Settings::default().with(picklock_redis::PERSISTENCE, persistence);
        run("single", plan)
    };
    let forgetful = restarted("none");
    assert!(forgetful.violates("mutual-exclusion"));
    assert!(when(&forgetful, "node-1", |what| matches!(what, What::Lost { .. })).is_some());
    let careful = restarted("always");
    assert!(when(&careful, "node-1", |what| matches!(what, What::Lost { .. })).is_none());
    assert!(granted(&careful, "client-2") > Some(written(&careful, "client-1")[0]));
    assert!(!careful.violates("mutual-exclusion") && !careful.violates("effective-exclusion"));
}

#[test]
fn redlock_does_without_a_minority_of_its_stores_and_not_without_a_majority() {
    let without = |nodes: &[&str]| {
        let dead = Target::Hosts(nodes.iter().map(|name| (*name).to_owned()).collect());
        run("redlock", stage([injection(at(0), dead, crash(None, true))]))
    };
    assert_sound(&without(&["node-2", "node-4"]));
    let too_few = without(&["node-1", "node-2", "node-4"]);
    assert_eq!((granted(&too_few, "client-1"), granted(&too_few, "client-2")), (None, None));
}

#[test]
fn a_replica_takes_over_from_a_dead_primary() {
    let plan = stage([injection(at(50), Target::Leader, crash(None, true))]);
    let run = run("replicated", plan);
    let promoted = when(&run, "replica-1-1", |what| matches!(what, What::BecameLeader)).unwrap();
    assert!(promoted > at_ms(250), "a primary is silent for 200 ms before it is given up");
    assert!(granted(&run, "client-2") > Some(promoted));
    assert_eq!(run.violated(), [""; 0], "the grant had been replicated when the primary died");
}
