//! A primary with a standby: what each of them does, and what is left when one of them dies. What a standby and a waiting commit say was tried
//! on two servers of PostgreSQL 15.20.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Settings, Target};
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::run::Run;
use picklock_sim::store::Topology;
use tokio_postgres::NoTls;

use super::world::{Script, ask, at, connect_to, ms, play_in};
use crate::{FENCED, FSYNC, PORT, Postgres, SYNCHRONOUS_COMMIT};

const SET_UP: &str = "CREATE TABLE resource (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0); \
     INSERT INTO resource (key) VALUES ('k'); CREATE SEQUENCE s";
const ADD: &str = "UPDATE resource SET value = value + 1 WHERE key = 'k'";
const READ: &str = "SELECT value FROM resource WHERE key = 'k'";

/// Plays scripts on a pair of servers whose controller waits for 0.2 s: the events of servers, as "milliseconds host event".
fn play(settings: Settings, scripts: &[Script], injections: Vec<Injection>) -> Vec<String> {
    let pair = Topology { stores: 1, replicated: true };
    let of = |engine| {
        let store = (Postgres::default(), pair, settings.clone());
        let (run, finished) = play_in(engine, store, ms(30_000), scripts, injections.clone());
        assert!(finished.iter().all(|done| *done), "{engine:?}: {finished:?}: {:#?}", events(&run));
        run
    };
    let (one, again) = (of(Engine::Event), of(Engine::Event));
    assert_eq!(one.trace.digest, again.trace.digest);
    of(Engine::TURMOIL);
    events(&one)
}

fn events(run: &Run) -> Vec<String> {
    let said = |what: &What| match what {
        What::Created { key } => Some(format!("created {key}")),
        What::Deleted { key } => Some(format!("deleted {key}")),
        What::Lost { key } => Some(format!("lost {key}")),
        What::BecameLeader => Some("leads".to_owned()),
        What::ResourceWritten { value, .. } => Some(format!("written {value}")),
        What::ResourceRestored { value, .. } => Some(format!("restored {value}")),
        What::Noticed { text } => Some(text.clone()),
        _ => None,
    };
    let of = |event: &picklock_model::trace::Event| {
        let name = run.trace.host_name(event.host);
        Some(format!("{} {name} {}", event.at.as_millis(), said(&event.what)?))
    };
    run.trace.events.iter().filter_map(of).collect()
}

fn has(events: &[String], text: &str) -> bool {
    events.iter().any(|event| event.split_once(' ').is_some_and(|(_, event)| event == text))
}

fn with(words: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for (name, word) in words {
        settings.put(name, picklock_model::plan::Setting::Word((*word).to_owned()));
    }
    settings
}

fn die(restart_after: Option<Duration>) -> Action {
    Action::Crash { power_loss: false, restart_after }
}

fn cut(from: &[&str], lasts: Duration) -> Action {
    Action::Cut { to: Target::Hosts(from.iter().map(|host| (*host).to_owned()).collect()), both: true, lasts }
}

#[test]
fn a_standby_reads_and_refuses_what_a_real_one_refuses() {
    const ANSWERS: &[(&str, Result<Option<&str>, &str>)] = &[
        (READ, Ok(Some("1"))),
        ("INSERT INTO resource VALUES ('x', 2)", Err("25006")),
        ("SELECT * FROM resource FOR UPDATE", Err("25006")),
        ("SELECT * FROM resource FOR NO KEY UPDATE SKIP LOCKED", Err("25006")),
        (ADD, Err("25006")),
        ("DELETE FROM resource", Err("25006")),
        ("CREATE TABLE u (x int)", Err("25006")),
        ("CREATE TABLE IF NOT EXISTS resource (key text)", Err("25006")),
        ("CREATE SEQUENCE q", Err("25006")),
        ("SELECT nextval('s')", Err("25006")),
        ("LISTEN c", Err("25006")),
        ("UNLISTEN *", Ok(None)),
        ("NOTIFY c", Err("25006")),
        ("SELECT pg_notify('c', 'x')", Err("25006")),
        ("SELECT pg_try_advisory_lock(1)", Ok(Some("t"))),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", Err("0A000")),
        ("ROLLBACK", Ok(None)),
        ("SHOW transaction_read_only", Ok(Some("on"))),
        ("SHOW in_hot_standby", Ok(Some("on"))),
        ("SELECT pg_is_in_recovery()", Ok(Some("t"))),
    ];
    play(
        Settings::default(),
        &[|host| {
            Box::pin(async move {
                let primary = connect_to(&host, "node-1").await;
                ask(&primary, SET_UP).await.unwrap();
                ask(&primary, ADD).await.unwrap();
                assert_eq!(ask(&primary, "SELECT pg_promote()").await, Err("55000".into()));
                assert_eq!(ask(&primary, "SHOW transaction_read_only").await, Ok(Some("off".into())));
                host.sleep(ms(50)).await;
                let standby = connect_to(&host, "standby-1").await;
                for (sql, answer) in ANSWERS {
                    let answer = answer.map(|text| text.map(str::to_owned)).map_err(str::to_owned);
                    assert_eq!(ask(&standby, sql).await, answer, "{sql}");
                }
            })
        }],
        Vec::new(),
    );
}

