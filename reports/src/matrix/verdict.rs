//! The verdict on the numbers of a cell: the reading that the text, Markdown and JUnit formats share.

use std::time::Duration;

use picklock_campaign::summary::{Cell, Judged, SeenWith, Summary, Violation};
use picklock_judge::metrics::Metrics;

use super::statistics;
use crate::page::numbers;
use crate::page::paint::Ink;

use super::mark::{Doubt, decided, doubt, meant, risks_too_little};
pub(crate) use super::mark::{Mark, conclusive, harms_data, is_of_data};

/// The result of a cell, compared with the expectation file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectationStatus {
    /// As expected.
    Met,
    /// Not as expected.
    NotMet,
    /// There is an expectation, but too few runs to judge it.
    TooFew,
    /// Nothing is expected: every violation counts.
    NoExpectation,
}

impl ExpectationStatus {
    pub(crate) fn of(cell: &Cell) -> ExpectationStatus {
        match (cell.met, &cell.expected) {
            (Some(true), _) => ExpectationStatus::Met,
            (Some(false), _) => ExpectationStatus::NotMet,
            (None, Some(_)) => ExpectationStatus::TooFew,
            (None, None) => ExpectationStatus::NoExpectation,
        }
    }

    /// The word for a narrow column; where nothing is expected no expectation applies.
    pub(crate) fn word(self) -> &'static str {
        match self {
            ExpectationStatus::Met => "yes",
            ExpectationStatus::NotMet => "NO",
            ExpectationStatus::TooFew => "few",
            ExpectationStatus::NoExpectation => Mark::NotApplicable.sign(),
        }
    }
}

/// How serious a cell is.
pub(crate) fn ink(cell: &Cell) -> Ink {
    match (ExpectationStatus::of(cell), Mark::of(cell)) {
        // Harmed data have one colour, expected or not.
        (ExpectationStatus::NotMet, _) | (_, Mark::Harmed) => Ink::Bad,
        (ExpectationStatus::NoExpectation, mark) if mark.is_violation() => Ink::Bad,
        (_, Mark::Blocked | Mark::Violated | Mark::Inconclusive) => Ink::Warn,
        (_, Mark::Holds) => Ink::Good,
        (_, Mark::NotApplicable) => Ink::Dim,
    }
}

/// True if a violation of this invariant counts against the cell: nothing allows it.
pub(crate) fn counts(cell: &Cell, invariant: &str) -> bool {
    !cell.allows(invariant)
}

