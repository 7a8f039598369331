//! CPython in virtual time.

use std::path::Path;

use picklock_supervisor::{Clock, ClockReads, Ending, Group, Setup, Status, Step};

use crate::driver::{START, run, runtime, setup};

const PYTHON: &str = "/usr/bin/python3";

fn python(script: &str, seed: u64) -> Setup {
    // Not a script of some version manager that looks for it.
    let python = if Path::new(PYTHON).is_file() { PYTHON } else { "python3" };
    setup(&[python, "-S", "-c", script], seed)
}

#[test]
fn time_passes_only_when_all_threads_wait() {
    if runtime(&["python3"]).is_none() {
        return;
    }
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
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import sys
for line in sys.stdin: print('got', line.strip(), flush=True)
print('end')";
    let story = run(&python(script, 1), &["one", "two"]);
    assert_eq!(story.printed(), ["got one", "got two", "end"], "{story:#?}");
}

#[test]
fn the_seed_decides_the_randomness_from_the_first_step_on() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import os, random, uuid, sys
early = os.urandom(8).hex(), random.random()
print(early)
print(os.urandom(8).hex(), uuid.uuid4(), uuid.uuid1(), hash('a'), id(sys), os.getpid(), os.getppid(), os.uname().nodename)";
    let with = |seed| run(&python(script, seed), &[]);
    let first = with(1);
    assert_eq!(first.steps, with(1).steps);
    let (first, other) = (first.printed(), with(2));
    assert_eq!(first[0], other.printed()[0]);
    assert_ne!(first[1], other.printed()[1]);
    let mut elsewhere = python(script, 1);
    elsewhere.name = "client-2".to_owned();
    assert_ne!(first[0], run(&elsewhere, &[]).printed()[0]);
}

#[test]
fn start_up_takes_place_at_a_time_of_its_own_and_lines_come_after_it() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import fcntl, os, struct, termios, time
early = time.monotonic(), time.time(), fcntl.ioctl(0, termios.FIONREAD, b'    ')
print(early, flush=True)
print(time.monotonic(), time.time(), fcntl.ioctl(0, termios.FIONREAD, b'    '), sep='\\n')";
    let mut setup = python(script, 1);
    setup.clock = Clock { monotonic_ns: 500_000_000, wall_ns: 1_500_000_000 };
    for clock_reads in [ClockReads::Page, ClockReads::Notified] {
        setup.clock_reads = clock_reads;
        let story = run(&setup, &["one"]);
        // The monotonic clock goes on, the wall clock is the driver's from now on.
        let wall = format!("{:.1}", START.wall_ns as f64 / 1e9);
        let expected = [r"(0.5, 1.5, b'\x00\x00\x00\x00')", "0.5", &wall, r"b'\x04\x00\x00\x00'"];
        assert_eq!(story.printed(), expected, "{story:#?}");
    }
}

#[test]
fn a_program_that_waits_by_reading_the_clock_gets_on() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import time
end = time.monotonic() + 0.01
n = 0
while time.monotonic() < end: n += 1
print(n > 0)";
    for clock_reads in [ClockReads::Page, ClockReads::Notified] {
        let mut setup = python(script, 1);
        setup.clock_reads = clock_reads;
        let story = run(&setup, &[]);
        assert_eq!(story.printed(), ["True"], "{story:#?}");
        assert!(story.elapsed_ms >= 10);
    }
}

#[test]
fn threads_take_turns_in_an_order_by_the_seed() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import threading, time
lock, out = threading.Lock(), []
def work(name):
    for _ in range(3):
        with lock: out.append(name)
        time.sleep(0.01)
threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(out)";
    let with = |seed| run(&python(script, seed), &[]);
    let first = with(1);
    assert_eq!(first.printed().len(), 1, "{first:#?}");
    assert_eq!(first.steps, with(1).steps);
    assert!((2..8).any(|seed| with(seed).printed() != first.printed()), "the seed decides nothing");
}

