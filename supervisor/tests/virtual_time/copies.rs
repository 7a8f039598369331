//! Programs that are copied take the same steps as programs that are started.

use std::process::Command;

use picklock_supervisor::{ClockReads, Files, Group, Limits, Pool, Setup, Status};

use crate::driver::{Run, START, finish, harness_name, python_with_redis, run, runtime, setup};

fn python(script: &str, seed: u64) -> Option<Setup> {
    let python = runtime(&["/usr/bin/python3", "python3"])?;
    let mut setup = setup(&[&python, "-S", "-c", script], seed);
    setup.env.push(("PYTHONUNBUFFERED".into(), "1".into()));
    Some(setup)
}

/// A pool that copies this setup from now on.
fn pool(setup: &Setup) -> Pool {
    let pool = Pool::new();
    for _ in 0..2 {
        pool.start(setup).expect("start the program");
    }
    pool
}

fn copy(pool: &Pool, setup: &Setup) -> Group {
    let group = pool.start(setup).expect("start the program");
    assert!(group.is_copy());
    group
}

/// Draws, reads the clock, forks and writes.
const DRAWS: &str = "import glob, os, random, sys, time, uuid
early = random.random(), time.time()
for line in sys.stdin:
    os.stat('/dev/shm').st_ino
    print(line.strip(), early, random.random(), uuid.uuid4(), uuid.uuid1(), os.urandom(4).hex())
    print(os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0), os.readlink('/proc/self'), glob.glob('/proc/[0-9]*'))
    print([line for line in open('/proc/self/status') if line[:3] in ('Cap', 'Uid', 'Gid')], open('/proc/self/uid_map').read())
    print(os.listdir(os.environ['HOME']), os.stat(os.environ['HOME']).st_mtime if line == 'one\\n' else 0)
    open(os.environ['HOME'] + '/' + str(random.random()), 'w').write('x')
    start = time.monotonic()
    time.sleep(random.random())
    print(time.monotonic() - start, time.time(), os.times())
    child = os.fork()
    if child == 0:
        time.sleep(1)
        os._exit(os.getpid())
    print(child, os.waitpid(child, 0))
import subprocess, threading
def work(): print(threading.get_native_id())
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(subprocess.run(['/bin/sh', '-c', 'echo $$ $PPID; echo /proc/[0-9]*; grep Cap /proc/self/status; exit 3'], capture_output=True))";

#[test]
fn copies_draw_look_fork_and_write_as_fresh_starts_do() {
    for (clock_reads, files) in [
        (ClockReads::Page, Files::Own),
        (ClockReads::Notified, Files::Own),
        (ClockReads::Page, Files::Shared),
    ] {
        let Some(mut setup) = python(DRAWS, 0) else { return };
        if files == Files::Shared {
            setup.command[3] = "import os, random, sys\nfor line in sys.stdin: print(os.getpid(), random.random(), os.urandom(4).hex(), os.listdir('/'))".into();
        }
        (setup.clock_reads, setup.files) = (clock_reads, files);
        let pool = pool(&setup);
        for seed in 0..20 {
            setup.seed = seed;
            let (copied, fresh) =
                (finish(copy(&pool, &setup), &["one", "two"]), run(&setup, &["one", "two"]));
            assert_eq!(copied.status, Some(Status::Code(0)), "{copied:#?}");
            assert_eq!(copied.steps, fresh.steps, "seed {seed}");
        }
    }
}

const REDIS_PY: &str = "import redis, sys
r, lock = redis.Redis(host='store'), None
while line := sys.stdin.readline().split():
    if line[0] == 'acquire':
        lock = r.lock(line[1], timeout=1.0, sleep=0.05)
        print('granted' if lock.acquire(blocking_timeout=int(line[2]) / 1000) else 'refused')
    else:
        try:
            lock.release()
            print('released')
        except redis.exceptions.RedisError as e:
            print('error', e)";

const SECTIONS: [&str; 6] =
    ["acquire lock:1 5000", "release", "acquire lock:1 5000", "release", "acquire lock:1 5000", "release"];

fn redis_py() -> Option<Setup> {
    let mut setup = python_with_redis(REDIS_PY, 0)?;
    setup.env.push(("PYTHONUNBUFFERED".into(), "1".into()));
    Some(setup)
}

/// Steps two programs in turn, to their ends.
fn both(mut one: Run, mut other: Run) -> [Vec<String>; 2] {
    let mut goes = [true; 2];
    while goes[0] || goes[1] {
        goes = [goes[0] && one.step(), goes[1] && other.step()];
    }
    [one.story.steps, other.story.steps]
}

#[test]
fn redis_py_takes_the_same_steps_from_a_pool_of_two_clients() {
    let Some(first) = redis_py() else { return };
    let mut second = first.clone();
    second.name = "client-2".to_owned();
    let pool = pool(&first);
    pool.start(&second).expect("start Python");
    for seed in 0..20 {
        let clients = [&first, &second].map(|client| Setup { seed, ..client.clone() });
        let [one, other] =
            clients.each_ref().map(|setup| Run::new(pool.start(setup).expect("start"), &SECTIONS));
        let fresh = clients.each_ref().map(|setup| run(setup, &SECTIONS).steps);
        assert!(fresh[0].len() > 40, "{fresh:#?}");
        assert_eq!(both(one, other), fresh, "seed {seed}");
    }
}

