//! A cluster in the simulated world: redirections, failovers, splits, slots that move.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock_model::plan::{Action, ClientPlan, Injection, Latency, Plan, Settings, Target, When, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::What;
use picklock_sim::design::{Design, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::lock::Client;
use picklock_sim::run::{Run, run};
use picklock_sim::scripted::NoLock;

use super::world::{Link, Script, call, ms};
use crate::params::{NODE_TIMEOUT, PERSISTENCE, SHARD_REPLICAS, VERSION};
use crate::protocol::resp::Reply;
use crate::{PORT, RedisCluster};

const TIMEOUT: Duration = Duration::from_secs(2);

/// A cluster of three shards with a replica each.
pub(super) struct World {
    pub(super) seconds: u64,
    pub(super) seed: u64,
    pub(super) version: &'static str,
    pub(super) injections: Vec<Injection>,
}

impl World {
    pub(super) fn new(seconds: u64) -> World {
        World { seconds, seed: 1, version: VERSION.default, injections: Vec::new() }
    }

    pub(super) fn at(mut self, ms: u64, target: Target, action: Action) -> World {
        let when = When::At { at_ns: TrueTime(ms * 1_000_000) };
        self.injections.push(Injection { fault: "test".into(), when, target, action });
        self
    }

    pub(super) fn run(self, script: Script) -> Run {
        let finished = Arc::new(Mutex::new(false));
        let topology = Topology { stores: 1, replicated: true };
        let design = Design::new("test", |_| async { Ok(Client::lock(NoLock)) })
            .on_stores(topology, RedisCluster::of(3));
        let plan = Plan {
            seed: Seed(self.seed),
            network_seed: Seed(self.seed),
            world: WorldSpec {
                ttl: Duration::from_secs(10),
                wait: Duration::from_secs(1),
                horizon: Duration::from_secs(self.seconds),
                decide: Duration::ZERO,
                latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
                tcp_timeout: Duration::from_secs(15),
                stock: 0,
                final_client: false,
                ready_order: picklock_model::plan::ReadyOrder::Woken,
                policy: picklock_model::plan::ClientPolicy::default(),
                store: Settings::default()
                    .with(SHARD_REPLICAS, 1)
                    .with(PERSISTENCE, "none")
                    .with(NODE_TIMEOUT, TIMEOUT)
                    .with(VERSION, self.version),
            },
            workload: "test".into(),
            clients: vec![ClientPlan::new("client-1", Vec::new())],
            choices: Vec::new(),
            injections: self.injections,
        };
        let done = Arc::clone(&finished);
        let workload: picklock_sim::run::Workload = Arc::new(move |context| {
            let done = Arc::clone(&done);
            Box::pin(async move {
                script(context.host.clone()).await;
                *done.lock().unwrap() = true;
                context.host.sleep(Duration::from_secs(60)).await;
            })
        });
        let run = run(Engine::Event, &design, &plan, &workload).unwrap();
        assert!(*finished.lock().unwrap(), "the client's script came to its end");
        run
    }
}

pub(super) fn happened(run: &Run, host: &str, is: impl Fn(&What) -> bool) -> Vec<u64> {
    let events = run.trace.events.iter().filter(|event| run.trace.host_name(event.host) == host);
    events.filter(|event| is(&event.what)).map(|event| event.at.0 / 1_000_000).collect()
}

#[test]
fn a_node_names_the_one_that_has_a_key() {
    World::new(8).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            // Slots 3430, 15621 and 11556.
            assert_eq!(call(&host, "node-1", "SET lock:1 v").await, Reply::OK);
            let moved = |text: &'static str| Reply::error(text);
            assert_eq!(call(&host, "node-2", "GET lock:1").await, moved("MOVED 3430 node-1:6379"));
            assert_eq!(call(&host, "node-1", "GET lock:2").await, moved("MOVED 15621 node-3:6379"));
            assert_eq!(call(&host, "replica-1-1", "GET lock:1").await, moved("MOVED 3430 node-1:6379"));
            let crossing = moved("CROSSSLOT Keys in request don't hash to the same slot");
            assert_eq!(call(&host, "node-1", "MGET lock:1 lock:2").await, crossing);
            let script = "EVAL return{redis.call('get',ARGV[1])} 1 lock:1 lock:2";
            let Reply::Error(text) = call(&host, "node-1", script).await else { panic!("an error") };
            assert!(text.contains("non local key"), "{text}");
            let mut reader = Link::to(&host, "replica-1-1", PORT).await;
            assert_eq!(reader.call("READONLY").await, Reply::OK);
            assert_eq!(reader.call("GET lock:1").await, Reply::text("v"));
            assert_eq!(reader.call("SET lock:1 w").await, moved("MOVED 3430 node-1:6379"));
            assert_eq!(call(&host, "node-3", "CLUSTER KEYSLOT {lock:1}:token").await, Reply::Integer(3430));
            assert_eq!(call(&host, "node-1", "CLUSTER COUNTKEYSINSLOT 3430").await, Reply::Integer(1));
            // Others know that a replica has something once it has said so.
            host.sleep(ms(3_000)).await;
            let Reply::Array(ranges) = call(&host, "node-2", "CLUSTER SLOTS").await else { panic!("a list") };
            assert_eq!(ranges.len(), 3);
            let Reply::Array(first) = &ranges[0] else { panic!("a range") };
            assert_eq!(first.len(), 4, "slots, the primary and its replica");
        })
    });
}

