//! CPython in virtual time.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[allow(dead_code, reason = "each test uses a part of it")]
mod driver;

use driver::{run, setup};
use picklock_programs::{Looks, Setup, Status};

fn python(script: &str, seed: u64) -> Setup {
    setup(&["python3", "-S", "-c", script], seed)
}

#[test]
fn time_passes_only_when_all_threads_wait() {
    let script = "import time
a, w = time.monotonic(), time.time()
for _ in range(100000): pass
assert time.monotonic() == a
time.sleep(3600)
print(round(time.monotonic() - a, 3), round(time.time() - w, 3), int(w))";
    let story = run(&python(script, 1), &[]);
    assert_eq!(story.printed(), ["3600.0 3600.0 1700000000"], "{story:#?}");
    assert_eq!(story.status, Some(Status::Code(0)));
}

#[test]
fn lines_are_read_as_they_come() {
    let script = "import sys
for line in sys.stdin: print('got', line.strip(), flush=True)
print('end')";
    let story = run(&python(script, 1), &["one", "two"]);
    assert_eq!(story.printed(), ["got one", "got two", "end"], "{story:#?}");
}

#[test]
fn the_seed_decides_the_randomness() {
    let script = "import os, random, uuid, sys
print(os.urandom(8).hex(), random.random(), uuid.uuid4(), uuid.uuid1(), hash('a'), id(sys), os.getpid(), os.uname().nodename)";
    let told = |seed| run(&python(script, seed), &[]).steps;
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
}

#[test]
fn a_program_that_waits_by_looking_at_the_clock_gets_on() {
    let script = "import time
end = time.monotonic() + 0.01
n = 0
while time.monotonic() < end: n += 1
print(n > 0)";
    for looks in [Looks::Page, Looks::Told] {
        let mut setup = python(script, 1);
        setup.looks = looks;
        let story = run(&setup, &[]);
        assert_eq!(story.printed(), ["True"], "{story:#?}");
        assert!(story.elapsed_ms >= 10);
    }
}
