//! Calls that wait for another process or thread of the same host: each is held, and ends in virtual time.

use picklock_supervisor::Status;

use crate::driver::{Story, compiled, run, runtime, setup};

/// The story of a command, the same each time.
fn story(command: &[&str]) -> Option<Story> {
    runtime(&command[..1])?;
    let setup = setup(command, 1);
    let story = run(&setup, &[]);
    for _ in 0..4 {
        let again = run(&setup, &[]);
        let differs = story.steps.iter().zip(&again.steps).find(|(one, other)| one != other);
        assert_eq!(differs, None);
    }
    assert!(story.broken.is_none(), "{story:#?}");
    assert_eq!(story.status, Some(Status::Code(0)), "{story:#?}");
    Some(story)
}

fn python(script: &str) -> Option<Story> {
    let python = runtime(&["/usr/bin/python3", "python3"])?;
    story(&[&python, "-S", "-c", script])
}

/// The first words of scripts in which a second process comes a second later.
const FORK: &str = "import fcntl, os, select, signal, struct, time
start = time.monotonic()
def say(*words): print(*words, round(time.monotonic() - start, 1), flush=True)
def later(what):
    child = os.fork()
    if child == 0:
        time.sleep(1)
        what()
        os._exit(0)
    return child
path = os.environ['HOME'] + '/file'
";

fn forking(script: &str) -> Option<Story> {
    python(&format!("{FORK}{script}"))
}

#[test]
fn a_write_to_a_full_pipe_waits_for_its_reader() {
    let Some(story) = story(&["/bin/sh", "-c", "head -c 200000 /dev/zero | wc -c"]) else { return };
    assert_eq!(story.printed(), ["200000"]);
    let script = "reader, writer = os.pipe()
def read():
    os.close(writer)
    total = 0
    while part := os.read(reader, 50_000): total += len(part)
    say('read', total)
child = later(read)
os.close(reader)
say('wrote', os.write(writer, bytes(300_000)), os.writev(writer, [bytes(70_000), b'', bytes(80_000)]))
os.close(writer)
os.wait()";
    let Some(story) = forking(script) else { return };
    assert_eq!(story.printed(), ["wrote 300000 150000 1.0", "read 450000 1.0"]);
}

#[test]
fn a_write_that_a_signal_interrupts_says_how_much_was_written() {
    let script = "reader, writer = os.pipe()
signal.signal(signal.SIGALRM, lambda *_: say('alarm'))
signal.setitimer(signal.ITIMER_REAL, 2)
say(os.write(writer, bytes(300_000)))";
    let Some(story) = forking(script) else { return };
    assert_eq!(story.printed(), ["alarm 2.0", "65536 2.0"]);
}

#[test]
fn a_write_to_a_pipe_without_a_reader_fails_as_the_kernel_has_it() {
    let script = "for size in (10, 100_000):
    reader, writer = os.pipe()
    os.close(reader)
    try: os.write(writer, bytes(size))
    except BrokenPipeError: say('broken')";
    let Some(story) = forking(script) else { return };
    assert_eq!(story.printed(), ["broken 0.0", "broken 0.0"]);
}

#[test]
fn locks_on_files_are_waited_for() {
    let script = "whole = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)
def flock(file): fcntl.flock(file, fcntl.LOCK_EX)
def posix(file): fcntl.lockf(file, fcntl.LOCK_EX)
def opened(file): fcntl.fcntl(file, 38, whole)
for lock in (flock, posix, opened):
    start = time.monotonic()
    file = open(path, 'w')
    if os.fork() == 0:
        file = open(path, 'w')
        lock(file)
        say('child has it')
        time.sleep(2)
        say('child ends')
        os._exit(0)
    time.sleep(1)
    lock(file)
    say(lock.__name__)
    os.wait()
    file.close()";
    let Some(story) = forking(script) else { return };
    let expected = ["flock", "posix", "opened"]
        .map(|lock| ["child has it 0.0".to_owned(), "child ends 2.0".to_owned(), format!("{lock} 2.0")])
        .concat();
    assert_eq!(story.printed(), expected, "{story:#?}");
}

#[test]
fn a_part_of_a_file_that_nobody_has_locked_is_not_waited_for() {
    let script = "file = open(path, 'w')
fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
fcntl.lockf(file, fcntl.LOCK_EX, 5, 5)
if os.fork() == 0:
    file = open(path, 'r+')
    fcntl.lockf(file, fcntl.LOCK_EX, 10, 10)
    say('behind it')
    fcntl.lockf(file, fcntl.LOCK_SH, 1, 9)
    say('at its end')
    os._exit(0)
time.sleep(1)
file.close()
os.wait()";
    let Some(story) = forking(script) else { return };
    assert_eq!(story.printed(), ["behind it 0.0", "at its end 1.0"]);
}

