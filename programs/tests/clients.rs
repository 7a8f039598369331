//! Client libraries for Redis, unmodified, against a toy store.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[allow(dead_code, reason = "each test uses a part of it")]
mod driver;

use driver::{Story, run, runtime, setup};
use picklock_programs::{Setup, Status};

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

/// Python with redis-py: `PICKLOCK_PYTHON` names one that has it.
fn python_with_redis(script: &str, seed: u64) -> Option<Setup> {
    let named = std::env::var("PICKLOCK_PYTHON").unwrap_or_default();
    let python = runtime(&[&named, "python3"])?;
    let has_redis = std::process::Command::new(&python).args(["-c", "import redis"]).output();
    if !has_redis.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no redis-py");
        return None;
    }
    Some(setup(&[&python, "-c", script], seed))
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
    assert!(story.tells("sent *"), "{story:#?}");
}
