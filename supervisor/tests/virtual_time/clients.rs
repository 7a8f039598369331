//! Client libraries for Redis, unmodified, against a toy store.

use std::{path::PathBuf, process::Command};

use picklock_supervisor::{Setup, Status};
use picklock_testing::skip;

use crate::driver::{Story, python_with_redis, run, runtime, setup};

/// Runs a setup again and again: the steps must be the same.
fn same_each_time(setup: &Setup, lines: &[&str], times: usize) -> Story {
    let first = run(setup, lines);
    for _ in 1..times {
        let again = run(setup, lines);
        let differs = first.steps.iter().zip(&again.steps).find(|(one, other)| one != other);
        assert_eq!(differs, None);
        assert_eq!(first.steps.len(), again.steps.len());
    }
    first
}

const REDIS_PY: &str = "import redis, sys
r, lock = redis.Redis(host='store'), None
while line := sys.stdin.readline().split():
    if line[0] == 'acquire':
        lock = r.lock(line[1], timeout=1.0, sleep=0.05)
        print('granted' if lock.acquire(blocking_timeout=int(line[2]) / 1000) else 'refused', flush=True)
    else:
        try:
            lock.release()
            print('released', flush=True)
        except redis.exceptions.RedisError as e:
            print('error', e, flush=True)";

#[test]
fn redis_py_takes_and_releases_a_lock() {
    let Some(setup) = python_with_redis(REDIS_PY, 1) else { return };
    let lines = ["acquire lock:1 5000", "acquire lock:1 200", "release"];
    let story = same_each_time(&setup, &lines, 3);
    assert_eq!(story.printed()[..2], ["granted", "refused"], "{story:#?}");
    assert_eq!(story.status, Some(Status::Code(0)));
    assert!(story.says("sent *"), "{story:#?}");
}

/// The same three commands for each language, and what a lock answers.
const LINES: [&str; 3] = ["acquire lock:1 5000", "acquire lock:1 200", "release lock:1"];
const ANSWERS: [&str; 3] = ["granted", "refused", "released :1"];

fn adapter(name: &str) -> String {
    format!("{}/tests/adapters/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Where this test may build something.
fn built(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn succeeds(command: &mut Command) {
    let output = command.output().expect("run the compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn threads_of_rust_take_turns() {
    let Some(rustc) = runtime(&["rustc"]) else { return };
    let program = built("threads");
    succeeds(
        Command::new(rustc).args(["--edition", "2024", "-O", "-o"]).arg(&program).arg(adapter("threads.rs")),
    );
    let story = same_each_time(&setup(&[program.to_str().expect("a path of text")], 1), &LINES, 10);
    assert_eq!(story.printed(), ANSWERS, "{story:#?}");
}

#[test]
fn a_static_go_program_takes_and_releases_a_lock() {
    let Some(go) = runtime(&["go"]) else { return };
    let program = built("raw-go");
    let mut build = Command::new(go);
    build.env("CGO_ENABLED", "0").env("GOFLAGS", "-mod=mod").env("GOCACHE", built("go-cache"));
    succeeds(build.args(["build", "-o"]).arg(&program).arg(adapter("raw.go")));
    let story = same_each_time(&setup(&[program.to_str().expect("a path of text")], 1), &LINES, 10);
    assert_eq!(story.printed(), ANSWERS, "{story:#?}");
}

#[test]
fn a_jvm_takes_and_releases_a_lock() {
    let (Some(javac), Some(java)) = (runtime(&["javac"]), runtime(&["java"])) else { return };
    let classes = built("classes");
    succeeds(Command::new(javac).arg("-d").arg(&classes).arg(adapter("Raw.java")));
    let command = [&java, "-cp", classes.to_str().expect("a path of text"), "Raw"];
    let story = same_each_time(&setup(&command, 1), &LINES, 3);
    assert_eq!(story.printed(), ANSWERS, "{story:#?}");
}

#[test]
fn node_with_ioredis_and_redlock_takes_and_releases_a_lock() {
    let Some(node) = runtime(&["node"]) else { return };
    let Ok(modules) = std::env::var("PICKLOCK_NODE_MODULES") else {
        return skip("PICKLOCK_NODE_MODULES names no directory with ioredis and redlock");
    };
    let mut setup = setup(&[&node, &adapter("redlock.js")], 1);
    setup.env.push(("NODE_PATH".into(), modules.into()));
    let story = same_each_time(&setup, &["acquire lock:1 5000", "acquire lock:2 5000", "release"], 3);
    assert_eq!(story.printed(), ["granted", "granted", "released :1"], "{story:#?}");
}

#[test]
fn tokio_and_rslock_take_and_release_a_lock() {
    let Ok(programs) = std::env::var("PICKLOCK_RSLOCK") else {
        return skip("PICKLOCK_RSLOCK names no programs built with rslock");
    };
    for program in programs.split(':') {
        let story = same_each_time(&setup(&[program], 1), &LINES, 5);
        assert_eq!(story.printed()[..1], ["granted"], "{story:#?}");
    }
}
