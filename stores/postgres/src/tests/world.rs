//! The server on a host of the simulated world, spoken to by tokio-postgres: deaths, restarts, timers.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Settings};
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::run::Run;
pub(super) use picklock_sim::scripted::Script;
use picklock_sim::scripted::{self, Scripted};
use picklock_sim::store::Topology;
use tokio_postgres::types::Type;
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use crate::{PORT, Postgres};

async fn connect(host: &Host) -> tokio_postgres::Client {
    connect_to(host, "node-1").await
}

pub(super) async fn connect_to(host: &Host, server: &str) -> tokio_postgres::Client {
    let stream = host.connect(server, PORT).await.unwrap();
    let (client, connection) = Config::new().user("postgres").connect_raw(stream, NoTls).await.unwrap();
    host.spawn(async move {
        // A connection that breaks shows in the queries that wait for it.
        let _ = connection.await;
    });
    client
}

/// The first field of the first row of an answer.
pub(super) async fn ask(client: &tokio_postgres::Client, sql: &str) -> Result<Option<String>, String> {
    let messages = client.simple_query(sql).await.map_err(|error| match error.code() {
        Some(code) => code.code().to_owned(),
        None => "no answer".to_owned(),
    })?;
    Ok(messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

const SET_UP: &str = "CREATE TABLE IF NOT EXISTS resource (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0); \
     INSERT INTO resource (key) VALUES ('k') ON CONFLICT DO NOTHING";
const LOCK: &str = "BEGIN; SELECT value FROM resource WHERE key = 'k' FOR UPDATE";

pub(super) fn at(time_ms: u64, host: &str, action: Action) -> Injection {
    scripted::at(ms(time_ms), host, action)
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a script on each client; those that die need not come to its end.
fn play_on(engine: Engine, scripts: &[Script], injections: Vec<Injection>) -> (Run, Vec<bool>) {
    play_with(engine, Postgres::default(), ms(30_000), scripts, injections)
}

/// The same on a server of this kind, in a world that lasts so long.
pub(super) fn play_with(
    engine: Engine,
    kind: Postgres,
    horizon: Duration,
    scripts: &[Script],
    injections: Vec<Injection>,
) -> (Run, Vec<bool>) {
    let (alone, settings) = (Topology::independent(1), Settings::default());
    play_in(engine, (kind, alone, settings), horizon, scripts, injections)
}

/// The same on a store with these members and parameters.
pub(super) fn play_in(
    engine: Engine,
    (kind, topology, settings): (Postgres, Topology, Settings),
    horizon: Duration,
    scripts: &[Script],
    injections: Vec<Injection>,
) -> (Run, Vec<bool>) {
    let world = Scripted { engine, horizon, settings, injections, ..Scripted::default() };
    world.play(kind, topology, scripts).unwrap()
}

fn play(scripts: &[Script], injections: Vec<Injection>) -> Run {
    let (run, finished) = play_on(Engine::Event, scripts, injections);
    assert!(finished.last().copied().unwrap(), "the last client's script came to its end");
    run
}

/// The events of the store, as "milliseconds event".
fn store_events(run: &Run) -> Vec<String> {
    let named = |what: &What| match what {
        What::Created { .. } => Some("created".to_owned()),
        What::Deleted { .. } => Some("deleted".to_owned()),
        What::Lost { .. } => Some("lost".to_owned()),
        What::ResourceWritten { value, .. } => Some(format!("written {value}")),
        _ => None,
    };
    let events = run.trace.events.iter();
    events.filter_map(|event| Some(format!("{} {}", event.at.as_millis(), named(&event.what)?))).collect()
}

/// Locks the row and never lets go.
fn holds_for_ever(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let client = connect(&host).await;
        ask(&client, SET_UP).await.unwrap();
        ask(&client, LOCK).await.unwrap();
        ask(&client, "UPDATE resource SET value = 9 WHERE key = 'k'").await.unwrap();
        host.sleep(Duration::from_secs(1000)).await;
    })
}

fn locks_at_two_seconds(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(2000)).await;
        let client = connect(&host).await;
        assert_eq!(ask(&client, LOCK).await, Ok(Some("0".into())));
        assert_eq!(ask(&client, "COMMIT").await, Ok(None));
    })
}

fn is_refused_at_two_seconds(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(2000)).await;
        let client = connect(&host).await;
        ask(&client, "SET lock_timeout = '20s'").await.unwrap();
        assert_eq!(ask(&client, LOCK).await, Err("55P03".into()));
    })
}

