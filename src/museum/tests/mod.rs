mod fetching;
mod folders;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod mutated;
#[cfg(unix)]
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

#[test]
fn every_folder_is_listed_with_all_of_its_files_and_is_valid() {
    let museum = Path::new(env!("CARGO_MANIFEST_DIR")).join("museum");
    let names = |dir: &Path| -> BTreeSet<String> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let folders: BTreeSet<String> =
        names(&museum).into_iter().filter(|name| museum.join(name).is_dir()).collect();
    let listed: BTreeSet<String> = EXHIBITS.iter().map(|exhibit| exhibit.name.to_string()).collect();
    assert_eq!(folders, listed);
    for exhibit in EXHIBITS {
        let bug = exhibit.bug().unwrap();
        exhibit.check_locked(&bug).unwrap();
        let own = names(&museum.join(&*exhibit.name));
        let known = |file: &String| {
            ["bug.toml", "locked.toml"].contains(&file.as_str()) || exhibit.file(file).is_some()
        };
        assert!(own.iter().all(known), "{}: {own:?}", exhibit.name);
        assert!(picklock_judge::invariants::ALL.iter().any(|known| known.name == bug.run.invariant));
        let scenario = run::scenario(exhibit, &bug, &[]).unwrap();
        let faults: Vec<&str> = scenario.faults().iter().map(|entry| entry.fault.name).collect();
        assert!(
            bug.run.fault == "none" && faults.is_empty() || faults.contains(&bug.run.fault.as_str()),
            "{}",
            exhibit.name
        );
        assert!(bug.link().starts_with("https://"), "{}", exhibit.name);
        let is_thread = ["/issues/", "/pull/"].iter().any(|part| bug.link().contains(part));
        assert_eq!(bug.thread.is_some(), is_thread, "{}", exhibit.name);
    }
    assert!(EXHIBITS.is_sorted_by_key(|exhibit| &exhibit.name));
}

#[test]
fn a_description_without_a_fixed_version_or_a_control_is_refused() {
    let text = &named("redis-semaphore-175").unwrap().text;
    let error = Bug::read("museum/made-up", &text.replace("fixed = ", "# fixed = ")).unwrap_err().to_string();
    assert!(error.starts_with("museum/made-up/bug.toml: give `fixed`, or `control`"), "{error}");
    let error = Bug::read("museum/made-up", &text.replace("library", "libary")).unwrap_err().to_string();
    assert!(error.contains("unknown field `libary`"), "{error}");
}

#[test]
fn a_description_has_either_a_thread_or_a_source_file() {
    let text = &named("node-redlock-even").unwrap().text;
    let bug = Bug::read("museum/made-up", text).unwrap();
    assert_eq!((bug.thread.as_deref(), bug.source.as_deref()), (None, Some(bug.link())));
    let line = text.lines().find(|line| line.starts_with("source = ")).unwrap();
    for other in [String::new(), format!("{line}\n{}", line.replace("source", "thread"))] {
        let error = Bug::read("museum/made-up", &text.replace(line, &other)).unwrap_err().to_string();
        assert!(error.starts_with("museum/made-up/bug.toml: give `thread`,"), "{error}");
    }
    let text = text.replace("source = ", "thread = ");
    let bug = Bug::read("museum/made-up", &text).unwrap();
    assert_eq!((bug.thread.as_deref(), bug.source.as_deref()), (Some(bug.link()), None));
}

#[test]
fn a_folder_of_the_user_is_a_bug_with_its_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("museum/redis-semaphore-175");
    let read = Exhibit::read(&folder).unwrap();
    let listed = named("redis-semaphore-175").unwrap();
    assert_eq!((&read.name, &read.text, &read.files), (&listed.name, &listed.text, &listed.files));
    assert_eq!(read.locked, listed.locked);
    let error = Exhibit::read(&folder.join("nowhere")).unwrap_err().to_string();
    assert!(error.contains("museum/redis-semaphore-175/nowhere: No such file"), "{error}");
}

/// A version that was observed in so many runs, of which so many violate and so many are inconclusive.
fn observed(runs: u64, violating: u64, inconclusive: u64) -> Observed {
    let (version, took) = ("1.0.0".to_owned(), std::time::Duration::ZERO);
    Observed { version, runs, violating, inconclusive, took, first: None }
}

