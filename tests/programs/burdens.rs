//! Programs that burden or mislead picklock itself: `examples/hostile/burdens.c`, in each of its ways. Picklock runs or refuses them, and
//! prints nothing of its own environment.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::binary::{Ended, directory, end, picklock};
use crate::can_run::can_run;
use crate::nightly::by_day_or_night;

/// Ways that use a limit of time up.
const SLOW: [&str; 4] = ["calls", "computes", "mappings", "output"];
/// A variable of picklock's that no report has.
const SECRET: &str = "not-to-be-printed-7251";

fn run(within: &Path, args: &[&str]) -> Ended {
    let mut command = picklock(within);
    command.args(args).env("PICKLOCK_TEST_SECRET", SECRET);
    end(command)
}

/// A directory with the program.
fn built() -> TempDir {
    let here = directory();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hostile/burdens.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-g", "-w", "-o", "burdens"]).arg(source).arg("-lpthread");
    assert!(compiler.current_dir(here.path()).status().unwrap().success());
    here
}

#[test]
fn a_program_that_burdens_picklock_is_run_or_refused() {
    if !can_run(&["cc"]) {
        return;
    }
    let here = built();
    let ways = Command::new(here.path().join("burdens")).output().unwrap().stdout;
    let ways = String::from_utf8(ways).unwrap();
    assert!(ways.lines().count() >= 30, "{ways}");
    let slow = by_day_or_night(&SLOW[..], &[]);
    for way in ways.lines().filter(|way| !slow.contains(way)) {
        let program = format!("./burdens {way}");
        let design = format!("program:{program}");
        let runs = ["run", "--program", &program, "--scenario", "calm,pause", "--seeds", "1", "--no-confirm"];
        for args in [&runs[..], &["replay", &design, "pause", "1", "--full"]] {
            let ended = run(here.path(), args);
            assert!(matches!(ended.code, Some(0..=3)), "{way}: {:?}\n{}", ended.code, ended.stderr);
            let printed = ended.stdout + &ended.stderr;
            assert!(!printed.contains(SECRET) && !printed.contains("ESCAPED"), "{way}: {printed}");
        }
    }
}

#[test]
fn a_program_that_looks_for_the_machines_clock_and_addresses_is_the_same_twice() {
    if !can_run(&["cc"]) {
        return;
    }
    let here = built();
    for way in ["vdso-forgotten", "vdso-unmapped", "random-addresses", "execs-in-thread"] {
        let program = format!("./burdens {way}");
        let ended =
            run(here.path(), &["doctor", "--program", &program, "--scenario", "pause", "--seeds", "2"]);
        assert_eq!(ended.code, Some(0), "{way}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("no difference"), "{way}: {}", ended.stdout);
    }
}
