//! Three Sentinels in the simulated world, against the times at which real ones were seen to act.

use std::time::Duration;

use picklock_model::plan::{Action, Target};
use picklock_model::trace::{Event, What};
use picklock_sim::run::Run;

use super::world::{Link, World, call, ms, primary};
use crate::PORT;
use crate::protocol::resp::Reply;
use crate::server::sentinel;
use crate::server::version::Version;

/// When the primary dies or is cut off.
const HIT: Duration = Duration::from_millis(1500);

/// The words of the Sentinels and the new roles of the nodes, with the milliseconds since the primary was hit.
fn log(run: &Run) -> Vec<(i64, String)> {
    let hit = HIT.as_millis() as i64;
    let events = run.trace.events.iter();
    let log = events.filter_map(|event| {
        let text = match &event.what {
            What::Noticed { text } => text.clone(),
            What::BecameLeader => "promoted".to_owned(),
            What::StoppedLeading => "demoted".to_owned(),
            _ => return None,
        };
        let at = (event.at.0 / 1_000_000).cast_signed() - hit;
        Some((at, format!("{} {text}", run.trace.host_name(event.host))))
    });
    log.collect()
}

fn hit(seed: u64, replicas: u32, seconds: u64, action: Action) -> World {
    let world = World { seconds, seed, ..World::replicated(replicas) };
    world.at(HIT.as_millis() as u64, "node-1", action)
}

/// When something was first said or done, in milliseconds since the primary was hit.
fn first(log: &[(i64, String)], what: &str) -> i64 {
    let found = log.iter().find(|(at, text)| *at > 0 && text.contains(what));
    found.unwrap_or_else(|| panic!("nobody says {what}: {log:#?}")).0
}

#[test]
fn a_failover_takes_the_time_that_it_takes_real_sentinels() {
    let (mut once, mut twice) = (0, 0);
    for seed in 1..=100 {
        // Ticks, pings and greetings are at another point of their periods each time.
        let killed = 2_000 + seed * 137 % 10_000;
        let action = Action::Crash { power_loss: false, restart_after: Some(ms(3000)) };
        let replicas = 1 + u32::try_from(seed % 2).unwrap();
        let world = World { seconds: 30, seed, ..World::replicated(replicas) };
        let run = world.at(killed, "node-1", action).run(|_| Box::pin(async {}));
        let since = killed.cast_signed() - HIT.as_millis() as i64;
        let log: Vec<_> = log(&run).into_iter().map(|(at, text)| (at - since, text)).collect();
        // Seen with three real ones, silent after 1 s, from kill -9: 1.05, 1.16, 1.24, 1.34, 2.2 and 2.25 seconds. INFO is
        // asked for each second meanwhile: who has just asked sees the promotion a second later than who is about to.
        for (what, range) in [
            ("+sdown master", 1000..1150),
            ("+odown", 1050..1300),
            ("+elected-leader", 1100..1400),
            ("+selected-slave", 1150..1500),
            ("+promoted-slave", 1300..2500),
            ("+switch-master", 1400..3400),
        ] {
            let at = first(&log, what);
            assert!(range.contains(&at), "seed {seed}: {what} after {at} ms, not {range:?}");
        }
        // Two Sentinels may try at once, as real ones do now and then. And one that has just tried to reach the old primary
        // waits a second before it turns to the new one: it may find that one silent for too long, and fail over again.
        if log.iter().filter(|(_, text)| text.contains("+try-failover")).count() > 1 {
            twice += 1;
            continue;
        }
        once += 1;
        // It is back after 3 s and is reconfigured about 10 s later.
        let demoted = first(&log, "node-1 demoted");
        assert!((12_500..15_000).contains(&demoted), "seed {seed}: demoted after {demoted} ms");
    }
    assert!(twice * 5 < once, "{twice} failovers were followed by another, {once} were not");
}