#[test]
fn a_promoted_standby_has_what_it_was_sent_and_no_lock() {
    let events = play(
        Settings::default(),
        &[|host| {
            Box::pin(async move {
                let primary = connect_to(&host, "node-1").await;
                ask(&primary, SET_UP).await.unwrap();
                ask(&primary, "CREATE TABLE lock_row (key text PRIMARY KEY)").await.unwrap();
                ask(&primary, "INSERT INTO lock_row VALUES ('row')").await.unwrap();
                ask(&primary, ADD).await.unwrap();
                ask(&primary, "SELECT pg_advisory_lock(7)").await.unwrap();
                host.sleep(ms(500)).await;
                let standby = connect_to(&host, "standby-1").await;
                host.sleep(ms(1_000)).await;
                // The session goes on.
                assert_eq!(ask(&standby, READ).await, Ok(Some("1".into())));
                assert_eq!(ask(&standby, "SELECT pg_try_advisory_lock(7)").await, Ok(Some("t".into())));
                assert_eq!(ask(&standby, ADD).await, Ok(None));
                assert_eq!(ask(&standby, "SELECT pg_promote()").await, Err("55000".into()));
            })
        }],
        vec![at(1_000, "node-1", die(None))],
    );
    for text in [
        "standby-1 created row",
        "controller-1 promotes standby-1",
        "standby-1 restored 1",
        "standby-1 leads",
        "standby-1 written 2",
    ] {
        assert!(has(&events, text), "{text}: {events:#?}");
    }
    assert!(!has(&events, "standby-1 created k"), "{events:#?}");
}

/// A commit that its standby cannot confirm, in three sessions.
fn waits_for_the_standby(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let other = connect_to(&host, "node-1").await;
        ask(&other, SET_UP).await.unwrap();
        ask(&other, "SET synchronous_commit = local; SET lock_timeout = '300ms'").await.unwrap();
        host.sleep(ms(1_000)).await;
        let writer = connect_to(&host, "node-1").await;
        // Without a row that is locked or changed, nothing waits.
        for sql in ["BEGIN", "SELECT pg_advisory_xact_lock(1)", "COMMIT", "BEGIN", READ, "COMMIT"] {
            ask(&writer, sql).await.unwrap();
        }
        // Neither time-out ends the wait.
        ask(&writer, "SET lock_timeout = '500ms'; SET statement_timeout = '500ms'").await.unwrap();
        let cancel = writer.cancel_token();
        let waiting = host.spawn(async move {
            ask(&writer, "BEGIN").await.unwrap();
            ask(&writer, "SELECT value FROM resource FOR UPDATE").await.unwrap();
            ask(&writer, ADD).await.unwrap();
            assert_eq!(ask(&writer, "COMMIT").await, Ok(None));
        });
        host.sleep(ms(1_000)).await;
        // It is in the log, nobody sees it, and its locks are held.
        assert_eq!(ask(&other, READ).await, Ok(Some("0".into())));
        assert_eq!(ask(&other, ADD).await, Err("55P03".into()));
        let stream = host.connect("node-1", PORT).await.unwrap();
        cancel.cancel_query_raw(stream, NoTls).await.unwrap();
        host.sleep(ms(100)).await;
        assert_eq!(ask(&other, READ).await, Ok(Some("1".into())), "who cancels the wait has committed here");
        drop(waiting);
        // A statement outside of a block waits as well, and ends when the standby is back.
        let late = connect_to(&host, "node-1").await;
        let began = host.monotonic();
        assert_eq!(ask(&late, ADD).await, Ok(None));
        let took = host.monotonic().since(began);
        assert!((ms(1_000)..ms(10_000)).contains(&took), "{took:?}");
    })
}

