//! The story of a violating run is true of it: the earlier grant, the hosts that are named, and the line that makes it again.
//!
//! The cells are those of the suite whose expectation allows a violation; each has the story of the first of its seeds that
//! shows one. Of some, and by night of all, the reduced runs have stories too, one for each of the violations first seen under a
//! seed.

use std::collections::BTreeSet;

use picklock_campaign::check::Checked;
use picklock_campaign::expect::Expectations;
use picklock_campaign::patience::Patience;
use picklock_campaign::story::Story;
use picklock_campaign::{ablation, check, counterexamples, shrink};
use picklock_judge::history::History;
use picklock_judge::invariants::severity;
use picklock_model::ids::{GrantId, HostId};
use picklock_model::seed::Seed;
use picklock_model::trace::{Role, Trace, What};
use picklock_reports::Style;
use picklock_reports::story::timeline::{self, Detail, explain};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};
use crate::nightly::by_day_or_night;
use crate::{story_causes, story_page};

/// Seeds in which a violation is looked for.
const SEEDS: u64 = 60;

/// The cells looked at.
fn cells() -> Vec<Cell> {
    let expectations = Expectations::builtin();
    let allows = |cell: &Cell| {
        let expected = expectations.cell(&cell.name, cell.scenario.name());
        expected.is_some_and(|expected| !expected.violated.is_empty() || !expected.may.is_empty())
    };
    let stores = picklock_stores::params();
    let scenarios = suite::builtin(&stores);
    let of_design = |name: &str| {
        let design = design(name);
        let cells = scenarios.iter().filter_map(|scenario| Cell::of(&design, scenario.clone()));
        cells.filter(allows).collect::<Vec<_>>()
    };
    picklock_impls::families().iter().flat_map(|family| of_design(family.name)).collect()
}

/// The first violating run of a cell, with its seed.
fn violating(cell: &Cell) -> Option<(u64, Checked)> {
    let runs = (0..SEEDS).map(|seed| (seed, cell.run(Engine::Event, seed)));
    runs.into_iter().find(|(_, run)| run.violations().next().is_some())
}

/// The names of all hosts that a text names.
fn named<'t>(trace: &'t Trace, text: &str) -> BTreeSet<&'t str> {
    let words: BTreeSet<&str> = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
    trace.hosts.iter().map(|host| host.name.as_str()).filter(|name| words.contains(name)).collect()
}

/// The grants that a finding names, in order of appearance.
fn grants_in(trace: &Trace, text: &str) -> Vec<GrantId> {
    let sections = text.match_indices(" (section ");
    let grant = |(at, found): (usize, &str)| {
        let client = text[..at].rsplit(|c: char| c.is_whitespace() || c == '(').next()?;
        let number = text[at + found.len()..].split(')').next()?;
        let host = trace.hosts.iter().position(|host| host.name == client && host.role == Role::Client)?;
        Some(GrantId::new(HostId(host as u16), number.parse().ok()?))
    };
    sections.filter_map(grant).collect()
}

/// The grant of the event in which a marked line of the page says that it was seen, or that a store granted it.
fn marked(story: &Story, page: &str, mark: &str) -> Option<GrantId> {
    let line = page.lines().find(|line| line.ends_with(mark))?;
    let at = line.split_whitespace().next()?;
    let begins = story.trace.events.iter().find(|event| {
        let begins = match event.what {
            What::Acquired { .. } => line.contains(" holds "),
            What::Created { .. } => line.contains(" creates "),
            _ => false,
        };
        begins && event.at.to_string() == at && line.contains(story.trace.host_name(event.host))
    });
    begins?.grant
}

