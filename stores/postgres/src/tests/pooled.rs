//! Clients behind a pooler: what they are lent, and what they find on it.

use std::time::Duration;

use picklock_model::plan::Action;
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use tokio_postgres::types::Type;

use super::world::{Script, ask, at, connect_to, ms, play_with};
use crate::{Mode, Postgres, Rules};

fn pooled(mode: Mode, size: usize) -> Postgres {
    Postgres { pooler: Some(Rules { mode, size }), ..Postgres::default() }
}

/// Runs scripts on clients behind a pooler, on both engines; all come to their ends.
fn play(kind: Postgres, scripts: &[Script]) {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let (_, finished) = play_with(engine, kind, Duration::from_secs(4_000), scripts, Vec::new());
        assert!(finished.iter().all(|done| *done), "{engine:?}: {finished:?}");
    }
}

async fn connect(host: &Host) -> tokio_postgres::Client {
    connect_to(host, "pooler-1").await
}

async fn says(client: &tokio_postgres::Client, sql: &str, expected: &str) {
    assert_eq!(ask(client, sql).await.as_ref().map(Option::as_deref), Ok(Some(expected)), "{sql}");
}

const TRY: &str = "SELECT pg_try_advisory_lock(7)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(7)";

#[test]
fn whoever_is_lent_the_connection_of_a_holder_has_its_lock() {
    let script: Script = |host| {
        Box::pin(async move {
            let (one, other) = (connect(&host).await, connect(&host).await);
            says(&one, TRY, "t").await;
            says(&other, TRY, "t").await;
            says(&other, UNLOCK, "t").await;
            says(&other, UNLOCK, "t").await;
            says(&one, UNLOCK, "f").await;
        })
    };
    play(pooled(Mode::Transaction, 1), &[script]);
}

#[test]
fn a_client_that_waits_while_a_connection_is_made_gets_the_one_that_is_free_first() {
    let script: Script = |host| {
        Box::pin(async move {
            let (one, other) = (connect(&host).await, connect(&host).await);
            ask(&one, "BEGIN").await.unwrap();
            says(&one, TRY, "t").await;
            // A new connection takes two round trips, and the end of the transaction one.
            let (ended, tried) = tokio::join!(ask(&one, "COMMIT"), ask(&other, TRY));
            ended.unwrap();
            assert_eq!(tried, Ok(Some("t".to_owned())), "it has the connection of the holder");
        })
    };
    play(pooled(Mode::Transaction, 2), &[script]);
}

#[test]
fn what_comes_in_one_segment_is_passed_on_in_one() {
    let script: Script = |host| {
        Box::pin(async move {
            let one = connect(&host).await;
            // Five messages with more than 64 bytes, and as many in the answer.
            one.query_typed("SELECT pg_try_advisory_lock($1)", &[(&7_i64, Type::INT8)]).await.unwrap();
        })
    };
    let kind = pooled(Mode::Transaction, 1);
    let (run, _) = play_with(Engine::Event, kind, Duration::from_secs(4_000), &[script], Vec::new());
    let sizes = |from: &str, to: &str| -> Vec<u32> {
        let name = |host| run.trace.host_name(host);
        let sent = run.trace.events.iter().filter(|event| name(event.host) == from);
        sent.filter_map(|event| match event.what {
            What::Sent { peer, bytes, .. } if name(peer) == to => Some(bytes),
            _ => None,
        })
        .collect()
    };
    // A startup and the query; the goodbye of the client goes no further.
    let asked = sizes("client-1", "pooler-1");
    assert_eq!(sizes("pooler-1", "node-1")[1..], asked[1..2]);
    let answered = sizes("node-1", "pooler-1");
    assert_eq!(sizes("pooler-1", "client-1").last(), answered.last());
    assert!(answered.last().is_some_and(|bytes| *bytes > 64), "{answered:?}");
}