/// The findings in words: violations with their counts, or what their absence amounts to.
pub(crate) fn found(cell: &Cell) -> String {
    let lacking = not_modelled(cell);
    let each = [said(cell), lacking];
    each.iter().filter(|words| !words.is_empty()).map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// The requests of the lock that its store refused because the simulation does not have them; empty if there were none.
fn not_modelled(cell: &Cell) -> String {
    let Some(runs) = cell.not_modelled.values().max() else { return String::new() };
    let names: Vec<&str> = cell.not_modelled.keys().map(String::as_str).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let of = format!("{runs} of {} {}", cell.runs, numbers::plural(cell.runs, "run"));
    format!("{} {are} not modelled, which {of} met: try --servers real", names.join(", "))
}

fn said(cell: &Cell) -> String {
    match Mark::of(cell) {
        Mark::NotApplicable => cell.skipped.clone().unwrap_or_default(),
        Mark::Inconclusive if cell.runs == 0 => "not run".to_owned(),
        Mark::Inconclusive if conclusive(cell) == 0 => {
            match undecided_because(cell).filter(|_| cell.not_modelled.is_empty()) {
                Some(why) => format!("no run was conclusive: {why}"),
                None => "no run was conclusive".to_owned(),
            }
        }
        Mark::Inconclusive => match doubt(cell).filter(|_| !risks_too_little(cell)) {
            Some(Doubt::Undecided(name, judged)) => {
                format!("undecided: {name} {}", of_judged(judged))
            }
            Some(Doubt::Few(name, judged)) => format!("few: {name} {}", of_judged(judged)),
            None => format!(
                "no violation, but a fault hit a grant or a held lock in only {} of {} {}: too few for a verdict",
                cell.hit_lock,
                cell.runs,
                numbers::plural(cell.runs, "run"),
            ),
        },
        Mark::Holds => [statistics::clean(decided(cell))]
            .into_iter()
            .chain(left_open(cell))
            .chain(taken_over(cell))
            .chain(too_short(cell))
            .collect::<Vec<_>>()
            .join("; "),
        Mark::Harmed | Mark::Blocked | Mark::Violated => {
            let each: Vec<String> = cell
                .violations
                .iter()
                .map(|(name, violation)| format!("{name} {}", violation.runs))
                .collect();
            each.join(", ")
        }
    }
}

/// "0 in 49 runs, 11 undecided (client-1 lost its power ..)".
fn of_judged(judged: &Judged) -> String {
    let mut words = format!("0 in {} {}", judged.decided, numbers::plural(judged.decided, "run"));
    if judged.undecided > 0 {
        words.push_str(&format!(", {} undecided", judged.undecided));
    }
    if let Some(reason) = &judged.undecided_because {
        words.push_str(&format!(" (seed {}: {})", reason.seed, reason.why));
    }
    words
}

/// How often a member that took over lacked a live grant. Where none did, the cell was not asked what a lost grant does.
fn taken_over(cell: &Cell) -> Option<String> {
    let Metrics { promotions, promotions_lacking: lost, .. } = cell.metrics;
    let asks = if lost == 0 { ": ? for a lost grant, which `--scenario replication-lag` asks" } else { "" };
    let runs = numbers::plural(promotions, "run");
    (promotions > 0).then(|| {
        format!(
            "a member took over during a live grant in {promotions} {runs}, and lacked it in {lost}{asks}"
        )
    })
}

/// Why the first of the runs that are undecided is.
fn undecided_because(cell: &Cell) -> Option<String> {
    let reasons = meant(cell).into_iter().filter_map(|(_, judged)| judged.undecided_because.as_ref());
    reasons.min().map(|reason| format!("seed {}: {}", reason.seed, reason.why))
}

/// That no pause of a holder was long enough for another client to take over: such a cell was not put to that test.
fn too_short(cell: &Cell) -> Option<String> {
    let Metrics { halted_holders: halted, takeovers, .. } = cell.metrics;
    (halted > 0 && takeovers == 0).then(|| {
        format!(
            "a holder stood still while another client waited in {halted} {}, never for as long as a takeover takes",
            numbers::plural(halted, "run")
        )
    })
}

/// What the runs of a cell that holds left undecided.
fn left_open(cell: &Cell) -> impl Iterator<Item = String> {
    let open = meant(cell).into_iter().filter(|(_, judged)| judged.undecided > 0);
    open.map(|(name, judged)| format!("{name} {}", of_judged(judged)))
}

/// For each fault, in how many runs it made a difference; empty without faults.
pub(crate) fn effects(cell: &Cell) -> String {
    let mut each: Vec<String> = cell
        .took_effect
        .iter()
        .map(|(fault, runs)| {
            format!("{fault} took effect in {runs} of {} {}", cell.runs, numbers::plural(cell.runs, "run"))
        })
        .collect();
    if !each.is_empty() {
        let effective = cell.took_effect.values().sum::<u64>();
        each.push(match cell.hit_lock > effective {
            // Runs for which no fault was drawn count if two clients wanted the lock.
            true => format!("{} put the lock to the test, with or without a fault", cell.hit_lock),
            false => format!("hit a live acquire or grant in {}", cell.hit_lock),
        });
    }
    each.join(", ")
}

/// For a cell that holds, what was exhausted besides: each place at which its faults can hit.
pub(crate) fn exhausted(cell: &Cell) -> String {
    let holds = Mark::of(cell) == Mark::Holds;
    let tried = cell.exhausted.iter().filter(|_| holds).map(|tried| {
        let sites = if tried.explored == tried.sites {
            format!("each of {} single sites", tried.sites)
        } else {
            format!("{} of {} single sites", tried.explored, tried.sites)
        };
        let violate = match tried.violating {
            0 => "none violates anything".to_owned(),
            1 => "1 violates something".to_owned(),
            many => format!("{many} violate something"),
        };
        format!("{sites} of {} tried, at whichever step: {violate}", tried.fault)
    });
    tried.collect::<Vec<_>>().join("; ")
}

/// How long there were two holders, beside the fault that let them be; empty if there never were.
pub(crate) fn overlap(cell: &Cell) -> String {
    let metrics = &cell.metrics;
    if metrics.overlap_widest_ns == 0 {
        return String::new();
    }
    let span = |ns| numbers::span(Duration::from_nanos(ns));
    let mut words = format!("too many holders for up to {}", span(metrics.overlap_widest_ns));
    if metrics.overlap_window_ns > metrics.overlap_widest_ns {
        words.push_str(&format!(", on and off for {}", span(metrics.overlap_window_ns)));
    }
    if metrics.overlap_fault_ns > 0 {
        words.push_str(&format!(", the fault lasting {}", span(metrics.overlap_fault_ns)));
    }
    words
}

/// How much work was done again because somebody else was faster; empty if none was.
pub(crate) fn retries(metrics: &Metrics) -> String {
    match metrics.retries {
        0 => String::new(),
        again => format!("{again} {} tried again", numbers::plural(again, "change")),
    }
}

/// How often a violation was seen on the second engine, in words; `None` if that was not tried.
pub(crate) fn seen(violation: &Violation) -> Option<String> {
    let confirmed = violation.confirmed?;
    let mut words = format!("seen {} of {} on turmoil", confirmed.seen, confirmed.of);
    if let Some(SeenWith { servers, counts }) = &violation.real {
        words.push_str(&format!(", {} of {} with {servers}", counts.seen, counts.of));
    }
    Some(words)
}

/// The totals of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Runs made.
    pub(crate) runs: u64,
    /// Cells that say something.
    pub(crate) cells: u64,
    /// Cells by mark.
    pub(crate) clean: u64,
    pub(crate) violated: u64,
    pub(crate) unknown: u64,
    /// Cells by the status of their expectation.
    pub(crate) met: u64,
    pub(crate) not_met: u64,
    pub(crate) too_few: u64,
    /// Distinct violations: by design, scenario and invariant.
    pub(crate) distinct: u64,
    /// Of these, tried on the second engine.
    pub(crate) tried: u64,
    /// Of these, seen there under at least half of the network seeds.
    pub(crate) confirmed: u64,
    /// Of the distinct violations, those tried with real servers, and seen there under at least half of the network seeds.
    pub(crate) tried_real: u64,
    pub(crate) real: u64,
    /// The network seeds of one confirmation; `None` if confirmations differ or there was none.
    pub(crate) networks: Option<u32>,
}

