//! Programs that spin, flood, fork, stop, and reach for what is not theirs.

use picklock_supervisor::{Broken, Limits, Setup, Status};

use crate::driver::{Story, compiled, run, runtime, setup};

fn python(script: &str) -> Option<Setup> {
    let python = runtime(&["/usr/bin/python3", "python3"])?;
    Some(setup(&[&python, "-S", "-c", script], 1))
}

fn story(script: &str) -> Option<Story> {
    Some(run(&python(script)?, &[]))
}

/// How many processes have these words in their command line.
fn processes_with(words: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("read /proc").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(words)).count()
}

#[test]
fn a_program_that_spins_without_a_call_is_stopped() {
    let Some(mut setup) = python("print('on', flush=True)\nwhile True: pass") else { return };
    setup.limits = Limits { silence_ms: 300, ..Limits::default() };
    let story = run(&setup, &[]);
    assert!(matches!(story.broken, Some(Broken::Silent(300))), "{story:#?}");
    assert_eq!(story.printed(), ["on"]);
}

#[test]
fn a_program_that_goes_round_without_waiting_is_stopped() {
    let rounds = [
        "os.stat('/tmp')",
        "os.close(os.open('/dev/null', os.O_RDONLY))",
        "time.sleep(0)",
        "one = threading.Thread(target=time.time); one.start(); one.join()",
        "os.fork() or os._exit(0); os.wait()",
        "one = socket.socket(); one.setblocking(False); one.connect_ex(('127.0.0.1', 1)); one.close()",
    ];
    for round in rounds {
        let script =
            format!("import os, socket, threading, time\nprint('on', flush=True)\nwhile True: {round}");
        let Some(mut setup) = python(&script) else { return };
        setup.limits = Limits { calls: 8_000, ..Limits::default() };
        let story = run(&setup, &[]);
        assert!(matches!(story.broken, Some(Broken::Loops(8_000))), "{round}: {story:#?}");
    }
}

#[test]
fn a_program_that_sleeps_where_time_cannot_wake_it_is_stopped() {
    let script = "import socket\none, other = socket.socketpair()\none.sendall(bytes(1 << 20))";
    let Some(mut setup) = python(script) else { return };
    setup.limits = Limits { stuck_ms: 300, ..Limits::default() };
    let story = run(&setup, &[]);
    assert!(matches!(&story.broken, Some(Broken::Stuck(call)) if call == "sendto"), "{story:#?}");
}

#[test]
fn a_fork_bomb_meets_the_limit_and_leaves_nothing_behind() {
    let Some(mut setup) = python("'fork-bomb-7251'\nimport os\nwhile True: os.fork()") else { return };
    setup.limits = Limits { threads: 24, ..Limits::default() };
    let story = run(&setup, &[]);
    assert!(story.says("more than 24 threads"), "{story:#?}");
    assert!(story.status.is_some());
    assert_eq!(processes_with("fork-bomb-7251"), 0);
}

#[test]
fn what_runs_in_the_background_ends_with_the_group() {
    let script = "'daemon-8141'\nimport os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(1000)
    os._exit(0)
os.wait()
time.sleep(5)
print('done')";
    let Some(story) = story(script) else { return };
    assert_eq!(story.status, Some(Status::Code(0)), "{story:#?}");
    assert_eq!(processes_with("daemon-8141"), 0);
}

#[test]
fn too_much_memory_is_refused() {
    let Some(story) = story("try: bytearray(6 << 30)\nexcept MemoryError: print('no')") else { return };
    assert_eq!(story.printed(), ["no"], "{story:#?}");
}

#[test]
fn too_much_shared_memory_is_refused() {
    let script = "import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
def take(what, does):
    taken = 0
    try:
        while taken < 64: does(); taken += 1
    except OSError as error: print(what, taken, error.errno)
kept = []
take('mappings', lambda: kept.append(mmap.mmap(-1, 16 << 20)))
zero = os.open('/dev/zero', os.O_RDWR)
take('zero', lambda: kept.append(mmap.mmap(zero, 16 << 20)))
take('memfds', lambda: kept.append(os.memfd_create('x')))
while kept:
    last = kept.pop()
    if isinstance(last, int): os.close(last)
take('memfds', lambda: os.close(os.memfd_create('x')))
def segment():
    if libc.shmget(0, ctypes.c_size_t(16 << 20), 0o1600) < 0: raise OSError(ctypes.get_errno(), '')
take('segments', segment)";
    let Some(mut setup) = python(script) else { return };
    setup.limits = Limits { memory: 256 << 20, file: 32 << 20, ..Limits::default() };
    let story = run(&setup, &[]);
    // Memory that is given back does not count once more: other processes may have a part of it.
    let expected = ["mappings 16 12", "zero 0 12", "memfds 8 12", "segments 0 12"];
    assert_eq!(story.printed(), expected, "{story:#?}");
    assert!(story.says("more than 256 MiB of shared memory") && story.says("more than 8 memfds"));
}

