//! Programs with threads that are copied take the same steps as programs that are started.

use std::{path::Path, process::Command};

use picklock_supervisor::{ClockReads, Group, Pool, Setup, StartError, Status, Template};

use crate::driver::{Run, finish, run, runtime, setup};

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

threads = [threading.Thread(target=work, args=(nth,), name='thread-%d' % nth) for nth in range(3)]
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

/// True if what a program draws is the same whatever its seed, as during start-up: its last word of each line.
fn is_drawn_in_start_up(setup: &Setup) -> bool {
    let drawn = |seed| {
        let story = run(&Setup { seed, ..setup.clone() }, &["one"]);
        let line = story.printed().first().expect("it prints a line").to_string();
        line.rsplit(' ').next().expect("a word").to_owned()
    };
    drawn(0) == drawn(1)
}

/// What a module of Node draws when it is loaded, which the first thread asks others to do.
const MODULE: &str = "import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
await readFile('/etc/hostname')
export const early = randomUUID()";

const IMPORTS: &str = "import { createInterface } from 'node:readline'
import { randomUUID } from 'node:crypto'
import { early } from './module.mjs'
for await (const line of createInterface({ input: process.stdin })) console.log(line, randomUUID(), early)";

#[test]
fn the_start_up_of_node_goes_on_while_other_threads_load_its_modules() {
    let Some(node) = runtime(&["node"]) else { return };
    let dir = tempfile::tempdir().expect("make a directory");
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("write a file");
        path.display().to_string()
    };
    file("module.mjs", MODULE);
    let setup = setup(&[&node, &file("main.mjs", IMPORTS)], 0);
    assert!(is_drawn_in_start_up(&setup));
    same_as_fresh(setup, &["one", "two"], 5);
}

/// Ruby makes a timer before anything else, which it lets run only when threads wait for each other.
const RUBY: &str = "early = Random.urandom(4).unpack1('H*')
$stdout.sync = true
Thread.new { Thread.pass }.join
while line = $stdin.gets do puts [line.strip, Random.rand, early].join(' ') end";

#[test]
fn the_start_up_of_ruby_goes_on_when_it_has_made_a_timer() {
    let Some(ruby) = runtime(&["ruby"]) else { return };
    let setup = setup(&[&ruby, "--disable-gems", "-e", RUBY], 0);
    assert!(is_drawn_in_start_up(&setup));
    same_as_fresh(setup, &["one", "two"], 5);
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
    let command = [&java, "-XX:+UseSerialGC", "-cp", &classes, "Raw"];
    same_as_fresh(setup(&command, 0), &LINES, 5);
}

/// Learns something with a thread and a connection at its first lines, and needs neither afterwards.
const LEARNS: &str = "import os, queue, random, socket, sys, threading, time
jobs, done, learned = queue.Queue(), queue.Queue(), []
def work():
    while True:
        time.sleep(jobs.get())
        done.put(threading.get_native_id())
threading.Thread(target=work, daemon=True).start()
for line in sys.stdin:
    before = time.monotonic()
    jobs.put(0.5)
    learned.append(done.get())
    if line != 'use\\n':
        store = socket.create_connection(('store', 6379))
        store.sendall(b'*1\\r\\n$4\\r\\nPING\\r\\n')
        learned.append(store.recv(99))
        if line == 'learn\\n': store.close()
    print(learned, os.urandom(3).hex(), round(time.monotonic() - before, 3), int(before))
    if line != 'use\\n': print('rests')";

fn learns() -> Option<Setup> {
    let python = runtime(&["/usr/bin/python3", "python3"])?;
    let mut setup = setup(&[&python, "-S", "-c", LEARNS], 0);
    setup.env.push(("PYTHONUNBUFFERED".into(), "1".into()));
    Some(setup)
}

fn warmed(setup: &Setup, line: &str) -> Result<Template, String> {
    let group = Group::start_to_copy(setup).expect("start the program");
    Run::new(group, &[line]).run_to("rests").into_template()
}

#[test]
fn a_program_that_was_warmed_up_is_copied_with_what_it_has_learned() {
    let Some(mut setup) = learns() else { return };
    let pool = Pool::new();
    let mut all = Vec::new();
    for seed in [1, 2, 1] {
        setup.seed = seed;
        let group = pool.start_warmed(&setup, "", || {
            assert!(all.is_empty(), "it is warmed up once");
            Ok::<_, StartError>(warmed(&setup, "learn").expect("stop the program"))
        });
        let story = finish(group.expect("copy the program"), &["use", "use"]);
        assert_eq!(story.status, Some(Status::Code(0)), "{story:#?}");
        // The clock goes on a second after the template's, which has slept for half of one.
        let first = story.printed()[0];
        assert!(first.starts_with("[3, b'+OK\\r\\n', 3]") && first.ends_with(" 0.5 2"), "{first}");
        assert_eq!(story.elapsed_ms, 1002, "{story:#?}");
        all.push(story.steps);
    }
    assert_eq!(all[0], all[2]);
    assert_ne!(all[0], all[1]);
}

#[test]
fn a_program_that_keeps_a_connection_is_not_copied() {
    let Some(setup) = learns() else { return };
    let why = warmed(&setup, "keep").expect_err("it keeps one");
    assert!(why.starts_with("its descriptor ") && why.contains("socket:"), "{why}");
}
