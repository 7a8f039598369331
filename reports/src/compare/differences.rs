//! The differences of a design from the best one under the same seeds: how much more often it violates each invariant.

use picklock_campaign::summary::Cell;
use picklock_judge::invariants::Invariant;

use super::comparison::Comparison;
use super::ranking::{Ranked, applies, ranking};
use super::rates;
use crate::matrix::statistics::{Difference, TwoByTwo, paired_difference};
use crate::page::numbers::plural;

/// A design compared with the best one under one scenario, seed by seed.
pub(crate) struct PairedComparison<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) design: &'a str,
    /// The best design of the ranking that was run under the scenario.
    pub(crate) best: &'a str,
    /// Seeds whose runs are conclusive for both.
    pub(crate) seeds: u64,
    /// For each invariant that either violated, how much more often the design did.
    pub(crate) differences: Vec<(&'static Invariant, Difference)>,
}

/// The designs beside the best, under each scenario.
pub(crate) fn all(comparison: &Comparison) -> Vec<PairedComparison<'_>> {
    let (columns, ranking) = (rates::columns(&comparison.summary), ranking(&comparison.summary));
    let under = |scenario| under(comparison, &comparison.cells(scenario), &columns, &ranking);
    comparison.scenarios().into_iter().flat_map(under).collect()
}

/// The designs of a scenario beside the best of the ranking that was run under it.
fn under<'a>(
    comparison: &'a Comparison,
    cells: &[&'a Cell],
    columns: &[&'static Invariant],
    ranking: &[Ranked<'a>],
) -> Vec<PairedComparison<'a>> {
    let cell_of = |design: &str| cells.iter().copied().find(|cell| cell.design == design && cell.runs > 0);
    let Some(best) = ranking.iter().find_map(|ranked| cell_of(ranked.design)) else { return Vec::new() };
    let others = cells.iter().filter(|cell| cell.design != best.design && cell.runs > 0);
    let compared = |cell: &&'a Cell| {
        let counts = |invariant: &Invariant| -> Option<TwoByTwo> {
            comparison.pairs.of(&cell.scenario, invariant.name, &cell.design, &best.design)
        };
        let of_both =
            columns.iter().filter(|invariant| applies(cell, invariant.name) && applies(best, invariant.name));
        let counted: Vec<(&'static Invariant, TwoByTwo)> =
            of_both.filter_map(|invariant| Some((*invariant, counts(invariant)?))).collect();
        let seeds = counted
            .first()
            .map_or(0, |(_, counts)| counts.both + counts.first + counts.second + counts.neither);
        let differing =
            counted.into_iter().filter(|(_, counts)| counts.both + counts.first + counts.second > 0);
        let differences = differing
            .filter_map(|(invariant, counts)| Some((invariant, paired_difference(counts)?)))
            .collect();
        PairedComparison {
            scenario: &cell.scenario,
            design: &cell.design,
            best: &best.design,
            seeds,
            differences,
        }
    };
    others.map(compared).filter(|compared| compared.seeds > 0).collect()
}

impl PairedComparison<'_> {
    /// "I2 +30.0 (+21.0 to +40.2)" for each invariant; or that there is no difference.
    pub(crate) fn words(&self) -> Vec<String> {
        let PairedComparison { design, best, seeds, .. } = self;
        let head = format!("{design} less {best}, {seeds} {}:", plural(*seeds, "seed"));
        if self.differences.is_empty() {
            return vec![format!("{head} neither violated anything")];
        }
        let points = |share: f64| format!("{:+.1}", share * 100.0);
        let each = self.differences.iter().zip(0..).map(|((invariant, difference), at)| {
            let Difference { by, low, high } = *difference;
            let words = format!("{} {} ({} to {})", invariant.number, points(by), points(low), points(high));
            if at == 0 { format!("{head} {words}") } else { words }
        });
        each.collect()
    }
}