#[test]
fn an_old_primary_takes_writes_until_it_is_demoted_and_loses_them() {
    let action = Action::Crash { power_loss: false, restart_after: Some(ms(3000)) };
    let events = hit(1, 2, 20, action).play(|host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            let mut link = Link::to(&host, "node-1", PORT).await;
            link.call("SET k v NX PX 60000").await;
            assert_eq!(link.call("WAIT 2 100").await, Reply::Integer(2));
            host.sleep(ms(3000)).await;
            let promoted = primary(&host).await;
            assert_eq!(promoted, "replica-1-1");
            let mut link = Link::to(&host, &promoted, PORT).await;
            assert_eq!(link.call("GET k").await, Reply::text("v"));
            link.call("SET new v NX PX 60000").await;
            host.sleep(ms(1500)).await;
            assert_eq!(link.call("WAIT 1 100").await, Reply::Integer(1), "the other replica follows");
            assert_eq!(call(&host, "node-1", "SET stray v NX PX 60000").await, Reply::OK);
            host.sleep(ms(11_000)).await;
            assert_eq!(call(&host, "node-1", "GET new").await, Reply::text("v"));
            assert_eq!(call(&host, "node-1", "GET stray").await, Reply::Nil);
            let Reply::Error(text) = call(&host, "node-1", "SET k w").await else { panic!("an error") };
            assert!(text.starts_with("READONLY"));
        })
    });
    let of =
        |host: &str| -> Vec<&str> { events.iter().filter_map(|event| event.strip_prefix(host)).collect() };
    let expected =
        ["created k", "lost k", "created stray", "demoted", "lost stray", "created k", "created new"];
    assert_eq!(of("node-1 "), expected);
    assert_eq!(of("replica-1-1 "), ["created k", "promoted", "created new"]);
    assert_eq!(of("replica-1-2 "), ["created k", "created new"], "its history goes on under the new primary");
}

#[test]
fn the_writes_of_a_primary_that_was_cut_off_vanish() {
    let cut = |to: &str| Action::Cut { to: Target::host(to), both: true, lasts: ms(5000) };
    let mut world = hit(2, 1, 22, cut("replica-1-1"));
    for sentinel in ["sentinel-1-1", "sentinel-1-2", "sentinel-1-3"] {
        world = world.at(HIT.as_millis() as u64, "node-1", cut(sentinel));
    }
    let events = world.play(|host| {
        Box::pin(async move {
            host.sleep(ms(1700)).await;
            assert_eq!(call(&host, "node-1", "SET k v NX PX 60000").await, Reply::OK);
            host.sleep(ms(3500)).await;
            assert_eq!(primary(&host).await, "replica-1-1");
            assert_eq!(call(&host, "replica-1-1", "SET k w NX PX 60000").await, Reply::OK);
            host.sleep(ms(14_000)).await;
            assert_eq!(call(&host, "node-1", "GET k").await, Reply::text("w"));
        })
    });
    let expected = [
        "node-1 created k",
        "replica-1-1 promoted",
        "replica-1-1 created k",
        "node-1 demoted",
        "node-1 lost k",
        "node-1 created k",
    ];
    assert_eq!(events, expected);
}

#[test]
fn without_most_of_the_sentinels_there_is_no_failover() {
    let dead = Action::Crash { power_loss: true, restart_after: None };
    let world = hit(1, 2, 15, dead.clone());
    let world = world.at(1000, "sentinel-1-2", dead.clone()).at(1000, "sentinel-1-3", dead);
    let log = log(&world.run(|_| Box::pin(async {})));
    assert!(log.iter().any(|(_, text)| text.contains("+sdown master")));
    assert!(!log.iter().any(|(_, text)| text.contains("+odown") || text.contains("promoted")), "{log:#?}");
}

#[test]
fn a_sentinel_that_stood_still_does_not_act_for_thirty_seconds() {
    let pause = Action::Pause { lasts: ms(3000) };
    let world = World { seconds: 40, ..World::replicated(1) }.at(1000, "sentinel-1-1", pause);
    let log = log(&world.run(|_| Box::pin(async {})));
    let tilt = first(&log, "sentinel-1-1 +tilt");
    let end = first(&log, "sentinel-1-1 -tilt");
    assert!((2400..2700).contains(&tilt), "{tilt}");
    assert!((30_000..30_200).contains(&(end - tilt)), "{end}");
    assert!(!log.iter().any(|(_, text)| text.starts_with("sentinel-1-1 +sdown")), "{log:#?}");
}

