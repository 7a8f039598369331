//! Damaged, hostile and nonsensical input: refused with exit code 2 and a message that names place and remedy.

mod arguments;
mod repro_files;
mod scenario_files;

use std::time::Duration;

use picklock_model::seed::Seed;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;
use proptest::prelude::*;

use crate::binary::{Ended, directory, run_in};
use crate::cells::{Cell, design};

/// More than a message should need.
const MESSAGE_MAX: usize = 2_000;

/// Exit code 2, nothing printed, and one message that says all of this.
fn assert_refused(what: &str, ended: &Ended, says: &[&str]) {
    let Ended { code, stdout, stderr } = ended;
    assert_eq!((*code, stdout.as_str()), (Some(2), ""), "{what}: {stderr}");
    assert!(stderr.len() < MESSAGE_MAX, "{what}: a message of {} bytes", stderr.len());
    for part in says {
        assert!(stderr.contains(part), "{what}: nothing is said of `{part}`: {stderr}");
    }
}

/// A name that fits into a message of a failed assertion.
fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Scenarios with a bit of everything that the form knows.
const SCENARIOS: [&str; 3] = [
    "summary = 'one client stops'\nttl = '500ms'\nlatency = ['200us', '2ms']\nhorizon = '3s'\n[contend]\nclients = 3\nkeys = 2\n\
     work = ['20ms', '0.5 x ttl']\n[[fault]]\nkind = 'pause'\ntimes = [1, 3]\nfor = ['0.5 x ttl', '2 x ttl']\n",
    "summary = 'servers die'\nstore = 'replicated'\ndown_after = '0.1 x ttl'\n[contend]\nsections = 2\n[[fault]]\nkind = 'failover'\n\
     how = 'crash'\nafter = '5ms'\n[[fault]]\nkind = 'delay'\nby = '1 x ttl'\nway = 'reply'\nlinks = 'lock'\n",
    "summary = 'clocks and nets'\npersistence = 'always'\n[[fault]]\nkind = 'clock-step'\nstepped = 'quorum'\nby = '1.5 x ttl'\n\
     [[fault]]\nkind = 'partition'\nservers = 'all'\nway = 'out'\nfor = '300ms'\n[[fault]]\nkind = 'clock-drift'\nppm = 400\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_scenario_is_refused_or_run(
        which in 0..SCENARIOS.len(), at: prop::sample::Index, cut in 0..6_usize,
        put in "[0-9a-z .'=\\[\\]-]{0,4}", seed: u64,
    ) {
        let text = SCENARIOS[which];
        let from = at.index(text.len());
        let damaged = [&text[..from], &put, &text[(from + cut).min(text.len())..]].concat();
        if let Ok(scenario) = Scenario::parse("damaged.toml", &damaged, &picklock_stores::params()) {
            // Bounds of time are not what is tested here: an hour of simulated time takes its while.
            let plan = scenario.fault_free_plan(&design("single"), Seed(seed));
            prop_assume!(plan.world.horizon <= Duration::from_secs(60));
            if let Some(cell) = Cell::of(&design("single"), scenario) {
                cell.run(Engine::Event, seed);
            }
        }
    }

    #[test]
    fn any_arguments_end_without_a_panic(words in prop::collection::vec("(--)?[a-z]{0,8}[={}.,0-9-]{0,4}", 0..4)) {
        // Parsing alone, so that no campaign is started by chance.
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = run_in(directory().path(), &[&["replay"], &words[..]].concat());
        prop_assert!(matches!(ended.code, Some(0..=2)), "{words:?}: {:?} {}", ended.code, ended.stderr);
    }
}