#[test]
fn a_commit_waits_for_its_synchronous_standby_until_it_is_cancelled() {
    let standby = ["standby-1"];
    play(
        with(&[(SYNCHRONOUS_COMMIT.name, "on")]),
        &[waits_for_the_standby],
        vec![at(900, "node-1", cut(&standby, ms(5_000)))],
    );
}

#[test]
fn what_waited_for_a_standby_is_committed_on_the_server_that_comes_back() {
    play(
        with(&[(SYNCHRONOUS_COMMIT.name, "on")]),
        &[|host| {
            Box::pin(async move {
                let writer = connect_to(&host, "node-1").await;
                ask(&writer, SET_UP).await.unwrap();
                host.sleep(ms(1_000)).await;
                assert_eq!(ask(&writer, ADD).await, Err("no answer".into()));
                host.sleep(ms(2_000)).await;
                let again = connect_to(&host, "node-1").await;
                assert_eq!(ask(&again, READ).await, Ok(Some("1".into())));
            })
        }],
        vec![
            at(900, "node-1", cut(&["standby-1", "controller-1"], ms(20_000))),
            at(1_500, "node-1", die(Some(ms(500)))),
        ],
    );
}

/// Adds on the primary, from whose side the others are cut off after a second, until that fails.
fn adds_until_it_fails(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let began = host.monotonic();
        let primary = connect_to(&host, "node-1").await;
        ask(&primary, SET_UP).await.unwrap();
        while host.monotonic().since(began) < ms(3_000) {
            if ask(&primary, ADD).await.is_err() {
                break;
            }
            host.sleep(ms(20)).await;
        }
        host.sleep(ms(1_000)).await;
    })
}

#[test]
fn a_primary_that_is_not_fenced_goes_on_beside_the_new_one() {
    let events = play(
        Settings::default(),
        &[adds_until_it_fails],
        vec![at(1_000, "node-1", cut(&["standby-1", "controller-1"], ms(5_000)))],
    );
    assert!(has(&events, "standby-1 leads"), "{events:#?}");
    let last = events.iter().rfind(|event| event.contains("node-1 written")).unwrap();
    assert!(last.split(' ').next().unwrap().parse::<u64>().unwrap() > 2_900, "{last}");
}

#[test]
fn a_fenced_primary_has_stopped_before_the_new_one_leads() {
    let events = play(
        with(&[(FENCED.name, "yes")]),
        &[adds_until_it_fails],
        vec![at(1_000, "node-1", cut(&["standby-1", "controller-1"], ms(5_000)))],
    );
    let leads = events.iter().position(|event| event.ends_with("standby-1 leads")).unwrap();
    let last = events.iter().rposition(|event| event.contains("node-1 written")).unwrap();
    assert!(last < leads, "{events:#?}");
}

/// A primary that is fenced lets nobody in.
async fn is_refused(host: &Host) {
    let stream = host.connect("node-1", PORT).await.unwrap();
    let refused = tokio_postgres::Config::new().user("x").connect_raw(stream, NoTls).await;
    assert_eq!(refused.err().unwrap().code().unwrap().code(), "57P03");
}

#[test]
fn a_fenced_primary_that_comes_back_serves_nobody() {
    play(
        with(&[(FENCED.name, "yes")]),
        &[|host| {
            Box::pin(async move {
                host.sleep(ms(4_000)).await;
                is_refused(&host).await;
                let standby = connect_to(&host, "standby-1").await;
                ask(&standby, SET_UP).await.unwrap();
            })
        }],
        vec![at(1_000, "node-1", die(Some(ms(1_000))))],
    );
}

#[test]
fn a_fenced_primary_that_has_slept_does_nothing_for_those_who_waited() {
    let holds: Script = |host| {
        Box::pin(async move {
            let primary = connect_to(&host, "node-1").await;
            ask(&primary, SET_UP).await.unwrap();
            ask(&primary, "BEGIN").await.unwrap();
            ask(&primary, ADD).await.unwrap();
            host.sleep(ms(1_500)).await;
            // The primary sleeps: it learns of this end, before anything else, when it wakes.
            drop(primary);
            host.sleep(ms(3_000)).await;
        })
    };
    let waits: Script = |host| {
        Box::pin(async move {
            host.sleep(ms(500)).await;
            let primary = connect_to(&host, "node-1").await;
            assert_eq!(ask(&primary, ADD).await, Err("57P01".into()));
        })
    };
    let events = play(
        with(&[(FENCED.name, "yes")]),
        &[holds, waits],
        vec![at(1_000, "node-1", Action::Pause { lasts: ms(2_000) })],
    );
    assert!(has(&events, "standby-1 leads") && !has(&events, "node-1 written 1"), "{events:#?}");
}