#[test]
fn one_setup_can_have_several_copies_at_once() {
    let Some(setup) =
        python("import sys, os\nfor line in sys.stdin: print(os.getpid(), line, os.urandom(4))", 1)
    else {
        return;
    };
    let pool = pool(&setup);
    let fresh = run(&setup, &["a", "b"]).steps;
    for _ in 0..3 {
        let [one, other] = [0, 1].map(|_| Run::new(copy(&pool, &setup), &["a", "b"]));
        assert_eq!(both(one, other), [fresh.clone(), fresh.clone()]);
    }
}

#[test]
fn copies_that_are_dropped_crash_or_break_leave_the_next_one_as_it_was() {
    let script = "import os, sys, time
for line in sys.stdin:
    if line == 'crash\\n': os.kill(os.getpid(), 11)
    if line == 'spin\\n':
        while True: pass
    if line == 'leave\\n':
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
    if line == 'group\\n': os.kill(0, 15)
    print(os.getpid(), os.urandom(4).hex(), os.listdir('/dev/shm'))
    open('/dev/shm/x', 'w')";
    let Some(mut setup) = python(script, 1) else { return };
    setup.limits = Limits { silence_ms: 100, ..Limits::default() };
    let pool = pool(&setup);
    let lines = ["a", "b", "c"];
    let fresh = run(&setup, &lines).steps;
    for steps in 0..10 {
        let mut run = Run::new(copy(&pool, &setup), &lines);
        for _ in 0..steps {
            run.step();
        }
        drop(run);
        assert_eq!(finish(copy(&pool, &setup), &lines).steps, fresh, "after {steps} steps");
    }
    for line in ["crash", "spin", "leave", "group"] {
        let (copied, started) = (finish(copy(&pool, &setup), &[line, "b"]), run(&setup, &[line, "b"]));
        assert_eq!(copied.steps, started.steps);
        assert_eq!(copied.status, started.status);
        assert_eq!(copied.broken.is_some(), line == "spin", "{copied:#?}");
        assert_eq!(finish(copy(&pool, &setup), &lines).steps, fresh, "after {line}");
    }
}

#[test]
fn two_pools_on_two_threads_beside_hogs_do_not_disturb_each_other() {
    let Some(setup) = python(
        "import sys, os, random\nfor line in sys.stdin: print(os.getpid(), line, random.random(), os.urandom(4))",
        1,
    ) else {
        return;
    };
    let fresh: Vec<_> =
        (0..10).map(|seed| run(&Setup { seed, ..setup.clone() }, &["a", "b"]).steps).collect();
    let mut hogs =
        [0, 1].map(|_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("start a hog"));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let pool = pool(&setup);
                for (seed, fresh) in (0..).zip(&fresh) {
                    assert_eq!(
                        finish(copy(&pool, &Setup { seed, ..setup.clone() }), &["a", "b"]).steps,
                        *fresh
                    );
                }
            });
        }
    });
    for hog in &mut hogs {
        hog.kill().and_then(|()| hog.wait()).expect("end a hog");
    }
}

#[test]
fn a_copy_may_move_to_another_thread() {
    let Some(setup) = python("import sys\nfor line in sys.stdin: print(line)", 1) else { return };
    let pool = pool(&setup);
    let mut moved = Run::new(copy(&pool, &setup), &["a"]);
    moved.step();
    let story = std::thread::scope(|scope| {
        scope
            .spawn(move || {
                while moved.step() {}
                moved.story
            })
            .join()
            .expect("step Python")
    });
    assert_eq!(story.steps, run(&setup, &["a"]).steps);
    assert_eq!(finish(copy(&pool, &setup), &["a"]).steps, story.steps);
}

#[test]
fn what_would_share_more_than_memory_is_started_each_time() {
    let before = "import mmap, os, sys\nsys.stdin.reconfigure()\n";
    for shares in [
        "area = mmap.mmap(-1, 4096)",
        "open('/dev/shm/x', 'w').close()",
        "os.chdir('/dev/shm')",
        "other = os.dup(os.open('/etc/passwd', os.O_RDONLY))",
        "os.pipe()[1]; os.dup(3)",
    ] {
        let Some(setup) = python(&format!("{before}{shares}\nprint('x')"), 1) else { return };
        let pool = pool(&setup);
        let group = pool.start(&setup).expect("start Python");
        assert!(!group.is_copy(), "{shares}");
        assert_eq!(finish(group, &[]).steps, run(&setup, &[]).steps, "{shares}");
    }
    let missing = setup(&["no-such-program-here"], 1);
    assert!((0..3).all(|_| Pool::new().start(&missing).is_err()));
    let pool = Pool::new();
    assert!((0..3).all(|_| pool.start(&missing).is_err()));
}