impl Totals {
    pub(crate) fn of(summary: &Summary) -> Totals {
        let mut totals = Totals::default();
        for cell in &summary.cells {
            totals.runs += cell.runs;
            totals.cells += u64::from(cell.skipped.is_none());
            match Mark::of(cell) {
                Mark::Holds => totals.clean += 1,
                Mark::Harmed | Mark::Blocked | Mark::Violated => totals.violated += 1,
                Mark::Inconclusive => totals.unknown += 1,
                Mark::NotApplicable => {}
            }
            match ExpectationStatus::of(cell) {
                ExpectationStatus::Met => totals.met += 1,
                ExpectationStatus::NotMet => totals.not_met += 1,
                ExpectationStatus::TooFew => totals.too_few += 1,
                ExpectationStatus::NoExpectation => {}
            }
        }
        let violations = || summary.cells.iter().flat_map(|cell| cell.violations.values());
        let confirmations = || violations().filter_map(|violation| violation.confirmed);
        totals.distinct = violations().count() as u64;
        totals.tried = confirmations().count() as u64;
        totals.confirmed =
            confirmations().filter(|counts| counts.seen > 0 && counts.seen * 2 >= counts.of).count() as u64;
        let real = || violations().filter_map(|violation| violation.real.as_ref()).map(|seen| seen.counts);
        totals.tried_real = real().count() as u64;
        totals.real = real().filter(|counts| counts.seen > 0 && counts.seen * 2 >= counts.of).count() as u64;
        let first = confirmations().next().map(|counts| counts.of);
        totals.networks = first.filter(|networks| confirmations().all(|counts| counts.of == *networks));
        totals
    }

    /// "3 of 4 distinct violations were seen on turmoil in at least half of 16 network seeds"; `None` without a confirmation.
    pub(crate) fn confirmed_share(&self) -> Option<String> {
        if self.tried == 0 {
            return None;
        }
        let networks = self.networks.map_or("their".to_owned(), |networks| networks.to_string());
        let untried = match self.distinct - self.tried {
            0 => String::new(),
            untried => {
                format!(" ({untried} more {} not tried there)", if untried == 1 { "was" } else { "were" })
            }
        };
        let real = match self.tried_real {
            0 => String::new(),
            tried => format!(", and {} of {tried} with real servers", self.real),
        };
        Some(format!(
            "{} of {} distinct violations were seen on turmoil in at least half of {networks} network seeds{untried}{real}",
            self.confirmed, self.tried
        ))
    }
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::{Confirmed, Exhausted, Expected};

    use super::*;

    fn violated(expected: Option<Expected>, met: Option<bool>) -> Cell {
        let violation =
            Violation { runs: 3, confirmed: Some(Confirmed { seen: 8, of: 16 }), ..Violation::default() };
        Cell {
            runs: 10,
            violations: [("mutual-exclusion".to_owned(), violation)].into(),
            expected,
            met,
            ..Cell::default()
        }
    }

