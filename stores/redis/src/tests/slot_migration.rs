//! Slots that move at once (CLUSTER MIGRATION of 8.4), in the simulated world.

use picklock_model::plan::{Action, Target};
use picklock_model::trace::What;
use picklock_sim::host::Host;

use super::cluster::{World, happened};
use super::world::{Link, call, ms};
use crate::PORT;
use crate::protocol::resp::Reply;

fn world(seconds: u64) -> World {
    World { version: "8.4", ..World::new(seconds) }
}

/// A field of the only task of a node.
async fn task(host: &Host, node: &str, field: &str) -> String {
    let Reply::Array(tasks) = call(host, node, "CLUSTER MIGRATION STATUS ALL").await else {
        panic!("a list")
    };
    let [Reply::Array(facts)] = tasks.as_slice() else { panic!("one task: {tasks:?}") };
    let fact = facts.chunks_exact(2).find(|pair| pair[0] == Reply::text(field));
    match &fact.expect("the field is there")[1] {
        Reply::Bulk(text) => String::from_utf8(text.clone()).unwrap(),
        Reply::Integer(number) => number.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_slot_moves_with_its_lock() {
    world(12).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            assert_eq!(call(&host, "node-1", "SET lock:1 v NX PX 60000").await, Reply::OK);
            assert_eq!(call(&host, "node-1", "HSET {lock:1}h f 1").await, Reply::Integer(1));
            let Reply::Bulk(id) = call(&host, "node-2", "CLUSTER MIGRATION IMPORT 3430 3431").await else {
                panic!("a name")
            };
            assert_eq!(id.len(), 40);
            host.sleep(ms(1_000)).await;
            assert_eq!(call(&host, "node-1", "GET lock:1").await, Reply::error("MOVED 3430 node-2:6379"));
            assert_eq!(call(&host, "node-2", "SET lock:1 w NX").await, Reply::Nil);
            assert_eq!(call(&host, "node-2", "HGET {lock:1}h f").await, Reply::text("1"));
            let Reply::Integer(left) = call(&host, "node-2", "PTTL lock:1").await else { panic!("a time") };
            assert!((55_000..60_000).contains(&left), "{left}");
            assert_eq!(call(&host, "node-1", "CLUSTER COUNTKEYSINSLOT 3430").await, Reply::Integer(0));
            let mut replica = Link::to(&host, "replica-2-1", PORT).await;
            assert_eq!(replica.call("READONLY").await, Reply::OK);
            assert_eq!(replica.call("GET lock:1").await, Reply::text("v"));
            let mut facts = Vec::new();
            for node in ["node-1", "node-2"] {
                facts.push([task(&host, node, "state").await, task(&host, node, "operation").await]);
            }
            assert_eq!(facts, [["completed", "migrate"], ["completed", "import"]]);
            // Nobody waits for anything any more.
            assert_eq!(call(&host, "node-1", "SET {a}lock v").await, Reply::error("MOVED 15495 node-3:6379"));
            assert_eq!(call(&host, "node-1", "SET {lock:9}x v").await, Reply::OK);
            // The new owner looks at its clients though it had nothing to look at before.
            let began = host.monotonic();
            assert_eq!(call(&host, "node-2", "BLPOP {lock:1}q 1").await, Reply::NilArray);
            assert!((1_000..1_300).contains(&host.monotonic().since(began).as_millis()));
        })
    });
}

#[test]
fn what_is_changed_meanwhile_moves_too() {
    for seed in 1..=10 {
        let world = World { seed, ..world(12) };
        world.run(|host| {
            Box::pin(async move {
                host.sleep(ms(500)).await;
                assert_eq!(call(&host, "node-1", "SET lock:1 0 PX 60000").await, Reply::OK);
                let counter = host.clone();
                let counts = async move {
                    let mut count = 0;
                    let (mut node, mut at) = (Link::to(&counter, "node-1", PORT).await, "node-1");
                    for _ in 0..60 {
                        match node.call("INCR lock:1").await {
                            Reply::Integer(now) => count = now,
                            _ if at == "node-1" => {
                                at = "node-2";
                                node = Link::to(&counter, at, PORT).await;
                            }
                            other => panic!("{other:?}"),
                        }
                    }
                    (count, at)
                };
                let importer = host.clone();
                let imports = async move {
                    importer.sleep(ms(20)).await;
                    call(&importer, "node-2", "CLUSTER MIGRATION IMPORT 3430 3430").await
                };
                let ((count, at), id) = tokio::join!(counts, imports);
                assert!(matches!(id, Reply::Bulk(_)), "{id:?}");
                assert_eq!(at, "node-2", "it has moved meanwhile");
                assert_eq!(count, 59, "one was sent on, and none is lost");
            })
        });
    }
}

#[test]
fn slots_that_cannot_move_are_refused() {
    world(8).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            for (node, line, reply) in [
                (
                    "node-1",
                    "CLUSTER MIGRATION IMPORT 3430 3430",
                    "this node is already the owner of the slot range",
                ),
                ("node-2", "CLUSTER MIGRATION IMPORT 3430 16000", "slots belong to different source nodes"),
                (
                    "node-2",
                    "CLUSTER MIGRATION IMPORT 9 8",
                    "start slot number 9 is greater than end slot number 8",
                ),
                ("node-2", "CLUSTER MIGRATION IMPORT 1 3 2 4", "Slot 2 specified multiple times"),
                (
                    "node-2",
                    "CLUSTER MIGRATION IMPORT 3430",
                    "wrong number of arguments for 'cluster|migration' command",
                ),
                ("replica-2-1", "CLUSTER MIGRATION IMPORT 1 1", "slot migration not allowed on replica."),
                ("node-2", "CLUSTER MIGRATION NOTHING x", "unknown argument"),
                (
                    "node-2",
                    "CLUSTER SYNCSLOTS SYNC x 1 1",
                    "CLUSTER SYNCSLOTS subcommands are only allowed for internal clients",
                ),
            ] {
                assert_eq!(
                    call(&host, node, line).await,
                    Reply::Error(format!("ERR {reply}").into()),
                    "{line}"
                );
            }
            assert_eq!(call(&host, "node-2", "CLUSTER MIGRATION STATUS ALL").await, Reply::Array(Vec::new()));
            assert_eq!(call(&host, "node-2", "CLUSTER MIGRATION CANCEL ALL").await, Reply::Integer(0));
        })
    });
}

