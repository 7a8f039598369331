//! The words of the project: no text has an old word in its old sense, and the glossary has every term, in both languages.
//!
//! Texts are the sources, comments and test names included, the help pages in them, and the English pages. The Chinese pages quote English
//! names alone, and are held to those.

use std::path::Path;
use std::process::Command;

use crate::translated_from::translations;

/// Old words: phrases that are looked for, and what is written instead. A phrase is a row of words, each with its forms.
const OLD: &[(&[&str], &str)] = &[
    (
        &["tell|tells|told|untold|telling"],
        "report, notify, log, show, ask or distinguish: whichever is meant",
    ),
    (&["lever|levers"], "fault action"),
    (&["strike|strikes|struck|striking"], "hit; in an exploration: fault kind"),
    (&["bite|bites"], "took effect"),
    (&["fault|faults|pause|pauses|it|that|which|cut|nothing|none|ever|has|have|had", "bit"], "took effect"),
    (&["bit", "in"], "took effect in"),
    (&["decisive"], "that hit the lock"),
    (&["decided", "something|nothing|anything"], "hit the lock"),
    (&["exercise|exercises|exercised|exercising"], "conclusive, inconclusive, put to the test"),
    (&["idle", "run|runs|seed|seeds|cell|cells"], "inconclusive"),
    (&["trial|trials"], "ablation"),
    (&["capsule|capsules"], "repro file"),
    (&["allowance|allowances"], "allowed violation"),
    (&["kept", "run|runs|json"], "saved run, manifest.json"),
    (&["run|runs", "that|which", "is|are", "kept"], "saved run"),
    (&["store", "of", "runs|out"], "results directory"),
    (&["calm", "run|runs"], "fault-free run"),
    (&["scout|scouts"], "probe run"),
    (&["protocol", "point|points"], "injection point"),
    (&["pass|passes|passed", "a|the|this|that|its|each|every", "point|points"], "reach an injection point"),
    (&["placement|placements"], "injection site"),
    (&["way|ways", "of", "breaking|failing"], "signature of a failure"),
    (&["witness|witnesses"], "recorder of beliefs"),
    (&["seat|seats"], "context"),
    (&["boot|boots"], "host program"),
    (&["the", "cast"], "hosts of a run"),
    (&["latecomer|latecomers"], "final client"),
    (&["rival|rivals"], "background client, contender"),
    (&["habit|habits|heedless"], "client policy, ignores_loss"),
    (&["worker|workers"], "autonomous client, client, thread"),
    (&["by", "itself", "bool"], "autonomous"),
    (&["guest|guests"], "outside the suite"),
    (&["watcher|watchers"], "monitor"),
    (&["owed"], "deferred"),
    (&["agenda|agendas"], "event queue"),
    (&["news"], "event"),
    (&["last", "words"], "exit report"),
    (&["complaint|complaints"], "standard error"),
    (&["birth|births|newborn|steward|hearing|heart"], "process creation, init of the namespace, heartbeat"),
    (&["look|looks|looked", "at", "the|its|a|their|any|each", "clock|clocks"], "clock read"),
    (&["examine|examines|examined"], "determinism check, environment check"),
    (&["say|says", "nothing", "of"], "does not apply to"),
    (&["go|goes|going", "on", "with"], "resume, continue"),
    (&["turnover|turnovers|upheaval|upheavals"], "lifecycle change, store event"),
];

/// Where an old word stays: a file, the word, and the reason.
const STAYS: &[(&str, &str, &str)] = &[
    ("tests/docs/words.rs", "", "this list"),
    (
        "model/src/trace/record.rs",
        "latecomer",
        "a label by which random numbers are drawn: digests depend on it",
    ),
    ("scenarios/src/scenario/former.rs", "rivals", "the former name of a parameter"),
    ("stores/etcd/src/server/services.rs", "watcher", "an error of etcd"),
    ("docs/findings", "worker", "a class of BullMQ, a thread of a pool"),
    ("supervisor/src/linux/files/answers.rs", "boot", "a path of the kernel"),
    ("supervisor/src/linux/files/locks.rs", "tell", "a function of rustix"),
];

/// Lines that name a former spelling on purpose: what reads old files.
fn is_of_old_files(line: &str) -> bool {
    line.contains("alias") || line.to_lowercase().contains("former")
}