#[test]
fn clients_learn_where_the_primary_is() {
    let action = Action::Crash { power_loss: false, restart_after: None };
    hit(3, 2, 12, action).crash(5000, "sentinel-1-1", 100).play(|host| {
        Box::pin(async move {
            let mut asker = Link::to(&host, "sentinel-1-2", sentinel::PORT).await;
            let text = |reply: Reply| format!("{reply:?}");
            assert_eq!(
                asker.call("SENTINEL CKQUORUM mymaster").await,
                Reply::Status(
                    "OK 3 usable Sentinels. Quorum and failover authorization can be reached".into()
                )
            );
            assert_eq!(asker.call("SENTINEL get-master-addr-by-name other").await, Reply::NilArray);
            assert_eq!(
                asker.call("SENTINEL master other").await,
                Reply::error("ERR No such master with that name")
            );
            let Reply::Array(sentinels) = asker.call("SENTINEL SENTINELS mymaster").await else {
                panic!("a list")
            };
            assert_eq!(sentinels.len(), 2);
            let Reply::Array(replicas) = asker.call("SENTINEL REPLICAS mymaster").await else {
                panic!("a list")
            };
            assert_eq!(replicas.len(), 2);
            assert!(text(asker.call("ROLE").await).contains("Array"));
            let mut listener = Link::to(&host, "sentinel-1-3", sentinel::PORT).await;
            listener.call("SUBSCRIBE +switch-master").await;
            let message = listener.next().await;
            let at = host.monotonic();
            let switched = Reply::Array(vec![
                Reply::text("message"),
                Reply::text("+switch-master"),
                Reply::text("mymaster node-1 6379 replica-1-1 6379"),
            ]);
            assert_eq!(message, switched);
            assert_eq!(primary(&host).await, "replica-1-1");
            // One that comes back remembers.
            host.sleep_until(at + ms(3000)).await;
            assert_eq!(primary(&host).await, "replica-1-1");
        })
    });
}

#[test]
fn a_failover_is_over_when_runs_expect_progress_again() {
    for down_after in [100, 200, 1000] {
        for seed in 1..=40 {
            let action = Action::Crash { power_loss: seed % 2 == 0, restart_after: None };
            let world = World { down_after: ms(down_after), ..hit(seed, 1, 12, action) };
            let at = first(&log(&world.run(|_| Box::pin(async {}))), "+switch-master");
            assert!(
                at < 2 * down_after.cast_signed() + 2000,
                "seed {seed}: {at} ms for {down_after} ms of silence"
            );
        }
    }
}

/// How long a lease of ten seconds lasts on a store whose primary dies and whose replica's clock is ahead.
fn lease_after_promotion(ahead: Duration, version: Version) -> Duration {
    let step = Action::StepClock { by_ns: i64::try_from(ahead.as_nanos()).unwrap() };
    let dies = Action::Crash { power_loss: false, restart_after: None };
    let world = World { version, ..hit(1, 1, 15, dies) };
    let run = world.at(200, "replica-1-1", step).run(|host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            assert_eq!(call(&host, "node-1", "SET k v NX PX 10000").await, Reply::OK);
            host.sleep(ms(3500)).await;
            assert_eq!(primary(&host).await, "replica-1-1");
            let mut link = Link::to(&host, "replica-1-1", PORT).await;
            assert_eq!(link.call("GET k").await, Reply::text("v"), "it has the lease, and it is not over");
            while link.call("SET k w NX PX 10000").await != Reply::OK {}
        })
    });
    let created = |host: &str| {
        let on = |event: &&Event| {
            run.trace.host_name(event.host) == host && matches!(event.what, What::Created { .. })
        };
        run.trace.events.iter().filter(on).map(|event| event.at).next_back().unwrap()
    };
    created("replica-1-1").since(created("node-1"))
}

#[test]
fn a_lease_ends_as_much_earlier_as_the_clock_of_the_promoted_replica_is_ahead() {
    // Leases are copied as the instants at which they end, since 7.0.
    for version in [Version::V7_0, Version::V7_2] {
        for ahead in [0, 1, 250, 1000, 5000] {
            let lease = lease_after_promotion(ms(ahead), version);
            let late = lease.checked_sub(ms(10_000 - ahead)).expect("it is not over before its time");
            // The client asks every two milliseconds, and Redis counts whole ones.
            assert!(late < ms(4), "{version:?}: {ahead} ms ahead, the lease ended {late:?} after its time");
        }
    }
}