#[test]
fn stories_name_the_earlier_grant_first_and_only_who_was_there() {
    let (mut stories, mut clashes) = (0, 0);
    for cell in cells() {
        let Some((seed, run)) = violating(&cell) else { continue };
        let name = format!("{} under {}, seed {seed}", cell.name, cell.scenario.name());
        let kept =
            check::check(check::Options::from(Engine::Event).with_wire(), &cell.design, run.plan.clone())
                .unwrap();
        assert_eq!(kept.trace.digest, run.trace.digest, "{name}: what is kept of a run changes nothing");
        let story = counterexamples::story(&cell.design, cell.scenario.name(), &kept, String::new());
        let page = timeline::render(&story, &Style { colour: false, width: 200 }, Detail::Relevant);
        let history = History::of(&story.trace);
        stories += 1;

        for finding in story.breaches.iter().flat_map(|breach| &breach.findings) {
            let orders: Vec<_> = finding.grants.iter().map(|grant| history.order_of(*grant)).collect();
            assert!(orders.is_sorted(), "{name}: {finding:?}");
            let clashing = grants_in(&story.trace, &finding.text);
            let clashing: Vec<_> =
                clashing.into_iter().filter(|grant| finding.grants.contains(grant)).collect();
            let first = clashing.iter().min_by_key(|grant| history.order_of(**grant));
            assert_eq!(clashing.first(), first, "{name}: {}", finding.text);
        }

        let text = explain(&story);
        let idle = named(&story.trace, &format!("{text} {page}"))
            .into_iter()
            .filter(|name| story.trace.events.iter().all(|event| story.trace.host_name(event.host) != *name));
        assert_eq!(idle.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}: who did nothing is named:\n{text}");

        let grants = &story.leading().unwrap().grants;
        let marks = ["◀ first grant", "◀ second grant"].map(|mark| marked(&story, &page, mark));
        if let [Some(first), Some(second)] = marks {
            clashes += 1;
            assert_eq!([first, second], grants[..2], "{name}:\n{page}");
            assert!(history.order_of(first) < history.order_of(second), "{name}:\n{page}");
            // Of the two, the paragraph names the first one first too.
            let client = story.trace.host_name(first.client);
            let names = [client.to_owned(), format!("{client} (section {})", first.section)];
            let mut granted = text.match_indices(" got `").map(|(at, _)| at);
            let granted = granted.find(|at| !text[..*at].ends_with("nobody"));
            let got = granted.into_iter().chain(text.find(" was granted `")).min();
            let got = got.unwrap_or_else(|| panic!("{name}: {text}"));
            assert!(names.iter().any(|name| text[..got].ends_with(name)), "{name}: {text}");
        }

        assert_eq!(story_causes::faults(&story), Vec::<String>::new(), "{name}:\n{page}");

        let again = check::seed(Engine::Event, &cell.design, &cell.scenario, Seed(seed)).unwrap();
        assert_eq!(
            again.trace.digest, story.trace.digest,
            "{name}: the line that replays it makes another run"
        );
    }
    assert!(stories >= 150 && clashes >= 120, "{stories} stories, {clashes} of them of two holders");
}

/// A run of a cell reduced to one of its violations, as the page shows it, with the errors of the page; none for a run that
/// cannot be reduced any more.
fn reduced(cell: &Cell, seed: u64, whole: &Checked, invariant: &str) -> (String, Vec<String>) {
    let name = format!("{} under {}, seed {seed}, reduced to {invariant}", cell.name, cell.scenario.name());
    let plan = shrink::shrink(Engine::Event, &cell.design, &whole.plan, invariant);
    let run = check::check(check::Options::from(Engine::Event).with_wire(), &cell.design, plan).unwrap();
    let others: Vec<_> = picklock_impls::families().iter().map(|family| family.design()).collect();
    let mut story = counterexamples::story(&cell.design, cell.scenario.name(), &run, String::new());
    story.lead_with(counterexamples::leading(&cell.design, whole, invariant));
    story.ablation = Some(ablation::of(Engine::Event, &cell.design, &run, &others, &Patience::default()));
    let page = timeline::render(&story, &Style { colour: false, width: 240 }, Detail::Relevant);
    let mut wrong = story_page::faults(&story, &cell.design, &page);
    wrong.extend(story_causes::faults(&story));
    if !run.violates(invariant) {
        wrong.push(format!("does not violate {invariant} any more"));
    }
    if let Some(dir) = std::env::var_os("PICKLOCK_STORIES") {
        let file = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        std::fs::write(std::path::Path::new(&dir).join(file), &page).unwrap();
    }
    (name, wrong)
}

