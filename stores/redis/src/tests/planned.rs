//! Planned failovers, FAILOVER, in the simulated world.

use picklock_model::plan::{Action, Target};
use picklock_model::trace::What;

use super::world::{Link, World, call, ms};
use crate::PORT;
use crate::protocol::resp::Reply;

/// The state of a failover in INFO.
async fn stage(link: &mut Link) -> String {
    let Reply::Bulk(text) = link.call("INFO replication").await else { panic!("a text") };
    let text = String::from_utf8(text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("master_failover_state:"));
    line.unwrap().to_owned()
}

fn error(text: &str) -> Reply {
    Reply::Error(text.to_owned().into())
}

#[test]
fn a_planned_failover_loses_nothing_and_who_wrote_meanwhile_is_sent_on() {
    let events = World::replicated(2).play(|host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            let mut writer = Link::to(&host, "node-1", PORT).await;
            assert_eq!(link.call("SET k v NX PX 60000").await, Reply::OK);
            assert_eq!(link.call("FAILOVER").await, Reply::OK);
            assert_eq!(stage(&mut link).await, "waiting-for-sync");
            assert_eq!(link.call("FAILOVER").await, error("ERR FAILOVER already in progress."));
            let fenced = error("ERR REPLICAOF not allowed while failing over.");
            assert_eq!(link.call("REPLICAOF NO ONE").await, fenced);
            // It waits until the other has taken over, for as long as a replica does not say how far it is.
            let asked = host.monotonic();
            let refused = error("READONLY You can't write against a read only replica.");
            assert_eq!(writer.call("SET stray v").await, refused);
            assert!(host.monotonic().since(asked) < ms(1100));
            assert_eq!(stage(&mut link).await, "no-failover");
            host.sleep(ms(2500)).await;
            let mut took_over = None;
            for name in ["replica-1-1", "replica-1-2"] {
                let Reply::Array(role) = call(&host, name, "ROLE").await else { panic!("a list") };
                if role[0] == Reply::text("master") {
                    took_over = Some(name);
                }
            }
            let mut new = Link::to(&host, took_over.unwrap(), PORT).await;
            assert_eq!(new.call("GET k").await, Reply::text("v"));
            assert_eq!(new.call("SET k2 v NX PX 60000").await, Reply::OK);
            assert_eq!(new.call("WAIT 1 1500").await, Reply::Integer(1), "the old primary follows");
            assert_eq!(link.call("GET k2").await, Reply::text("v"));
        })
    });
    assert!(!events.iter().any(|event| event.contains("lost")), "{events:?}");
    let of = |what: &str| events.iter().filter(|event| event.ends_with(what)).count();
    assert_eq!((of("promoted"), of("node-1 demoted")), (1, 1), "{events:?}");
}

#[test]
fn a_planned_failover_that_no_replica_is_ready_for_ends_in_time_and_writes_go_on() {
    let pause = Action::Pause { lasts: ms(4000) };
    let events = World::replicated(1).at(900, "replica-1-1", pause).play(|host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            assert_eq!(link.call("SET k v NX PX 60000").await, Reply::OK);
            assert_eq!(link.call("FAILOVER TIMEOUT 1500").await, Reply::OK);
            let asked = host.monotonic();
            assert_eq!(link.call("SET later v NX PX 60000").await, Reply::OK);
            let waited = host.monotonic().since(asked);
            assert!((ms(1490)..ms(1650)).contains(&waited), "{waited:?}");
            assert_eq!(link.call("FAILOVER ABORT").await, error("ERR No failover in progress."));
        })
    });
    assert!(!events.iter().any(|event| event.contains("moted")), "{events:?}");
}

#[test]
fn a_forced_failover_to_a_replica_that_is_gone_is_taken_back_by_hand() {
    let cut = Action::Cut { to: Target::host("replica-1-1"), both: true, lasts: ms(6000) };
    let events = World::replicated(1).at(900, "node-1", cut).play(|host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            assert_eq!(link.call("SET k v NX PX 60000").await, Reply::OK);
            assert_eq!(link.call("FAILOVER TO replica-1-1 6379 FORCE TIMEOUT 200").await, Reply::OK);
            host.sleep(ms(500)).await;
            assert_eq!(stage(&mut link).await, "failover-in-progress");
            assert_eq!(link.call("FAILOVER ABORT").await, Reply::OK);
            assert_eq!(link.call("SET later v NX PX 60000").await, Reply::OK);
        })
    });
    let roles: Vec<&String> = events.iter().filter(|event| event.contains("moted")).collect();
    assert_eq!(roles, ["node-1 demoted", "node-1 promoted"]);
}

#[test]
fn what_cannot_be_failed_over_is_refused() {
    World::replicated(1).play(|host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            for (line, text) in [
                ("FAILOVER ABORT", "ERR No failover in progress."),
                ("FAILOVER TIMEOUT 0", "ERR FAILOVER timeout must be greater than 0"),
                ("FAILOVER TIMEOUT x", "ERR value is not an integer or out of range"),
                ("FAILOVER TIMEOUT 1 TIMEOUT 1", "ERR syntax error"),
                ("FAILOVER TO replica-1-1", "ERR syntax error"),
                ("FAILOVER TO elsewhere 6379", "ERR FAILOVER target HOST and PORT is not a replica."),
                (
                    "FAILOVER FORCE",
                    "ERR FAILOVER with force option requires both a timeout and target HOST and IP.",
                ),
            ] {
                assert_eq!(link.call(line).await, error(text), "{line}");
            }
            let id = "f".repeat(40);
            let mut replica = Link::to(&host, "replica-1-1", PORT).await;
            let text = "ERR FAILOVER is not valid when server is a replica.";
            assert_eq!(replica.call("FAILOVER").await, error(text));
            let text = "ERR PSYNC FAILOVER replid must match my replid.";
            assert_eq!(replica.call(&format!("PSYNC {id} 1 FAILOVER")).await, error(text));
            let text = "ERR PSYNC FAILOVER can't be sent to a master.";
            assert_eq!(link.call(&format!("PSYNC {id} 1 FAILOVER")).await, error(text));
        })
    });
}

#[test]
fn a_run_with_a_planned_failover_repeats_itself() {
    let run = || {
        World::replicated(2).run(|host| {
            Box::pin(async move {
                host.sleep(ms(1000)).await;
                assert_eq!(call(&host, "node-1", "FAILOVER").await, Reply::OK);
                host.sleep(ms(3000)).await;
            })
        })
    };
    let (first, second) = (run(), run());
    assert!(first.trace.events.iter().any(|event| matches!(event.what, What::BecameLeader)));
    assert_eq!(first.trace.digest, second.trace.digest);
}
