//! Clients that send anything in any order: the machine never panics, and its events of locks make sense.

use picklock_model::time::{Monotonic, WallTime};
use picklock_model::trace::What;
use picklock_sim::host::Origin;
use proptest::prelude::*;

use super::talk::frame;
use crate::{Guarded, Machine, Now};

const STATEMENTS: [&str; 40] = [
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SELECT value FROM resource WHERE key = 'a' FOR UPDATE",
    "SELECT value FROM resource WHERE key = 'b' FOR UPDATE",
    "SELECT value FROM resource FOR UPDATE",
    "SELECT value FROM resource FOR UPDATE SKIP LOCKED",
    "SELECT value FROM resource WHERE key = 'a' FOR UPDATE NOWAIT",
    "UPDATE resource SET value = value + 1 WHERE key = 'a'",
    "UPDATE resource SET value = value + 1",
    "DELETE FROM resource WHERE key = 'b'",
    "INSERT INTO resource VALUES ('b', 1)",
    "INSERT INTO resource VALUES ('b', 1), ('a', 1) ON CONFLICT DO NOTHING",
    "SET lock_timeout = 300; BEGIN; SELECT nothing",
    "BEGIN; DELETE FROM resource WHERE key = 'a'; INSERT INTO resource VALUES ('a', 5)",
    "SET idle_in_transaction_session_timeout = 700",
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT value FROM resource FOR NO KEY UPDATE",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "RELEASE s",
    "SELECT value FROM resource WHERE key = 'a' FOR SHARE",
    "SELECT key FROM resource ORDER BY value, key LIMIT 1 FOR UPDATE SKIP LOCKED",
    "UPDATE resource SET value = 2 WHERE key = (SELECT key FROM resource ORDER BY key FOR UPDATE LIMIT 1) RETURNING key",
    "UPDATE resource SET key = 'c' WHERE key = 'a'",
    "INSERT INTO resource VALUES ('a', 1) ON CONFLICT (key) DO UPDATE SET value = resource.value + excluded.value",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_advisory_lock(2), pg_advisory_xact_lock(1)",
    "SELECT pg_advisory_lock_shared(1)",
    "SELECT pg_try_advisory_lock(1), pg_try_advisory_xact_lock_shared(2)",
    "SELECT hashtext('jobs')",
    "SELECT pg_try_advisory_lock(-1679774495)",
    "SELECT pg_advisory_xact_lock(2), value FROM resource FOR UPDATE",
    "SELECT pg_advisory_unlock(1), pg_advisory_unlock_shared(1), pg_advisory_unlock(2)",
    "SELECT pg_advisory_unlock_all()",
    "LISTEN c; NOTIFY c, 'x'",
    "DISCARD ALL",
    "SELECT pg_terminate_backend(1002), pg_cancel_backend(1003)",
    "SELECT pg_cancel_backend(pg_backend_pid())",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SET statement_timeout = 450",
];

fn now(ms: u64) -> Now {
    Now { wall: WallTime(ms * 1_000_000), monotonic: Monotonic(ms * 1_000_000) }
}

fn query(sql: &str) -> Vec<u8> {
    frame(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

const STARTUP: &[u8] = b"\0\0\0\x10\0\x03\0\0user\0p\0\0";

/// Four sessions execute statements, each after so many ms; with a number beyond the statements a session is replaced by another one. What
/// the trace says of locks makes sense.
fn play(acts: &[(usize, usize, u64)]) {
    let mut machine = Machine::new(Guarded::default(), []);
    let mut sessions: Vec<_> = (0..4).map(|_| machine.connect()).collect();
    for id in &sessions {
        machine.receive(*id, Origin::default(), STARTUP, now(0));
    }
    let set_up = "CREATE TABLE resource (key text PRIMARY KEY, value bigint); INSERT INTO resource VALUES ('a', 1), ('b', 1)";
    machine.receive(sessions[0], Origin::default(), &query(set_up), now(0));
    let mut ms = 0;
    for &(who, act, later) in acts {
        ms += later;
        machine.tick(now(ms));
        match STATEMENTS.get(act) {
            Some(sql) => machine.receive(sessions[who], Origin::default(), &query(sql), now(ms)),
            None => {
                machine.disconnect(sessions[who], now(ms));
                sessions[who] = machine.connect();
                machine.receive(sessions[who], Origin::default(), STARTUP, now(ms));
            }
        }
    }
    for id in &sessions {
        machine.disconnect(*id, now(ms));
    }
    assert_eq!(machine.deadline(), None);
    let mut locked: Vec<String> = Vec::new();
    for (_, what) in machine.take_effects().events {
        match what {
            What::Created { key } => {
                assert!(!locked.contains(&key.to_string()), "{} is locked twice", key);
                locked.push(key.to_string());
            }
            What::Deleted { key } => {
                let at = locked.iter().position(|held| *held == key.as_str());
                assert!(at.is_some(), "{} was not locked", key);
                locked.swap_remove(at.unwrap());
            }
            _ => {}
        }
    }
    assert!(locked.is_empty(), "{:?} are locked for ever", locked);
}

proptest! {
    #[test]
    fn locks_are_reported_one_after_another(
        acts in prop::collection::vec((0..4_usize, 0..STATEMENTS.len() + 2, 0..400_u64), 0..60),
    ) {
        play(&acts);
    }

    #[test]
    fn no_bytes_are_too_strange(
        parts in prop::collection::vec((prop::sample::select(b"QPBDECSHX".to_vec()), "[a-z0-9$' =(),]{0,12}\\PC{0,3}", any::<bool>()), 0..20),
        raw in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut machine = Machine::new(Guarded::default(), []);
        let id = machine.connect();
        machine.receive(id, Origin::default(), STARTUP, now(0));
        for (kind, text, whole) in parts {
            let content = if whole { [text.as_bytes(), b"\0select 1\0\0\0\0\0\0\0"].concat() } else { text.into_bytes() };
            machine.receive(id, Origin::default(), &frame(kind, &content), now(0));
        }
        machine.receive(id, Origin::default(), &raw, now(0));
        let fresh = machine.connect();
        machine.receive(fresh, Origin::default(), &raw, now(0));
    }
}

/// The number of a statement.
fn act(sql: &str) -> usize {
    STATEMENTS.iter().position(|statement| *statement == sql).unwrap()
}

#[test]
fn who_is_cancelled_as_its_wait_ends_goes_on_to_wait_for_what_it_asks_next() {
    play(&[
        (1, act("BEGIN; DELETE FROM resource WHERE key = 'a'; INSERT INTO resource VALUES ('a', 5)"), 0),
        (3, act("SELECT pg_advisory_lock(1)"), 0),
        (2, act("SELECT value FROM resource WHERE key = 'a' FOR SHARE"), 0),
        (2, act("SELECT pg_advisory_lock(1)"), 0),
        (0, act("SELECT pg_terminate_backend(1002), pg_cancel_backend(1003)"), 0),
    ]);
}