#[test]
fn asyncio_connects_times_out_and_starts_processes() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import asyncio, time
async def main():
    reader, writer = await asyncio.open_connection('store', 6379)
    writer.write(b'*1\\r\\n$4\\r\\nPING\\r\\n')
    print(await reader.readline(), writer.get_extra_info('peername'))
    try: await asyncio.open_connection('store', 6380)
    except ConnectionRefusedError: print('refused')
    try: await asyncio.wait_for(asyncio.sleep(10), 1.5)
    except asyncio.TimeoutError: print('late')
    writer.write(b'*1\\r\\n$5\\r\\nRESET\\r\\n')
    try: print(await reader.read(100))
    except ConnectionResetError: print('reset')
    shell = await asyncio.create_subprocess_exec('sh', '-c', 'echo hi; sleep 2; exit 3', stdout=asyncio.subprocess.PIPE)
    print(await shell.communicate(), shell.returncode)
asyncio.run(main())";
    let story = run(&python(script, 1), &[]);
    let expected = ["b'+OK\\r\\n' ('10.0.0.9', 6379)", "refused", "late", "reset", "(b'hi\\n', None) 3"];
    assert_eq!(story.printed(), expected, "{story:#?}");
    assert!((3_500..3_600).contains(&story.elapsed_ms), "{story:#?}");
    assert_eq!(story.steps, run(&python(script, 1), &[]).steps);
}

#[test]
fn signals_reach_who_sleeps() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import os, signal, threading, time
signal.signal(signal.SIGUSR1, lambda *_: print('caught', time.monotonic() - start < 4))
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
start = time.monotonic()
def later():
    time.sleep(3)
    os.kill(os.getpid(), signal.SIGUSR1)
threading.Thread(target=later).start()
time.sleep(10)
signal.setitimer(signal.ITIMER_REAL, 0.5)
time.sleep(1)
child = os.fork()
if child == 0: time.sleep(100)
os.kill(child, signal.SIGTERM)
print(os.waitpid(child, 0)[1], round(time.monotonic() - start), flush=True)
os.kill(os.getpid(), signal.SIGTERM)";
    let story = run(&python(script, 1), &[]);
    assert_eq!(story.printed(), ["caught True", "alarm", "15 11"], "{story:#?}");
    assert_eq!(story.status, Some(Status::Signal(15)));
}

#[test]
fn a_signal_to_a_group_ends_no_wait_outside_of_it() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    // As a session of PostgreSQL does that waits for too long: it signals its group, and the server waits beside it.
    let script = "import os, select, signal, time
signal.signal(signal.SIGINT, lambda *_: print('caught', flush=True))
there, here = os.pipe()
child = os.fork()
if child == 0:
    os.setsid()
    time.sleep(1)
    os.kill(-os.getpid(), signal.SIGINT)
    time.sleep(1)
    os.write(here, b'x')
    os._exit(0)
print(len(select.select([there], [], [], 5)[0]), flush=True)
print(os.waitpid(child, 0)[1], flush=True)";
    let story = run(&python(script, 1), &[]);
    assert_eq!(story.printed(), ["caught", "1", "0"], "{story:#?}");
}

#[test]
fn timers_that_a_process_has_made_ring() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    // The event is the number of the signal and 0, after eight bytes; a setting is the interval and the first time.
    let script = "import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGUSR1, lambda *_: print('rings', time.monotonic() - start))
start, number = time.monotonic(), ctypes.c_void_p()
event = ctypes.create_string_buffer(struct.pack('qii', 0, signal.SIGUSR1, 0), 64)
print(libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(number)))
every = lambda first, again: ctypes.create_string_buffer(struct.pack('qqqq', again, 0, first, 0))
libc.timer_settime(number, 0, every(2, 3), None)
end = start + 9
while time.monotonic() < end: time.sleep(end - time.monotonic())
libc.timer_settime(number, 0, every(0, 0), None)
left = ctypes.create_string_buffer(32)
libc.timer_settime(number, 1, every(int(time.monotonic()) + 5, 0), None)
libc.timer_gettime(number, left)
print(struct.unpack('qqqq', left)[:3], libc.timer_getoverrun(number))
print(libc.timer_delete(number), libc.timer_delete(number), ctypes.get_errno(), flush=True)
time.sleep(20)";
    let story = run(&python(script, 1), &[]);
    let expected =
        ["0", "rings 2.0", "rings 5.0", "rings 8.0", "(0, 0, 5) 0", &format!("0 -1 {}", libc::EINVAL)];
    assert_eq!(story.printed(), expected, "{story:#?}");
    assert_eq!(story.steps, run(&python(script, 1), &[]).steps);
}

