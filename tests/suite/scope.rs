//! The scope of the simulated Redis: its list names `designs` behind each command that a design or a rebuilt bug sends, and behind no other.
//!
//! That the list is the catalogue is a test of `picklock-redis`. A command outside of it would make a run inconclusive.

use std::collections::BTreeSet;

use picklock_campaign::bugs::builtin;
use picklock_campaign::check::Checked;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

/// The commands of the list that these send.
fn listed(senders: &[&str]) -> BTreeSet<&'static str> {
    let lines = include_str!("../../stores/redis/src/server/scope.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let sends = |(_, found): &(&str, &str)| found.trim().split(", ").any(|found| senders.contains(&found));
    lines.filter(sends).map(|(name, _)| name).collect()
}

fn run(cell: &Cell, seed: u64) -> BTreeSet<&'static str> {
    let (Checked { not_modelled, .. }, sent) = picklock_redis::sent(|| cell.run(Engine::Event, seed));
    assert!(not_modelled.is_empty(), "{} under {}: {not_modelled:?}", cell.name, cell.scenario.name());
    sent
}

#[test]
fn the_list_names_the_commands_that_designs_and_bugs_send() {
    let params = picklock_stores::params();
    let mut sent = BTreeSet::new();
    for family in picklock_impls::families() {
        for scenario in suite::builtin(&params) {
            if let Some(cell) = Cell::of(&family.design(), scenario) {
                sent.append(&mut run(&cell, 1));
            }
        }
    }
    for bug in builtin() {
        let cell = Cell::of(&design(&bug.name), suite::named(&bug.scenario, &params).unwrap()).unwrap();
        sent.append(&mut run(&cell, bug.seed));
    }
    let designs = listed(&["designs"]);
    let unsent: Vec<_> = designs.difference(&sent).collect();
    assert!(unsent.is_empty(), "scope.txt names `designs` behind commands that none sends: {unsent:?}");
    let others = listed(&["designs", "parameters", "connect", "sentinel", "cluster", "replication"]);
    let unlisted: Vec<_> = sent.difference(&others).collect();
    assert!(unlisted.is_empty(), "scope.txt lacks `designs` behind {unlisted:?}");
}
