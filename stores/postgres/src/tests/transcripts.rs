//! The conversations of `scripts/`: what PostgreSQL 15 has answered, word for word, and what the machine answers.
//!
//! `PICKLOCK_FOUND=DIRECTORY` has the answers of the machine written there, to be laid beside the scripts.

use std::path::PathBuf;

use picklock_model::ids::Key;
use picklock_model::trace::What;

use super::talk::{Tame, play};

pub(super) fn scripts() -> Vec<(PathBuf, String)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/scripts");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(file).unwrap())).collect()
}

/// Shows the first line in which two transcripts differ.
pub(super) fn assert_same(name: &str, expected: &str, found: &str) {
    for (at, (left, right)) in expected.lines().zip(found.lines()).enumerate() {
        let from = expected.lines().take(at).collect::<Vec<_>>();
        let before = from[from.len().saturating_sub(6)..].join("\n");
        assert!(left == right, "{name}, line {}:\n{before}\nexpected: {left}\nfound:    {right}", at + 1);
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "{name}: one of them says more");
}

#[test]
fn the_machine_says_what_postgres_said() {
    let played: Vec<_> =
        scripts().into_iter().map(|(file, script)| (file, play(&mut Tame::new(), &script), script)).collect();
    if let Some(dir) = std::env::var_os("PICKLOCK_FOUND").map(PathBuf::from) {
        for (file, found, _) in &played {
            std::fs::write(dir.join(file.file_name().unwrap()), found).unwrap();
        }
    }
    for (file, found, expected) in played {
        assert_same(&file.display().to_string(), &expected, &found);
    }
}

#[test]
fn locks_and_the_guarded_rows_are_reported() {
    let mut server = Tame::new();
    play(
        &mut server,
        "a: CREATE TABLE resource (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0)\n\
         a: INSERT INTO resource (key) VALUES ('k')\n\
         a: BEGIN\n\
         a: SELECT value FROM resource WHERE key = 'k' FOR UPDATE\n\
         a: UPDATE resource SET value = 7 WHERE key = 'k'\n\
         a: UPDATE resource SET value = value + 1 WHERE key = 'k'\n\
         b: SELECT value FROM resource WHERE key = 'k'\n\
         b> SELECT key FROM resource WHERE key = 'k' FOR UPDATE\n\
         a: COMMIT\n\
         b<\n",
    );
    let key = Key::new("k");
    let read = |value| What::ResourceRead { key: key.clone(), value, token: None };
    let (locked, unlocked) = (What::Created { key: key.clone() }, What::Deleted { key: key.clone() });
    let written = What::ResourceWritten { key: key.clone(), value: 8, token: None };
    let expected = [locked.clone(), read(0), read(0), written, unlocked.clone(), locked, unlocked];
    assert_eq!(server.events, expected);
}

#[test]
fn what_was_rolled_back_was_not_written() {
    let mut server = Tame::new();
    play(
        &mut server,
        "a: CREATE TABLE resource (key text PRIMARY KEY, value bigint)\n\
         a: INSERT INTO resource VALUES ('k', 1)\n\
         a: BEGIN; UPDATE resource SET value = 7 WHERE key = 'k'; ROLLBACK\n",
    );
    assert_eq!(server.events, []);
}

#[test]
fn an_advisory_lock_that_a_session_has_alone_is_reported() {
    let mut server = Tame::new();
    play(
        &mut server,
        "a: SELECT pg_advisory_lock(7), pg_advisory_lock(7), pg_advisory_lock_shared(8)\n\
         b> SELECT pg_advisory_lock(7)\n\
         a: SELECT pg_advisory_unlock(7)\n\
         a: SELECT pg_advisory_unlock(7)\n\
         b<\n\
         a: BEGIN; SELECT pg_advisory_xact_lock(1, 2); ROLLBACK\n\
         b!\n",
    );
    let (taken, given) =
        (|key| What::Created { key: Key::new(key) }, |key| What::Deleted { key: Key::new(key) });
    let (seven, pair) = ("advisory 7", "advisory 1,2");
    let expected = [taken(seven), given(seven), taken(seven), taken(pair), given(pair), given(seven)];
    assert_eq!(server.events, expected);
}

#[test]
fn what_is_not_modelled_is_reported_with_its_statement_and_the_remedy() {
    for (sql, what) in [
        ("SHOW search_path", "the parameter search_path"),
        ("SELECT current_setting('work_mem')", "the parameter work_mem"),
        ("SET app.tenant = 'me'", "the parameter app.tenant"),
        ("SELECT count(*) FROM pg_locks", "the table pg_locks of the catalogue"),
        ("SELECT typcategory FROM pg_type", "the column typcategory of pg_type"),
        ("SELECT 'pg_class'::regclass", "the table pg_class of the catalogue"),
        ("SELECT current_schema", "current_schema"),
        ("SELECT user", "user"),
        ("SELECT 1 << 3", "the operator <<"),
        ("SELECT 7 & 2", "the operator &"),
        ("SELECT E'me'", "a literal that begins with E"),
        ("COMMENT ON TABLE jobs IS 'me'", "COMMENT"),
        ("SET search_path = public, pg_catalog", "a list of values of search_path"),
        ("SELECT interval '1 hour' / 2", "interval / integer"),
        ("SELECT 'now'::timestamptz", "the timestamp with time zone now"),
        ("SELECT pg_terminate_backend(0, 1)", "function pg_terminate_backend of these arguments"),
    ] {
        let masked = match sql.split('\'').collect::<Vec<_>>()[..] {
            [before, _, after] => format!("{before}'..'{after}"),
            _ => sql.to_owned(),
        };
        let mut server = Tame::new();
        let said = play(&mut server, &format!("a: {sql}\n"));
        let message = format!("0A000 {what} is not modelled (in `{masked}`); try --servers real");
        assert!(said.contains(&message), "{message} in {said}");
        let prepared =
            play(&mut server, &format!("b~ parse s {sql}\nb~ bind p s t\nb~ execute p 0\nb~ sync\n"));
        assert!(prepared.contains(&message), "{message} in {prepared}");
        let name = format!("{what} (in `{masked}`)");
        assert_eq!(server.events, [What::NotModelled { name: name.clone() }, What::NotModelled { name }]);
    }
    // PostgreSQL has neither of these.
    for sql in ["SHOW serch_path", "SELECT typcategry FROM jobs", "SELECT curent_schema"] {
        let mut server = Tame::new();
        let said = play(&mut server, &format!("a: {sql}\n"));
        assert!(!said.contains("not modelled") && server.events.is_empty(), "{said}");
    }
}