#[test]
fn a_commit_that_waits_when_its_primary_is_fenced_is_no_error() {
    play(
        with(&[(FENCED.name, "yes"), (SYNCHRONOUS_COMMIT.name, "on")]),
        &[|host| {
            Box::pin(async move {
                let primary = connect_to(&host, "node-1").await;
                ask(&primary, SET_UP).await.unwrap();
                host.sleep(ms(1_000)).await;
                // A warning, and the end of the connection: it is committed here.
                assert_eq!(ask(&primary, ADD).await, Err("no answer".into()));
            })
        }],
        vec![at(900, "node-1", cut(&["standby-1", "controller-1"], ms(5_000)))],
    );
}

#[test]
fn a_standby_that_has_more_than_its_primary_is_refused() {
    play(
        with(&[(FSYNC.name, "off")]),
        &[|host| {
            Box::pin(async move {
                let primary = connect_to(&host, "node-1").await;
                ask(&primary, SET_UP).await.unwrap();
                ask(&primary, ADD).await.unwrap();
                // By then the standby, which has kept all, has asked again.
                host.sleep(ms(5_000)).await;
                let again = connect_to(&host, "node-1").await;
                ask(&again, "CREATE TABLE new (x int)").await.unwrap();
                host.sleep(ms(500)).await;
                let standby = connect_to(&host, "standby-1").await;
                assert_eq!(ask(&standby, READ).await, Ok(Some("1".into())));
                assert_eq!(ask(&standby, "SELECT x FROM new").await, Err("42P01".into()));
            })
        }],
        vec![
            at(1_000, "node-1", Action::Crash { power_loss: true, restart_after: Some(ms(50)) }),
            at(2_000, "standby-1", die(Some(ms(100)))),
        ],
    );
}

#[test]
fn a_fenced_primary_without_data_serves_nobody_after_a_restart() {
    play(
        with(&[(FENCED.name, "yes")]),
        &[|host| {
            Box::pin(async move {
                host.sleep(ms(2_010)).await;
                is_refused(&host).await;
            })
        }],
        vec![
            at(900, "node-1", cut(&["controller-1"], ms(20_000))),
            at(1_000, "node-1", die(Some(ms(1_000)))),
        ],
    );
}

#[test]
fn a_controller_that_dies_before_the_promotion_comes_back_to_it() {
    let events = play(
        Settings::default(),
        &[|host| {
            Box::pin(async move {
                host.sleep(ms(6_000)).await;
                let standby = connect_to(&host, "standby-1").await;
                ask(&standby, SET_UP).await.unwrap();
            })
        }],
        vec![
            at(900, "controller-1", cut(&["standby-1", "node-1"], ms(2_000))),
            at(2_000, "controller-1", die(Some(ms(500)))),
        ],
    );
    assert!(has(&events, "standby-1 leads"), "{events:#?}");
}

#[test]
fn an_administrator_ends_the_session_that_has_something_locked() {
    let events = play(
        Settings::default(),
        &[|host| {
            Box::pin(async move {
                let primary = connect_to(&host, "node-1").await;
                ask(&primary, SET_UP).await.unwrap();
                ask(&primary, "SELECT pg_advisory_lock(hashtext('held'))").await.unwrap();
                host.sleep(ms(1_500)).await;
                let other = connect_to(&host, "node-1").await;
                let sql = "SELECT pg_try_advisory_lock(hashtext('held'))";
                assert_eq!(ask(&other, sql).await, Ok(Some("t".into())));
                assert_eq!(ask(&primary, "SELECT 1").await, Err("no answer".into()));
            })
        }],
        vec![at(1_000, "node-1", Action::Own { name: "end-session".to_owned(), count: 1 })],
    );
    assert!(has(&events, "node-1 deleted held"), "{events:#?}");
}

