//! Programs that try to reach what is not theirs: the probes of `examples/hostile`, as whoever runs the tests, as an ordinary
//! user, and where namespaces are forbidden.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use picklock_supervisor::{ClockReads, Group, Pool, Setup, StartError, Status, instructions};
use picklock_testing::skip;

use crate::driver::{START, Story, finish, harness_name, run, runtime, setup};

/// Set for a test that is run by itself, as another user or in another namespace.
const WITHIN: &str = "PICKLOCK_ESCAPES_WITHIN";

pub(crate) fn probes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hostile")
}

/// The targets of the probes, and what a process outside the sandbox says of them.
struct Outside {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    variables: Vec<(String, String)>,
}

impl Outside {
    fn new(python: &str) -> Self {
        let mut process = Command::new(python)
            .arg(probes().join("outside.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start what is outside");
        let mut output = BufReader::new(process.stdout.take().expect("it was asked for"));
        let mut variables = Vec::new();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).expect("hear from it") > 0, "it ended: {variables:?}");
            match line.trim_end().split_once('=') {
                Some((name, value)) => variables.push((name.to_owned(), value.to_owned())),
                None => break,
            }
        }
        Self { process, output, variables }
    }

    /// The targets that were reached.
    fn end(mut self) -> String {
        drop(self.process.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("hear from it");
        self.process.wait().expect("it ends");
        text
    }
}

/// A probe's lines that say anything but that it was refused, or that its own world works.
fn faults(story: &Story) -> Vec<&str> {
    let printed = story.printed().into_iter();
    printed
        .filter(|line| !["refused ", "works ", "skipped: "].iter().any(|word| line.starts_with(word)))
        .collect()
}

fn probe(command: &[&str], outside: &Outside) -> Setup {
    let mut setup = setup(command, 1);
    let variables = outside.variables.iter().map(|(name, value)| (name.into(), value.into()));
    setup.env.extend(variables);
    setup.limits.output = 64 << 20;
    setup
}

fn is_well(what: &str, story: &Story) {
    assert!(!story.printed().is_empty(), "{what}: {story:#?}");
    assert!(faults(story).is_empty(), "{what}: {:#?}", faults(story));
    assert_eq!(story.status, Some(Status::Code(0)), "{what}: {story:#?}");
}

const SCRIPTS: [&str; 9] = [
    "abstract_names.py",
    "devices.py",
    "locks.py",
    "pipes.py",
    "processes.py",
    "settings.py",
    "shared_memory.py",
    "unix_datagrams.py",
    "unix_streams.py",
];

#[test]
fn what_is_outside_is_not_reached() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let outside = Outside::new(&python);
    for script in SCRIPTS {
        let script = probes().join(script);
        let script = script.to_str().expect("a path of text");
        let setup = probe(&[&python, "-S", script], &outside);
        is_well(script, &run(&setup, &[]));
        // A copy of one that has started up finds the same.
        let pool = Pool::new();
        let groups = [0, 1, 2].map(|_| pool.start(&setup).expect("start a probe"));
        let [_, _, copy] = groups;
        is_well(script, &finish(copy, &[]));
    }
    assert_eq!(outside.end(), "");
}

#[test]
fn what_the_machine_counts_is_not_seen() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let script = probes().join("leaks.py");
    let setup = setup(&[&python, "-S", script.to_str().expect("a path of text")], 1);
    let first = run(&setup, &[]);
    let printed = first.printed();
    assert!(printed.last().is_some_and(|line| line.starts_with("cookies ")), "{first:#?}");
    let leaks: Vec<_> = printed.iter().filter(|line| line.starts_with("ESCAPED ")).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
    let draws: Vec<_> = printed.iter().filter(|line| line.starts_with("draws ")).collect();
    assert!(draws.len() == 4 && draws.iter().all(|line| !line.contains(" 0000000000000000")), "{draws:#?}");
    let other = Command::new("true").status().expect("make the machine count");
    assert!(other.success());
    std::thread::sleep(std::time::Duration::from_millis(20));
    let again = run(&setup, &[]);
    let parts = first.steps.iter().zip(&again.steps).find(|(one, other)| one != other);
    assert_eq!(parts, None);
}

#[test]
fn counters_of_the_machine_are_the_same_in_each_run() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let script = probes().join("counters.py");
    let mut setup = setup(&[&python, "-S", script.to_str().expect("a path of text")], 1);
    setup.limits.calls = 10_000_000;
    let first = run(&setup, &[]);
    assert!(first.printed().last().is_some_and(|line| line.starts_with("works ")), "{:?}", first.broken);
    // Memory, processes, files and time.
    let busy = "i=0; while [ $i -lt 200 ]; do ls / >/dev/null; i=$((i + 1)); done; head -c 50000000 /dev/zero | tail -c 1 >/dev/null";
    assert!(Command::new("sh").args(["-c", busy]).status().expect("make the machine count").success());
    let again = run(&setup, &[]);
    let differ: Vec<_> =
        first.printed().into_iter().zip(again.printed()).filter(|(one, other)| one != other).collect();
    assert!(differ.is_empty() && first.steps.len() == again.steps.len(), "{differ:#?}");
}

#[test]
fn instructions_that_show_the_machine_are_named_with_their_file() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let script = "import sys\nfor line in sys.stdin: pass";
    let found = instructions::of(&setup(&[&python, "-S", "-c", script], 1));
    let text = format!("{found:?}");
    // glibc's linker measures itself.
    let has_glibc = std::path::Path::new("/lib64/ld-linux-x86-64.so.2").exists();
    assert!(!has_glibc || found.iter().any(|one| one.name == "rdtsc"), "{text}");
    assert!(found.iter().all(|one| one.file.is_absolute()), "{text}");
}