#[test]
fn a_replica_is_elected_by_the_primaries() {
    let crash = Action::Crash { power_loss: false, restart_after: Some(ms(8_000)) };
    for seed in 1..=10 {
        let world = World { seed, ..World::new(20) }.at(3_000 + seed * 90, Target::Leader, crash.clone());
        let run = world.run(|host| {
            Box::pin(async move {
                host.sleep(ms(1_000)).await;
                assert_eq!(call(&host, "node-1", "SET lock:1 v PX 60000").await, Reply::OK);
                host.sleep(ms(8_500)).await;
                assert_eq!(call(&host, "replica-1-1", "GET lock:1").await, Reply::text("v"));
                assert_eq!(call(&host, "replica-1-1", "SET lock:1 w").await, Reply::OK);
                host.sleep(ms(6_000)).await;
                let moved = Reply::error("MOVED 3430 replica-1-1:6379");
                assert_eq!(call(&host, "node-1", "GET lock:1").await, moved);
                assert_eq!(call(&host, "node-3", "GET lock:1").await, moved);
            })
        });
        let promoted = happened(&run, "replica-1-1", |what| *what == What::BecameLeader);
        let after = promoted[0] - 3_000 - seed * 90;
        // One to one and a half node timeouts, gossip, half a second to a second, and the votes.
        assert!((2_500..5_500).contains(&after), "seed {seed}: after {after} ms");
        assert_eq!(happened(&run, "node-1", |what| *what == What::StoppedLeading).len(), 1);
    }
}

#[test]
fn a_primary_in_the_minority_takes_writes_for_one_to_one_and_a_half_node_timeouts() {
    let cut_at = 4_000;
    for seed in 1..=20 {
        let others = ["node-2", "node-3", "replica-1-1", "replica-2-1", "replica-3-1"];
        let to = Target::Hosts(others.map(str::to_owned).into());
        let cut = Action::Cut { to, both: true, lasts: ms(60_000) };
        let world = World { seed, ..World::new(12) }.at(cut_at + seed * 53, Target::Leader, cut);
        let run = world.run(|host| {
            Box::pin(async move {
                host.sleep(ms(1_000)).await;
                let mut link = Link::to(&host, "node-1", PORT).await;
                let mut refused = false;
                for _ in 0..1_000 {
                    let reply = link.call("SET lock:1 v PX 60000").await;
                    match reply {
                        Reply::Error(text) => {
                            assert_eq!(text, "CLUSTERDOWN The cluster is down");
                            refused = true;
                        }
                        _ => assert!(!refused, "it does not begin again"),
                    }
                    host.sleep(ms(10)).await;
                }
                assert!(refused);
            })
        });
        let last = |run: &Run| {
            let writes =
                happened(run, "node-1", |what| matches!(what, What::Created { .. } | What::Extended { .. }));
            writes.last().copied().unwrap()
        };
        let window = last(&run) - cut_at - seed * 53;
        assert!((1_950..3_150).contains(&window), "seed {seed}: {window} ms");
    }
}

