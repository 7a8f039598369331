//! How long a wait or a lock lasts, by the settings of `docs/guide/bounds.md`: what `tests/postgres-bounds` measures on a real server.

use std::time::Duration;

use picklock_model::plan::Action;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;

use super::world::{Script, ask, at, connect_to, ms, play_with};
use crate::Postgres;

const LOCK: &str = "SELECT pg_advisory_lock(1)";

/// Takes the lock after this statement and does nothing more.
fn holds(host: Host, before: &'static str) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let client = connect_to(&host, "node-1").await;
        ask(&client, before).await.unwrap();
        ask(&client, LOCK).await.unwrap();
        host.sleep(Duration::from_secs(1000)).await;
    })
}

/// Asks for the lock half a second later, after this statement, and is answered like this after so long.
fn asks(
    host: Host,
    before: &'static str,
    answer: Result<(), &'static str>,
    after: Duration,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(500)).await;
        let client = connect_to(&host, "node-1").await;
        ask(&client, before).await.unwrap();
        let began = host.monotonic();
        let answered = ask(&client, LOCK).await.map(drop);
        let took = host.monotonic().since(began);
        assert_eq!(answered, answer.map_err(str::to_owned), "{before}");
        assert!(took >= after && took < after + ms(20), "{before}: {took:?} instead of {after:?}");
    })
}

fn play(holder: Script, waiter: Script, dies: Option<Action>) {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let dies = dies.iter().map(|action| at(1_000, "client-1", action.clone())).collect();
        let horizon = Duration::from_secs(100);
        let (_, finished) = play_with(engine, Postgres::default(), horizon, &[holder, waiter], dies);
        assert!(finished[1], "{engine:?}");
    }
}

#[test]
fn a_wait_ends_with_its_time_out() {
    let holder: Script = |host| holds(host, "SELECT 1");
    play(holder, |host| asks(host, "SET lock_timeout = 1500", Err("55P03"), ms(1500)), None);
    play(holder, |host| asks(host, "SET statement_timeout = 1200", Err("57014"), ms(1200)), None);
}

#[test]
fn a_deadlock_is_found_after_a_second_by_who_has_waited_for_it() {
    let second: Script = |host| asks(host, "SELECT pg_advisory_lock(2)", Err("40P01"), ms(1000));
    // It has its lock first, and waits once the other one does.
    let first: Script = |host| {
        Box::pin(async move {
            host.sleep(ms(250)).await;
            let client = connect_to(&host, "node-1").await;
            ask(&client, LOCK).await.unwrap();
            host.sleep(ms(500)).await;
            let _ = ask(&client, "SELECT pg_advisory_lock(2)").await;
        })
    };
    play(first, second, None);
}

#[test]
fn a_holder_that_is_idle_in_its_transaction_is_ended() {
    let holder: Script = |host| holds(host, "SET idle_in_transaction_session_timeout = 2000; BEGIN");
    // It has been idle for half a second by then.
    play(holder, |host| asks(host, "SELECT 1", Ok(()), ms(1490)), None);
}

#[test]
fn a_holder_that_is_gone_without_a_word_is_given_up_by_the_kernel() {
    const KEEPALIVES: &str =
        "SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3";
    const TIMEOUT: &str =
        "SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 2; SET tcp_user_timeout = '5s'";
    let power = Some(Action::Crash { power_loss: true, restart_after: None });
    // Half a second of each is over by then.
    play(|host| holds(host, KEEPALIVES), |host| asks(host, "SELECT 1", Ok(()), ms(8490)), power.clone());
    play(|host| holds(host, TIMEOUT), |host| asks(host, "SELECT 1", Ok(()), ms(4490)), power);
}

#[test]
fn a_holder_whose_process_dies_is_gone_at_once() {
    let crash = Action::Crash { power_loss: false, restart_after: None };
    play(|host| holds(host, "SELECT 1"), |host| asks(host, "SELECT 1", Ok(()), ms(490)), Some(crash));
}

const LEASES: &str = "CREATE TABLE IF NOT EXISTS shedlock (name text PRIMARY KEY, lock_until timestamptz NOT NULL, locked_by text); \
     INSERT INTO shedlock VALUES ('x', now() - interval '1 h', '') ON CONFLICT DO NOTHING";
const LEFT: &str = "SELECT date_part('epoch', lock_until - clock_timestamp()) FROM shedlock";

/// Keeps the row by this statement for so long that a waiter waits for 1.35 s, and ends its transaction so.
fn keeps_the_row(host: Host, by: &'static str, end: &'static str) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let client = connect_to(&host, "node-1").await;
        ask(&client, LEASES).await.unwrap();
        ask(&client, "BEGIN").await.unwrap();
        ask(&client, by).await.unwrap();
        host.sleep(ms(1850)).await;
        ask(&client, end).await.unwrap();
    })
}

/// Takes the lease of a second by this statement half a second later: how much of it is left then.
fn leases(host: Host, by: &'static str, left: f64) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(500)).await;
        let client = connect_to(&host, "node-1").await;
        ask(&client, "BEGIN").await.unwrap();
        ask(&client, by).await.unwrap();
        ask(&client, "COMMIT").await.unwrap();
        let found: f64 = ask(&client, LEFT).await.unwrap().unwrap().parse().unwrap();
        assert!((found - left).abs() < 0.02, "{by}: {found} s instead of {left} s");
    })
}

const LOCKED: Script =
    |host| keeps_the_row(host, "SELECT name FROM shedlock WHERE name = 'x' FOR UPDATE", "COMMIT");
const UPDATED: Script =
    |host| keeps_the_row(host, "UPDATE shedlock SET locked_by = 'other' WHERE name = 'x'", "COMMIT");
const ROLLED_BACK: Script =
    |host| keeps_the_row(host, "UPDATE shedlock SET locked_by = 'other' WHERE name = 'x'", "ROLLBACK");

#[test]
fn a_lease_is_over_when_it_is_granted_if_it_was_reckoned_before_the_wait() {
    const NOW: &str =
        "UPDATE shedlock SET lock_until = now() + interval '1 s' WHERE name = 'x' AND lock_until <= now()";
    const CLOCK: &str = "UPDATE shedlock SET lock_until = clock_timestamp() + interval '1 s' \
         WHERE name = 'x' AND lock_until <= clock_timestamp()";
    const INSERTED_NOW: &str = "INSERT INTO shedlock VALUES ('x', now() + interval '1 s', 'me') ON CONFLICT (name) DO UPDATE \
         SET lock_until = now() + interval '1 s' WHERE shedlock.lock_until <= now()";
    const INSERTED_CLOCK: &str = "INSERT INTO shedlock VALUES ('x', clock_timestamp() + interval '1 s', 'me') \
         ON CONFLICT (name) DO UPDATE SET lock_until = clock_timestamp() + interval '1 s' \
         WHERE shedlock.lock_until <= clock_timestamp()";
    for holder in [LOCKED, UPDATED, ROLLED_BACK] {
        play(holder, |host| leases(host, NOW, -0.35), None);
        play(holder, |host| leases(host, INSERTED_NOW, -0.35), None);
        play(holder, |host| leases(host, INSERTED_CLOCK, 1.0), None);
    }
    // It is computed again only for another version of the row.
    play(LOCKED, |host| leases(host, CLOCK, -0.35), None);
    play(UPDATED, |host| leases(host, CLOCK, 1.0), None);
    play(ROLLED_BACK, |host| leases(host, CLOCK, -0.35), None);
}