#[test]
fn an_unlock_by_another_connection_unlocks_nothing_and_the_lock_stays_for_an_hour() {
    let script: Script = |host| {
        Box::pin(async move {
            let (one, other) = (connect(&host).await, connect(&host).await);
            says(&one, TRY, "t").await;
            // The connection with the lock is lent to this one, so the other one is lent the second.
            ask(&one, "BEGIN").await.unwrap();
            says(&other, UNLOCK, "f").await;
            says(&other, TRY, "f").await;
            ask(&one, "COMMIT").await.unwrap();
            // It is used again and again, so that it is never free for long.
            for _ in 0..11 {
                host.sleep(Duration::from_secs(300)).await;
                says(&one, "SELECT 1", "1").await;
            }
            host.sleep(Duration::from_secs(301)).await;
            says(&other, TRY, "t").await;
        })
    };
    play(pooled(Mode::Transaction, 2), &[script]);
}

#[test]
fn a_transaction_keeps_its_connection_and_others_wait_in_a_queue() {
    let script: Script = |host| {
        Box::pin(async move {
            let one = connect(&host).await;
            ask(&one, "BEGIN").await.unwrap();
            // Only the first client of all needs a connection to be let in.
            let other = connect(&host).await;
            let waited = host.timeout(ms(1_000), ask(&other, "SELECT 1")).await;
            assert!(waited.is_err(), "there is one connection");
            ask(&one, "COMMIT").await.unwrap();
            says(&one, "SELECT 2", "2").await;
        })
    };
    play(pooled(Mode::Transaction, 1), &[script]);
}

#[test]
fn who_leaves_in_a_transaction_takes_the_connection_along() {
    let script: Script = |host| {
        Box::pin(async move {
            let one = connect(&host).await;
            says(&one, TRY, "t").await;
            ask(&one, "BEGIN").await.unwrap();
            drop(one);
            host.sleep(ms(100)).await;
            let other = connect(&host).await;
            says(&other, TRY, "t").await;
            says(&other, UNLOCK, "t").await;
            says(&other, UNLOCK, "f").await;
        })
    };
    play(pooled(Mode::Transaction, 1), &[script]);
}

#[test]
fn a_session_keeps_its_connection_and_leaves_nothing_on_it() {
    let script: Script = |host| {
        Box::pin(async move {
            let one = connect(&host).await;
            says(&one, TRY, "t").await;
            drop(one);
            host.sleep(ms(100)).await;
            let other = connect(&host).await;
            says(&other, UNLOCK, "f").await;
            says(&other, TRY, "t").await;
        })
    };
    play(pooled(Mode::Session, 1), &[script]);
}

#[test]
fn a_request_to_cancel_reaches_the_statement_of_the_client() {
    let script: Script = |host| {
        Box::pin(async move {
            let (holder, waiter) = (connect(&host).await, connect(&host).await);
            says(&holder, TRY, "t").await;
            ask(&holder, "BEGIN").await.unwrap();
            let token = waiter.cancel_token();
            let mut statement = Box::pin(ask(&waiter, "SELECT pg_advisory_lock(7)"));
            assert!(host.timeout(ms(500), statement.as_mut()).await.is_err());
            let stream = host.connect("pooler-1", crate::PORT).await.unwrap();
            token.cancel_query_raw(stream, tokio_postgres::NoTls).await.unwrap();
            assert_eq!(statement.await, Err("57014".to_owned()));
        })
    };
    play(pooled(Mode::Transaction, 2), &[script]);
}

/// Asks until it is answered, in connections of its own.
fn asks_again(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let one = connect(&host).await;
        says(&one, "SELECT 1", "1").await;
        ask(&one, "BEGIN").await.unwrap();
        host.sleep(ms(1_000)).await;
        assert!(ask(&one, "SELECT 1").await.is_err(), "the server was restarted");
        let other = connect(&host).await;
        says(&other, "SELECT 2", "2").await;
    })
}

#[test]
fn a_client_whose_connection_the_server_has_closed_is_sent_away() {
    let crash = at(500, "node-1", Action::Crash { power_loss: false, restart_after: Some(ms(200)) });
    let kind = pooled(Mode::Transaction, 1);
    let (_, finished) = play_with(Engine::Event, kind, ms(30_000), &[asks_again], vec![crash]);
    assert_eq!(finished, [true]);
}
