//! Clients that are gone without a word, and when the server notices.

use std::time::Duration;

use picklock_model::plan::{Action, Target};
use picklock_model::trace::{Event, What};
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;

use super::world::{Script, ask, at, connect_to, ms, play_with};
use crate::{Keepalive, Postgres};

const LOCK: &str = "SELECT pg_advisory_lock(7)";

/// Takes the lock after these statements, and does nothing more.
fn holds(host: Host, before: &'static [&'static str]) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let client = connect_to(&host, "node-1").await;
        for sql in before {
            ask(&client, sql).await.unwrap();
        }
        ask(&client, LOCK).await.unwrap();
        host.sleep(Duration::from_secs(100_000)).await;
    })
}

/// Waits for the lock, which it gets at this second, or at the next.
fn waits(host: Host, until: u64) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let began = host.monotonic();
        host.sleep(ms(100)).await;
        let client = connect_to(&host, "node-1").await;
        ask(&client, LOCK).await.unwrap();
        let at = host.monotonic().since(began).as_secs();
        assert!((until..until + 2).contains(&at), "the lock came after {at} s");
    })
}

/// The holder's host loses its power after a tenth of a second; the second client's script comes to its end.
fn play(kind: Postgres, scripts: [Script; 2], power_loss: bool) {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let crash = at(100, "client-1", Action::Crash { power_loss, restart_after: None });
        let (_, finished) = play_with(engine, kind, Duration::from_secs(9_000), &scripts, vec![crash]);
        assert_eq!(finished, [false, true], "{engine:?}");
    }
}

#[test]
fn a_killed_holder_is_noticed_at_once() {
    play(Postgres::default(), [|host| holds(host, &[]), |host| waits(host, 0)], false);
}

#[test]
fn a_holder_without_power_is_noticed_after_7875_seconds() {
    play(Postgres::default(), [|host| holds(host, &[]), |host| waits(host, 7_875)], true);
}

#[test]
fn a_server_is_configured_to_notice_it_earlier() {
    let s = Duration::from_secs;
    let keepalive = Keepalive { idle: s(60), interval: s(10), count: 3, user_timeout: None };
    let kind = Postgres { keepalive, ..Postgres::default() };
    play(kind, [|host| holds(host, &[]), |host| waits(host, 90)], true);
}

#[test]
fn a_session_says_when_its_client_is_given_up() {
    const SET: &[&str] = &[
        "SET tcp_keepalives_idle = 20",
        "SET tcp_keepalives_interval = '2s'",
        "SET tcp_keepalives_count = 4",
    ];
    play(Postgres::default(), [|host| holds(host, SET), |host| waits(host, 28)], true);
}

#[test]
fn a_user_timeout_ends_the_probes_early() {
    const SET: &[&str] =
        &["SET tcp_keepalives_idle = 20", "SET tcp_keepalives_interval = 2", "SET tcp_user_timeout = '25s'"];
    play(Postgres::default(), [|host| holds(host, SET), |host| waits(host, 26)], true);
    // Alone it ends the probes only.
    const ALONE: &[&str] = &["SET tcp_user_timeout = '5s'"];
    play(Postgres::default(), [|host| holds(host, ALONE), |host| waits(host, 7275)], true);
}

/// Takes the lock and is idle for longer than the server is silent.
fn is_idle(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let client = connect_to(&host, "node-1").await;
        ask(
            &client,
            "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 1",
        )
        .await
        .unwrap();
        host.sleep(Duration::from_secs(600)).await;
        assert_eq!(ask(&client, "SHOW tcp_keepalives_idle").await.unwrap().as_deref(), Some("5"));
    })
}

#[test]
fn a_client_that_only_stands_still_answers_the_probes() {
    let pause = at(50_000, "client-1", Action::Pause { lasts: Duration::from_secs(60) });
    let kind = Postgres::default();
    let (_, finished) = play_with(Engine::Event, kind, Duration::from_secs(900), &[is_idle], vec![pause]);
    assert_eq!(finished, [true]);
}

/// Takes the lock and gives it back after a minute.
fn holds_for_a_minute(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let client = connect_to(&host, "node-1").await;
        ask(&client, LOCK).await.unwrap();
        host.sleep(ms(60_000)).await;
        ask(&client, "SELECT pg_advisory_unlock(7)").await.unwrap();
    })
}

