//! Capsules of earlier forms: kept for years, they replay as they did.
//!
//! Those in `fixtures/capsules-form-1` were written before stores had kinds: runs of every design and every bug, reduced
//! and whole, with violations and without.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::BTreeSet;
use std::path::Path;

use picklock_scenarios::check;
use picklock_sim::capsule::{Capsule, FORMAT};

#[test]
fn capsules_of_form_1_show_the_same_violations() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/capsules-form-1");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut designs = BTreeSet::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let capsule = Capsule::from_text(&text).unwrap();
        let mut design = picklock_impls::design(&capsule.design).unwrap();
        design.topology.replicated |= capsule.replicated;
        design.admits(&capsule.plan).unwrap();
        let engine = capsule.engine.parse().unwrap();
        let run = check::check(engine, &design, capsule.plan.clone()).unwrap();
        assert_eq!(run.violated(), capsule.violations, "{}", file.display());
        assert_eq!(run.trace.digest, capsule.digest, "{}", file.display());

        let again = Capsule { capsule: FORMAT, ..capsule.clone() };
        assert_eq!(Capsule::from_text(&again.to_text()).unwrap(), again, "{}", file.display());
        designs.insert(capsule.design);
    }
    assert!(files.len() >= 40, "{} capsules are left", files.len());
    for family in picklock_impls::families().iter().chain(picklock_impls::bugs()) {
        assert!(designs.iter().any(|design| design.starts_with(family.name)), "{} has none", family.name);
    }
}