/// A probe in C, which is removed in the end.
pub(crate) struct Compiled(PathBuf);

impl Compiled {
    /// Compiles a probe; none without a compiler.
    pub(crate) fn new(name: &str, flags: &[&str]) -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let file = format!("{name}-{}-{made}", std::process::id());
        // A directory in which an ordinary user may write, too.
        let program = std::env::temp_dir().join(file);
        let source = probes().join(name).with_extension("c");
        let built = Command::new("cc").arg("-O1").args(flags).arg("-o").arg(&program).arg(source).status();
        if !built.is_ok_and(|status| status.success()) {
            skip("cc is not installed");
            return None;
        }
        Some(Self(program))
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("a path of text")
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn an_address_cannot_be_changed_while_it_is_looked_at() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let Some(program) = Compiled::new("race", &[]) else { return };
    let outside = Outside::new(&python);
    let story = run(&probe(&[program.path()], &outside), &[]);
    is_well("race.c", &story);
    assert_eq!(outside.end(), "");
}

#[test]
fn the_clock_of_the_machine_is_not_reached() {
    for flags in [&[][..], &["-static"]] {
        let Some(program) = Compiled::new("clock", flags) else { return };
        for clock_reads in [ClockReads::Page, ClockReads::Notified] {
            for words in [&[program.path()][..], &[program.path(), "once more"]] {
                let setup = Setup { clock_reads, ..setup(words, 1) };
                is_well("clock.c", &run(&setup, &[]));
            }
        }
        let pool = Pool::new();
        let groups = [0, 1, 2].map(|_| pool.start(&setup(&[program.path()], 1)).expect("start a probe"));
        let [_, _, copy] = groups;
        is_well("clock.c", &finish(copy, &[]));
    }
}

#[test]
fn what_a_program_reads_before_its_first_call_is_the_hosts() {
    let flags = ["-nostdlib", "-static", "-fno-stack-protector"];
    let Some(program) = Compiled::new("early", &flags) else { return };
    let printed = |seed| {
        let story = run(&setup(&[program.path()], seed), &[]);
        story.printed().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let [first, again] = [printed(1), printed(1)];
    assert_eq!(first.len(), 2, "{first:?}");
    assert_eq!(first[0], format!("seconds {}", START.wall_ns / 1_000_000_000));
    assert_eq!(first, again);
}

/// Tried behind a command alone.
#[test]
#[ignore = "run by another test, where no namespace can be made"]
fn nothing_is_started() {
    let outcome = Group::start(&setup(&["true"], 1));
    assert!(matches!(outcome, Err(StartError::Forbidden { .. })), "{outcome:?}");
}

/// Tried behind a filter alone.
#[test]
#[ignore = "run by another test, in what a container forbids"]
fn nothing_is_started_and_the_remedy_is_named() {
    let outcome = Group::start(&setup(&["true"], 1));
    let error = outcome.expect_err("namespaces are forbidden").to_string();
    assert!(error.contains("`docker run --security-opt seccomp=unconfined"), "{error}");
}

#[test]
fn in_a_container_the_remedy_is_named() {
    let Some(docker) = Compiled::new("docker", &[]) else { return };
    within(&[docker.path()], "nothing_is_started_and_the_remedy_is_named");
}

#[test]
fn root_without_the_privilege_to_make_namespaces_is_a_user() {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        let drop = ["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"];
        let command = [&["setpriv"][..], &drop, &["--"]].concat();
        within(&command, "what_is_outside_is_not_reached");
        within(&command, "the_clock_of_the_machine_is_not_reached");
    }
}

/// Runs a test once more, behind a command.
fn within(command: &[&str], test: &str) {
    if std::env::var_os(WITHIN).is_some() || runtime(&["python3"]).is_none() {
        return;
    }
    let program = std::env::current_exe().expect("the test knows itself");
    let output = Command::new(command[0])
        .args(&command[1..])
        .arg(program)
        .args(["--nocapture", "--include-ignored", "--exact"])
        .arg(harness_name(module_path!(), test))
        .env(WITHIN, "yes")
        .current_dir("/")
        .output();
    let Ok(output) = output else { return skip(format_args!("{} is not installed", command[0])) };
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if text.contains("skipped: ") || text.contains("Permission denied") || text.contains("failed to execute")
    {
        return skip(format_args!("{command:?}: {text}"));
    }
    assert!(output.status.success() && text.contains("1 passed"), "{command:?}: {text}");
}

#[test]
fn an_ordinary_user_reaches_as_little() {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        let command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
        within(&command, "what_is_outside_is_not_reached");
        within(&command, "what_the_machine_counts_is_not_seen");
        within(&command, "the_clock_of_the_machine_is_not_reached");
    }
}

/// A shell in a user namespace, in which some kinds of namespaces cannot be made.
fn without(namespaces: &[&str]) -> Vec<String> {
    let zero = |name: &&str| format!("echo 0 > /proc/sys/user/max_{name}_namespaces && ");
    let script = namespaces.iter().map(zero).collect::<String>() + "exec \"$@\"";
    let command = ["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c", &script, "sh"];
    command.map(str::to_owned).to_vec()
}

#[test]
fn where_names_cannot_be_its_own_they_are_refused() {
    let command = without(&["ipc", "net"]);
    within(&command.iter().map(String::as_str).collect::<Vec<_>>(), "what_is_outside_is_not_reached");
}

#[test]
fn where_no_namespace_can_be_made_nothing_is_started() {
    let command = without(&["pid"]);
    within(&command.iter().map(String::as_str).collect::<Vec<_>>(), "nothing_is_started");
}