#[test]
fn a_killed_holder_gives_the_row_back_at_once() {
    let killed = at(3000, "client-1", Action::Crash { power_loss: false, restart_after: None });
    let events = store_events(&play(&[holds_for_ever, locks_at_two_seconds], vec![killed]));
    assert_eq!(events.len(), 4, "{events:?}");
    assert!(events[1].starts_with("300") && events[2].starts_with("300"), "{events:?}");
}

#[test]
fn a_holder_without_power_keeps_the_row() {
    let dead = at(1000, "client-1", Action::Crash { power_loss: true, restart_after: None });
    let events = store_events(&play(&[holds_for_ever, is_refused_at_two_seconds], vec![dead]));
    assert_eq!(events.len(), 1, "{events:?}");
}

#[test]
fn a_holder_that_sleeps_keeps_the_row() {
    let asleep = at(1000, "client-1", Action::Pause { lasts: ms(25_000) });
    let events = store_events(&play(&[holds_for_ever, is_refused_at_two_seconds], vec![asleep]));
    assert_eq!(events[..1].len(), 1, "{events:?}");
}

#[test]
fn a_killed_waiter_keeps_its_place_until_its_turn() {
    let holds: Script = |host| {
        Box::pin(async move {
            let client = connect(&host).await;
            ask(&client, SET_UP).await.unwrap();
            ask(&client, LOCK).await.unwrap();
            host.sleep(ms(4000)).await;
            ask(&client, "COMMIT").await.unwrap();
        })
    };
    let waits: Script = |host| {
        Box::pin(async move {
            host.sleep(ms(1000)).await;
            let client = connect(&host).await;
            let _ = ask(&client, LOCK).await;
        })
    };
    let killed = at(1500, "client-2", Action::Crash { power_loss: false, restart_after: None });
    let events = store_events(&play(&[holds, waits, locks_at_two_seconds], vec![killed]));
    let words: Vec<&str> = events.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    // The dead one's turn comes and goes before that of the one behind it.
    assert_eq!(words, ["created", "deleted", "created", "deleted", "created", "deleted"], "{events:?}");
    assert!(events[3].starts_with("400"), "{events:?}");
}

#[test]
fn a_killed_waiter_is_noticed_by_a_server_that_checks_its_client() {
    let waits: Script = |host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let client = connect(&host).await;
            ask(&client, "SET client_connection_check_interval = '700ms'").await.unwrap();
            let _ = ask(&client, LOCK).await;
        })
    };
    let takes_and_ends: Script = |host| {
        Box::pin(async move {
            let client = connect(&host).await;
            ask(&client, SET_UP).await.unwrap();
            ask(&client, "SELECT pg_advisory_lock(1)").await.unwrap();
            ask(&client, LOCK).await.unwrap();
            host.sleep(ms(5000)).await;
            ask(&client, "COMMIT").await.unwrap();
        })
    };
    let killed = at(1500, "client-2", Action::Crash { power_loss: false, restart_after: None });
    let events = store_events(&play(&[takes_and_ends, waits, locks_at_two_seconds], vec![killed]));
    let words: Vec<&str> = events.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    // Nobody holds the row between the first and the last client; the advisory lock ends with its session.
    assert_eq!(words[..4], ["created", "created", "deleted", "created"], "{events:?}");
    assert_eq!(words.iter().filter(|word| **word == "created").count(), 3, "{events:?}");
}

#[test]
fn what_is_committed_survives_and_what_is_not_does_not() {
    for power_loss in [false, true] {
        let crash = Action::Crash { power_loss, restart_after: Some(ms(500)) };
        let script: Script = |host| {
            Box::pin(async move {
                let client = connect(&host).await;
                ask(&client, SET_UP).await.unwrap();
                ask(&client, "UPDATE resource SET value = 41 WHERE key = 'k'").await.unwrap();
                ask(&client, LOCK).await.unwrap();
                ask(&client, "UPDATE resource SET value = 666 WHERE key = 'k'").await.unwrap();
                host.sleep(ms(20_000)).await;
                assert_eq!(ask(&client, "COMMIT").await, Err("no answer".into()));
                let client = connect(&host).await;
                ask(&client, "UPDATE resource SET value = value + 1 WHERE key = 'k'").await.unwrap();
                assert_eq!(
                    ask(&client, "SELECT value FROM resource WHERE key = 'k'").await,
                    Ok(Some("42".into()))
                );
            })
        };
        let events = store_events(&play(&[script], vec![at(3000, "node-1", crash)]));
        let words: Vec<&str> = events.iter().map(|line| line.split_once(' ').unwrap().1).collect();
        assert_eq!(words, ["written 41", "created", "lost", "written 42"]);
    }
}