#[test]
fn a_version_before_does_not_know_it() {
    World::new(8).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let Reply::Error(text) = call(&host, "node-2", "CLUSTER MIGRATION IMPORT 1 1").await else {
                panic!("an error")
            };
            assert!(text.starts_with("ERR unknown subcommand 'MIGRATION'"), "{text}");
        })
    });
}

#[test]
fn an_import_resumes_with_the_replica_that_was_elected() {
    let crash = Action::Crash { power_loss: false, restart_after: None };
    let run = world(25).at(3_000, Target::Leader, crash).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            assert_eq!(call(&host, "node-1", "SET lock:1 v PX 60000").await, Reply::OK);
            host.sleep(ms(2_600)).await;
            call(&host, "node-2", "CLUSTER MIGRATION IMPORT 3430 3430").await;
            host.sleep(ms(12_000)).await;
            assert_eq!(task(&host, "node-2", "state").await, "completed");
            assert!(task(&host, "node-2", "retries").await.parse::<u32>().unwrap() > 0);
            assert_eq!(call(&host, "node-2", "GET lock:1").await, Reply::text("v"));
        })
    });
    assert_eq!(happened(&run, "replica-1-1", |what| *what == What::BecameLeader).len(), 1);
}

/// Who stands still before it takes the slots, and for longer than the source lets nobody write, takes them all the same.
#[test]
fn a_destination_that_is_late_takes_slots_that_were_written_to_meanwhile() {
    let mut lost = 0;
    for pause_at in 3_001..3_010 {
        let pause = Action::Pause { lasts: ms(12_000) };
        let run = world(25).at(pause_at, Target::LeaderOf(2), pause).run(|host| {
            Box::pin(async move {
                host.sleep(ms(3_000)).await;
                call(&host, "node-2", "CLUSTER MIGRATION IMPORT 3430 3430").await;
                // Kept until nobody is kept from writing any more, if the slots have not moved by then.
                call(&host, "node-1", "SET lock:1 v NX PX 60000").await;
                host.sleep(ms(5_000)).await;
            })
        });
        let granted = happened(&run, "node-1", |what| matches!(what, What::Created { .. }));
        let gone = happened(&run, "node-1", |what| matches!(what, What::Lost { .. } | What::Deleted { .. }));
        println!("{pause_at}: {granted:?} {gone:?}");
        let late = granted.first().is_some_and(|at| (12_900..13_300).contains(at));
        lost += u32::from(late && gone.first().is_some_and(|at| *at > 15_000));
    }
    assert!(lost > 0);
}

#[test]
fn three_shards_that_move_slots_to_one_another_do_so_in_turn() {
    let moves = || Action::Own { name: "move-slot".to_owned(), count: 1 };
    let mut world = world(25);
    for shard in 1..=3 {
        world = world.at(3_000, Target::LeaderOf(shard), moves());
    }
    world.run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            for (node, key) in [("node-1", "lock:1"), ("node-2", "foo{}{bar}"), ("node-3", "lock:2")] {
                assert_eq!(call(&host, node, &format!("SET {key} v PX 60000")).await, Reply::OK);
            }
            host.sleep(ms(12_000)).await;
            for (node, key) in [("node-2", "lock:1"), ("node-3", "foo{}{bar}"), ("node-1", "lock:2")] {
                assert_eq!(call(&host, node, &format!("GET {key}")).await, Reply::text("v"), "{key}");
            }
        })
    });
}

#[test]
fn a_task_that_is_cancelled_leaves_nothing_and_a_new_one_begins() {
    world(12).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            assert_eq!(call(&host, "node-1", "SET lock:1 v PX 60000").await, Reply::OK);
            // Nothing is imported while nobody may write.
            assert_eq!(call(&host, "node-2", "CLIENT PAUSE 2000 WRITE").await, Reply::OK);
            assert!(matches!(
                call(&host, "node-2", "CLUSTER MIGRATION IMPORT 3430 3430").await,
                Reply::Bulk(_)
            ));
            host.sleep(ms(1_000)).await;
            assert_eq!(task(&host, "node-2", "state").await, "none");
            assert_eq!(call(&host, "node-2", "CLUSTER MIGRATION CANCEL ALL").await, Reply::Integer(1));
            assert_eq!(task(&host, "node-2", "state").await, "canceled");
            assert_eq!(call(&host, "node-2", "CLIENT UNPAUSE").await, Reply::OK);
            assert_eq!(call(&host, "node-2", "CLUSTER COUNTKEYSINSLOT 3430").await, Reply::Integer(0));
            assert!(matches!(
                call(&host, "node-2", "CLUSTER MIGRATION IMPORT 3430 3430").await,
                Reply::Bulk(_)
            ));
            host.sleep(ms(1_000)).await;
            assert_eq!(call(&host, "node-2", "GET lock:1").await, Reply::text("v"));
        })
    });
}