#[test]
fn a_step_of_the_wall_clock_moves_what_waits_for_it_and_nothing_else() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import threading, time
threading.Thread(target=lambda: (time.sleep(10), print('slept', time.time(), flush=True))).start()
print(time.time(), flush=True)
time.sleep(1)
print(time.time(), time.monotonic(), flush=True)";
    let mut group = Group::start(&python(script, 1)).expect("start Python");
    let mut clock = Clock { monotonic_ns: 1_000_000_000, wall_ns: 1_700_000_000_000_000_000 };
    let mut printed = Vec::new();
    loop {
        match group.step(clock).expect("step Python") {
            Step::Printed(line) => {
                printed.push(line);
                if printed.len() == 1 {
                    clock.wall_ns += 3_600_000_000_000;
                }
            }
            Step::Waits { until_ns } => {
                let until = until_ns.expect("it sleeps").max(clock.monotonic_ns);
                clock.wall_ns += until - clock.monotonic_ns;
                clock.monotonic_ns = until;
            }
            Step::Exited(_) => break,
            _ => {}
        }
    }
    assert_eq!(printed, ["1700000000.0", "1700003601.0 2.0", "slept 1700003610.0"]);
}

#[test]
fn a_reset_is_seen_while_another_program_has_just_been_started() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import socket
conn = socket.create_connection(('store', 6379))
try: print(conn.recv(10))
except ConnectionResetError: print('reset')";
    let (setup, clock) = (python(script, 1), Clock { monotonic_ns: 1, wall_ns: 1 });
    let mut group = Group::start(&setup).expect("start Python");
    let mut conn = None;
    let mut other = None;
    let received = loop {
        match group.step(clock).expect("step Python") {
            Step::Connect { socket, .. } => {
                group.connected(socket, Ok(()));
                conn = Some(socket);
            }
            Step::Waits { .. } if other.is_none() => {
                other = Some(Group::start(&setup).expect("start Python"));
                group.closed(conn.expect("it has connected"), Ending::Reset);
            }
            Step::Waits { .. } => break "nothing".to_owned(),
            Step::Printed(line) => break line,
            _ => {}
        }
    };
    assert_eq!(received, "reset");
}

#[test]
fn what_is_printed_and_then_sent_is_reported_in_this_order() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import os, socket
conn = socket.create_connection(('store', 6379))
os.write(1, b'frees\\n'); conn.sendall(b'PING\\r\\n')
conn.recv(10)";
    let story = run(&python(script, 1), &[]);
    let at = |words: &str| story.steps.iter().position(|step| step.contains(words));
    let (printed, sent) = (at("printed frees"), at("sent PING"));
    assert!(printed.is_some() && printed < sent, "{story:#?}");
}

#[test]
fn a_program_has_read_when_nothing_is_left_of_its_first_line() {
    if runtime(&["python3"]).is_none() {
        return;
    }
    let script = "import sys, time
print('early', flush=True)
time.sleep(1)
print('got', sys.stdin.readline().strip(), flush=True)";
    let mut group = Group::start(&python(script, 1)).expect("start the program");
    group.line("one");
    let mut clock = START;
    let mut read = Vec::new();
    loop {
        match group.step(clock).expect("it can be stepped") {
            Step::Printed(line) => read.push((line, group.has_read())),
            Step::Waits { until_ns: Some(at) } => clock = Clock { monotonic_ns: at, ..clock },
            Step::Exited(_) => break,
            _ => {}
        }
    }
    assert_eq!(read, [("early".to_owned(), false), ("got one".to_owned(), true)]);
}
