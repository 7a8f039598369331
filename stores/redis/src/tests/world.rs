//! Nodes on hosts of the simulated world: connections, expiry, persistence, replication, failover.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock_model::plan::{Action, ClientPlan, Injection, Latency, Plan, Settings, Target, When, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::What;
use picklock_sim::design::{Design, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::{BoxFuture, Client};
use picklock_sim::run::{Run, run};
use picklock_sim::scripted::NoLock;
use picklock_sim::stream::Stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::PORT;
use crate::Redis;
use crate::params::{DOWN_AFTER, PERSISTENCE, REPLICAS};
use crate::protocol::resp::{Reply, request};
use crate::server::sentinel;
use crate::server::version::Version;

/// A connection of the client that a test plays.
pub(super) struct Link(Stream);

impl Link {
    pub(super) async fn to(host: &Host, node: &str, port: u16) -> Link {
        Link(host.connect(node, port).await.unwrap())
    }

    pub(super) async fn call(&mut self, line: &str) -> Reply {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut bytes = Vec::new();
        request(&mut bytes, &words);
        self.0.write_all(&bytes).await.unwrap();
        self.next().await
    }

    /// The next reply or message.
    pub(super) async fn next(&mut self) -> Reply {
        let mut received = Vec::new();
        loop {
            if let Some((reply, _)) = Reply::decode(&received).unwrap() {
                return reply;
            }
            assert_ne!(self.0.read_buf(&mut received).await.unwrap(), 0, "closed before a reply");
        }
    }
}

pub(super) async fn call(host: &Host, node: &str, line: &str) -> Reply {
    Link::to(host, node, PORT).await.call(line).await
}

pub(super) async fn primary(host: &Host) -> String {
    let mut sentinel = Link::to(host, "sentinel-1-1", sentinel::PORT).await;
    match sentinel.call("SENTINEL GET-MASTER-ADDR-BY-NAME mymaster").await {
        Reply::Array(address) => match &address[..] {
            [Reply::Bulk(name), Reply::Bulk(port)] if port == b"6379" => {
                String::from_utf8(name.clone()).unwrap()
            }
            other => panic!("no address: {other:?}"),
        },
        other => panic!("no address: {other:?}"),
    }
}

/// The program of a test's client.
pub(super) type Script = fn(Host) -> BoxFuture<'static, ()>;

pub(super) struct World {
    pub(super) replicas: u32,
    pub(super) persistence: &'static str,
    pub(super) seconds: u64,
    pub(super) seed: u64,
    pub(super) down_after: Duration,
    pub(super) version: Version,
    pub(super) injections: Vec<Injection>,
}

impl World {
    fn single() -> World {
        World {
            replicas: 0,
            persistence: "none",
            seconds: 3,
            seed: 1,
            down_after: ms(1000),
            version: Version::default(),
            injections: Vec::new(),
        }
    }

    pub(super) fn replicated(replicas: u32) -> World {
        World { replicas, seconds: 8, ..World::single() }
    }

    pub(super) fn at(mut self, ms: u64, host: &str, action: Action) -> World {
        let when = When::At { at_ns: TrueTime(ms * 1_000_000) };
        self.injections.push(Injection { fault: "test".into(), when, target: Target::host(host), action });
        self
    }

    pub(super) fn crash(self, ms: u64, host: &str, restart_after_ms: u64) -> World {
        let restart_after = Some(Duration::from_millis(restart_after_ms));
        self.at(ms, host, Action::Crash { power_loss: true, restart_after })
    }

    /// Runs the script to its end; the events of the store, as "host what key".
    pub(super) fn play(self, script: Script) -> Vec<String> {
        let Run { trace, .. } = self.run(script);
        let named = |what: &What| match what {
            What::Created { key } => Some(format!("created {key}")),
            What::Extended { key } => Some(format!("extended {key}")),
            What::Deleted { key } => Some(format!("deleted {key}")),
            What::Expired { key, .. } => Some(format!("expired {key}")),
            What::Lost { key } => Some(format!("lost {key}")),
            What::BecameLeader => Some("promoted".to_owned()),
            What::StoppedLeading => Some("demoted".to_owned()),
            _ => None,
        };
        let events = trace.events.iter();
        events
            .filter_map(|event| {
                named(&event.what).map(|text| format!("{} {text}", trace.host_name(event.host)))
            })
            .collect()
    }

    pub(super) fn run(self, script: Script) -> Run {
        let finished = Arc::new(Mutex::new(false));
        let run = self.run_noting(script, &finished);
        assert!(*finished.lock().unwrap(), "the client's script came to its end");
        run
    }

    fn run_noting(self, script: Script, finished: &Arc<Mutex<bool>>) -> Run {
        let topology = Topology { stores: 1, replicated: self.replicas > 0 };
        let version = self.version;
        let design = Design::new("test", |_| async { Ok(Client::lock(NoLock)) })
            .on_stores(topology, Redis { version, ..Redis::default() });
        let plan = Plan {
            seed: Seed(self.seed),
            network_seed: Seed(self.seed),
            world: WorldSpec {
                ttl: Duration::from_secs(1),
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
                    .with(REPLICAS, self.replicas.into())
                    .with(PERSISTENCE, self.persistence)
                    .with(DOWN_AFTER, self.down_after),
            },
            workload: "test".into(),
            clients: vec![ClientPlan::new("client-1", Vec::new())],
            choices: Vec::new(),
            injections: self.injections,
        };
        let finished = Arc::clone(finished);
        let workload: picklock_sim::run::Workload = Arc::new(move |context| {
            let finished = Arc::clone(&finished);
            Box::pin(async move {
                script(context.host.clone()).await;
                *finished.lock().unwrap() = true;
                // The run ends when all clients are done: the servers shall see the rest of it.
                context.host.sleep(Duration::from_secs(60)).await;
            })
        });
        run(Engine::Event, &design, &plan, &workload).unwrap()
    }
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn commands_of_one_segment_are_answered_in_one_write() {
    let run = World::single().run(|host| {
        Box::pin(async move {
            let mut link = Link::to(&host, "node-1", PORT).await;
            link.0.write_all(b"PING\r\nSET k v NX PX 500\r\nGET k\r\n").await.unwrap();
            let mut received = [0; 64];
            let len = link.0.read(&mut received).await.unwrap();
            assert_eq!(&received[..len], b"+PONG\r\n+OK\r\n$1\r\nv\r\n");
        })
    });
    let expired = run.trace.events.iter().find(|event| matches!(event.what, What::Expired { .. }));
    let expired = expired.expect("the key expires without being touched");
    assert!(expired.at < TrueTime(700_000_000), "in the next active cycle");
    assert_eq!(expired.grant, None, "nobody asked for it");
}

#[test]
fn keys_that_are_changed_by_one_segment_are_in_one_notification_after_its_replies() {
    World::single().run(|host| {
        Box::pin(async move {
            let mut cache = Link::to(&host, "node-1", PORT).await;
            let mut received = [0; 64];
            cache.0.write_all(b"CLIENT REPLY SKIP\r\nHELLO 3\r\nCLIENT TRACKING ON BCAST\r\n").await.unwrap();
            let len = cache.0.read(&mut received).await.unwrap();
            assert_eq!(&received[..len], b"+OK\r\n");
            let mut link = Link::to(&host, "node-1", PORT).await;
            link.0.write_all(b"SET b 1\r\nSET a 1\r\nSET b 2\r\n").await.unwrap();
            let len = cache.0.read(&mut received).await.unwrap();
            assert_eq!(&received[..len], b">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
            cache.0.write_all(b"SET a 1\r\nPING\r\n").await.unwrap();
            let len = cache.0.read(&mut received).await.unwrap();
            assert_eq!(&received[..len], b"+OK\r\n+PONG\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
        })
    });
}

#[test]
fn an_idle_node_makes_no_events() {
    let events = |seconds| {
        let world = World { seconds, ..World::single() };
        world.run(|_| Box::pin(async {})).trace.events.len()
    };
    assert_eq!(events(3), events(300));
}

#[test]
fn a_restart_without_persistence_loses_live_records_only() {
    let events = World::single().crash(1000, "node-1", 100).play(|host| {
        Box::pin(async move {
            let mut link = Link::to(&host, "node-1", PORT).await;
            for line in [
                "SET held v NX PX 60000",
                "SET done v NX PX 60000",
                "DEL done",
                "SET short v NX PX 1050",
                "INCR n",
            ] {
                link.call(line).await;
            }
            host.sleep(ms(1500)).await;
            assert_eq!(call(&host, "node-1", "DBSIZE").await, Reply::Integer(0));
        })
    });
    assert_eq!(
        events,
        [
            "node-1 created held",
            "node-1 created done",
            "node-1 deleted done",
            "node-1 created short",
            "node-1 expired short",
            "node-1 lost held",
        ]
    );
}

#[test]
fn an_append_only_file_survives_power_loss() {
    let world = World { persistence: "always", ..World::single() };
    let events = world.crash(1000, "node-1", 100).play(|host| {
        Box::pin(async move {
            let mut link = Link::to(&host, "node-1", PORT).await;
            for line in ["SET held v NX PX 60000", "INCRBY n 41", "HSET h f v", "SET short v NX PX 1050"] {
                link.call(line).await;
            }
            host.sleep(ms(1500)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            assert_eq!(link.call("GET held").await, Reply::text("v"));
            assert_eq!(link.call("INCR n").await, Reply::Integer(42));
            assert_eq!(link.call("HGET h f").await, Reply::text("v"));
            let Reply::Integer(left) = link.call("PTTL held").await else { panic!("an integer") };
            assert!((58_000..59_000).contains(&left), "{left}");
        })
    });
    assert_eq!(
        events,
        ["node-1 created held", "node-1 created h", "node-1 created short", "node-1 expired short"]
    );
}

#[test]
fn a_clock_step_ends_leases_in_the_next_cycle() {
    let action = Action::StepClock { by_ns: 60_000_000_000 };
    let events = World::single().at(1000, "node-1", action).play(|host| {
        Box::pin(async move {
            call(&host, "node-1", "SET k v NX PX 30000").await;
        })
    });
    assert_eq!(events, ["node-1 created k", "node-1 expired k"]);
}

#[test]
fn effects_reach_the_replicas_and_wait_counts_them() {
    let events = World::replicated(2).play(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            link.call("SET k v NX PX 1000").await;
            assert_eq!(link.call("WAIT 2 100").await, Reply::Integer(2));
            assert_eq!(link.call("WAIT 3 100").await, Reply::Integer(2));
            assert_eq!(call(&host, "replica-1-1", "GET k").await, Reply::text("v"));
            assert_eq!(primary(&host).await, "node-1");
            host.sleep(ms(1500)).await;
        })
    });
    let count = |text: &str| events.iter().filter(|event| event.ends_with(text)).count();
    assert_eq!((count("created k"), count("expired k"), events.len()), (3, 3, 6), "{events:?}");
}

#[test]
fn a_primary_that_restarts_empty_empties_its_replicas() {
    let events = World::replicated(1).crash(1000, "node-1", 50).play(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            call(&host, "node-1", "SET k v NX PX 60000").await;
            host.sleep(ms(3000)).await;
            assert_eq!(primary(&host).await, "node-1");
            assert_eq!(call(&host, "replica-1-1", "GET k").await, Reply::Nil);
        })
    });
    assert_eq!(events, ["node-1 created k", "replica-1-1 created k", "node-1 lost k", "replica-1-1 lost k"]);
}

