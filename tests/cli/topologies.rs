//! Every command reads every topology, and the guide says which one it can use.
//!
//! The table of `docs/guide/topologies.md` is the expectation, in both languages: a row for each form, a column for programs and one for `serve`.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use picklock::Servers;
use picklock::stores::KINDS;

use crate::support::{run, text_of};

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    form: String,
    programs: bool,
    serve: bool,
}

/// The table of a page, in which these are the words for yes and no.
fn table(page: &str, [yes, no]: [&str; 2]) -> Vec<Row> {
    let text = text_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    let usable = |cell: &str| match cell {
        _ if cell == yes => true,
        _ if cell == no => false,
        _ => panic!("{page}: `{cell}` is neither {yes} nor {no}"),
    };
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [form, _, programs, serve] = cells[..] else { panic!("{page}: {row}") };
        Row { form: form.trim_matches('`').to_owned(), programs: usable(programs), serve: usable(serve) }
    })
    .collect()
}

fn expected() -> Vec<Row> {
    table("docs/guide/topologies.md", ["yes", "no"])
}

/// A form with a number, as a user types it.
fn typed(form: &str) -> String {
    form.replace(":N", ":3")
}

#[test]
fn the_guide_has_each_form_in_both_languages() {
    let rows = expected();
    assert_eq!(table("docs/zh/guide/topologies.md", ["可用", "不可用"]), rows);
    let has_prefix = |form: &&str| form.starts_with("simulated-") || form.starts_with("real-");
    let listed: Vec<&str> = rows.iter().map(|row| &*row.form).filter(|form| !has_prefix(form)).collect();
    let declared: Vec<String> =
        KINDS.iter().flat_map(|kind| kind.forms).map(|form| form.spelling()).collect();
    assert_eq!(listed, declared);
}

/// True if a command refuses a topology, or does not read it.
fn refuses(args: &[&str]) -> bool {
    let ended = run(args);
    let refused = ended.stderr.contains("the topology `") || ended.stderr.contains("there is no topology `");
    assert!(!refused || ended.code == Some(2), "{args:?}: {:?}: {}", ended.code, ended.stderr);
    refused
}

#[test]
fn every_command_uses_or_refuses_a_topology_as_the_guide_says() {
    // The program is not there, so that no run begins: it is looked for after the topology was read.
    let command = "/there/is/no/such/program";
    for Row { form, programs, .. } in expected() {
        let topology = typed(&form);
        let spelling = format!("program{{topology={topology}}}:{command}");
        for args in [
            &["run", "--program", command, "--topology", &topology, "--scenario", "calm", "--seeds", "1"][..],
            &["explore", "--program", command, "--topology", &topology, "--fault", "pause"],
            &["doctor", "--program", command, "--topology", &topology, "--scenario", "calm", "--seeds", "1"],
            &["replay", &spelling, "calm", "0"],
        ] {
            assert_eq!(!refuses(args), programs, "{args:?}");
        }
    }
}

#[test]
fn serve_uses_or_refuses_a_topology_as_the_guide_says() {
    for Row { form, serve, .. } in expected() {
        let topology = typed(&form);
        let is_served = (0..10).find_map(|_| is_served(&topology));
        assert_eq!(is_served, Some(serve), "{topology}");
    }
}

/// True if it is served, false if it is refused, `None` if a port was taken.
fn is_served(topology: &str) -> Option<bool> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new(env!("CARGO_BIN_EXE_picklock"))
        .args(["serve", "--quiet", "--topology", topology, "--port", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_ready = lines.any(|line| line.unwrap().starts_with("ready"));
    let _ = child.kill();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    match is_ready {
        true => Some(true),
        false if said.contains("the topology `") => Some(false),
        false if said.contains("choose another with --port") || said.contains("would need ports") => None,
        false => panic!("{topology}: {said}"),
    }
}

#[test]
fn an_unknown_topology_is_answered_with_all_forms() {
    for args in [
        &["run", "--program", "x", "--topology", "postgres-pooled"][..],
        &["serve", "--topology", "postgres-pooled"],
        &["replay", "program{topology=postgres-pooled}:x", "calm", "0"],
    ] {
        let ended = run(args);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("there is no topology `postgres-pooled`"), "{}", ended.stderr);
        for form in KINDS.iter().flat_map(|kind| kind.forms) {
            assert!(ended.stderr.contains(&form.spelling()), "{args:?}: {}: {}", form.name, ended.stderr);
        }
    }
}

#[test]
fn servers_that_are_named_twice_are_the_same_or_refused() {
    for args in [
        &["replay", "program{topology=simulated-etcd:3}:x@real", "calm", "0"][..],
        &[
            "run",
            "--design",
            "program{topology=simulated-etcd:3}:x",
            "--servers",
            "real",
            "--scenario",
            "calm",
        ],
        &[
            "run",
            "--program",
            "x",
            "--topology",
            "real-etcd:3",
            "--servers",
            "simulated",
            "--scenario",
            "calm",
        ],
        &["doctor", "--design", "single@real", "--servers", "simulated", "--scenario", "calm"],
    ] {
        let ended = run(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("leave one of the two out"), "{args:?}: {}", ended.stderr);
    }
    // A real server that is named twice is refused by nothing: what ends these is that there is no such scenario.
    for args in [
        &["doctor", "--design", "single@real", "--servers", "real", "--scenario", "none"][..],
        &["run", "--design", "program{topology=etcd:3}:x@real", "--servers", "real", "--scenario", "none"],
        &["run", "--program", "x", "--topology", "real-etcd:3", "--servers", "real", "--scenario", "none"],
    ] {
        let ended = run(args);
        assert!(ended.stderr.contains("there is no scenario `none`"), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn one_form_has_one_spelling() {
    for (text, written) in [
        ("cluster:3", "redis-cluster:3"),
        ("etcd:3", "simulated-etcd:3"),
        ("simulated-redlock:5", "redlock:5"),
        ("real-postgres", "real-postgres"),
    ] {
        assert_eq!(text.parse::<Servers>().unwrap().to_string(), written);
    }
}