/// An enum, a function, the rules of a table, and a table whose rows a crash takes.
const JOBS: &str = "CREATE TYPE step AS ENUM ('new', 'done'); \
     CREATE FUNCTION is_new(step) RETURNS boolean LANGUAGE sql AS $$ SELECT $1 = 'new' $$; \
     CREATE TABLE job (id bigint PRIMARY KEY CHECK (id > 0), s step NOT NULL DEFAULT 'new', k text); \
     CREATE UNIQUE INDEX job_k ON job (k) WHERE is_new(s); INSERT INTO job VALUES (1, 'new', 'x'); \
     CREATE UNLOGGED TABLE leader (name text PRIMARY KEY); INSERT INTO leader VALUES ('me')";

#[test]
fn types_and_rules_survive_and_an_unlogged_table_is_empty() {
    let script: Script = |host| {
        Box::pin(async move {
            let client = connect(&host).await;
            ask(&client, JOBS).await.unwrap();
            host.sleep(ms(5000)).await;
            let client = connect(&host).await;
            let count = |table: &str| format!("SELECT count(*) FROM {table}");
            assert_eq!(ask(&client, &count("leader")).await, Ok(Some("0".into())));
            assert_eq!(
                ask(&client, &count("job WHERE is_new(s) AND s < 'done'")).await,
                Ok(Some("1".into()))
            );
            for (text, code) in [
                ("INSERT INTO job VALUES (2, 'new', 'x')", "23505"),
                ("INSERT INTO job VALUES (0)", "23514"),
                ("INSERT INTO job VALUES (2, 'old')", "22P02"),
            ] {
                assert_eq!(ask(&client, text).await, Err(code.into()), "{text}");
            }
            ask(&client, "INSERT INTO job VALUES (2, 'done', 'x')").await.unwrap();
        })
    };
    let crash = Action::Crash { power_loss: true, restart_after: Some(ms(500)) };
    play(&[script], vec![at(3000, "node-1", crash)]);
}

#[test]
fn now_is_when_the_transaction_began() {
    let script: Script = |host| {
        Box::pin(async move {
            let client = connect(&host).await;
            ask(&client, "BEGIN").await.unwrap();
            let began = ask(&client, "SELECT now()").await;
            host.sleep(ms(1680)).await;
            assert_eq!(ask(&client, "SELECT now()").await, began);
            assert!(ask(&client, "SELECT clock_timestamp()").await > began);
            ask(&client, "COMMIT").await.unwrap();
            assert!(ask(&client, "SELECT now()").await > began);
        })
    };
    play(&[script], Vec::new());
}

#[test]
fn statements_are_prepared_with_types_and_without() {
    let script: Script = |host| {
        Box::pin(async move {
            let client = connect(&host).await;
            ask(&client, SET_UP).await.unwrap();
            let set = "UPDATE resource SET value = $2 WHERE key = $1";
            let changed = client.execute_typed(set, &[(&"k", Type::TEXT), (&7_i64, Type::INT8)]).await;
            assert_eq!(changed.unwrap(), 1);
            let get = "SELECT sqrt(value) FROM resource";
            assert!(client.query_typed(get, &[]).await.is_err(), "no root is modelled");
            let get = "SELECT value, key, pg_backend_pid(), value = 7 FROM resource WHERE key = $1";
            let rows = client.query_typed(get, &[(&"k", Type::TEXT)]).await.unwrap();
            let row: (i64, &str, i32, bool) =
                (rows[0].get(0), rows[0].get(1), rows[0].get(2), rows[0].get(3));
            assert_eq!((row.0, row.1, row.3), (7, "k", true));
            let rows = client.query(get, &[&"k"]).await.unwrap();
            assert_eq!(rows[0].get::<_, i64>(0), 7);
            assert_eq!(client.execute(set, &[&"nobody", &1_i64]).await.unwrap(), 0);
        })
    };
    play(&[script], Vec::new());
}

#[test]
fn a_run_repeats_itself_on_both_engines() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let digest = || {
            let killed = at(3000, "client-1", Action::Crash { power_loss: false, restart_after: None });
            play_on(engine, &[holds_for_ever, locks_at_two_seconds, locks_at_two_seconds], vec![killed])
                .0
                .trace
                .digest
        };
        assert_eq!(digest(), digest());
    }
}
