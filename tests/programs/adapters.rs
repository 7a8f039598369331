//! The adapters that come with picklock, with the libraries that they are written for: nothing is found where nothing goes wrong, two
//! holders where a client pauses, and the same each time.
//!
//! They are there once `examples/adapters/build` has run, in `target/adapters` or the directory that `PICKLOCK_ADAPTERS` names. What
//! is not is skipped, with a message.

use std::path::{Path, PathBuf};

use picklock::Program;
use picklock_programs::servers;

use crate::binary::{directory, run_in};
use crate::can_run::can_run;

/// How many seeds of a pause are tried for two holders.
const PAUSES: &str = "12";

/// Where the adapters are built.
fn built() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/adapters");
    std::env::var_os("PICKLOCK_ADAPTERS").map_or_else(usual, PathBuf::from)
}

/// The program of a command, if its files are there. `@` stands for where adapters are built, `%` for where their sources are.
fn program(command: &str, stores: u32) -> Option<Program> {
    if !can_run(&[]) {
        return None;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/adapters");
    let command = command.replace('@', built().to_str().unwrap()).replace('%', sources.to_str().unwrap());
    let lacking =
        command.split(' ').filter(|word| word.starts_with('/')).find(|file| !Path::new(file).exists());
    if let Some(file) = lacking {
        println!("skipped: {file} is not there: run examples/adapters/build");
        return None;
    }
    Some(Program::new(command).on_redis(stores))
}

/// In how many runs each invariant is violated.
fn violations(program: &Program, scenario: &str, seeds: &str) -> Vec<(String, u64)> {
    let here = directory();
    // Allowed violations are not reduced, which would take many more runs.
    let allowed = format!(
        "[{scenario}]\nallow = [\"mutual-exclusion\", \"effective-exclusion\", \"no-lost-update\"]\n"
    );
    std::fs::write(here.path().join("allow.toml"), allowed).unwrap();
    let spelling = program.to_string();
    let output = run_in(
        here.path(),
        &[
            "run",
            "--design",
            &spelling,
            "--scenario",
            scenario,
            "--seeds",
            seeds,
            "--no-confirm",
            "--allow",
            "allow.toml",
            "--format",
            "json",
        ],
    );
    let report: serde_json::Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{spelling}: {error}: {}{}", output.stdout, output.stderr));
    assert!(matches!(output.code, Some(0 | 1)), "{spelling}: {}", output.stderr);
    let cell = &report["cells"][0];
    assert_eq!(cell["unknown"], 0, "{spelling}: {cell}");
    let found = cell["violations"].as_object().unwrap();
    found.iter().map(|(name, found)| (name.clone(), found["runs"].as_u64().unwrap())).collect()
}

fn digest(program: &Program) -> String {
    let output = run_in(directory().path(), &["replay", &program.to_string(), "pause", "1"]);
    let line = output.stdout.lines().find(|line| line.trim_start().starts_with("digest: "));
    line.unwrap_or_else(|| panic!("{program}: {}{}", output.stdout, output.stderr)).to_owned()
}

fn is_as_expected(command: &str, stores: u32) {
    let Some(program) = program(command, stores) else { return };
    assert_eq!(violations(&program, "calm", "2"), [], "{program}");
    let renewing = Program { renews: true, ..program.clone() };
    assert_eq!(violations(&renewing, "long-work", "2"), [], "{program}");
    let found = violations(&program, "pause", PAUSES);
    assert!(found.iter().any(|(name, _)| name == "mutual-exclusion"), "{program}: {found:?}");
    for program in [program.clone(), program.clock_points()] {
        let first = digest(&program);
        (0..2).for_each(|_| assert_eq!(digest(&program), first, "{program}"));
    }
}

#[test]
fn a_story_names_the_calls_of_a_client_on_grpc() {
    if servers::version("etcd").is_none() {
        println!("skipped: etcd is not installed");
        return;
    }
    let Some(program) = program("@/go/etcd mutex", 1) else { return };
    let spelling = format!("program{{topology=etcd:1}}:{}", program.command);
    let args = ["replay", &spelling, "pause", "1", "--set", "ttl=2s", "--set", "clients=2"];
    let output = run_in(directory().path(), &args);
    let said = output.stdout.replace(|character| "┊│▓".contains(character), " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for call in [
        "Lease/LeaseGrant ttl=2s → LeaseGrant lease=",
        "KV/Txn if create(lock:1/",
        ")=0 then Put lock:1/",
        "→ Txn succeeded=true rev=2: Put,",
        "KV/Range lock:1/* last=create limit=1 max_create=",
        "Watch/Watch lock:1/",
        "→ Watch 0 is created rev=",
    ] {
        assert!(said.contains(call), "{call}: {}{}", output.stdout, output.stderr);
    }
}

#[test]
fn redis_py_is_as_expected() {
    is_as_expected("@/python/bin/python %/redis_py.py", 1);
}

#[test]
fn redis_py_s_asyncio_is_as_expected() {
    is_as_expected("@/python/bin/python %/redis_py_asyncio.py", 1);
}

#[test]
fn python_redis_lock_is_as_expected() {
    is_as_expected("@/python/bin/python %/python_redis_lock.py", 1);
}

#[test]
fn pottery_s_redlock_is_as_expected() {
    is_as_expected("@/python/bin/python %/pottery_redlock.py", 3);
}

#[test]
fn redlock_4_on_ioredis_is_as_expected() {
    is_as_expected("node @/node/redlock.js", 3);
}

#[test]
fn redlock_5_on_ioredis_is_as_expected() {
    is_as_expected("node @/node/redlock5.mjs", 3);
}

#[test]
fn node_redis_is_as_expected() {
    is_as_expected("node @/node/node_redis.mjs", 1);
}

#[test]
fn a_lease_in_go_is_as_expected() {
    is_as_expected("@/go/lease", 1);
}

#[test]
fn redsync_is_as_expected() {
    is_as_expected("@/go/redsync", 3);
}

#[test]
fn a_lease_in_java_is_as_expected() {
    is_as_expected("java -cp @/java Lease", 1);
}

#[test]
fn rslock_is_as_expected() {
    is_as_expected("@/rust/rslock", 3);
}

#[test]
fn the_redis_crate_s_connection_manager_is_as_expected() {
    is_as_expected("@/rust/connection_manager", 1);
}