fn own(name: &str, count: u32) -> Action {
    Action::Own { name: name.to_owned(), count }
}

fn hits(run: &Run) -> usize {
    run.trace.events.iter().filter(|event| matches!(event.what, What::TookEffect { .. })).count()
}

#[test]
fn commands_that_write_are_answered_with_errors_so_many_times() {
    let run = World::single().at(500, "node-1", own("error-reply", 3)).run(|host| {
        Box::pin(async move {
            let oom = Reply::error("OOM command not allowed when used memory > 'maxmemory'.");
            let mut link = Link::to(&host, "node-1", PORT).await;
            assert_eq!(link.call("SET k v PX 60000").await, Reply::OK, "not yet");
            host.sleep(ms(1000)).await;
            assert_eq!(link.call("SET k w").await, oom);
            assert_eq!(
                link.call("GET k").await,
                Reply::text("v"),
                "it was not executed; and this only reads"
            );
            assert_eq!(link.call("EVAL return(1) 0").await, oom, "it may write");
            assert_eq!(call(&host, "node-1", "DEL k").await, oom);
            assert_eq!(link.call("DEL k").await, Reply::Integer(1), "not any more");
        })
    });
    assert_eq!(hits(&run), 1);
}

#[test]
fn an_action_that_finds_nothing_to_refuse_or_drop_makes_no_difference() {
    let world = World::single().at(500, "node-1", own("error-reply", 1));
    let run = world.at(500, "node-1", own("evict", 1)).run(|host| {
        Box::pin(async move {
            call(&host, "node-1", "SET eternal v").await;
            host.sleep(ms(1000)).await;
            assert_eq!(call(&host, "node-1", "GET eternal").await, Reply::text("v"));
        })
    });
    assert_eq!(hits(&run), 0);
}

