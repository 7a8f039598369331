//! Programs with threads that are copied take the same steps as programs that are started.

use std::{path::Path, process::Command};

use picklock_supervisor::{ClockReads, Pool, Setup, Status};

use crate::driver::{finish, run, runtime, setup};

/// Copies of a setup and fresh starts, seed by seed, take the same steps.
fn same_as_fresh(mut setup: Setup, lines: &[&str], seeds: u64) {
    let pool = Pool::new();
    drop(pool.start(&setup).expect("start the program"));
    for seed in 0..seeds {
        setup.seed = seed;
        let group = pool.start(&setup).expect("start the program");
        assert!(group.is_copy(), "{:?}", setup.command);
        let (copied, fresh) = (finish(group, lines), run(&setup, lines));
        let differs = copied.steps.iter().zip(&fresh.steps).find(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed} of {:?}", setup.command);
        assert_eq!(copied.steps.len(), fresh.steps.len());
        assert_eq!(copied.status, Some(Status::Code(0)), "{copied:#?}");
    }
}

/// Before its first line: threads that wait, one that ends, one with a name, files that are half read, a pipe, an epoll and an event
/// counter that wait for each other.
const PYTHON: &str = "import os, select, sys, threading, time
ready, go = threading.Barrier(4), threading.Condition()
turn, words = [0], open('/etc/passwd', 'rb', buffering=0)
words.read(5)
reads, writes = os.pipe()
counter = os.eventfd(0)
waits = select.epoll()
waits.register(reads, select.EPOLLIN)
waits.register(counter, select.EPOLLIN)
waits.register(0, select.EPOLLIN)

def work(nth):
    ready.wait()
    for line in range(2):
        with go:
            go.wait_for(lambda: turn[0] == nth + 3 * line)
            print(nth, threading.get_native_id(), threading.current_thread().name, os.urandom(3).hex())
            turn[0] += 1
            go.notify_all()

threads = [threading.Thread(target=work, args=(nth,), name='worker-%d' % nth) for nth in range(3)]
for thread in threads: thread.start()
short = threading.Thread(target=lambda: None)
short.start()
short.join()
ready.wait()
for line in sys.stdin:
    os.write(writes, b'x')
    os.eventfd_write(counter, 3)
    print(line.strip(), sorted(waits.poll(1)), os.read(reads, 1), os.eventfd_read(counter), words.read(7))
    with go:
        turn[0] += line == 'two\\n' and turn[0] < 3
        go.wait_for(lambda: turn[0] in (3, 6))
    last = threading.Thread(target=lambda: print(threading.get_native_id(), time.monotonic()))
    last.start()
    last.join()
    print(os.listdir('/proc/self/task'), os.fstat(reads).st_ino, os.fstat(1).st_ino)
for thread in threads: thread.join()";

#[test]
fn threads_of_python() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    for clock_reads in [ClockReads::Page, ClockReads::Notified] {
        let mut setup = setup(&[&python, "-S", "-c", PYTHON], 0);
        setup.clock_reads = clock_reads;
        setup.env.push(("PYTHONUNBUFFERED".into(), "1".into()));
        same_as_fresh(setup, &["one", "two"], 8);
    }
}

const NODE: &str = "const crypto = require('crypto'), readline = require('readline');
const early = Math.random();
readline.createInterface({ input: process.stdin }).on('line', line => {
  setTimeout(() => console.log(line, early, Math.random(), crypto.randomUUID(), Date.now()), 20);
  require('fs').readFile('/etc/hostname', () => console.log('read'));
});";

#[test]
fn threads_of_node() {
    let Some(node) = runtime(&["node"]) else { return };
    same_as_fresh(setup(&[&node, "-e", NODE], 0), &["one", "two"], 5);
}

const LINES: [&str; 3] = ["acquire lock:1 5000", "acquire lock:1 200", "release lock:1"];

fn built(dir: &Path, command: &[&str]) -> bool {
    let mut build = Command::new(command[0]);
    build.args(&command[1..]).current_dir(dir).env("CGO_ENABLED", "0").env("GOCACHE", dir);
    build.output().is_ok_and(|output| output.status.success())
}

fn source(name: &str) -> String {
    format!("{}/tests/adapters/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn threads_of_go() {
    let Some(go) = runtime(&["go", "/usr/local/go/bin/go"]) else { return };
    let dir = tempfile::tempdir().expect("make a directory");
    assert!(built(dir.path(), &[&go, "build", "-o", "raw", &source("raw.go")]));
    same_as_fresh(setup(&[&dir.path().join("raw").display().to_string()], 0), &LINES, 10);
}

#[test]
fn threads_of_a_jvm() {
    let (Some(javac), Some(java)) = (runtime(&["javac"]), runtime(&["java"])) else { return };
    let dir = tempfile::tempdir().expect("make a directory");
    assert!(built(dir.path(), &[&javac, "-d", ".", &source("Raw.java")]));
    let classes = dir.path().display().to_string();
    // What a JVM tells others about itself is memory that it shares.
    let command = [&java, "-XX:-UsePerfData", "-XX:+UseSerialGC", "-cp", &classes, "Raw"];
    same_as_fresh(setup(&command, 0), &LINES, 5);
}