/// The story of a design under a scenario with these settings.
fn story_of(name: &str, scenario: &str, set: &[&str], seed: u64) -> (Story, String) {
    let mut set_up = suite::named(scenario, &picklock_stores::params()).expect("it is built in");
    set_up.set_all(set).expect("it has these parameters");
    let cell = Cell::of(&design(name), set_up).expect("it applies");
    let options = check::Options::from(Engine::Event).with_wire();
    let plan = cell.run(Engine::Event, seed).plan;
    let run = check::check(options, &cell.design, plan).unwrap();
    let story = counterexamples::story(&cell.design, scenario, &run, String::new());
    let page = timeline::render(&story, &Style { colour: false, width: 400 }, Detail::Relevant);
    (story, page)
}

#[test]
fn writes_through_a_follower_and_statements_behind_a_pooler_have_their_answers() {
    for (name, scenario, seed, answered) in [
        ("zookeeper", "pause", 4, "create /lock:1 → ok at "),
        ("advisory-pooled", "calm", 1, "SET lock_timeout = 4000 → SET"),
        ("advisory-pooled", "calm", 1, "SELECT pg_advisory_unlock(hashtext($1)) with lock:1 → SELECT 1: t"),
    ] {
        let (story, page) = story_of(name, scenario, &[], seed);
        assert!(page.contains(answered), "{name}: {answered}\n{page}");
        assert!(!page.contains("goodbye → "), "{name}: nobody answers a farewell\n{page}");
        assert_eq!(story_causes::faults(&story), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_lease_that_a_former_leader_revokes_has_not_run_out() {
    let set = ["how=pause", "failover.for=2 x ttl..4 x ttl", "work=2 x ttl..4 x ttl", "horizon=80s"];
    let (story, page) = story_of("etcd{belief=honest}", "failover", &set, 41);
    assert!(
        page.contains(
            "which had not run out here: node-1, the leader before, proposed that by its own clock"
        ),
        "{page}"
    );
    assert!(page.contains("becomes the leader") && !page.contains("primary"), "{page}");
    assert_eq!(story_causes::faults(&story), Vec::<String>::new());
}

#[test]
fn a_key_in_a_queue_is_granted_when_the_key_before_it_goes() {
    let (_, page) = story_of("zookeeper", "calm", &[], 0);
    let lines: Vec<&str> = page.lines().collect();
    let first = lines.iter().position(|line| line.contains("creates the record of")).unwrap();
    let granted = lines.iter().position(|line| line.contains("grants `")).unwrap();
    assert!(first < granted, "{page}");
    assert!(lines[first..granted].iter().any(|line| line.contains("deletes the record of")), "{page}");
}

#[test]
fn reduced_stories_say_nothing_that_another_run_or_their_own_trace_contradicts() {
    let cells = cells();
    let step = by_day_or_night(cells.len().div_ceil(8), 1);
    let mut wrong = Vec::new();
    let mut stories = 0;
    for cell in cells.iter().step_by(step) {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for seed in 0..SEEDS / 2 {
            let run = cell.run(Engine::Event, seed);
            let mut fresh = run.violated();
            fresh.retain(|name| !seen.contains(name));
            fresh.sort_by_key(|name| severity(name));
            let Some(worst) = fresh.first() else { continue };
            let (name, faults) = reduced(cell, seed, &run, worst);
            stories += 1;
            wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
            seen.insert(worst.clone());
            // One mishap mostly has several consequences, which one run shows.
            seen.extend(by_day_or_night(run.violated(), Vec::new()));
        }
    }
    eprintln!("{stories} reduced stories");
    assert!(stories >= by_day_or_night(4, 150), "{stories} stories");
    assert!(wrong.is_empty(), "{} faults in {stories} stories:\n{}", wrong.len(), wrong.join("\n"));
}
