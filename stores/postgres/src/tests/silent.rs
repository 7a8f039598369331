//! Clients that are gone without a word, and when the server notices.

use std::time::Duration;

use picklock_model::plan::Action;
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
