//! Repro files of earlier forms: kept for years, they replay as they did.
//!
//! Those in `fixtures/repro-files-form-1` were written before stores had kinds: runs of every design and every bug, reduced
//! and whole, with violations and without. Those in `fixtures/repro-files-form-2` were written before digests covered what
//! segments say: reduced runs of every bug and of some designs. Those in `fixtures/repro-files-form-3` were written before digests covered
//! no words: the plans of form 2 with the violations and the digest that form 3 had for them, and the grants of each finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use picklock_campaign::check;
use picklock_campaign::check::Checked;
use picklock_judge::outcome::Finding;
use picklock_model::ids::GrantId;
use picklock_model::plan::{Choice, ChoiceKind, Plan, ReadyOrder};
use picklock_model::repro::{FORMAT, ReproFile};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

/// Violations of invariants that are judged as they were then. That answers must be true is asked since; and an owner that may
/// acquire more than once and takes up its own record is no foreigner any more: its count is wrong instead.
fn judged_then(reentrant: bool, violations: &[String]) -> Vec<String> {
    let changed =
        |name: &str| name == "truthful-answers" || (reentrant && ["ownership", "reentrancy"].contains(&name));
    violations.iter().filter(|name| !changed(name)).cloned().collect()
}

/// Designs and bugs that came when repro files had form 2.
const LATER: &[&str] = &[
    "permits",
    "read-write",
    "row-lock-outside",
    "skip-locked",
    "advisory-pooled",
    "lease-row",
    "unique-row",
    "optimistic-row",
    "etcd",
    "etcd-fenced",
    "etcd-no-recheck",
    "etcd-election",
    "delayed",
    "cluster",
    "activity-renewal",
    "session",
    "renewal-service",
    "lease-object",
    "zookeeper",
    "zookeeper-fenced",
    "curator",
    "aredis-119",
    "authentik-23876",
    "cilium-42920",
    "client-go-65094",
    "curator-498",
    "curator-604",
    "curator-696",
    "django-q-213",
    "dotnet-etcd-321",
    "etcd-11456",
    "etcd-19597",
    "etcd-22082",
    "greptimedb-7670",
    "kazoo-732",
    "liquibase-5438",
    "river-197",
    "shedlock-231",
    "shedlock-243",
    "shedlock-3682",
    "wolverine-2691",
    "laravel-36337",
    "node-redlock-even",
    "oban-py-32",
    "redis-py-2624",
    "redis-py-3847",
    "redis-semaphore-10",
    "redis-semaphore-23",
    "redisson-1602",
    "redisson-1604",
    "redisson-2515",
    "redisson-2714",
    "redisson-891",
    "redsync-61",
    "redsync-71",
    "spring-1888",
];

/// The repro files of a form that are kept.
fn kept(form: u32) -> Vec<PathBuf> {
    let directory =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format!("repro-files-form-{form}"));
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A repro file, its design, and its run made again.
fn replayed(file: &Path) -> (ReproFile, Design, Checked) {
    let repro = ReproFile::from_text(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut design = picklock_impls::design(&repro.design).unwrap();
    design.topology.replicated |= repro.replicated;
    design.admits(&repro.plan).unwrap();
    let engine: Engine = repro.engine.parse().unwrap();
    let run = check::check(engine, &design, repro.plan.clone()).unwrap();
    (repro, design, run)
}

#[test]
fn repros_of_form_1_show_the_same_violations() {
    let files = kept(1);
    let mut designs = BTreeSet::new();
    for file in &files {
        let (repro, design, run) = replayed(file);
        let then = |violations: &[String]| judged_then(design.reentrant, violations);
        assert_eq!(then(&run.violated()), then(&repro.violations), "{}", file.display());
        assert_eq!(repro.is_its_digest(run.trace.digest), None, "{}", file.display());

        let again = ReproFile { repro: FORMAT, ..repro.clone() };
        assert_eq!(ReproFile::from_text(&again.to_text()).unwrap(), again, "{}", file.display());
        designs.insert(repro.design);
    }
    assert!(files.len() >= 40, "{} repros are left", files.len());
    designs.extend(LATER.iter().map(|name| (*name).to_owned()));
    for family in picklock_impls::families().iter().chain(picklock_impls::bugs()) {
        assert!(designs.iter().any(|design| design.starts_with(family.name)), "{} has none", family.name);
    }
}

#[test]
fn repros_of_form_2_show_the_same_violations_and_their_digests_are_not_compared() {
    let files = kept(2);
    for file in &files {
        let (repro, _, run) = replayed(file);
        assert_eq!(repro.repro, 2);
        let mut violated = run.violated();
        // A string that GETSET has made, and that has got its lease, is a record since.
        violated.retain(|name| repro.design != "redis-semaphore-23" || *name != "ownership");
        assert_eq!(violated, repro.violations, "{}", file.display());
        assert_eq!(repro.is_its_digest(run.trace.digest), None, "{}", file.display());
    }
    assert!(files.len() >= 30, "{} repros are left", files.len());
}

#[test]
fn repros_of_form_3_show_the_same_violations_in_the_same_grants_and_their_digests_are_not_compared() {
    let files = kept(3);
    let text = include_str!("../fixtures/grants-of-form-3.json");
    let of_then: BTreeMap<String, BTreeMap<String, Vec<Vec<String>>>> = serde_json::from_str(text).unwrap();
    assert!(files.len() >= 30 && files.len() == of_then.len(), "{} repros are left", files.len());
    for file in &files {
        let (repro, _, run) = replayed(file);
        assert_eq!(repro.repro, 3);
        assert_eq!(run.violated(), repro.violations, "{}", file.display());
        assert_eq!(repro.is_its_digest(run.trace.digest), None, "{}", file.display());
        let name = |grant: &GrantId| format!("{}/{}", run.trace.host_name(grant.client), grant.section);
        let grants: BTreeMap<String, Vec<Vec<String>>> = (run.violations())
            .map(|(invariant, findings)| {
                let of = |finding: &Finding| finding.grants.iter().map(name).collect();
                (invariant.name.to_owned(), findings.iter().map(of).collect())
            })
            .collect();
        assert_eq!(grants, of_then[file.file_name().unwrap().to_str().unwrap()], "{}", file.display());
    }
}

#[test]
fn a_repro_of_today_is_compared_by_its_digest() {
    let (repro, _, run) = replayed(&kept(2)[0]);
    let today = ReproFile { repro: FORMAT, digest: run.trace.digest, ..repro };
    assert_eq!(today.is_its_digest(run.trace.digest), Some(true));
    assert_eq!(today.is_its_digest(picklock_model::trace::Digest(1)), Some(false));
}

#[test]
fn a_plan_without_choices_of_its_own_is_written_as_ever() {
    let (repro, design, run) = replayed(&kept(2)[0]);
    assert_eq!((repro.plan.world.ready_order, repro.plan.choices.len()), (ReadyOrder::Woken, 0));
    let text = repro.to_text();
    assert!(!text.contains("choices") && !text.contains("ready_order"), "{text}");

    let slow = Choice { kind: ChoiceKind::Latency, ordinal: 2, chosen: u64::MAX };
    let mut chosen = ReproFile { plan: Plan { choices: vec![slow], ..repro.plan.clone() }, ..repro };
    chosen.plan.world.ready_order = ReadyOrder::Drawn;
    assert_eq!(ReproFile::from_text(&chosen.to_text()).unwrap(), chosen);
    chosen.plan.world.ready_order = ReadyOrder::Woken;
    let other = check::check(Engine::Event, &design, chosen.plan).unwrap();
    assert_ne!(other.trace.digest, run.trace.digest);
}
