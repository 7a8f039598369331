//! Autonomous clients: their reports are judged, are the same each time, and must make sense.
//!
//! Skipped, with a message, where there is no Python or where the machine runs no programs in virtual time.

use picklock::Program;

use crate::binary::{Ended, directory, run_in};
use crate::can_run::can_run;
use crate::interpreter::{digest, python, python3};

/// The autonomous client of the fixtures, with one bug or none.
fn client(wrong: &str) -> String {
    let command =
        format!("{} {}/tests/fixtures/twins/autonomous.py {wrong}", python3(), env!("CARGO_MANIFEST_DIR"));
    command.trim().to_owned()
}

fn run(command: &str, more: &[&str]) -> Ended {
    let args = ["run", "--autonomous", "--program", command, "--no-confirm"];
    run_in(directory().path(), &[&args[..], more].concat())
}

/// The names of the invariants that a client violates.
fn violated(command: &str, scenario: &str, seeds: &str) -> Vec<String> {
    let here = directory();
    // Allowed violations are not reduced, which would take many more runs.
    let allowed = format!("[{scenario}]\nallow = [\"mutual-exclusion\", \"ownership\"]\n");
    std::fs::write(here.path().join("allow.toml"), allowed).unwrap();
    let mut args = vec!["run", "--autonomous", "--program", command, "--no-confirm", "--scenario", scenario];
    args.extend(["--seeds", seeds, "--allow", "allow.toml", "--format", "json"]);
    let ended = run_in(here.path(), &args);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{command}: {error}: {}{}", ended.stdout, ended.stderr));
    let cell = &report["cells"][0];
    assert_ne!(cell["runs"], 0, "{command}: {cell}");
    cell["violations"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn a_client_that_deletes_what_is_not_its_own_is_caught_and_one_that_looks_is_not() {
    if !can_run(&["python3"]) {
        return;
    }
    assert_eq!(violated(&client("del"), "calm", "2"), ["mutual-exclusion", "ownership"]);
    assert!(violated(&client(""), "calm", "2").is_empty());
    let spelling = Program::new(client("del")).autonomous().to_string();
    let replayed = run_in(directory().path(), &["replay", &spelling, "calm", "0", "--full"]);
    for part in ["says `wants jobs:nightly`", "says `holds jobs:nightly`", "says `frees jobs:nightly`"] {
        assert!(replayed.stdout.contains(part), "{part}: {}", replayed.stdout);
    }
}

#[test]
fn a_client_runs_the_same_each_time() {
    if !can_run(&["python3"]) {
        return;
    }
    for scenario in ["calm", "pause", "client-crash"] {
        let spelling = Program::new(client("del")).autonomous().to_string();
        let again: Vec<String> = (0..2)
            .map(|_| digest(&run_in(directory().path(), &["replay", &spelling, scenario, "2"])))
            .collect();
        assert_eq!(again[0], again[1], "{scenario}");
    }
}

#[test]
fn a_pause_gives_a_client_that_does_not_know_of_it_two_holders() {
    if !can_run(&["python3"]) {
        return;
    }
    assert_eq!(violated(&client(""), "pause", "6"), ["mutual-exclusion"]);
}

#[test]
fn it_need_not_say_when_it_wants_the_lock() {
    if !can_run(&["python3"]) {
        return;
    }
    let script =
        std::fs::read_to_string(format!("{}/tests/fixtures/twins/autonomous.py", env!("CARGO_MANIFEST_DIR")));
    let here = directory();
    let silent = script.unwrap().replace("    print(\"wants\", KEY, flush=True)\n", "");
    std::fs::write(here.path().join("client.py"), silent).unwrap();
    let command = format!("{} {}/client.py del", python3(), here.path().display());
    assert_eq!(violated(&command, "calm", "4"), ["mutual-exclusion"]);
}

#[test]
fn what_it_sends_after_it_has_said_that_it_frees_is_of_the_release() {
    if !can_run(&["python3"]) {
        return;
    }
    let command =
        format!("{} {}/tests/fixtures/twins/one_connection.py", python3(), env!("CARGO_MANIFEST_DIR"));
    for program in [Program::new(&command).autonomous(), Program::new(&command).autonomous().clock_points()] {
        for engine in ["event", "turmoil"] {
            let replay = ["replay", &program.to_string(), "calm", "0", "--full", "--engine", engine];
            let story = run_in(directory().path(), &replay).stdout;
            // The events of one client, without the columns of holders.
            let events = story.lines().filter_map(|line| Some(line.split_once(" client-1 ")?.1.trim_start()));
            let events: Vec<&str> = events.collect();
            let frees = events.iter().position(|event| event.contains("says `frees a`"));
            let frees = frees.unwrap_or_else(|| panic!("{engine}: {story}"));
            assert!(events[frees + 1].starts_with("begins to release"), "{engine}: {events:?}");
            assert!(events[frees + 2].starts_with("sends segment"), "{engine}: {events:?}");
            assert!(!events[frees - 1].starts_with("sends segment"), "{engine}: {events:?}");
        }
    }
    let delayed =
        run(&command, &["--scenario", "delay", "--set", "phase=release", "--seeds", "4", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&delayed.stdout).unwrap();
    assert_eq!(report["cells"][0]["took_effect"]["delay"], 4, "{}", report["cells"][0]);
}

#[test]
fn a_line_that_makes_no_sense_is_reported_with_what_was_expected() {
    if !can_run(&["python3"]) {
        return;
    }
    let say = |lines: &[&str]| {
        let lines: Vec<String> = lines.iter().map(|line| format!("print(\"{line}\", flush=True)")).collect();
        python(&lines.join("\n"))
    };
    let cases = [
        (say(&["frees a"]), ["`frees a`", "holds nothing", "`holds a` comes first"]),
        (say(&["holds a", "holds a"]), ["`holds a`", "holds it already", "`frees` comes first"]),
        (say(&["lost a"]), ["`lost a`", "holds nothing", "`holds a` comes first"]),
        (say(&["holds a", "lost b"]), ["`lost b`", "it holds `a`", ""]),
        (say(&["holds a", "lost a", "lost a"]), ["`lost a`", "holds nothing", ""]),
        (say(&["holds a", "holds b"]), ["`holds b`", "while it held `a`", "one at a time"]),
        (say(&["holds a", "frees b"]), ["`frees b`", "it holds `a`", ""]),
        (say(&["wants a", "holds b"]), ["`holds b`", "while it wanted `a`", "`frees a`"]),
        (say(&["granted"]), ["`granted`", "it must print `wants KEY`", "`frees KEY`"]),
        (say(&["holds a token=x"]), ["`holds a token=x`", "[token=N]", ""]),
        (say(&["holds a"]), ["ended while it held `a`", "`frees a`", ""]),
        (
            python("raise ValueError(\"no luck\")"),
            ["exited with 1", "handle the errors", "ValueError: no luck"],
        ),
        (
            python("import threading\nthreading.Event().wait()"),
            ["is idle with no open connection", "has not exited", "flush"],
        ),
    ];
    for (command, parts) in cases {
        let output = run(&command, &["--scenario", "calm", "--seeds", "1"]);
        assert_eq!(output.code, Some(2), "{command}: {}{}", output.stdout, output.stderr);
        for part in parts {
            assert!(output.stderr.contains(part), "{command}: {}", output.stderr);
        }
    }
}

#[test]
fn a_client_that_says_that_its_lock_is_lost_holds_it_no_more() {
    if !can_run(&["python3"]) {
        return;
    }
    let script = "import time
for end in (\"lost a\", \"frees a\", \"lost a\"):
    print(\"holds a\", flush=True)
    print(end, flush=True)
    time.sleep(0.1)";
    let spelling = Program::new(python(script)).autonomous().to_string();
    let lost = run_in(directory().path(), &["replay", &spelling, "calm", "0", "--full"]);
    assert!(lost.stdout.contains("learns that its renewal of `a` failed"), "{}{}", lost.stdout, lost.stderr);
    assert!(lost.stdout.contains("gives `a` up"), "{}", lost.stdout);
}

#[test]
fn what_a_client_decides_by_itself_is_not_set_from_outside() {
    for setting in ["work=2s", "keys=3", "contend.tasks=2", "wait=1s"] {
        let output = run("true", &["--scenario", "calm", "--seeds", "1", "--set", setting]);
        assert_eq!(output.code, Some(2), "{setting}: {}", output.stdout);
        assert!(output.stderr.contains(setting) && output.stderr.contains("by itself"), "{}", output.stderr);
    }
    let output = run("true", &["--scenario", "stall", "--seeds", "1", "--renew"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("--renew"), "{}", output.stderr);
}