#[test]
fn a_twin_is_silent_only_after_enough_runs_that_can_show_something() {
    let is_as_described = |affected, twin| Outcome::Shown { affected, twin }.is_as_described();
    assert_eq!(is_as_described(observed(1, 1, 0), observed(100, 0, 99)), Some(true));
    assert_eq!(is_as_described(observed(1, 1, 0), observed(99, 0, 0)), None, "it was interrupted");
    assert_eq!(is_as_described(observed(1, 1, 0), observed(100, 0, 100)), Some(false), "all inconclusive");
    assert_eq!(is_as_described(observed(1, 1, 0), observed(100, 1, 0)), Some(false), "the twin violates");
    assert_eq!(is_as_described(observed(100, 0, 0), observed(100, 0, 0)), Some(false), "it is not found");
}

#[test]
fn only_faults_that_explorations_place_are_explored() {
    let fault = |name: &str| {
        let bug = named(name).unwrap().bug().unwrap();
        explore::fault_of(&bug).map(|fault| fault.name)
    };
    assert_eq!(fault("redis-py-818"), Ok("client-crash"));
    assert_eq!(fault("redsync-149"), Ok("pause"));
    assert_eq!(fault("redlock-py-3").unwrap_err(), "it needs no fault");
    let why = fault("rslock-extend").unwrap_err();
    assert!(why.starts_with("its control sets parameters of the scenario"), "{why}");
}

#[test]
fn a_violation_that_was_found_by_exploration_names_its_site() {
    let exhibit = named("redis-py-818").unwrap();
    let bug = exhibit.bug().unwrap();
    let found = Found {
        first_seed: 1,
        runs: 57,
        site: Some("client-crash:12".to_owned()),
        after: std::time::Duration::from_millis(1500),
        events: 90,
        shrunk: 30,
        replay: "picklock explore --place client-crash:12".to_owned(),
    };
    let affected = Observed { first: Some(found), ..observed(60, 4, 2) };
    let outcome = Outcome::Shown { affected, twin: observed(300, 0, 9) };
    let row = (exhibit, &bug, &outcome);
    let said = text(row, 1000);
    let first = "progress violated in 4 of 60 runs, first by client-crash:12 of seed 1 after 57 runs and 1.5 s; 90 events, shrunk to 30";
    assert!(said.contains(first), "{said}");
    let table = markdown(&[row], Strategy::Explore);
    assert!(table.contains("| explore | 4 of 60 | 57 | 1.5 | 90, 30 | 3.0.0 | 0 of 300 |"), "{table}");
    let json = json(&[row], Strategy::Explore);
    let bug = &json["bugs"][0];
    assert_eq!(
        (&bug["strategy"], &bug["affected"]["first"]["site"]),
        (&"explore".into(), &"client-crash:12".into())
    );
    assert_eq!(bug["affected"]["first"]["runs"], 57);
}

#[test]
fn a_bug_that_is_not_explored_says_why_and_is_no_failure() {
    let exhibit = named("redlock-py-3").unwrap();
    let bug = exhibit.bug().unwrap();
    let outcome = Outcome::Unexplored("it needs no fault".to_owned());
    assert_eq!(outcome.is_as_described(), None);
    let row = (exhibit, &bug, &outcome);
    assert!(text(row, 80).ends_with("  not explored: it needs no fault\n"), "{}", text(row, 80));
    assert_eq!(json(&[row], Strategy::Explore)["bugs"][0]["not_explored"], "it needs no fault");
}

#[test]
fn the_guide_has_the_table_of_all_bugs() {
    let bugs: Vec<_> = EXHIBITS.iter().map(|exhibit| (exhibit.clone(), exhibit.bug().unwrap())).collect();
    let table = listed(&bugs);
    for page in ["docs/guide/museum.md", "docs/zh/guide/museum.md"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        assert!(
            text.contains(&table),
            "{page}: paste what `picklock museum --format markdown` prints:\n{table}"
        );
    }
}

#[test]
fn the_readmes_count_the_bugs() {
    for (page, count) in [("README.md", "shows {} bugs of "), ("README.zh.md", "的 {} 个缺陷")] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let count = count.replace("{}", &EXHIBITS.len().to_string());
        assert!(text.contains(&count), "{page}: {count}");
    }
}
