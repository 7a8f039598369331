//! Experiments find what their pages say, every time the same. The whole page is held against `docs/experiments.md` where
//! the release build is at hand; here are those that take a moment.

use std::num::NonZero;
use std::path::Path;
use std::process::Command;

use picklock::experiments::{self, Measured, Verdict, page};

fn measured(name: &str) -> Measured {
    let experiment = experiments::named(name).unwrap();
    experiments::make(experiment, NonZero::new(2).unwrap()).unwrap().measured
}

/// The number at the beginning of a cell.
fn number(cell: &str) -> f64 {
    cell.split(' ').next().and_then(|number| number.parse().ok()).unwrap()
}

#[test]
fn a_holder_that_counts_from_the_last_reply_overlaps_by_what_it_forgot_and_an_honest_one_does_not() {
    let found = measured("redlock-example");
    assert_eq!(found.verdict, Verdict::Conditional);
    let widths: Vec<f64> = found.figures[0].rows.iter().map(|row| number(&row[2])).collect();
    assert_eq!(widths[0], 0.0);
    assert!((widths[1] - 100.0).abs() < 1.0, "{} ms", widths[1]);
}

#[test]
fn the_widest_overlap_of_the_budget_comes_near_half_a_lease_and_stays_below() {
    let found = measured("budget-overlap");
    assert_eq!(found.verdict, Verdict::Conditional);
    let rows = &found.figures[0].rows;
    let widths: Vec<f64> = rows[..rows.len() - 1].iter().map(|row| number(&row[1])).collect();
    assert!(widths.is_sorted(), "{widths:?}");
    let widest = widths.last().copied().unwrap();
    assert!((4_750.0..5_000.0).contains(&widest), "{widest} ms");
}

#[test]
fn each_proposal_beside_the_watchdog_gains_where_it_was_proposed_and_pays_elsewhere() {
    let found = measured("renewal-proposals");
    assert_eq!(found.verdict, Verdict::Conditional);
    let [faults, thousand] = found.figures.as_slice() else { panic!("two tables") };
    let stuck = &faults.rows[0];
    assert!(stuck[1].ends_with("nobody") && stuck[4].starts_with("40 of 40; after"), "{stuck:?}");
    let ran_out: Vec<f64> = thousand.rows.iter().map(|row| number(&row[6])).collect();
    assert_eq!(ran_out, [1.0, 100.0, 1000.0, 1.0, 100.0, 1.0]);
}

#[test]
fn the_same_experiment_prints_the_same_page() {
    let make = |jobs| {
        let experiment = experiments::named("redlock-example").unwrap();
        page::markdown(&[experiments::make(experiment, NonZero::new(jobs).unwrap()).unwrap()])
    };
    assert_eq!(make(1), make(2));
}

#[test]
fn an_experiment_is_asked_for_by_name_and_a_wrong_name_is_reported() {
    let run = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_picklock")).arg("experiment").args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, list, _) = run(&[]);
    assert_eq!(code, Some(0));
    assert_eq!(list.lines().count(), experiments::ALL.len());
    let (code, page, _) = run(&["redlock-example"]);
    assert_eq!(code, Some(0));
    assert!(page.starts_with("redlock-example: conditional\n  claim     of five nodes"), "{page}");
    let (code, json, _) = run(&["redlock-example", "--format", "json"]);
    assert_eq!(code, Some(0));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["verdict"], "conditional");
    let (code, _, error) = run(&["redlock-exmaple"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("did you mean `redlock-example`?"), "{error}");
    assert_eq!(run(&["--all", "redlock-example"]).0, Some(2));
    assert_eq!(run(&["redlock-example", "--format", "xml"]).0, Some(2));
}

#[test]
fn pictures_are_drawn_of_those_that_have_one_and_those_in_the_docs_are_these() {
    let here = tempfile::tempdir().unwrap();
    let plots = here.path().join("plots");
    let output = Command::new(env!("CARGO_BIN_EXE_picklock"))
        .args(["experiment", "redlock-example", "redlock-validity", "redlock-quorum", "--plots"])
        .arg(&plots)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut drawn: Vec<_> = std::fs::read_dir(&plots).unwrap().map(|file| file.unwrap().path()).collect();
    drawn.sort();
    assert_eq!(drawn, ["redlock-quorum.svg", "redlock-validity.svg"].map(|name| plots.join(name)));
    for file in drawn {
        let kept =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures").join(file.file_name().unwrap());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), std::fs::read_to_string(kept).unwrap());
    }
}

#[test]
fn a_lock_that_a_bare_majority_holds_has_no_store_to_spare() {
    let found = measured("redlock-quorum");
    assert_eq!(found.verdict, Verdict::Conditional);
    let rows: Vec<Vec<f64>> =
        found.figures[0].rows.iter().map(|row| row.iter().map(|cell| number(cell)).collect()).collect();
    let expected = [
        [3.0, 10.0, 10.0, 10.0, 10.0, 10.0],
        [4.0, 0.0, 10.0, 10.0, 10.0, 10.0],
        [5.0, 0.0, 0.0, 10.0, 10.0, 10.0],
    ];
    assert_eq!(rows, expected);
}
