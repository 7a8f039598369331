//! The output where there is no terminal, and the influence of the environment on it.

use std::process::{Command, Stdio};

use crate::binary::{Ended, directory, end, picklock, run_in};
use crate::support::{VIOLATING, and, run, shell, text_of};

const ESCAPE: char = '\u{1b}';

fn with(variables: &[(&str, &str)], args: &[&str]) -> Ended {
    let here = directory();
    let mut command = picklock(here.path());
    command.args(args).envs(variables.iter().copied());
    end(command)
}

#[test]
fn colours_are_a_matter_of_the_option_where_there_is_no_terminal() {
    let replay = ["replay", "single", "long-work", "1"];
    for args in [&replay[..], &and(&VIOLATING, &["--no-confirm"])] {
        let plain = with(&[], args);
        assert!(!plain.stdout.contains(ESCAPE), "a pipe gets no colours");
        assert!(!with(&[], &and(args, &["--color", "never"])).stdout.contains(ESCAPE));
        assert!(with(&[], &and(args, &["--color", "always"])).stdout.contains(ESCAPE));
        // An option of the command line is stronger than the environment.
        assert!(with(&[("NO_COLOR", "1")], &and(args, &["--color", "always"])).stdout.contains(ESCAPE));
    }
}

#[test]
fn files_have_no_colours() {
    let here = directory();
    run_in(here.path(), &and(&VIOLATING, &["--no-confirm", "--color", "always", "--out", "out"]));
    assert!(!text_of(&here.path().join("out/results.txt")).contains(ESCAPE));
}

/// util-linux's `script` lends a terminal; where it is missing there is nothing to test with.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_unless_it_says_no() {
    let on_terminal = |variables: &[(&str, &str)]| {
        let line = format!("'{}' replay single long-work 1", env!("CARGO_BIN_EXE_picklock"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
        command.env_remove("NO_COLOR").env("TERM", "xterm").envs(variables.iter().copied());
        command.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(plain) = on_terminal(&[]) else { return };
    assert!(plain.contains(ESCAPE), "{plain}");
    assert!(on_terminal(&[("NO_COLOR", "")]).unwrap().contains(ESCAPE), "an empty NO_COLOR says nothing");
    assert!(!on_terminal(&[("NO_COLOR", "1")]).unwrap().contains(ESCAPE));
    assert!(!on_terminal(&[("TERM", "dumb")]).unwrap().contains(ESCAPE));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    // Lines that are there to be copied, or to be read by a script, are not broken.
    let copied = |line: &str| {
        ["picklock ", "replay: ", "violations: "].iter().any(|start| line.trim_start().starts_with(start))
    };
    let all = ["run", "--scenario", "calm,clock-drift", "--seeds", "2", "--expect", "none", "--no-confirm"];
    let compare = ["compare", "--seeds", "2", "--scenario", "calm"];
    for args in [&VIOLATING[..], &all, &compare, &["replay", "single", "long-work", "1"]] {
        for columns in [60, 80] {
            let ended = with(&[("COLUMNS", &columns.to_string())], args);
            for line in ended.stdout.lines().filter(|line| !copied(line)) {
                assert!(line.chars().count() <= columns, "{args:?} at {columns} columns: {line}");
            }
        }
    }
}

#[test]
fn without_a_terminal_a_line_every_ten_seconds_says_how_it_goes_on() {
    let args = ["run", "--design", "single", "--scenario", "pause", "--budget", "11s", "--expect", "none"];
    let ended = run(&and(&args, &["--no-confirm"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let line = lines.first().copied().unwrap_or_default();
    assert!(line.contains(" runs, ") && line.contains(" with a violation, 1"), "{lines:?}");
    assert!(!ended.stderr.contains(ESCAPE), "{lines:?}");
    // A command that ends at once is silent.
    assert_eq!(run(&and(&VIOLATING, &["--no-confirm"])).stderr, "");
}

#[test]
fn nonsense_in_the_environment_is_ignored() {
    for columns in ["", "0", "1", "-5", "many", "99999999999999999999"] {
        let ended = with(&[("COLUMNS", columns)], &["replay", "single", "long-work", "1"]);
        assert_eq!(ended.code, Some(1), "COLUMNS={columns}: {}", ended.stderr);
    }
}

#[test]
fn completions_are_made_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = run(&["completions", shell]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(ended.stdout.contains("picklock") && ended.stdout.contains("replay"), "{shell}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let here = directory();
    for (args, code) in [
        (&["list"][..], 0),
        (&["list", "--json"], 0),
        (&["--help"], 0),
        (&["completions", "zsh"], 0),
        (&["replay", "single", "long-work", "1", "--full"], 1),
        (&and(&VIOLATING, &["--no-confirm"]), 1),
    ] {
        let mut command = picklock(here.path());
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Nobody will ever read: the very first write fails.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), stderr.as_ref()), (Some(code), ""), "{args:?}");
    }
    let head = shell(here.path(), "picklock list formats | head -n 1");
    assert_eq!((head.code, head.stdout.as_str(), head.stderr.as_str()), (Some(0), "formats:\n", ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_2_and_one_line() {
    let here = directory();
    for args in [&["list"][..], &["--help"], &["completions", "bash"], &["replay", "single", "calm", "1"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = picklock(here.path());
        let ended = command.args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {stderr}");
        let line = "picklock: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!(stderr, line, "{args:?}");
    }
}