/// Descriptors of this process, and its children.
fn holdings() -> [usize; 2] {
    let files = std::fs::read_dir("/proc/self/fd").expect("read /proc").count();
    let tasks = std::fs::read_dir("/proc/self/task").expect("read /proc").flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    [files, children.map(|text| text.split_whitespace().count()).sum()]
}

#[test]
fn three_hundred_copies_leave_nothing_behind() {
    // Alone in a process: what other tests hold must not count.
    if std::env::var_os("PICKLOCK_ALONE").is_none() {
        let mut alone = Command::new(std::env::current_exe().expect("name this program"));
        let name = harness_name(module_path!(), "three_hundred_copies_leave_nothing_behind");
        let ended = alone.args(["--exact", &name, "--nocapture"]).env("PICKLOCK_ALONE", "1").output();
        let ended = ended.expect("run this program");
        let output = String::from_utf8_lossy(&ended.stdout);
        eprint!("{}", String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success() && output.contains("1 passed"), "{output}");
        return;
    }
    let Some(setup) = python("import os, sys\nfor line in sys.stdin: print(os.fork() and os.getpid())", 1)
    else {
        return;
    };
    let before = holdings();
    let pool = pool(&setup);
    drop(copy(&pool, &setup));
    let one = holdings();
    for number in 0..300 {
        let mut run = Run::new(copy(&pool, &setup), &["a", "b"]);
        for _ in 0..number % 12 {
            run.step();
        }
    }
    assert_eq!(holdings(), one);
    // More setups than a pool keeps.
    for number in 0..30 {
        let other = Setup { name: format!("client-{number}"), ..setup.clone() };
        drop([0, 1, 2].map(|_| pool.start(&other).expect("start Python")));
    }
    let many = holdings();
    assert!(many[1] <= 40, "{many:?}");
    drop(pool);
    assert_eq!(holdings(), before);
}

#[test]
fn two_copies_of_a_name_differ_by_seed_only_after_their_first_step() {
    let Some(setup) = python(
        "import os, sys\nearly = os.urandom(4)\nfor line in sys.stdin: print(early, os.urandom(4))",
        1,
    ) else {
        return;
    };
    let pool = pool(&setup);
    let printed = |seed| finish(copy(&pool, &Setup { seed, ..setup.clone() }), &["a"]).printed().concat();
    let (one, other) = (printed(1), printed(2));
    assert_eq!(one[..10], other[..10]);
    assert_ne!(one, other);
    assert_eq!(setup.clock, START);
}

#[test]
fn a_time_out_that_is_set_before_the_first_step_is_not_over_at_once() {
    let Some(mut setup) = python(
        "import sys, time\nend = time.monotonic() + 5\nfor line in sys.stdin:\n  print(round(end - time.monotonic(), 3))\n  time.sleep(2)",
        1,
    ) else {
        return;
    };
    for monotonic_ns in [7, 3 * START.monotonic_ns] {
        setup.clock.monotonic_ns = monotonic_ns;
        let pool = pool(&setup);
        let (copied, fresh) = (finish(copy(&pool, &setup), &["a", "b"]), run(&setup, &["a", "b"]));
        assert_eq!(fresh.printed(), ["5.0", "3.0"], "{fresh:#?}");
        assert_eq!(copied.steps, fresh.steps);
    }
}

/// Processor time of this process and of those that ended, in milliseconds.
fn processor_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("read /proc");
    let fields = stat.rsplit(") ").next().unwrap_or_default().split_whitespace().skip(11).take(4);
    fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}

#[test]
#[ignore = "measures; run it alone"]
fn processor_time_of_two_clients_with_three_sections() {
    const RUNS: u64 = 50;
    let named = std::env::var("PICKLOCK_RSLOCK").unwrap_or_default();
    let rust = named.split(':').next().filter(|name| !name.is_empty()).map(|name| setup(&[name], 0));
    for first in redis_py().into_iter().chain(rust) {
        let second = Setup { name: "client-2".to_owned(), ..first.clone() };
        // A process that is killed with its namespace is not counted: fresh starts run to their ends.
        for (how, pooled, ends) in [
            ("fresh, to the end", false, true),
            ("copied, to the end", true, true),
            ("copied, dropped after the last answer", true, false),
        ] {
            let pool = Pool::new();
            let run = |seed| {
                let [mut one, mut other] = [&first, &second].map(|client| {
                    let setup = Setup { seed, ..client.clone() };
                    let group = if pooled { pool.start(&setup) } else { Group::start(&setup) };
                    Run::new(group.expect("start a client"), &SECTIONS)
                });
                let goes = |run: &Run| ends || run.story.printed().len() < SECTIONS.len();
                let mut go = [true; 2];
                while go[0] || go[1] {
                    go = [go[0] && one.step() && goes(&one), go[1] && other.step() && goes(&other)];
                }
            };
            (0..2).for_each(run);
            let before = processor_ms();
            (0..RUNS).for_each(run);
            drop(pool);
            // With the start-up of the templates themselves, which their ends report.
            let spent = (processor_ms() - before) as f64 / RUNS as f64;
            eprintln!("{:?} {how}: {spent:.1} ms a run", first.command[0]);
        }
    }
}