#[test]
fn a_slot_moves_with_its_keys() {
    let action = Action::Own { name: "move-slot".into(), count: 1 };
    let run = World::new(12).at(3_000, Target::Leader, action).run(|host| {
        Box::pin(async move {
            host.sleep(ms(1_000)).await;
            assert_eq!(call(&host, "node-1", "SET lock:1 v PX 60000").await, Reply::OK);
            host.sleep(ms(4_000)).await;
            let Reply::Error(text) = call(&host, "node-1", "GET lock:1").await else { panic!("an error") };
            let node = text.strip_prefix("MOVED 3430 ").and_then(|place| place.split(':').next());
            let node = node.unwrap_or_else(|| panic!("{text}")).to_owned();
            assert_ne!(node, "node-1");
            assert_eq!(call(&host, &node, "GET lock:1").await, Reply::text("v"));
            let Reply::Integer(left) = call(&host, &node, "PTTL lock:1").await else { panic!("an integer") };
            assert!((55_000..57_000).contains(&left), "{left}");
            for other in ["node-2", "node-3"] {
                let reply = call(&host, other, "GET lock:1").await;
                assert!(other == node || reply == Reply::Error(text.clone()), "all know of it: {reply:?}");
            }
        })
    });
    assert!(happened(&run, "node-1", |what| *what == What::StoppedLeading).is_empty());
}

#[test]
fn a_replica_keeps_what_its_primary_drops_with_a_slot_and_has_it_again_after_a_failover() {
    World::new(20).run(|host| {
        Box::pin(async move {
            let id = |reply: Reply| match reply {
                Reply::Bulk(id) => String::from_utf8(id).unwrap(),
                other => panic!("{other:?}"),
            };
            host.sleep(ms(1_000)).await;
            let mut one = Link::to(&host, "node-1", PORT).await;
            let mut two = Link::to(&host, "node-2", PORT).await;
            let ids = [id(one.call("CLUSTER MYID").await), id(two.call("CLUSTER MYID").await)];
            assert_eq!(one.call("SET lock:1 v PX 60000").await, Reply::OK);
            host.sleep(ms(300)).await;
            // The slot is taken without its keys, and given back.
            for (taker, from, to) in [(&mut two, 0, 1), (&mut one, 1, 0)] {
                for line in [format!("IMPORTING {}", ids[from]), format!("NODE {}", ids[to])] {
                    assert_eq!(taker.call(&format!("CLUSTER SETSLOT 3430 {line}")).await, Reply::OK);
                }
                host.sleep(ms(1_500)).await;
            }
            assert_eq!(one.call("CLUSTER COUNTKEYSINSLOT 3430").await, Reply::Integer(0));
            let mut replica = Link::to(&host, "replica-1-1", PORT).await;
            assert_eq!(replica.call("CLUSTER COUNTKEYSINSLOT 3430").await, Reply::Integer(1));
            assert_eq!(replica.call("CLUSTER FAILOVER FORCE").await, Reply::OK);
            host.sleep(ms(3_000)).await;
            assert_eq!(replica.call("GET lock:1").await, Reply::text("v"));
        })
    });
}