    #[test]
    fn a_cell_names_what_is_not_modelled() {
        let not_modelled = [("XADD".to_owned(), 3)].into();
        let cell = Cell { runs: 4, unknown: 4, not_modelled, ..Cell::default() };
        let words = "no run was conclusive; XADD is not modelled, which 3 of 4 runs met: try --servers real";
        assert_eq!(found(&cell), words);
    }

    #[test]
    fn a_cell_without_a_conclusive_run_is_unknown_and_not_clean() {
        let cell = Cell { runs: 10, unknown: 10, ..Cell::default() };
        assert_eq!(Mark::of(&cell), Mark::Inconclusive);
        assert_eq!(found(&cell), "no run was conclusive");
        let some = Cell { runs: 10, unknown: 9, hit_lock: 1, ..Cell::default() };
        assert_eq!(found(&some), "0 in 1 run, below 95% at 95%");
        let beside = Cell { runs: 100, hit_lock: 4, ..Cell::default() };
        assert_eq!(Mark::of(&beside), Mark::Inconclusive);
        assert!(found(&beside).contains("in only 4 of 100 runs"), "{}", found(&beside));
    }

    #[test]
    fn a_cell_that_holds_says_what_was_not_asked_of_it() {
        let metrics = Metrics { promotions: 2, halted_holders: 3, ..Metrics::default() };
        let cell = Cell { runs: 100, hit_lock: 100, metrics, ..Cell::default() };
        assert_eq!(
            found(&cell),
            "0 in 100 runs, below 3.0% at 95%; a member took over during a live grant in 2 runs, and lacked it in 0: ? for a lost \
             grant, which `--scenario replication-lag` asks; a holder stood still while another client waited in 3 runs, never for \
             as long as a takeover takes"
        );
        let metrics =
            Metrics { promotions: 2, promotions_lacking: 1, halted_holders: 3, takeovers: 1, ..cell.metrics };
        assert_eq!(
            found(&Cell { metrics, ..cell }),
            "0 in 100 runs, below 3.0% at 95%; a member took over during a live grant in 2 runs, and lacked it in 1"
        );
    }

    #[test]
    fn a_cell_that_holds_says_what_was_exhausted() {
        let tried = |explored, violating| Exhausted { fault: "pause".into(), sites: 9, explored, violating };
        let mut cell = Cell { runs: 100, hit_lock: 100, exhausted: vec![tried(9, 0)], ..Cell::default() };
        assert_eq!(
            exhausted(&cell),
            "each of 9 single sites of pause tried, at whichever step: none violates anything"
        );
        cell.exhausted = vec![tried(8, 1)];
        assert_eq!(
            exhausted(&cell),
            "8 of 9 single sites of pause tried, at whichever step: 1 violates something"
        );
        cell.violations.insert("mutual-exclusion".into(), Violation::default());
        assert_eq!(exhausted(&cell), "");
    }

    #[test]
    fn an_unmet_expectation_stands_out_whatever_was_found() {
        let missing = Cell { runs: 10, hit_lock: 10, met: Some(false), ..Cell::default() };
        for cell in [missing, violated(Some(Expected::default()), Some(false))] {
            assert_eq!(ink(&cell), Ink::Bad);
        }
    }

    #[test]
    fn harmed_data_have_one_colour_expected_or_not() {
        let expected = Expected { violated: vec!["effective-exclusion".into()], ..Expected::default() };
        for (expected, met) in [(Some(expected), Some(true)), (None, None)] {
            let mut cell = violated(expected, met);
            cell.violations
                .insert("effective-exclusion".into(), Violation { runs: 1, ..Violation::default() });
            assert_eq!((Mark::of(&cell), ink(&cell)), (Mark::Harmed, Ink::Bad));
        }
    }

    #[test]
    fn a_violation_counts_unless_the_expectation_names_or_allows_it() {
        let may = Expected { may: vec!["mutual-exclusion".into()], ..Expected::default() };
        assert!(!counts(&violated(Some(may), None), "mutual-exclusion"));
        assert!(counts(&violated(Some(Expected::default()), None), "mutual-exclusion"));
        assert!(counts(&violated(None, None), "mutual-exclusion"));
    }

    #[test]
    fn half_of_the_network_seeds_is_enough_to_confirm() {
        let cells = vec![violated(None, None)];
        let summary = Summary { schema: 1, cells, ..Summary::default() };
        let share = Totals::of(&summary).confirmed_share().unwrap();
        assert_eq!(
            share,
            "1 of 1 distinct violations were seen on turmoil in at least half of 16 network seeds"
        );
    }
}
