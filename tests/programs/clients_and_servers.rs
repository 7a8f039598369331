//! Unmodified programs as the clients and the servers of a run: the findings, that they are the same each time, and the errors
//! for programs that do not do their part.
//!
//! Skipped, with a message, where there is no Python or where the machine runs no programs in virtual time.

use std::path::Path;

use picklock::Program;

use crate::binary::{directory, end, picklock, run_in};
use crate::can_run::can_run;
use crate::interpreter::{digest, python, python3};

fn plain() -> String {
    format!("{} {}/examples/adapters/plain.py", python3(), env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_that_reports_a_loss_ends_the_section_of_its_client() {
    if !can_run(&["python3"]) {
        return;
    }
    let script = "import sys, threading, time
def lose(key):
    time.sleep(0.02)
    print(\"lost \" + key, flush=True)
for line in sys.stdin:
    asked = line.split()
    if asked[0] == \"acquire\":
        print(\"granted\", flush=True)
        threading.Thread(target=lose, args=(asked[1],)).start()
    else:
        print(\"released\", flush=True)";
    let spelling = Program::new(python(script)).to_string();
    let calm = |more: &[&str]| {
        let args = ["replay", &spelling, "calm", "0", "--full", "--set", "work=100ms..200ms"];
        run_in(directory().path(), &[&args[..], more].concat()).stdout
    };
    let notified = calm(&[]);
    assert!(notified.contains("gives `lock:1` up") && notified.contains("the lock is lost"), "{notified}");
    let ignored = calm(&["--set", "ignores_loss=yes"]);
    assert!(ignored.contains("lost lock:1") && !ignored.contains("gives `lock:1` up"), "{ignored}");
}

#[test]
fn a_pause_gives_an_unmodified_program_two_holders_and_the_story_shows_what_it_sent() {
    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    let output = run_in(
        here.path(),
        &[
            "run",
            "--program",
            &plain(),
            "--scenario",
            "pause",
            "--seeds",
            "6",
            "--no-confirm",
            "--out",
            "results",
        ],
    );
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let spelling = Program::new(plain()).to_string();
    assert!(output.stdout.contains("mutual-exclusion"), "{}", output.stdout);
    let repros: Vec<_> = std::fs::read_dir(here.path().join("results/repro")).unwrap().collect();
    let repro = repros
        .into_iter()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.display().to_string().contains("mutual-exclusion"));
    let repro = repro.unwrap();
    let text = std::fs::read_to_string(&repro).unwrap();
    assert!(text.contains("\"parts\"") && text.contains("examples/adapters/plain.py"), "{text}");
    let replayed = run_in(here.path(), &["replay", repro.to_str().unwrap(), "--full"]);
    assert!(
        replayed.stdout.contains("SET lock:1")
            && replayed.stdout.contains("its program is asked `acquire lock:1"),
        "{}",
        replayed.stdout
    );
    assert!(replayed.stdout.contains("the same run to the last event"), "{}", replayed.stdout);
    assert!(replayed.stdout.contains(&spelling[..30]), "{}", replayed.stdout);
}

#[test]
fn a_program_runs_the_same_each_time_in_any_directory() {
    if !can_run(&["python3"]) {
        return;
    }
    let spelling = Program::new(plain()).to_string();
    let digests: Vec<String> =
        (0..5).map(|_| digest(&run_in(directory().path(), &["replay", &spelling, "pause", "2"]))).collect();
    assert!(digests.iter().all(|other| *other == digests[0]), "{digests:?}");
    let spelling = Program::new(plain()).clock_points().to_string();
    let digests: Vec<String> =
        (0..3).map(|_| digest(&run_in(directory().path(), &["replay", &spelling, "pause", "2"]))).collect();
    assert!(digests.iter().all(|other| *other == digests[0]), "{digests:?}");
}

#[test]
fn a_program_that_changed_is_not_taken_for_the_one_of_the_repro() {
    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    let script =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/adapters/plain.py"))
            .unwrap();
    let script = format!("import own\n{}", script.replace("str(uuid", "own.NAME + str(uuid"));
    std::fs::write(here.path().join("lock.py"), &script).unwrap();
    std::fs::write(here.path().join("own.py"), "NAME = 'one'\n").unwrap();
    let run = [
        "run",
        "--program",
        &format!("{} lock.py", python3()),
        "--scenario",
        "pause",
        "--seeds",
        "4",
        "--no-confirm",
        "--out",
        ".",
    ];
    let output = run_in(here.path(), &run);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let repro = std::fs::read_dir(here.path().join("repro")).unwrap().next().unwrap().unwrap().path();
    let replayed = run_in(here.path(), &["replay", repro.to_str().unwrap()]);
    assert!(replayed.stdout.contains("the same run to the last event"), "{}", replayed.stdout);
    std::fs::write(here.path().join("own.py"), "NAME = 'another'\n").unwrap();
    let replayed = run_in(here.path(), &["replay", repro.to_str().unwrap()]);
    assert!(
        replayed.stdout.contains("what they load, such as a module, may be another"),
        "{}",
        replayed.stdout
    );
    std::fs::write(here.path().join("lock.py"), script + "\n").unwrap();
    let replayed = run_in(here.path(), &["replay", repro.to_str().unwrap()]);
    assert!(replayed.stdout.contains("other contents of lock.py"), "{}", replayed.stdout);
}

#[test]
fn a_program_that_sends_what_is_not_modelled_is_not_judged_for_it() {
    if !can_run(&["python3"]) {
        return;
    }
    let script = "import socket, sys\nstore = socket.create_connection((\"node-1\", 6379))\nfor line in sys.stdin:\n store.sendall(b\"XADD locks * a 1\\r\\n\")\n print(\"error\", store.recv(99).decode().strip(), flush=True)";
    let (command, here) = (python(script), Path::new("."));
    for scenario in ["calm", "client-crash"] {
        let output = run_in(here, &["run", "--program", &command, "--scenario", scenario, "--seeds", "2"]);
        assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
        assert!(output.stdout.contains("XADD is not modelled, which 2 of 2 runs"), "{}", output.stdout);
        assert!(output.stdout.contains("--servers real"), "{}", output.stdout);
        assert!(!output.stdout.contains("progress"), "{}", output.stdout);
    }
    let story = run_in(here, &["replay", &format!("program:{command}"), "calm", "0", "--full"]).stdout;
    assert!(story.contains("refuses XADD for client-") && story.contains(": it is not modelled"), "{story}");
}

#[test]
fn an_error_of_a_program_is_reported_with_what_was_expected() {
    if !can_run(&["python3"]) {
        return;
    }
    let cases = [
        (
            "import sys\nfor line in sys.stdin: print(\"yes\", flush=True)",
            ["answered `acquire lock:1", "`yes`", "`refused [retry_ms=N]`"],
        ),
        (
            "import sys\nsys.stdin.readline(); sys.exit(3)",
            ["exited with 3", "before it answered `acquire", ""],
        ),
        (
            "import sys\nsys.stdin.readline(); raise ValueError(\"no luck\")",
            ["exited with 1", "ValueError: no luck", ""],
        ),
        (
            "import sys\nfor line in sys.stdin: pass",
            ["is idle with no open connection", "print one", "flush"],
        ),
        (
            "import sys\nout = open(1, \"w\")\nfor line in sys.stdin: out.write(\"granted\\n\")",
            ["is idle with no open connection", "print one", "flush"],
        ),
        (
            "import sys\nsys.stdout.write(\"gra\"); sys.stdout.flush(); sys.exit(0)",
            ["exited with 0", "before it answered", ""],
        ),
        (
            "import sys\nfor line in sys.stdin: print(\"error one\\nand two\", flush=True)",
            ["printed `and two` before it was asked `acquire lock:1", "one line for each", ""],
        ),
        ("while True: pass", ["without a call", "processor time", ""]),
        (
            "import sys\nfor line in sys.stdin: print(\"error no luck\", flush=True)",
            ["no acquire succeeded, though no fault hit", "last error: no luck", ""],
        ),
        (
            "import sys\nfor line in sys.stdin: print(\"refused\", flush=True)",
            ["no acquire succeeded", "every answer was `refused`", ""],
        ),
        (
            "import socket, sys\nstore = socket.create_connection((\"node-1\", 6379))\nfor line in sys.stdin: line.startswith(\"acq\") and print(\"granted\", flush=True)",
            ["has not answered `release lock:1`", "no fault hit", "`released`"],
        ),
        (
            "import sys\nsys.stdin.readline(); print(\"gran\" + chr(27) + \"[31mted\", flush=True)",
            ["gran\\u{1b}[31mted", "must answer", ""],
        ),
        (
            "import socket, sys\nsys.stdin.readline()\ntry: socket.create_connection((\"9.9.9.9\", 1))\nexcept OSError: pass\nfor nth in range(20): print(nth, file=sys.stderr)\nsys.exit(3)",
            ["It was refused:\n", "9.9.9.9", "exited with 3"],
        ),
    ];
    for (script, parts) in cases {
        let command = python(script);
        let output =
            run_in(directory().path(), &["run", "--program", &command, "--scenario", "calm", "--seeds", "1"]);
        assert_eq!(output.code, Some(2), "{script}: {}", output.stderr);
        for part in parts {
            assert!(output.stderr.contains(part), "{script}: {}", output.stderr);
        }
    }
    let output = run_in(
        directory().path(),
        &["run", "--program", "no-such-program", "--scenario", "calm", "--seeds", "1"],
    );
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains("find the program no-such-program"), "{}", output.stderr);
}

#[test]
fn a_release_that_never_answers_is_a_block_also_where_the_fault_ends_the_run_before_it() {
    if !can_run(&["python3"]) {
        return;
    }
    let command = python(
        "import socket, sys\nstore = socket.create_connection((\"node-1\", 6379))\nfor line in sys.stdin:\n if line.startswith(\"rel\"): sys.stdin.read()\n store.sendall(b\"SET k v NX\\r\\n\"); print(\"granted\" if store.recv(64)[:1] == b\"+\" else \"refused\", flush=True)",
    );
    let args =
        ["run", "--program", &command, "--scenario", "calm,client-crash", "--seeds", "4", "--no-confirm"];
    let ended = run_in(directory().path(), &args);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.matches("progress").count() >= 2, "{}", ended.stdout);
    // Nobody waits for a client that is alone: the adapter is at fault.
    let alone = [
        "run",
        "--program",
        &command,
        "--scenario",
        "pause",
        "--set",
        "clients=1",
        "--seeds",
        "1",
        "--no-confirm",
    ];
    let alone = run_in(directory().path(), &alone);
    assert!(alone.code == Some(2) && alone.stderr.contains("has not answered"), "{}", alone.stderr);
}

#[test]
fn an_address_that_is_not_of_the_world_is_refused_and_reported() {
    if !can_run(&["python3"]) {
        return;
    }
    let script = "import socket, sys\nsys.stdin.readline()\nsocket.create_connection((\"192.0.2.1\", 80))";
    let output = run_in(
        directory().path(),
        &["run", "--program", &python(script), "--scenario", "calm", "--seeds", "1"],
    );
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains("192.0.2.1"), "{}", output.stderr);
}

#[test]
fn every_step_of_a_program_is_a_place_for_a_fault() {
    if !can_run(&["python3"]) {
        return;
    }
    let small = ["explore", "--program", &plain(), "--set", "clients=2", "--set", "sections=1"];
    let replayed = run_in(directory().path(), &[&small[..], &["--place", "pause:150"]].concat());
    assert!(replayed.stdout.contains("fault pause"), "{}{}", replayed.stdout, replayed.stderr);
    let none = run_in(directory().path(), &[&small[..], &["--place", "pause:100000"]].concat());
    assert_eq!(none.code, Some(2), "{}", none.stdout);
    let requests = run_in(directory().path(), &[&small[..], &["--fault", "lost-request"]].concat());
    assert!(requests.stdout.contains("single sites explored"), "{}{}", requests.stdout, requests.stderr);
}

#[test]
fn a_real_redis_server_shows_what_the_simulated_one_does() {
    if !can_run(&["redis-server"]) {
        return;
    }
    let run = |design: &str| {
        run_in(
            directory().path(),
            &["run", "--design", design, "--scenario", "pause,node-restart", "--seeds", "6", "--no-confirm"],
        )
    };
    let (simulated, real) = (run("single"), run("single@real"));
    for output in [&simulated, &real] {
        assert!(output.stdout.contains("mutual-exclusion"), "{}", output.stdout);
    }
    for (design, scenario) in [("single@real", "pause"), ("replicated@real", "failover")] {
        let again: Vec<String> =
            (0..3).map(|_| digest(&run_in(directory().path(), &["replay", design, scenario, "1"]))).collect();
        assert!(again.iter().all(|other| *other == again[0]), "{design}: {again:?}");
    }
}

#[test]
fn a_real_postgresql_shows_what_the_simulated_one_does() {
    if !can_run(&["/usr/lib/postgresql/15/bin/postgres"]) {
        return;
    }
    for design in ["row-lock-outside", "lease-row{time=now}"] {
        let violated = |design: &str| {
            let args = ["run", "--design", design, "--scenario", "pause,node-restart,lost-connection"];
            let here = directory();
            let ended = run_in(
                here.path(),
                &[&args[..], &["--seeds", "2", "--no-confirm", "--no-shrink", "--format", "json"]].concat(),
            );
            let report: serde_json::Value = serde_json::from_str(&ended.stdout)
                .unwrap_or_else(|error| panic!("{design}: {error}: {}{}", ended.stdout, ended.stderr));
            let of = |cell: &serde_json::Value| {
                let names: Vec<&str> =
                    cell["violations"].as_object().unwrap().keys().map(String::as_str).collect();
                (
                    cell["scenario"].to_string(),
                    names.contains(&"mutual-exclusion"),
                    names.contains(&"effective-exclusion"),
                )
            };
            report["cells"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(violated(&format!("{design}@real")), violated(design), "{design}");
    }
    for (design, scenario) in [("advisory@real", "client-crash"), ("row-lock@real", "node-restart")] {
        for engine in ["event", "turmoil"] {
            let again: Vec<String> = (0..2)
                .map(|_| {
                    digest(&run_in(
                        directory().path(),
                        &["replay", design, scenario, "1", "--engine", engine],
                    ))
                })
                .collect();
            assert_eq!(again[0], again[1], "{design} on {engine}");
        }
    }
}

#[test]
fn a_gate_takes_a_program() {
    if !can_run(&["python3"]) {
        return;
    }
    picklock::gate(picklock::program(plain()).on_redis(1)).scenarios(["calm"]).seeds(2).assert_holds();
}

#[test]
fn clients_see_the_same_of_simulated_and_of_real_servers() {
    if !can_run(&["redis-server"]) {
        return;
    }
    let here = directory();
    let mut command = picklock(here.path());
    command.env_remove("PICKLOCK_REDIS_SERVER");
    command.args(["conformance", "--scenario", "calm,pause,lost-reply", "--seeds", "2"]);
    let output = end(command);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(
        output.stdout.contains("12 runs on simulated nodes") && output.stdout.contains("0 differ"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_real_server_keeps_over_a_restart_what_it_is_to_keep_and_loses_with_the_power_what_it_had_not_synced() {
    if !can_run(&["redis-server"]) {
        return;
    }
    let set = |persistence: &str, power: &str| {
        [
            "--set".to_owned(),
            format!("persistence={persistence}"),
            "--set".to_owned(),
            format!("power_loss={power}"),
        ]
    };
    for (persistence, power, two_holders) in [
        ("none", "no", true),
        ("rdb", "no", true),
        ("everysec", "no", false),
        ("everysec", "yes", true),
        ("always", "no", false),
        ("always", "yes", false),
    ] {
        let set = set(persistence, power);
        let mut args = vec!["run", "--design", "single@real", "--scenario", "node-restart", "--seeds", "4"];
        args.extend(["--no-confirm", "--format", "json"]);
        args.extend(set.iter().map(String::as_str));
        let here = directory();
        std::fs::write(
            here.path().join("allow.toml"),
            "[node-restart]\nallow = [\"mutual-exclusion\", \"effective-exclusion\", \"no-lost-update\"]\n",
        )
        .unwrap();
        args.extend(["--allow", "allow.toml"]);
        let ended = run_in(here.path(), &args);
        let report: serde_json::Value = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("{persistence}: {error}: {}{}", ended.stdout, ended.stderr));
        let violations = &report["cells"][0]["violations"];
        assert_eq!(
            violations.get("mutual-exclusion").is_some(),
            two_holders,
            "{persistence}, {power}: {violations}"
        );
    }
    let again: Vec<String> = (0..2)
        .map(|_| {
            let set = set("everysec", "yes");
            let args: Vec<&str> = ["replay", "single@real", "node-restart", "1"]
                .into_iter()
                .chain(set.iter().map(String::as_str))
                .collect();
            digest(&run_in(directory().path(), &args))
        })
        .collect();
    assert_eq!(again[0], again[1]);
}

#[test]
fn clients_see_the_same_of_simulated_and_of_real_servers_that_come_back_with_what_they_kept() {
    if !can_run(&["redis-server"]) {
        return;
    }
    for persistence in ["none", "rdb", "everysec", "always"] {
        let here = directory();
        let mut command = picklock(here.path());
        command.env_remove("PICKLOCK_REDIS_SERVER");
        command.args(["conformance", "--design", "single", "--scenario", "node-restart", "--seeds", "2"]);
        command.args(["--set", &format!("persistence={persistence}")]);
        let output = end(command);
        assert_eq!(output.code, Some(0), "{persistence}: {}{}", output.stdout, output.stderr);
        assert!(output.stdout.contains("0 differ"), "{persistence}: {}", output.stdout);
    }
}

#[test]
fn violations_are_tried_on_real_servers() {
    if !can_run(&["redis-server"]) {
        return;
    }
    let here = directory();
    let mut command = picklock(here.path());
    command.env_remove("PICKLOCK_REDIS_SERVER");
    command.args([
        "conformance",
        "--violations",
        "--design",
        "single",
        "--scenario",
        "long-work",
        "--seeds",
        "1",
    ]);
    let output = end(command);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(
        output.stdout.contains("mutual-exclusion") && output.stdout.contains("16 of 16"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("in at least half of 16 networks"), "{}", output.stdout);
}

#[test]
fn a_program_that_gets_no_lock_is_not_accused_of_a_deadlock_under_a_fault_either() {
    if !can_run(&["python3"]) {
        return;
    }
    let command = python("import sys\nfor line in sys.stdin: print(\"error no luck\", flush=True)");
    let output =
        run_in(directory().path(), &["run", "--program", &command, "--scenario", "pause", "--seeds", "2"]);
    assert_eq!(output.code, Some(2), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("last error: no luck"), "{}", output.stderr);
    assert!(!output.stdout.contains("progress"), "{}", output.stdout);
}

#[test]
fn what_is_printed_before_the_first_command_is_a_remark() {
    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    let plain =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/adapters/plain.py"));
    let script =
        format!("print('[warning][cds] Unable to use shared archive', flush=True)\n{}", plain.unwrap());
    std::fs::write(here.path().join("lock.py"), script).unwrap();
    let command = format!("{} lock.py", python3());
    let output = run_in(here.path(), &["replay", &format!("program:{command}"), "calm", "1", "--full"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("complains: [warning][cds]"), "{}", output.stdout);
}

#[test]
fn why_a_program_is_not_started_is_said() {
    use std::os::unix::fs::PermissionsExt as _;

    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    let script = |name: &str, text: &str, mode| {
        let path = here.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    script("no-interpreter", "#!/nowhere/python9\n", 0o755);
    script("no-program", "print(1)\n", 0o755);
    script("not-executable", "#!/bin/sh\n", 0o644);
    for (name, why) in [
        ("no-interpreter", "the interpreter that its first line names"),
        ("no-program", "its first line names no interpreter"),
        ("not-executable", "chmod +x"),
    ] {
        let command = format!("./{name}");
        let args = ["run", "--program", &command, "--scenario", "calm", "--seeds", "1"];
        let output = run_in(here.path(), &args);
        assert_eq!(output.code, Some(2), "{name}: {}", output.stderr);
        assert!(output.stderr.contains(&format!("start {command}: ")), "{name}: {}", output.stderr);
        assert!(output.stderr.contains(why), "{name}: {}", output.stderr);
    }
}

#[test]
fn the_doctor_does_not_take_the_supervisor_s_sockets_for_the_program_s() {
    if !can_run(&["python3"]) {
        return;
    }
    let args = ["doctor", "--program", &plain(), "--scenario", "pause", "--seeds", "1"];
    let output = run_in(directory().path(), &args);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("no difference"), "{}", output.stdout);
}