#[test]
fn limits_cannot_be_raised() {
    let script = "import resource
try: resource.setrlimit(resource.RLIMIT_DATA, (8 << 40, 8 << 40))
except ValueError: print('no')";
    let Some(story) = story(script) else { return };
    assert_eq!(story.printed(), ["no"], "{story:#?}");
}

#[test]
fn too_large_a_file_is_refused() {
    let script = "import os
file = open(os.environ['HOME'] + '/large', 'wb')
try:
    while True: file.write(bytes(1 << 20))
except OSError: os.write(1, b'no')
os._exit(0)";
    let Some(mut setup) = python(script) else { return };
    setup.limits = Limits { file: 8 << 20, ..Limits::default() };
    let story = run(&setup, &[]);
    assert!(story.printed() == ["no"] || story.status == Some(Status::Signal(25)), "{story:#?}");
}

#[test]
fn output_without_end_is_stopped_and_long_lines_are_cut() {
    let Some(mut setup) = python("import os\nwhile True: os.write(1, b'x' * 5000)") else { return };
    setup.limits = Limits { line: 1000, output: 100_000, ..Limits::default() };
    let story = run(&setup, &[]);
    assert!(matches!(story.broken, Some(Broken::TooMuchOutput(100_000))), "{:?}", story.broken);
    assert!(story.printed().iter().all(|line| line.len() == 1000));
}

#[test]
fn sending_without_end_is_stopped() {
    let script = "import socket
conn = socket.create_connection(('store', 6379))
while True: conn.sendall(bytes(1 << 20))";
    let Some(mut setup) = python(script) else { return };
    setup.limits = Limits { output: 4 << 20, ..Limits::default() };
    let story = run(&setup, &[]);
    let broken = story.broken.expect("it was stopped");
    assert!(matches!(broken, Broken::TooMuchSent(_)), "{broken:?}");
    assert!(broken.to_string().contains("sends"), "{broken}");
}

#[test]
fn one_write_of_more_than_a_pipe_holds_comes_through() {
    let Some(story) = story("import os\nos.write(1, b'x' * 300_000 + b'\\n')") else { return };
    assert_eq!(story.printed().iter().map(|line| line.len()).sum::<usize>(), 300_000, "{:?}", story.broken);
    assert_eq!(story.status, Some(Status::Code(0)));
}

#[test]
fn an_end_in_the_middle_of_a_line_loses_nothing() {
    let Some(story) = story("import os\nos.write(1, b'half')\nos._exit(4)") else { return };
    assert_eq!((story.printed(), story.status), (vec!["half"], Some(Status::Code(4))), "{story:#?}");
}

#[test]
fn a_crash_is_reported_as_its_signal() {
    let Some(story) = story("import ctypes\nctypes.string_at(0)") else { return };
    assert_eq!(story.status, Some(Status::Signal(11)), "{story:#?}");
}

#[test]
fn it_cannot_stop_itself_or_reach_other_processes() {
    let script = format!(
        "import os, signal
try: os.kill(os.getpid(), signal.SIGSTOP)
except PermissionError: print('not stopped')
try: os.kill({}, signal.SIGKILL)
except ProcessLookupError: print('nobody there')
print(os.getpid(), os.getppid(), sorted(os.listdir('/proc/self/fd')))",
        std::process::id()
    );
    let Some(story) = story(&script) else { return };
    assert_eq!(story.printed(), ["not stopped", "nobody there", "2 1 ['0', '1', '2', '3']"], "{story:#?}");
    assert!(story.says("stopping a process"));
}

#[test]
fn calls_that_have_no_place_are_refused_and_reported() {
    let script = "import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in [101, 165, 308, 272, 169, 321]:
    print(libc.syscall(call, 0, 0, 0, 0, 0), ctypes.get_errno())
print(libc.syscall(425, 1, 0), ctypes.get_errno())";
    let Some(story) = story(script) else { return };
    assert_eq!(story.printed(), ["-1 1", "-1 1", "-1 1", "-1 1", "-1 1", "-1 1", "-1 38"], "{story:#?}");
    for call in ["ptrace", "mount", "setns", "unshare", "reboot", "bpf"] {
        assert!(story.says(&format!("Refused(\"{call}\")")), "{call}: {story:#?}");
    }
}