#[test]
fn whoever_opens_one_end_of_a_fifo_waits_for_the_other() {
    let script = "os.mkfifo(path)
later(lambda: open(path, 'w').write('to the parent'))
say(open(path).read())
os.wait()
later(lambda: say(open(os.path.basename(path), opener=lambda name, flags: os.open(name, flags, dir_fd=os.open(os.environ['HOME'], 0))).read()))
file = open(path, 'w')
say('opened')
file.write('to the child')
file.close()
os.wait()";
    let Some(story) = forking(script) else { return };
    assert_eq!(story.printed(), ["to the parent 1.0", "opened 2.0", "to the child 2.0"]);
}

#[test]
fn a_shell_opens_both_ends_of_a_fifo() {
    let script = "mkfifo $HOME/a $HOME/b; (read x < $HOME/a; echo got $x > $HOME/b) & echo one > $HOME/a; cat $HOME/b; wait";
    let Some(story) = story(&["/bin/sh", "-c", script]) else { return };
    assert_eq!(story.printed(), ["got one"]);
}

#[test]
fn signals_are_waited_for() {
    let script = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD})
parent = os.getpid()
later(lambda: os.kill(parent, signal.SIGUSR1))
say(signal.sigwait({signal.SIGUSR1}).name)
os.wait()
say(signal.sigwaitinfo({signal.SIGCHLD}).si_signo == signal.SIGCHLD)
say(signal.sigtimedwait({signal.SIGUSR1}, 2))
os.kill(parent, signal.SIGUSR1)
say(signal.sigtimedwait({signal.SIGUSR1}, 2).si_signo == signal.SIGUSR1)";
    let Some(story) = forking(script) else { return };
    assert_eq!(story.printed(), ["SIGUSR1 1.0", "True 1.0", "None 3.0", "True 3.0"]);
}

/// Waits for a signal by a signalfd, by itself and through `poll`, `select`, `epoll_wait` and an epoll in an epoll; then lets `ppoll`
/// and `sigsuspend` be ended by one that is blocked otherwise.
const LATCHES: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int latch, epoll, outer, caught;

static void say(const char *what, int result) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%s %d %ld\n", what, result, now.tv_sec - 1);
    fflush(stdout);
}

static void later(int signal) {
    if (fork() == 0) { sleep(1); kill(getppid(), signal); _exit(0); }
}

static void drain(void) {
    struct signalfd_siginfo info;
    say("read", read(latch, &info, sizeof info) == sizeof info && info.ssi_signo == SIGURG);
}

static void handler(int signal) { caught++; }

int main(void) {
    sigset_t set, none;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigdelset(&set, SIGUSR1);
    latch = signalfd(-1, &set, 0);
    epoll = epoll_create1(0);
    outer = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN };
    epoll_ctl(epoll, EPOLL_CTL_ADD, latch, &event);
    epoll_ctl(outer, EPOLL_CTL_ADD, epoll, &event);
    later(SIGURG); drain();
    later(SIGURG);
    say("epoll", epoll_wait(epoll, &event, 1, -1)); drain();
    say("nothing", epoll_wait(epoll, &event, 1, 500));
    later(SIGURG);
    say("outer", epoll_wait(outer, &event, 1, -1)); drain();
    struct pollfd file = { latch, POLLIN };
    later(SIGURG);
    say("poll", poll(&file, 1, -1)); drain();
    fd_set files;
    FD_ZERO(&files); FD_SET(latch, &files);
    later(SIGURG);
    say("select", select(latch + 1, &files, NULL, NULL, NULL)); drain();

    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    sigaction(SIGUSR1, &action, NULL);
    later(SIGUSR1);
    say("ppoll", ppoll(NULL, 0, NULL, &none)); say("caught", caught);
    kill(getpid(), SIGUSR1);
    say("suspend", sigsuspend(&none)); say("caught", caught);
    sigemptyset(&set); sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    later(SIGUSR1);
    say("restarts not", poll(NULL, 0, -1)); say("caught", caught);
    while (wait(NULL) > 0) {}
}
"#;

#[test]
fn a_signalfd_is_ready_for_who_has_the_signal() {
    let Some(program) = compiled("latches", LATCHES) else { return };
    let Some(story) = story(&[&program]) else { return };
    let expected = [
        "read 1 1",
        "epoll 1 2",
        "read 1 2",
        "nothing 0 2",
        "outer 1 3",
        "read 1 3",
        "poll 1 4",
        "read 1 4",
        "select 1 5",
        "read 1 5",
        "ppoll -1 6",
        "caught 1 6",
        "suspend -1 6",
        "caught 2 6",
        "restarts not -1 7",
        "caught 3 7",
    ];
    assert_eq!(story.printed(), expected, "{story:#?}");
}