/// Waits for the lock behind the first client, after this statement.
fn is_second(host: Host, before: &'static str) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(50)).await;
        let client = connect_to(&host, "node-1").await;
        ask(&client, before).await.unwrap();
        let _ = ask(&client, LOCK).await;
    })
}

/// Waits for the lock behind both.
fn is_third(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(200)).await;
        let client = connect_to(&host, "node-1").await;
        ask(&client, LOCK).await.unwrap();
    })
}

/// How many seconds after the turn of a waiter the next one gets the lock, if the waiter's host lost its power so many seconds before.
fn passed_on_after(second: Script, died_before: u64) -> u64 {
    let of = |engine| {
        let third: Script = is_third;
        let power = Action::Crash { power_loss: true, restart_after: None };
        let scripts = [holds_for_a_minute as Script, second, third];
        let (kind, horizon) = (Postgres::default(), Duration::from_secs(900));
        let dies = at((60 - died_before) * 1000, "client-2", power);
        let (run, _) = play_with(engine, kind, horizon, &scripts, vec![dies]);
        let created = |event: &&Event| matches!(event.what, What::Created { .. });
        let got: Vec<u64> =
            run.trace.events.iter().filter(created).map(|event| event.at.as_millis()).collect();
        assert_eq!(got.len(), 3, "{engine:?}: {got:?}");
        (got[2] - got[1]).div_euclid(1000)
    };
    assert_eq!(of(Engine::Event), of(Engine::TURMOIL));
    of(Engine::Event)
}

#[test]
fn a_waiter_that_is_gone_is_noticed_when_its_turn_has_come() {
    const EIGHT_SECONDS: &str =
        "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3";
    const THREE_SECONDS: &str = "SET tcp_user_timeout = '3s'";
    // What it is sent is not acknowledged: the world breaks a connection after 15 s.
    assert_eq!(passed_on_after(|host| is_second(host, "SELECT 1"), 40), 15);
    assert_eq!(passed_on_after(|host| is_second(host, THREE_SECONDS), 40), 3);
    // The kernel has given it up by then, or it looks no more while something is not acknowledged.
    assert_eq!(passed_on_after(|host| is_second(host, EIGHT_SECONDS), 40), 0);
    assert_eq!(passed_on_after(|host| is_second(host, EIGHT_SECONDS), 1), 15);
}

#[test]
fn a_waiter_whose_client_is_checked_is_noticed_before_its_turn() {
    const CHECKED: &str = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; \
         SET client_connection_check_interval = '2s'";
    let second: Script = |host| is_second(host, CHECKED);
    let third: Script = |host| waits(host, 60);
    let power = Action::Crash { power_loss: true, restart_after: None };
    let scripts = [holds_for_a_minute as Script, second, third];
    let dies = at(20_000, "client-2", power);
    let (_, finished) =
        play_with(Engine::Event, Postgres::default(), Duration::from_secs(900), &scripts, vec![dies]);
    assert_eq!(finished, [true, false, true]);
}

#[test]
fn a_client_that_was_away_for_a_moment_is_looked_for_as_before() {
    let second: Script = |host| {
        Box::pin(async move {
            host.sleep(ms(50)).await;
            let client = connect_to(&host, "node-1").await;
            let set =
                "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3";
            ask(&client, set).await.unwrap();
            // The answer is sent while nothing passes.
            ask(&client, LOCK).await.unwrap();
            host.sleep(Duration::from_secs(1000)).await;
        })
    };
    // It answers probes every five seconds, the last time at 92 s.
    let third: Script = |host| waits(host, 100);
    let cut = Action::Cut {
        to: Target::Hosts(vec!["node-1".to_owned()]),
        both: true,
        lasts: Duration::from_secs(2),
    };
    let power = Action::Crash { power_loss: true, restart_after: None };
    let faults = vec![at(59_500, "client-2", cut), at(93_000, "client-2", power)];
    let scripts = [holds_for_a_minute as Script, second, third];
    let (_, finished) =
        play_with(Engine::Event, Postgres::default(), Duration::from_secs(900), &scripts, faults);
    assert_eq!(finished, [true, false, true]);
}