#[test]
fn the_network_ends_at_the_hosts_of_the_world() {
    let script = "import socket
def tries(what, to, *kind):
    try: socket.socket(*kind).connect(to)
    except OSError as error: print(what, error.errno)
tries('elsewhere', ('8.8.8.8', 53), socket.AF_INET, socket.SOCK_STREAM)
tries('here', ('127.0.0.1', 22), socket.AF_INET, socket.SOCK_STREAM)
tries('v6', ('::1', 22), socket.AF_INET6, socket.SOCK_STREAM)
tries('datagrams', ('8.8.8.8', 53), socket.AF_INET, socket.SOCK_DGRAM)
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('10.0.0.9', 53))
except OSError as error: print('within', error.errno)
tries('unix', '/var/run/docker.sock', socket.AF_UNIX, socket.SOCK_STREAM)
print(socket.gethostbyname('store'), socket.gethostbyname('client-1'), socket.gethostname())
try: socket.gethostbyname('example.com')
except OSError: print('no such name')";
    let Some(story) = story(script) else { return };
    let expected = [
        "elsewhere 101",
        "here 111",
        "v6 97",
        "datagrams 101",
        "within 111",
        "unix 111",
        "10.0.0.9 10.0.0.1 client-1",
        "no such name",
    ];
    assert_eq!(story.printed(), expected, "{story:#?}");
    assert!(story.says("8.8.8.8") && story.says("docker.sock"), "{story:#?}");
}

#[test]
fn a_server_listens_and_accepts() {
    use picklock_supervisor::{Clock, Ending, Group, Step};
    let script = "import socket
listener = socket.create_server(('0.0.0.0', 7000))
while True:
    conn, peer = listener.accept()
    print(peer, conn.getsockname(), flush=True)
    while data := conn.recv(100): conn.sendall(data.upper())
    conn.close()";
    let Some(setup) = python(script) else { return };
    let mut group = Group::start(&setup).expect("start the server");
    let mut seen = Vec::new();
    let (mut listener, mut rounds) = (None, 0);
    let mut conn = None;
    loop {
        match group.step(Clock { monotonic_ns: 1, wall_ns: 1 }).expect("step the server") {
            Step::Listen { socket, port } => {
                assert_eq!(port, 7000);
                listener = Some(socket);
            }
            Step::Waits { until_ns: None } if rounds == 2 => break,
            Step::Waits { until_ns: None } => {
                rounds += 1;
                let from = format!("10.0.0.{rounds}:999").parse().expect("an address");
                conn = group.accept(listener.expect("it listens"), from);
                group.deliver(conn.expect("it accepts"), b"hello");
            }
            Step::Sent { socket, bytes } => {
                assert_eq!(Some(socket), conn);
                seen.push(String::from_utf8(bytes).expect("text"));
                group.closed(socket, Ending::Eof);
            }
            Step::Printed(line) => seen.push(line),
            Step::Closed { .. } => seen.push("closed".to_owned()),
            _ => {}
        }
    }
    let one = "('10.0.0.1', 999) ('0.0.0.0', 7000)";
    let two = "('10.0.0.2', 999) ('0.0.0.0', 7000)";
    assert_eq!(seen, [one, "HELLO", "closed", two, "HELLO", "closed"]);
}

#[test]
fn twenty_runs_beside_two_hogs_are_the_same() {
    let script = "import asyncio, os, random, subprocess, threading, time
def work(name):
    for _ in range(3):
        time.sleep(random.random() / 100)
        print(name, random.random(), flush=True)
threads = [threading.Thread(target=work, args=(name,)) for name in range(3)]
for thread in threads: thread.start()
print(subprocess.run(['sh', '-c', 'echo $$; sleep 0.01; echo $PPID'], capture_output=True).stdout)
for thread in threads: thread.join()";
    let Some(setup) = python(script) else { return };
    let first = run(&setup, &[]);
    assert_eq!(first.status, Some(Status::Code(0)), "{first:#?}");
    let mut hogs: Vec<_> = (0..2)
        .filter_map(|_| std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().ok())
        .collect();
    let again: Vec<_> = (1..20).map(|_| run(&setup, &[]).steps).collect();
    for hog in &mut hogs {
        hog.kill().and_then(|()| hog.wait()).expect("end a hog");
    }
    assert!(again.iter().all(|steps| *steps == first.steps));
}

/// One thread spins until another has set a flag, after some calls; with an argument it waits for what never comes.
const SPINNING: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int flag;
static void *other(void *unused) {
    for (int call = 0; call < 20; call++) getppid();
    flag = 1;
    for (;;) pause();
}
int main(int count, char **words) {
    pthread_t thread;
    setlinebuf(stdout);
    puts("on");
    pthread_create(&thread, NULL, other, NULL);
    while (!flag || count > 1) {}
    puts("off");
    return 0;
}
"#;

#[test]
fn a_thread_that_spins_until_another_has_done_something_goes_on() {
    let Some(program) = compiled("spinning", SPINNING) else { return };
    let made = |words: &[&str], seed| {
        let mut setup = setup(words, seed);
        setup.limits = Limits { silence_ms: 300, ..Limits::default() };
        run(&setup, &[])
    };
    for seed in 0..3 {
        let stories = [made(&[&program], seed), made(&[&program], seed)];
        assert_eq!(stories[0].printed(), ["on", "off"], "{stories:#?}");
        assert_eq!(format!("{:?}", stories[0]), format!("{:?}", stories[1]), "seed {seed}");
    }
    let story = made(&[&program, "for ever"], 1);
    assert!(matches!(story.broken, Some(Broken::Silent(300))), "{story:#?}");
}