#[test]
fn no_text_has_an_old_word_in_its_old_sense() {
    let mut found = Vec::new();
    for file in texts() {
        let Ok(text) = std::fs::read_to_string(root().join(&file)) else { continue };
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !is_of_old_files(line)) {
            let words = words(line);
            for (phrase, instead) in OLD {
                let Some(old) = find(&words, phrase) else { continue };
                let stays =
                    |(path, word, _): &&(&str, &str, &str)| file.starts_with(path) && old.contains(word);
                if !STAYS.iter().any(|one| stays(&one)) {
                    found.push(format!("{file}:{number}: `{old}`: write: {instead}"));
                }
            }
        }
        let opens = ["//! What ", "//! Whether ", "//! Who ", "//! Why "];
        if file.ends_with(".rs") && opens.iter().any(|open| text.starts_with(open)) {
            found.push(format!("{file}:1: a file opens with the noun for what it is"));
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

#[test]
fn phrases_are_found_in_names_and_in_prose() {
    let one = |line: &str, phrase: &[&str]| find(&words(line), phrase);
    assert_eq!(one("fn is_told(run: &Run)", &["told"]).as_deref(), Some("told"));
    assert_eq!(one("enum WhatTold {", &["tell|told"]).as_deref(), Some("told"));
    assert_eq!(one("the pause bit in 3 of 4", &["bit", "in"]).as_deref(), Some("bit in"));
    assert_eq!(one("let calm = run(plan);", &["calm", "run"]), None);
    assert_eq!(one("a bit of luck, untoldly", &["bit", "in|told"]), None);
}

/// Terms that the program prints or takes, and the nouns that replace the old words.
const TERMS: &[&str] = &[
    "ablation",
    "adapter",
    "allowed violation",
    "apply",
    "autonomous client",
    "background client",
    "became leader",
    "belief",
    "campaign",
    "cell",
    "client",
    "client policy",
    "clock read",
    "comparison",
    "conclusive",
    "confirm",
    "conformance",
    "context",
    "control",
    "counterexample",
    "deferred pause",
    "design",
    "determinism check",
    "digest",
    "engine",
    "environment check",
    "event queue",
    "exit report",
    "expectation",
    "experiment",
    "explore",
    "family",
    "fault",
    "fault action",
    "fault-free run",
    "final client",
    "finding",
    "follower",
    "gate",
    "grant",
    "group",
    "hit the lock",
    "holder",
    "horizon",
    "host",
    "host program",
    "inconclusive",
    "injection",
    "injection point",
    "injection site",
    "invariant",
    "journal",
    "leader",
    "manifest",
    "monitor",
    "outside the suite",
    "plan",
    "points of a run",
    "probe run",
    "program",
    "reached",
    "recorder of beliefs",
    "replay",
    "repro file",
    "results directory",
    "resume",
    "saved run",
    "scenario",
    "section",
    "seed",
    "shard",
    "shrink",
    "signature of a failure",
    "store",
    "store kind",
    "story",
    "suite",
    "supervisor",
    "took effect",
    "trace",
    "violation",
    "workload",
    "world",
];

#[test]
fn the_glossary_has_every_term_and_every_public_type() {
    let glossary = page("docs/glossary.md");
    let rows = rows(&glossary);
    let has_term = |term: &str| rows.iter().any(|row| row[0].split(", ").any(|name| name == term));
    let mut missing: Vec<String> =
        TERMS.iter().filter(|term| !has_term(term)).map(|term| (*term).to_owned()).collect();
    let facade = page("src/lib.rs");
    for line in facade.lines().filter(|line| line.starts_with("pub use ") && !line.contains(" as ")) {
        let names = line.split(|c: char| !c.is_alphanumeric());
        let is_term = |name: &&str| {
            name.starts_with(char::is_uppercase) && !name.ends_with("Error") && *name != "Elapsed"
        };
        for name in names.filter(is_term) {
            if !rows.iter().any(|row| row[1].split('`').any(|code| code == name)) {
                missing.push(name.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "docs/glossary.md has no row for {missing:?}");
}

#[test]
fn types_in_the_glossary_are_in_the_sources() {
    let sources: Vec<String> =
        texts().iter().filter(|file| file.ends_with(".rs")).map(|file| page(file)).collect();
    let glossary = page("docs/glossary.md");
    for row in rows(&glossary) {
        for code in row[1].split('`').filter(|code| code.starts_with(char::is_uppercase)) {
            let name = code.split("::").last().unwrap();
            let is_type = name.chars().all(char::is_alphanumeric) && name.chars().any(char::is_lowercase);
            let is_there = || {
                sources.iter().any(|text| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name))
            };
            assert!(!is_type || is_there(), "docs/glossary.md: there is no `{code}` in the sources");
        }
    }
}

#[test]
fn a_current_glossary_in_chinese_has_the_same_terms_in_the_same_order() {
    if !translations().iter().any(|it| it.page.ends_with("glossary.md") && it.is_current()) {
        return;
    }
    let (english, chinese) = (page("docs/glossary.md"), page("docs/zh/glossary.md"));
    let is_term =
        |row: &&Vec<&str>| row.len() == 3 && !row[0].starts_with('`') && !["term", "line"].contains(&row[0]);
    let english: Vec<&str> = rows(&english).iter().filter(is_term).map(|row| row[0]).collect();
    let is_term = |row: &&Vec<&str>| row.len() == 4 && row[1] != "英文";
    let chinese: Vec<&str> = rows(&chinese).iter().filter(is_term).map(|row| row[1]).collect();
    assert_eq!(english, chinese, "docs/zh/glossary.md has other terms, or another order");
}

/// The words of a line: names are taken apart at underscores and at capitals, and case does not count. A sign between words is a word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in line.chars() {
        if !c.is_alphanumeric() || before.is_lowercase() && c.is_uppercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().unwrap().extend(c.to_lowercase());
        } else if ![' ', '_', '-', '.'].contains(&c) {
            words.push(c.to_string());
            words.push(String::new());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The phrase as the line has it.
fn find(words: &[String], phrase: &[&str]) -> Option<String> {
    let fits = |part: &&[String]| {
        part.iter().zip(phrase).all(|(word, forms)| forms.split('|').any(|form| form == word))
    };
    words.windows(phrase.len()).find(fits).map(|part| part.join(" "))
}

/// The rows of all tables of a page, by cell.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    lines.map(|line| line.trim_matches(['|', ' ']).split('|').map(str::trim).collect()).collect()
}

/// Sources and English pages, but for what others wrote and what was printed once.
fn texts() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "*.rs", "*.md", "*.toml", "*.html", "*.js", "*.css"])
        .current_dir(root())
        .output();
    let listed = String::from_utf8(listed.expect("git is there").stdout).unwrap();
    let others = ["tests/fixtures/", "tests/external/", "docs/zh/"];
    let is_ours = |file: &&str| !others.iter().any(|start| file.starts_with(start));
    listed.lines().filter(is_ours).map(str::to_owned).collect()
}

fn page(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
