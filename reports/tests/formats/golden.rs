//! Tests of the formats: reviewed pages, and rules for every page: its width, its colours, its syntax.

use std::collections::BTreeMap;
use std::path::Path;

use picklock_campaign::story::Story;
use picklock_campaign::summary::{Expected, Summary};
use picklock_model::ids::{EventId, HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::Exclusion;
use picklock_model::trace::{Event, Halt, What};
use picklock_reports::formats::brief;
use picklock_reports::run::json::{Run, run_json};
use picklock_reports::story::timeline::{self, Detail, explain};
use picklock_reports::{ALL, COMPARISONS, Style, compare, find};
use serde_json::Value;

use crate::fixtures::{campaign, comparison, paused_holder, suite};

fn plain(width: usize) -> Style {
    Style { colour: false, width }
}

fn render(name: &str, summary: &Summary, style: &Style) -> String {
    (find(name).unwrap().render)(summary, style).unwrap()
}

fn compared(name: &str, summary: &Summary, style: &Style) -> String {
    (COMPARISONS.iter().find(|format| format.name == name).unwrap().render)(
        &comparison(summary.clone()),
        style,
    )
    .unwrap()
}

/// A page of every format, with the name of its file.
fn every_page(summary: &Summary, style: &Style) -> Vec<(&'static str, String)> {
    let campaigns = ALL.iter().map(|format| (format.file, render(format.name, summary, style)));
    let compared = COMPARISONS.iter().map(|format| (format.file, compared(format.name, summary, style)));
    campaigns.chain(compared).chain([("brief", brief::page(summary, style, None))]).collect()
}

/// Lines that are meant to be copied, and are therefore never broken.
fn is_copied(line: &str) -> bool {
    ["picklock ", "next: picklock ", "replay: ", "saved as "]
        .iter()
        .any(|start| line.trim_start().starts_with(start))
}

fn assert_fits(page: &str, columns: usize) {
    for line in page.lines().filter(|line| !is_copied(line)) {
        let width = line.chars().count();
        assert!(width <= columns, "{width} columns, and only {columns} are there: {line}");
    }
}

#[test]
fn text_of_a_small_campaign_at_80_columns() {
    insta::assert_snapshot!(render("text", &campaign(), &plain(80)));
}

#[test]
fn text_of_a_small_campaign_on_a_narrow_terminal() {
    insta::assert_snapshot!(render("text", &campaign(), &plain(44)));
}

#[test]
fn text_of_the_whole_suite_at_80_columns() {
    insta::assert_snapshot!(render("text", &suite(), &plain(80)));
}

#[test]
fn the_short_page_of_a_small_campaign_at_80_columns() {
    insta::assert_snapshot!(brief::page(&campaign(), &plain(80), None));
}

#[test]
fn the_short_page_of_the_whole_suite_at_80_columns() {
    let mut suite = as_expected(suite());
    insta::assert_snapshot!(brief::page(&suite, &plain(80), Some(Path::new("out"))));
    suite.cells[3].met = Some(false);
    let page = brief::page(&suite, &plain(80), None);
    assert!(page.contains("NOT as expected: 1 of 168 cells"), "{page}");
}

/// The same results, as if all had been expected.
fn as_expected(mut summary: Summary) -> Summary {
    for cell in &mut summary.cells {
        let violated = cell.violations.keys().cloned().collect();
        cell.expected = Some(Expected { violated, ..Expected::default() });
        cell.met = Some(true);
    }
    summary
}

#[test]
fn the_short_page_fits_a_screen_whatever_was_run() {
    let mut many = as_expected(suite());
    for nth in 0..40 {
        for mut cell in as_expected(suite()).cells {
            // Rows that differ, so that they cannot be folded.
            if nth as usize % 14 == cell.scenario.len() % 14 {
                cell.violations.clear();
            }
            cell.design = format!("{}-{nth}", cell.design);
            many.cells.push(cell);
        }
    }
    for summary in [as_expected(campaign()), as_expected(suite()), many] {
        for columns in [72, 80, 110, 160] {
            for out in [None, Some(Path::new("out"))] {
                let page = brief::page(&summary, &plain(columns), out);
                let lines = page.lines().count();
                assert!(lines <= brief::LINES, "{lines} lines at {columns} columns:\n{page}");
                assert_fits(&page, columns);
            }
        }
    }
}

#[test]
fn a_comparison_on_a_screen_at_80_columns() {
    insta::assert_snapshot!(compare::screen(&comparison(suite()), &plain(80), None));
}

#[test]
fn a_comparison_fits_a_screen_whatever_was_run_and_its_ranking_is_begun() {
    let mut many = suite();
    for nth in 0..40 {
        many.cells.extend(suite().cells.into_iter().map(|mut cell| {
            cell.design = format!("{}-{nth}", cell.design);
            cell
        }));
    }
    let mut alone = suite();
    alone.cells.retain(|cell| cell.scenario == "pause");
    for summary in [campaign(), suite(), many, alone] {
        for columns in [72, 80, 110, 160] {
            let page = compare::screen(&comparison(summary.clone()), &plain(columns), None);
            let lines = page.lines().count();
            assert!(lines <= brief::LINES, "{lines} lines at {columns} columns:\n{page}");
            assert_fits(&page, columns);
            assert!(page.contains("\n  3. "), "{page}");
        }
    }
}

#[test]
fn a_few_cells_are_shown_in_full_with_their_stories_in_short() {
    let mut summary = campaign();
    summary.cells.retain(|cell| cell.design == "single");
    let page = brief::page(&summary, &plain(80), None);
    let whole = render("text", &summary, &plain(80));
    let (before, other) =
        whole.split_once("\ncause of no-lost-update\n").expect("each invariant has its chain");
    let (_, after) = other.split_once("\n\n").expect("something comes after the chain");
    assert_eq!(
        page,
        format!("{before}\n{after}"),
        "the story is short anyway, but for the other chains of causes"
    );
}

#[test]
fn a_short_story_keeps_what_proves_its_findings_and_says_how_much_is_left_out() {
    let mut story = paused_holder();
    let written = story.trace.events.iter().find(|event| matches!(event.what, What::ResourceWritten { .. }));
    let written = written.unwrap().clone();
    story.trace.events.extend((0..200).map(|nth| Event {
        id: EventId(400 + nth),
        at: TrueTime(1_160_000_000 + u64::from(nth)),
        ..written.clone()
    }));
    story.trace.events.sort_by_key(|event| event.at);
    let [whole, short] =
        [Detail::Relevant, Detail::Short].map(|detail| timeline::render(&story, &plain(80), detail));
    assert!(whole.lines().count() > 200, "{whole}");
    assert!(short.lines().count() < 90, "{short}");
    assert!(short.contains("more lines of it: see the line below that replays it"), "{short}");
    let proofs = |page: &str| page.matches('◀').count();
    assert_eq!(proofs(&short), proofs(&whole));
}

#[test]
fn markdown_of_a_small_campaign() {
    insta::assert_snapshot!(render("markdown", &campaign(), &Style::default()));
}

#[test]
fn json_of_a_small_campaign() {
    insta::assert_snapshot!(render("json", &campaign(), &Style::default()));
}

#[test]
fn junit_of_a_small_campaign() {
    insta::assert_snapshot!(render("junit", &campaign(), &Style::default()));
}

#[test]
fn comparison_at_110_columns() {
    insta::assert_snapshot!(compared("text", &campaign(), &plain(110)));
}

#[test]
fn comparison_at_80_columns() {
    insta::assert_snapshot!(compared("text", &campaign(), &plain(80)));
}

#[test]
fn comparison_as_markdown() {
    insta::assert_snapshot!(compared("markdown", &campaign(), &Style::default()));
}

#[test]
fn timeline_of_a_paused_holder() {
    insta::assert_snapshot!(timeline::render(&paused_holder(), &Style::default(), Detail::Relevant));
}

#[test]
fn timeline_of_a_paused_holder_on_a_narrow_terminal() {
    insta::assert_snapshot!(timeline::render(&paused_holder(), &plain(56), Detail::Relevant));
}

#[test]
fn timeline_of_a_paused_holder_in_full() {
    insta::assert_snapshot!(timeline::render(&paused_holder(), &Style::default(), Detail::Full));
}

#[test]
fn a_segment_that_was_held_belongs_to_the_story_and_a_quick_one_does_not() {
    let mut story = paused_holder();
    let rendered = |story: &Story| timeline::render(story, &plain(110), Detail::Relevant);
    assert!(!rendered(&story).contains("receives"));
    let sent = &mut story.trace.events[2].at;
    *sent = TrueTime(sent.0 - 90_000_000);
    let page = rendered(&story);
    let lines: Vec<&str> = page.lines().collect();
    let has = |words: &[&str]| lines.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(
        has(&["client-1  → node-1: SET stock a1 NX PX 1000 (arrives at ", ") → OK, after 92.0ms"]),
        "{page}"
    );
    assert!(
        has(&["node-1    receives what client-1 sent at ", " for client-1: SET stock a1 NX PX 1000"]),
        "{page}"
    );
}

/// Puts an event before the first one of this kind, at the same time, as a copy of the first of another kind.
fn before(story: &mut Story, next: fn(&What) -> bool, like: fn(&What) -> bool, what: What) -> usize {
    let place =
        |such: fn(&What) -> bool| story.trace.events.iter().position(|event| such(&event.what)).unwrap();
    let (at, model) = (place(next), story.trace.events[place(like)].clone());
    let id = EventId(10_000 + at as u32);
    story.trace.events.insert(at, Event { at: story.trace.events[at].at, id, cause: None, what, ..model });
    at
}

#[test]
fn the_acts_of_a_process_as_it_runs_again_are_shown_after_that() {
    let mut story = paused_holder();
    let acknowledged = What::WriteAcknowledged { key: Key::new("stock") };
    let own = |what: &What| matches!(what, What::Waiting { .. });
    before(&mut story, |what| *what == What::Resumed, own, acknowledged);
    for detail in [Detail::Relevant, Detail::Full] {
        let page = timeline::render(&story, &plain(110), detail);
        let line = |words: &str| page.lines().position(|line| line.contains(words)).unwrap();
        let applied =
            page.lines().position(|line| line.starts_with("2.112000s") && line.contains("was applied"));
        assert!(line("runs again") < applied.unwrap(), "{page}");
        assert!(!page.lines().nth(applied.unwrap()).unwrap().contains('▓'), "{page}");
    }
}

#[test]
fn a_client_holds_until_what_it_does_as_it_runs_again() {
    let mut story = paused_holder();
    let own = |what: &What| matches!(what, What::Waiting { .. });
    let release = What::Releasing { key: Key::new("stock") };
    before(&mut story, |what| *what == What::Resumed, own, release);
    let page = timeline::render(&story, &plain(110), Detail::Relevant);
    let line = page.lines().find(|line| line.contains("runs again")).unwrap();
    assert!(line.contains('│'), "{page}");
}

#[test]
fn holds_of_a_re_entrant_lock_are_counted_by_what_was_asked() {
    let mut story = paused_holder();
    let made =
        story.trace.events.iter().position(|event| matches!(event.what, What::Created { .. })).unwrap();
    let [sent, arrived, made] = [2, 3, made].map(|at| story.trace.events[at].clone());
    assert_eq!((made.cause, arrived.cause), (Some(arrived.id), Some(sent.id)), "a request and what it made");
    let again = [sent, arrived, made].map(|event| event.id.0 + 20_000).map(EventId);
    let copies = [2, 3].map(|at| story.trace.events[at].clone()).into_iter();
    let made = story.trace.events.iter().find(|event| matches!(event.what, What::Created { .. })).cloned();
    let extended = Event { what: What::Extended { key: Key::new("stock") }, ..made.unwrap() };
    let causes = [None, Some(again[0]), Some(again[1])];
    for (nth, event) in copies.chain([extended]).enumerate() {
        let at = TrueTime(event.at.0 + 100_000_000);
        story.trace.events.push(Event { id: again[nth], at, cause: causes[nth], ..event });
    }
    story.trace.events.sort_by_key(|event| event.at);
    let asked = story.wire.get(&EventId(again[0].0 - 20_000)).unwrap().clone();
    story.wire.insert(again[0], asked);
    let counts =
        |story: &Story| timeline::render(story, &plain(110), Detail::Relevant).contains(": one more hold");
    assert!(!counts(&story), "no re-entrant lock");
    story.trace.reentrant = true;
    assert!(counts(&story), "{}", timeline::render(&story, &plain(110), Detail::Relevant));
}

#[test]
fn a_section_stalls_when_it_next_waits() {
    let mut story = paused_holder();
    let halted = |what: &What| matches!(what, What::Paused { .. });
    let at = story.trace.events.iter().position(|event| halted(&event.what)).unwrap();
    let What::Paused { kind, .. } = &mut story.trace.events[at].what else { panic!("a halt") };
    *kind = Halt::Stall;
    let asked = |what: &What| matches!(what, What::Waiting { .. });
    let goes_on = before(&mut story, halted, asked, What::Releasing { key: Key::new("stock") });
    story.trace.events.swap(at, goes_on + 1);
    for detail in [Detail::Relevant, Detail::Full] {
        let page = timeline::render(&story, &plain(110), detail);
        let line = |words: &str| page.lines().position(|line| line.contains(words)).unwrap();
        assert!(line("begins to release") < line("its section stalls until"), "{page}");
    }
}

#[test]
fn a_store_that_comes_back_without_an_expired_record_drops_nothing() {
    let mut story = paused_holder();
    let expired = |what: &What| matches!(what, What::Expired { .. });
    before(&mut story, expired, expired, What::Restarted);
    for event in &mut story.trace.events {
        if let What::Expired { overdue_ns, .. } = &mut event.what {
            *overdue_ns = 30_000_000;
        }
    }
    let page = timeline::render(&story, &plain(200), Detail::Relevant);
    let gone = "comes back without `stock`: expired at 1.071000s, while it was down";
    assert_eq!(page.matches(gone).count(), 3, "in the timeline and in both chains: {page}");
    assert!(explain(&story).contains("whose lease had run out at 1.071000s, was gone on node-1"), "{page}");
}

#[test]
fn a_lease_that_is_set_as_the_record_is_made_is_no_line_of_its_own() {
    let mut story = paused_holder();
    let extended = What::Extended { key: Key::new("stock") };
    let made = |what: &What| matches!(what, What::Created { .. });
    let at = before(&mut story, made, made, extended);
    story.trace.events.swap(at, at + 1);
    assert!(!timeline::render(&story, &plain(110), Detail::Relevant).contains("extends the lease"));
    story.trace.events[at + 1].at.0 += 1_000;
    assert!(timeline::render(&story, &plain(110), Detail::Relevant).contains("extends the lease"));
}

#[test]
fn the_page_names_a_replica_that_takes_over_without_a_record() {
    let mut story = paused_holder();
    story.trace.hosts.push(picklock_model::trace::HostInfo {
        name: "replica-1".to_owned(),
        role: picklock_model::trace::Role::Follower,
        ..story.trace.hosts[0].clone()
    });
    let replica = HostId(story.trace.hosts.len() as u16 - 1);
    let injected = |what: &What| matches!(what, What::Injected { .. });
    let at = before(&mut story, injected, injected, What::BecameLeader);
    story.trace.events[at].host = replica;
    let says = |story: &Story| {
        let page = timeline::render(story, &plain(110), Detail::Relevant);
        page.contains("becomes the primary, without the record of client-1")
    };
    assert!(says(&story));
    let made = |what: &What| matches!(what, What::Created { .. });
    let copied = before(&mut story, injected, made, What::Created { key: Key::new("stock") });
    story.trace.events[copied].host = replica;
    story.trace.events.swap(at, copied);
    let had_it = |story: &Story| !says(story) && explain(story).contains("replica-1 became the primary.");
    assert!(had_it(&story), "{}", explain(&story));
    let promoted = |what: &What| *what == What::BecameLeader;
    let over = What::Expired { key: Key::new("stock"), overdue_ns: 0 };
    let expired = before(&mut story, promoted, injected, over);
    story.trace.events[expired].host = replica;
    assert!(had_it(&story), "its lease was over there: {}", explain(&story));
}

#[test]
fn an_answer_that_never_arrived_is_shown() {
    let mut story = paused_holder();
    assert!(matches!(story.trace.events[6].what, What::Delivered { .. }), "the answer's arrival");
    story.trace.events.remove(6);
    let page = timeline::render(&story, &plain(110), Detail::Relevant);
    assert!(page.contains("→ node-1: SET stock a1 NX PX 1000 → OK, an answer that never arrived"), "{page}");
}

#[test]
fn what_is_repeated_stands_in_one_line_until_something_happens() {
    let mut story = paused_holder();
    let granted =
        story.trace.events.iter().position(|event| matches!(event.what, What::Acquired { .. })).unwrap();
    let node = story.trace.events[4].host;
    let renewal = |nth: u32, at_ms: u64| Event {
        id: EventId(200 + nth),
        at: TrueTime(at_ms * 1_000_000),
        host: node,
        what: What::Extended { key: Key::new("stock") },
        ..story.trace.events[granted].clone()
    };
    let times = [200, 300, 400, 1_160, 1_170];
    let renewals: Vec<Event> = (0..).zip(times).map(|(nth, at)| renewal(nth, at)).collect();
    story.trace.events.extend(renewals);
    story.trace.events.sort_by_key(|event| event.at);
    let page = timeline::render(&story, &plain(120), Detail::Relevant);
    let extends = "node-1    extends the lease of `stock` for client-1";
    assert!(page.contains(&format!("{extends} (3 times, every 100ms, until 0.400000s)")), "{page}");
    let foreign = format!("{extends}, which is that of client-2 (2 times,");
    assert!(page.contains(&foreign), "{page}");
}

#[test]
fn a_grant_that_its_client_saw_late_is_still_the_first_one() {
    let mut story = paused_holder();
    let events = &mut story.trace.events;
    let seen = events.iter().position(|event| matches!(event.what, What::Acquired { .. })).unwrap();
    events[seen].at = TrueTime(1_152_000_000);
    events.sort_by_key(|event| event.at);
    let page = timeline::render(&story, &plain(200), Detail::Relevant);
    let sentence =
        "client-1 was granted `stock` at 0.101000s, learned of it at 1.152000s and believed that it held it";
    assert!(explain(&story).contains(sentence), "{page}");
    let place = |mark: &str, what: &str| {
        let marked = |line: &str| line.ends_with(mark) && line.contains(what);
        page.lines().position(marked).unwrap_or_else(|| panic!("{mark}: {page}"))
    };
    let first = place("◀ first grant", "creates the record of `stock` for client-1");
    assert!(first < place("◀ second grant", "client-2  holds"), "{page}");
    place("◀ learns of the first grant", "client-1  holds");
}

#[test]
fn a_lease_that_runs_out_is_that_of_whoever_the_record_was_created_for() {
    let mut story = paused_holder();
    assert!(explain(&story).contains("the lease of client-1 ran out"));
    let expired =
        story.trace.events.iter().position(|event| matches!(event.what, What::Expired { .. })).unwrap();
    let created = story.trace.events.iter().find(|event| matches!(event.what, What::Created { .. })).unwrap();
    let grant = story.breaches[0].findings[0].grants[1];
    let of_another =
        Event { id: EventId(300), at: TrueTime(900_000_000), grant: Some(grant), ..created.clone() };
    story.trace.events.insert(expired, of_another);
    let explained = explain(&story);
    assert!(!explained.contains("the lease of client-1 ran out"), "{explained}");
}

#[test]
fn a_try_that_came_to_nothing_is_left_out_of_the_story() {
    let mut story = paused_holder();
    let before = timeline::render(&story, &plain(110), Detail::Relevant).matches("record of").count();
    let (created, deleted) = (story.trace.events[13].clone(), story.trace.events[20].clone());
    for (id, mut event) in [(100, created), (101, deleted)] {
        event.id = EventId(id);
        event.at = TrueTime(1_120_000_000 + u64::from(id));
        story.trace.events.insert(13 + (id as usize - 100), event);
    }
    let page = timeline::render(&story, &plain(110), Detail::Relevant);
    assert_eq!(page.matches("record of").count(), before, "{page}");
    assert!(page.contains("24 of 30 events shown"), "{page}");
}

#[test]
fn a_story_of_the_same_run_is_rendered_alike_every_time() {
    let rendered = || timeline::render(&paused_holder(), &plain(80), Detail::Full);
    assert_eq!(rendered(), rendered());
}

#[test]
fn a_run_as_json() {
    let story = paused_holder();
    let found = story.breaches.iter().map(|breach| (breach.invariant.clone(), breach.findings.clone()));
    let violations: BTreeMap<_, _> = found.collect();
    let run = Run {
        design: &story.design,
        scenario: &story.scenario,
        seed: story.plan.seed,
        engine: "event",
        trace: &story.trace,
        violations: &violations,
    };
    let page = run_json(&run).unwrap();
    let data: Value = serde_json::from_str(&page).unwrap();
    assert_eq!(data["violations"], serde_json::json!(["mutual-exclusion", "no-lost-update"]));
    assert_eq!(data["events"].as_array().unwrap().len(), story.trace.events.len());
    insta::assert_snapshot!(page);
}

#[test]
fn a_run_without_events_and_findings_is_still_json_and_still_a_page() {
    let mut story = paused_holder();
    story.trace.events.clear();
    story.trace.hosts.clear();
    story.breaches.clear();
    let run = Run {
        design: "x",
        scenario: "y",
        seed: story.plan.seed,
        engine: "event",
        trace: &story.trace,
        violations: &BTreeMap::new(),
    };
    let data: Value = serde_json::from_str(&run_json(&run).unwrap()).unwrap();
    assert_eq!(data["events"], serde_json::json!([]));
    let page = timeline::render(&story, &plain(80), Detail::Relevant);
    assert!(page.starts_with("single under pause, seed 7: nothing violated\n"), "{page}");
}

#[test]
fn every_page_keeps_to_its_width() {
    for columns in [40, 56, 72, 80, 100, 110, 160] {
        for summary in [campaign(), suite()] {
            assert_fits(&render("text", &summary, &plain(columns)), columns);
            assert_fits(&brief::page(&summary, &plain(columns), None), columns);
            assert_fits(&compared("text", &summary, &plain(columns)), columns);
            assert_fits(&compare::screen(&comparison(summary), &plain(columns), None), columns);
        }
        for detail in [Detail::Relevant, Detail::Full] {
            assert_fits(&timeline::render(&paused_holder(), &plain(columns), detail), columns);
        }
    }
}

#[test]
fn colour_adds_escape_codes_and_changes_nothing_else() {
    let coloured = Style { colour: true, width: 80 };
    let pages = |style: &Style| {
        let story = timeline::render(&paused_holder(), style, Detail::Relevant);
        let short = brief::page(&campaign(), style, None);
        [render("text", &campaign(), style), short, compared("text", &campaign(), style), story]
    };
    for (with, without) in pages(&coloured).iter().zip(pages(&plain(80))) {
        assert!(with.contains('\u{1b}'));
        assert!(!without.contains('\u{1b}'));
        assert_eq!(strip(with), without);
    }
    for format in ALL.iter().filter(|format| format.name != "text") {
        assert!(!(format.render)(&campaign(), &coloured).unwrap().contains('\u{1b}'), "{}", format.name);
    }
}

/// The text without its colours.
fn strip(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let start = parts.next().unwrap_or_default().to_owned();
    parts.fold(start, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn a_replay_line_is_printed_whole_however_narrow_the_page() {
    let mut summary = campaign();
    let long = format!("picklock replay 'redlock{{nodes=7}}' pause 7 {}", "--set held=4 ".repeat(9));
    let long = long.trim_end();
    summary.cells[0].violations.get_mut("no-lost-update").unwrap().replay = long.to_owned();
    assert!(render("text", &summary, &plain(40)).lines().any(|line| line.trim() == long));
}

#[test]
fn an_interrupted_campaign_says_so_in_every_format_for_people() {
    let mut summary = campaign();
    summary.partial = true;
    for name in ["text", "markdown"] {
        assert!(render(name, &summary, &plain(80)).contains("(partial: interrupted)"), "{name}");
        assert!(compared(name, &summary, &plain(80)).contains("(partial: interrupted)"), "{name}");
    }
    let data: Value = serde_json::from_str(&render("json", &summary, &plain(80))).unwrap();
    assert_eq!(data["partial"], Value::Bool(true));
}

#[test]
fn zero_violations_are_a_bound_and_never_called_safe() {
    for (file, page) in every_page(&campaign(), &plain(80)) {
        // The name that browsers have for styles and scripts inside a page.
        let page = page.to_lowercase().replace("'unsafe-inline'", "");
        assert!(!page.contains("safe"), "{file}");
    }
    assert!(render("text", &campaign(), &plain(80)).contains("0 in 200 runs, below 1.5% at 95%"));
}

#[test]
fn the_fields_of_the_json_report_have_their_agreed_names() {
    let data: Value = serde_json::from_str(&render("json", &campaign(), &Style::default())).unwrap();
    let has = |value: &Value, names: &[&str]| {
        for name in names {
            assert!(value.get(name).is_some(), "no field {name} in {value}");
        }
    };
    has(&data, &["schema", "command", "partial", "cells"]);
    for cell in data["cells"].as_array().unwrap() {
        let names = [
            "design",
            "scenario",
            "engine",
            "runs",
            "unknown",
            "not_applicable",
            "violations",
            "took_effect",
        ];
        has(cell, &names);
        has(cell, &["expected", "met"]);
    }
    let violation = &data["cells"][4]["violations"]["mutual-exclusion"];
    has(violation, &["runs", "first_seed", "replay", "repro", "confirmed"]);
    assert_eq!(violation["confirmed"], serde_json::json!({"seen": 15, "of": 16}));
    assert_eq!(data["cells"][5]["met"], Value::Null);
}

#[test]
fn junit_can_be_read_back_and_judges_each_cell() {
    use quick_junit::{Report, TestCaseStatus};

    let report = Report::deserialize_from_str(&render("junit", &campaign(), &Style::default())).unwrap();
    let judged: Vec<String> = report
        .test_suites
        .iter()
        .flat_map(|suite| suite.test_cases.iter().map(move |case| (suite, case)))
        .map(|(suite, case)| {
            let status = match case.status {
                TestCaseStatus::Success { .. } => "passed",
                TestCaseStatus::NonSuccess { .. } => "failed",
                TestCaseStatus::Skipped { .. } => "skipped",
            };
            format!("{} {} {status}", suite.name.as_str(), case.name.as_str())
        })
        .collect();
    assert_eq!(
        judged,
        [
            "no-lock calm passed",
            "no-lock pause passed",
            "no-lock failover skipped",
            "single calm passed",
            "single pause failed",
            "single failover skipped",
            "redlock{nodes=7,belief=trusting} calm passed",
            "redlock{nodes=7,belief=trusting} pause passed",
            "redlock{nodes=7,belief=trusting} failover skipped",
        ]
    );
}

#[test]
fn a_violation_that_nothing_allows_fails_its_junit_case() {
    let mut summary = campaign();
    summary.cells[0].expected = None;
    summary.cells[0].met = None;
    let page = render("junit", &summary, &Style::default());
    assert!(page.contains("no-lost-update violated in 200 of 200 runs"), "{page}");
    assert!(page.contains("replay: picklock replay no-lock calm 7"), "{page}");
}

#[test]
fn control_characters_in_names_reach_no_page() {
    let mut summary = campaign();
    summary.cells[4].design = "si\u{1b}[31mng\u{0}le\u{ffff}".into();
    summary.cells[4].unmet_because = Some("a\u{7}b\r\nc".into());
    for (file, page) in every_page(&summary, &plain(80)).iter().filter(|(file, _)| !file.ends_with(".json")) {
        // The lines of a table of values end as RFC 4180 has it.
        let page = page.replace("\r\n", "\n");
        let stray = page.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{ffff}');
        assert_eq!(stray, None, "{file}: {page}");
    }
    let junit = render("junit", &summary, &plain(80));
    assert!(quick_junit::Report::deserialize_from_str(&junit).is_ok());
}

#[test]
fn a_fault_that_lasts_to_the_end_of_the_run_is_not_over() {
    let mut story = paused_holder();
    let end = story.trace.end;
    let healed = Event {
        id: EventId(400),
        at: end,
        host: HostId(0),
        cause: None,
        conn: None,
        grant: None,
        what: What::Healed { injection: 0 },
    };
    story.trace.events.push(healed);
    let page = timeline::render(&story, &plain(200), Detail::Full);
    assert!(page.contains("fault pause lasts beyond the end of the run"), "{page}");
}

#[test]
fn a_lease_is_shown_as_expired_when_it_was_and_as_noticed_when_it_was() {
    let mut story = paused_holder();
    for event in &mut story.trace.events {
        if let What::Expired { overdue_ns, .. } = &mut event.what {
            *overdue_ns = 30_000_000;
        }
    }
    let page = timeline::render(&story, &plain(200), Detail::Relevant);
    assert!(page.contains("drops `stock`: expired at 1.071000s, noticed now"), "{page}");
    let cause = "  1.071000s  node-1    the lease of client-1 runs out, noticed at 1.101000s";
    assert!(page.lines().any(|line| line == cause), "{page}");
    let explained = explain(&story);
    assert!(
        explained.contains("At 1.101000s the record of client-1, whose lease had run out at 1.071000s"),
        "{explained}"
    );
}

#[test]
fn who_reads_and_who_writes_is_said_where_readers_share() {
    let mut story = paused_holder();
    story.trace.exclusion = Exclusion::Modes;
    let held = |event: &Event| matches!(event.what, What::Acquired { .. });
    let second = story.trace.events.iter().rposition(held).unwrap();
    let shares = Event {
        id: EventId(401),
        what: What::Shares { key: Key::new("stock") },
        ..story.trace.events[second].clone()
    };
    story.trace.events.insert(second, shares);
    let page = timeline::render(&story, &plain(200), Detail::Full);
    assert!(page.contains("client-1  holds `stock` to write"), "{page}");
    assert!(!page.contains("{ key"), "{page}");
    let explained = explain(&story);
    assert!(explained.contains("client-1 got `stock` to write at "), "{explained}");
}
