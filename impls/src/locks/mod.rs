//! The lock designs, one file each. To add one: write its file, add its `mod` line and its line in [`ALL`].

mod bulk;
mod by_channel;
pub(crate) mod common;
pub(crate) mod counted;
pub(crate) mod fair;
pub(crate) mod get_del;
pub(crate) mod manual_renew;
pub(crate) mod no_lock;
pub(crate) mod optimistic;
pub(crate) mod oracle;
pub(crate) mod permits;
pub(crate) mod policy;
pub(crate) mod queue;
mod raised;
pub(crate) mod read_write;
pub(crate) mod redlock;
pub(crate) mod redlock_budget;
pub(crate) mod redlock_fenced;
pub(crate) mod redlock_fenced_quorum;
pub(crate) mod redlock_multi;
pub(crate) mod redlock_naive;
pub(crate) mod reentrant;
pub(crate) mod renewal;
pub(crate) mod replicated;
pub(crate) mod replicated_wait;
pub mod row_lock;
pub(crate) mod segmented;
pub(crate) mod set_px_del;
pub(crate) mod setnx;
pub(crate) mod setnx_expire;
pub(crate) mod single;
pub(crate) mod single_fenced;
pub(crate) mod timer_renew;
pub(crate) mod unique_index;
pub(crate) mod watchdog;

use picklock_sim::design::Family;

/// Every design: the controls first, then from the simplest to the most careful.
pub static ALL: &[&Family] = &[
    &no_lock::FAMILY,
    &oracle::FAMILY,
    &setnx::FAMILY,
    &setnx_expire::FAMILY,
    &set_px_del::FAMILY,
    &get_del::FAMILY,
    &single::FAMILY,
    &timer_renew::FAMILY,
    &watchdog::FAMILY,
    &manual_renew::FAMILY,
    &reentrant::FAMILY,
    &fair::FAMILY,
    &replicated::FAMILY,
    &replicated_wait::FAMILY,
    &redlock_budget::FAMILY,
    &redlock_multi::FAMILY,
    &redlock_naive::FAMILY,
    &redlock::FAMILY,
    &single_fenced::FAMILY,
    &redlock_fenced::FAMILY,
    &redlock_fenced_quorum::FAMILY,
    &permits::FAMILY,
    &read_write::FAMILY,
    &segmented::FAMILY,
    &optimistic::FAMILY,
    &unique_index::FAMILY,
    &queue::FAMILY,
];

#[cfg(test)]
mod tests {
    use picklock_sim::design::{SpellingError, Topology, spell};
    use picklock_sim::lock::Belief;
    use picklock_sim::param::Domain;

    use super::*;

    /// Every family with every value of one parameter (for numbers the ends of the range), as spelled.
    fn spellings() -> Vec<(String, &'static str)> {
        let mut spellings = Vec::new();
        for family in ALL {
            spellings.push((family.name.to_owned(), family.name));
            for param in family.params {
                let values: Vec<String> = match param.domain {
                    Domain::Count(min, max) => vec![min.to_string(), max.to_string()],
                    Domain::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
                    other => panic!("no design has a parameter that takes {other}"),
                };
                for value in values {
                    spellings.push((format!("{}{{{}={value}}}", family.name, param.name), family.name));
                }
            }
        }
        spellings
    }

    #[test]
    fn the_spelling_of_every_design_finds_the_same_design_again() {
        for (text, family) in spellings() {
            let design = spell(ALL, &text).unwrap();
            assert!(*design.name == *text || *design.name == *family, "{text} became {}", design.name);
            assert_eq!(spell(ALL, &design.name).unwrap().name, design.name);
        }
    }

    #[test]
    fn names_are_unique_and_every_family_says_what_it_is() {
        for (at, family) in ALL.iter().enumerate() {
            assert!(
                ALL[..at].iter().all(|earlier| earlier.name != family.name),
                "{} stands twice",
                family.name
            );
            for text in [family.claim, family.weakness, family.source] {
                assert!(!text.is_empty() && !text.contains('\n'), "{} leaves a line empty", family.name);
            }
        }
    }

    #[test]
    fn every_default_is_spelled_as_its_domain_spells_it() {
        for family in ALL {
            for param in family.params {
                let design = family.with(&[(param.name, param.default)]).unwrap();
                assert_eq!(*design.name, *family.name, "{}: the default of {}", family.name, param.name);
            }
        }
    }

    #[test]
    fn wrong_parameters_are_refused() {
        for text in ["redlock{nodes=0}", "redlock{nodes=16}", "single{belief=blind}", "watchdog{store=tape}"]
        {
            assert!(matches!(spell(ALL, text), Err(SpellingError::Value { .. })), "{text}");
        }
        for text in
            ["oracle{nodes=3}", "single{nodes=3}", "replicated{store=single}", "redlock{store=single}"]
        {
            assert!(matches!(spell(ALL, text), Err(SpellingError::Param { .. })), "{text}");
        }
        assert!(matches!(spell(ALL, "redlok"), Err(SpellingError::Unknown { .. })));
    }

    #[test]
    fn parameters_set_the_belief_and_the_servers() {
        let design = |text| spell(ALL, text).unwrap();
        assert_eq!(design("redlock").topology, Topology::independent(5));
        assert_eq!(design("redlock{nodes=7}").topology, Topology::independent(7));
        assert_eq!(design("redlock").belief, Belief::Honest);
        assert_eq!(design("redlock-naive").belief, Belief::Naive);
        assert_eq!(design("single").belief, Belief::Naive);
        assert_eq!(design("single{belief=trusting}").belief, Belief::Trusting);
        assert_eq!(design("single").topology, Topology::independent(1));
        assert!(design("single{store=replicated}").topology.replicated);
        assert!(design("replicated").topology.replicated);
        assert_eq!(design("no-lock").topology, Topology::default());
    }

    #[test]
    fn the_designs_that_hand_out_tokens_say_so() {
        let fenced: Vec<&str> =
            ALL.iter().filter(|family| family.design().fenced).map(|family| family.name).collect();
        assert_eq!(fenced, ["single-fenced", "redlock-fenced", "redlock-fenced-quorum"]);
    }
}