#[test]
fn while_a_slot_moves_its_keys_are_asked_for_where_they_are() {
    World::new(8).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let mut one = Link::to(&host, "node-1", PORT).await;
            let mut two = Link::to(&host, "node-2", PORT).await;
            let id = |reply: Reply| match reply {
                Reply::Bulk(id) => String::from_utf8(id).unwrap(),
                other => panic!("{other:?}"),
            };
            let ids = [id(one.call("CLUSTER MYID").await), id(two.call("CLUSTER MYID").await)];
            one.call("SET {lock:1}a 1").await;
            one.call("SET {lock:1}b 2").await;
            assert_eq!(two.call(&format!("CLUSTER SETSLOT 3430 IMPORTING {}", ids[0])).await, Reply::OK);
            assert_eq!(one.call(&format!("CLUSTER SETSLOT 3430 MIGRATING {}", ids[1])).await, Reply::OK);
            assert_eq!(one.call("MIGRATE node-2 6379 {lock:1}a 0 1000").await, Reply::OK);
            let ask = Reply::error("ASK 3430 node-2:6379");
            assert_eq!(one.call("GET {lock:1}a").await, ask);
            assert_eq!(one.call("GET {lock:1}b").await, Reply::text("2"));
            let again = Reply::error("TRYAGAIN Multiple keys request during rehashing of slot");
            assert_eq!(one.call("MGET {lock:1}a {lock:1}b").await, again);
            assert_eq!(two.call("GET {lock:1}a").await, Reply::error("MOVED 3430 node-1:6379"));
            assert_eq!(two.call("ASKING").await, Reply::OK);
            assert_eq!(two.call("GET {lock:1}a").await, Reply::text("1"));
            assert_eq!(two.call("GET {lock:1}a").await, Reply::error("MOVED 3430 node-1:6379"));
            assert_eq!(one.call("MIGRATE node-2 6379 {lock:1}a 0 1000").await, Reply::Status("NOKEY".into()));
        })
    });
}

#[test]
fn messages_go_over_the_bus_and_sharded_ones_stay_in_their_shard() {
    World::new(5).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let mut far = Link::to(&host, "replica-3-1", PORT).await;
            far.call("SUBSCRIBE room").await;
            let mut near = Link::to(&host, "replica-1-1", PORT).await;
            near.call("SSUBSCRIBE lock:1").await;
            assert_eq!(call(&host, "node-2", "PUBLISH room hello").await, Reply::Integer(0));
            let message = |words: &[&str]| Reply::Array(words.iter().map(|word| Reply::text(word)).collect());
            assert_eq!(far.next().await, message(&["message", "room", "hello"]));
            assert_eq!(call(&host, "node-1", "SPUBLISH lock:1 hi").await, Reply::Integer(0));
            assert_eq!(near.next().await, message(&["smessage", "lock:1", "hi"]));
            let moved = Reply::error("MOVED 3430 node-1:6379");
            assert_eq!(call(&host, "node-2", "SPUBLISH lock:1 hi").await, moved);
        })
    });
}

#[test]
fn what_is_queued_behind_a_change_of_a_watched_key_is_not_asked_for_its_slot() {
    World::new(4).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let mut one = Link::to(&host, "node-1", PORT).await;
            let queued = Reply::Status("QUEUED".into());
            assert_eq!(one.call("WATCH lock:1").await, Reply::OK);
            assert_eq!(one.call("MULTI").await, Reply::OK);
            assert_eq!(call(&host, "node-1", "SET lock:1 other").await, Reply::OK);
            assert_eq!(one.call("DEL lock:1").await, queued);
            // Slot 3788, of the same node.
            assert_eq!(one.call("DEL a4").await, queued);
            assert_eq!(one.call("EXEC").await, Reply::NilArray);
        })
    });
}

#[test]
fn each_link_is_shown_by_the_node_that_has_made_it_and_by_the_other_one() {
    World::new(4).run(|host| {
        Box::pin(async move {
            host.sleep(ms(2_000)).await;
            let Reply::Array(links) = call(&host, "node-1", "CLUSTER LINKS").await else { panic!("a list") };
            let shown = |word: &str| {
                let is = |link: &&Reply| matches!(link, Reply::Array(parts) if parts[1] == Reply::text(word));
                links.iter().filter(is).count()
            };
            assert_eq!((shown("to"), shown("from")), (5, 5), "{links:?}");
        })
    });
}