#[test]
fn a_standby_that_comes_back_catches_up() {
    play(
        Settings::default(),
        &[|host| {
            Box::pin(async move {
                let primary = connect_to(&host, "node-1").await;
                ask(&primary, SET_UP).await.unwrap();
                host.sleep(ms(1_500)).await;
                ask(&primary, ADD).await.unwrap();
                ask(&primary, ADD).await.unwrap();
                host.sleep(ms(8_000)).await;
                let standby = connect_to(&host, "standby-1").await;
                assert_eq!(ask(&standby, READ).await, Ok(Some("2".into())));
            })
        }],
        vec![at(1_000, "standby-1", die(Some(ms(1_000))))],
    );
}

/// Adds three times, the last one right before the primary loses its power, and looks what is left.
fn counts_what_is_left(host: Host, left: &'static str) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let primary = connect_to(&host, "node-1").await;
        ask(&primary, SET_UP).await.unwrap();
        ask(&primary, ADD).await.unwrap();
        host.sleep(ms(900)).await;
        ask(&primary, ADD).await.unwrap();
        host.sleep(ms(2_000)).await;
        let again = connect_to(&host, "node-1").await;
        let answer = ask(&again, READ).await;
        assert_eq!(answer, if left.is_empty() { Err("42P01".into()) } else { Ok(Some(left.into())) });
    })
}

#[test]
fn what_is_left_after_a_loss_of_power_is_what_was_synced() {
    let dark = || vec![at(960, "node-1", Action::Crash { power_loss: true, restart_after: Some(ms(500)) })];
    let alone = |words: &[(&str, &str)], script: Script| {
        let store = (Postgres::default(), Topology::independent(1), with(words));
        let (run, finished) = play_in(Engine::Event, store, ms(30_000), &[script], dark());
        assert_eq!(finished, [true]);
        events(&run)
    };
    assert!(
        !alone(&[], |host| counts_what_is_left(host, "2")).iter().any(|event| event.contains("restored"))
    );
    let events = alone(&[(SYNCHRONOUS_COMMIT.name, "off")], |host| counts_what_is_left(host, "1"));
    assert!(has(&events, "node-1 restored 1"), "{events:#?}");
    alone(&[(FSYNC.name, "off")], |host| counts_what_is_left(host, ""));
}

#[test]
fn a_number_that_was_drawn_in_an_open_transaction_is_drawn_again_after_a_crash() {
    let alone = (Postgres::default(), Topology::independent(1), Settings::default());
    let crash = at(1_000, "node-1", die(Some(ms(500))));
    let script: Script = |host| {
        Box::pin(async move {
            let first = connect_to(&host, "node-1").await;
            ask(&first, "CREATE SEQUENCE s; CREATE SEQUENCE t").await.unwrap();
            assert_eq!(ask(&first, "SELECT nextval('t')").await, Ok(Some("1".into())));
            ask(&first, "BEGIN").await.unwrap();
            assert_eq!(ask(&first, "SELECT nextval('s')").await, Ok(Some("1".into())));
            host.sleep(ms(2_000)).await;
            let again = connect_to(&host, "node-1").await;
            assert_eq!(ask(&again, "SELECT nextval('s')").await, Ok(Some("1".into())));
            // So many numbers more are in the log as were drawn.
            assert_eq!(ask(&again, "SELECT nextval('t')").await, Ok(Some("34".into())));
        })
    };
    let (_, finished) = play_in(Engine::Event, alone, ms(30_000), &[script], vec![crash]);
    assert_eq!(finished, [true]);
}

#[test]
fn a_session_that_is_ended_while_its_commit_waits_has_committed() {
    play(
        with(&[(SYNCHRONOUS_COMMIT.name, "on")]),
        &[|host| {
            Box::pin(async move {
                let other = connect_to(&host, "node-1").await;
                ask(&other, SET_UP).await.unwrap();
                host.sleep(ms(1_000)).await;
                let writer = connect_to(&host, "node-1").await;
                let pid = ask(&writer, "SELECT pg_backend_pid()").await.unwrap().unwrap();
                let waiting = host.spawn(async move {
                    assert_eq!(ask(&writer, ADD).await, Err("no answer".into()));
                });
                host.sleep(ms(200)).await;
                ask(&other, &format!("SELECT pg_terminate_backend({pid})")).await.unwrap();
                assert_eq!(ask(&other, READ).await, Ok(Some("1".into())));
                host.sleep(ms(50)).await;
                drop(waiting);
            })
        }],
        vec![at(900, "node-1", cut(&["standby-1"], ms(5_000)))],
    );
}
