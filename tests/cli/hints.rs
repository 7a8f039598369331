//! The hints of the command line for input that is probably a mistake.

use crate::binary::{directory, run_in};
use crate::support::{and, run};

#[test]
fn a_note_says_that_faults_grow_with_the_lease() {
    let noted = |settings: &[&str]| {
        let args = ["run", "--design", "single", "--scenario", "pause", "--seeds", "1", "--no-confirm"];
        let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        run(&and(&args, &set)).stderr
    };
    let note = noted(&["ttl=10s"]);
    assert!(note.contains("with `ttl=10s` also pause.for is 5s..20s"), "{note}");
    assert!(note.contains("--set pause.for=500ms..2s"), "{note}");
    for settings in [&["ttl=1s"][..], &["ttl=10s", "pause.for=500ms..2s"], &["clients=3"]] {
        let note = noted(settings);
        assert!(!note.contains("the outcome hardly changes"), "{settings:?}: {note}");
    }
}

#[test]
fn what_goes_with_a_program_alone_says_what_to_write_of_a_design() {
    let refused = |args: &[&str]| {
        let ended = run(&and(&["run", "--design", "redlock"], args));
        assert_eq!(ended.code, Some(2), "{args:?}");
        ended.stderr
    };
    let stores = refused(&["--stores", "3"]);
    assert!(stores.contains("--stores needs --program") && stores.contains("redlock{nodes=3}"), "{stores}");
    assert!(refused(&["--belief", "honest"]).contains("single{belief=honest}"));
}

#[test]
fn the_error_for_a_time_without_a_unit_names_the_units() {
    let ended = run(&["judge", "history.jsonl", "--uncertainty", "5"]);
    assert!(
        ended.stderr.contains("write `5ms` or `5s`") && !ended.stderr.contains("ttl"),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_empty_history_is_reported_in_a_sentence() {
    let here = directory();
    std::fs::write(here.path().join("empty.jsonl"), "").unwrap();
    let ended = run_in(here.path(), &["judge", "empty.jsonl"]);
    assert!(ended.stderr.contains("empty.jsonl: the file holds no line"), "{}", ended.stderr);
}

#[test]
fn the_options_of_a_run_stand_in_groups() {
    let help = run(&["run", "--help"]).stdout;
    for group in ["What is run", "A lock in another language", "How many runs", "What is expected", "Report"]
    {
        assert!(help.contains(&format!("\n{group}:\n")), "{group}: {help}");
    }
    let plain = help.split_once("\nOptions:\n").unwrap().1.split("\n\n").next().unwrap();
    assert!(plain.matches("--").count() <= 2, "outside of the groups: {plain}");
}

#[test]
fn the_name_of_a_library_is_answered_with_its_design() {
    for (name, design) in [
        ("redislock", "`single`"),
        ("redsync", "`redlock`"),
        ("kazoo", "`zookeeper`"),
        ("ShedLock", "`lease-row`"),
        ("pg_advisory_lock", "`advisory`"),
        ("pgbouncer", "`advisory-pooled`"),
    ] {
        let ended = run(&["run", "--design", name]);
        assert_eq!(ended.code, Some(2), "{name}");
        let answer = format!("there is no design `{name}`; the design");
        assert!(ended.stderr.contains(&answer) && ended.stderr.contains(design), "{}", ended.stderr);
    }
    let slip = run(&["run", "--design", "redlok"]).stderr;
    assert!(slip.contains("did you mean `redlock`?"), "{slip}");
}