#[test]
fn keys_with_a_lease_are_dropped_here_and_on_the_replicas() {
    let run = World::replicated(1).at(2000, "node-1", own("evict", 2)).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            for line in [
                "SET a v",
                "SET b v NX PX 60000",
                "SET c v NX PX 100",
                "SET d v PX 60000",
                "SET e v PX 60000",
            ] {
                link.call(line).await;
            }
            host.sleep(ms(3000)).await;
            for node in ["node-1", "replica-1-1"] {
                assert_eq!(call(&host, node, "EXISTS b d").await, Reply::Integer(0), "{node}");
                assert_eq!(call(&host, node, "EXISTS a e").await, Reply::Integer(2), "{node}");
            }
        })
    });
    assert_eq!(hits(&run), 1);
    let lost = run.trace.events.iter().filter(|event| matches!(event.what, What::Lost { .. }));
    let lost: Vec<&str> = lost.map(|event| run.trace.host_name(event.host)).collect();
    assert_eq!(lost, ["node-1"; 2], "the replica got it, like any deletion");
}

#[test]
fn a_replica_drops_nothing_of_its_own() {
    let run = World::replicated(1).at(2000, "replica-1-1", own("evict", 9)).run(|host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            call(&host, "node-1", "SET k v NX PX 60000").await;
            host.sleep(ms(3000)).await;
            assert_eq!(call(&host, "replica-1-1", "GET k").await, Reply::text("v"));
        })
    });
    assert_eq!(hits(&run), 0);
}

#[test]
fn a_run_repeats_itself() {
    let digest = || {
        let world = World::replicated(2).crash(1000, "node-1", 2500);
        let run = world.run(|host| {
            Box::pin(async move {
                host.sleep(ms(500)).await;
                call(&host, "node-1", "SET k v NX PX 2000").await;
            })
        });
        run.trace.digest
    };
    assert_eq!(digest(), digest());
}
