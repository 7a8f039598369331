//! The recorders of the guide write what `picklock judge` reads, and the guide shows them as they are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use picklock_testing::skip;

use crate::binary::{directory, run_in};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/recorders")
}

/// Runs a command; false if there is no such program, or it is one that only says so.
fn runs(within: &Path, program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.current_dir(within).args(args).stdin(Stdio::null());
    // Go's cache, where the test's home may be none.
    command.env("GOCACHE", within.join("cache")).env("GOFLAGS", "-mod=mod").env("GO111MODULE", "off");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    match command.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => panic!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => false,
    }
}

fn is_there(program: &str, version: &str) -> bool {
    let there = Command::new(program).arg(version).output().is_ok_and(|output| output.status.success());
    if !there {
        skip(format_args!("{program} is not installed: its recorder is not tested"));
    }
    there
}

/// Two uses of a recorder, one after the other as two processes, judged.
fn judged(within: &Path, program: &str, args: &[&str]) {
    for _ in 0..2 {
        assert!(runs(within, program, args), "{program}");
    }
    let ended = run_in(within, &["judge", "history.jsonl", "--uncertainty", "1us"]);
    assert_eq!(ended.code, Some(0), "{program}: {}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("8 lines, 2 hosts, 1 key, 2 grants"), "{}", ended.stdout);
}

fn file(name: &str) -> String {
    root().join(name).display().to_string()
}

#[test]
fn what_a_recorder_in_python_writes_is_judged() {
    let here = directory();
    if is_there("python3", "--version") {
        judged(here.path(), "python3", &[&file("use.py"), "history.jsonl"]);
    }
}

#[test]
fn what_a_recorder_in_rust_writes_is_judged() {
    let here = directory();
    if is_there("rustc", "--version") {
        assert!(runs(here.path(), "rustc", &["--edition", "2024", "-o", "use", &file("use.rs")]));
        let program = here.path().join("use").display().to_string();
        judged(here.path(), &program, &["history.jsonl"]);
    }
}

#[test]
fn what_a_recorder_in_java_writes_is_judged() {
    let here = directory();
    if is_there("javac", "-version") {
        assert!(runs(here.path(), "javac", &["-d", ".", &file("Recorder.java"), &file("Use.java")]));
        judged(here.path(), "java", &["-cp", ".", "Use", "history.jsonl"]);
    }
}

#[test]
fn what_a_recorder_in_go_writes_is_judged() {
    let here = directory();
    if is_there("go", "version") {
        assert!(runs(here.path(), "go", &["build", "-o", "use", &file("recorder.go"), &file("use.go")]));
        let program = here.path().join("use").display().to_string();
        judged(here.path(), &program, &["history.jsonl"]);
    }
}

/// The output of a Redis 7.0 when one of two clients of one machine deleted the lock of the other, and the notes of the clients.
#[test]
fn what_monitor_printed_says_whose_record_was_deleted() {
    let here = directory();
    if !is_there("python3", "--version") {
        return;
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/monitor");
    let printed = std::fs::File::open(kept.join("monitor.txt")).unwrap();
    let output = Command::new("python3")
        .args([&file("monitor.py"), "redis-1", "lock:"])
        .stdin(printed)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut history = std::fs::read_to_string(kept.join("clients.jsonl")).unwrap();
    history += &String::from_utf8(output.stdout).unwrap();
    std::fs::write(here.path().join("history.jsonl"), &history).unwrap();
    let ended = run_in(here.path(), &["judge", "history.jsonl"]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("I4 ownership: violated 1 time"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("web-1 (section 1) deleted the record of `1` on redis-1"),
        "{}",
        ended.stdout
    );
    // By one clock the two held at once for ten microseconds; by two nobody knows.
    assert!(ended.stdout.contains("I1 mutual-exclusion: violated 1 time"), "{}", ended.stdout);
    let apart: String =
        history.lines().filter(|line| !line.contains("clock")).map(|line| format!("{line}\n")).collect();
    std::fs::write(here.path().join("apart.jsonl"), apart).unwrap();
    let ended = run_in(here.path(), &["judge", "apart.jsonl", "--uncertainty", "100us"]);
    assert!(ended.stdout.contains("I1 mutual-exclusion: unknown"), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("I4 ownership: violated 1 time"), "{}", ended.stdout);
}

#[test]
fn the_guide_shows_the_recorders_as_they_are() {
    let page = root().join("../../docs/guide/judge.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in ["recorder.py", "recorder.rs", "Recorder.java", "recorder.go"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        assert!(page.contains(text.trim_end()), "{name} is not in the guide as it is");
    }
}
