//! The catalogue of designs, by family. To add a family: write its file in the room of its store, its `mod` line there, and its line here.

use picklock_sim::design::Family;

use crate::{consul, control, etcd, kubernetes, lockless, postgres, redis, redlock, zookeeper};

/// The families of all designs: the controls first, then from the simplest to the most careful.
pub(crate) static ALL: &[&Family] = &[
    &control::no_lock::FAMILY,
    &control::oracle::FAMILY,
    &redis::setnx::FAMILY,
    &redis::setnx_expire::FAMILY,
    &redis::set_px_del::FAMILY,
    &redis::get_del::FAMILY,
    &redis::single::FAMILY,
    &redis::timer_renew::FAMILY,
    &redis::watchdog::FAMILY,
    &redis::manual_renew::FAMILY,
    &redis::renewal_service::FAMILY,
    &redis::activity_renewal::FAMILY,
    &redis::session::FAMILY,
    &redis::reentrant::FAMILY,
    &redis::fair::FAMILY,
    &redis::replicated::FAMILY,
    &redis::replicated_wait::FAMILY,
    &redis::cluster::FAMILY,
    &redlock::budget::FAMILY,
    &redlock::multi::FAMILY,
    &redlock::naive::FAMILY,
    &redlock::algorithm::FAMILY,
    &redis::single_fenced::FAMILY,
    &redlock::fenced::FAMILY,
    &redlock::fenced_quorum::FAMILY,
    &redis::permits::FAMILY,
    &redis::read_write::FAMILY,
    &redis::segmented::FAMILY,
    &lockless::optimistic::FAMILY,
    &lockless::unique_index::FAMILY,
    &lockless::queue::FAMILY,
    &postgres::row_lock::FAMILY,
    &postgres::row_lock_outside::FAMILY,
    &postgres::skip_locked::FAMILY,
    &postgres::advisory::FAMILY,
    &postgres::advisory_pooled::FAMILY,
    &postgres::lease_row::FAMILY,
    &postgres::unique_row::FAMILY,
    &postgres::optimistic_row::FAMILY,
    &etcd::mutex::FAMILY,
    &etcd::mutex::FENCED,
    &etcd::mutex::NO_RECHECK,
    &etcd::election::FAMILY,
    &zookeeper::mutex::FAMILY,
    &zookeeper::mutex::FENCED,
    &zookeeper::curator::FAMILY,
    &consul::delayed::FAMILY,
    &kubernetes::lease_object::FAMILY,
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
        assert_eq!(
            fenced,
            ["single-fenced", "redlock-fenced", "redlock-fenced-quorum", "etcd-fenced", "zookeeper-fenced",]
        );
    }
}
