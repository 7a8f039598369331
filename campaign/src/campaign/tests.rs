//! Campaigns against a lock that grants everything to everybody.

use std::num::NonZero;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::repro::Part;
use picklock_model::seed::Seed;
use picklock_sim::design::{Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};

use crate::check;

use super::*;
use picklock_scenarios::suite;

struct Generous(Host);

impl Lock for Generous {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(Some(Grant::new(key, self.0.rng().owner_id())))
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

fn generous() -> Design {
    Design::new("generous", |context| async move { Ok(Client::lock(Generous(context.host))) })
}

/// The same, with a server that does nothing, so that scenarios that replicate it say something of it too.
fn idle_server() -> Design {
    Design { name: "idle-server".into(), ..generous().on(Topology::independent(1), |_| async {}) }
}

#[test]
fn a_campaign_adds_up_the_runs_that_its_seeds_give_one_by_one() {
    let campaign = Campaign::new(
        vec![generous(), idle_server()],
        suite::builtin(picklock_scenarios::testing::STORES),
        40..45,
    );
    let pairings = campaign.pairings();
    let together = campaign.make_runs(&pairings, &Nowhere, &AtomicBool::new(false), &Silent).unwrap();
    for (pairing, together) in pairings.iter().zip(&together) {
        let mut alone = Tally::default();
        for seed in campaign.seeds.clone().filter(|_| pairing.design.is_ok()) {
            let design = pairing.design.as_ref().unwrap();
            alone.add(&check::seed(campaign.engine, design, pairing.scenario, Seed(seed)).unwrap());
        }
        let (alone, together) = (format!("{alone:?}"), format!("{together:?}"));
        assert_eq!(alone, together, "{} under {}", pairing.name, pairing.scenario.name());
    }
    assert_eq!(together.iter().map(|tally| tally.runs).sum::<u64>(), campaign.size());
}

#[test]
fn the_first_block_of_every_cell_comes_before_the_second_of_any() {
    for scenarios in [1, 3, 18] {
        let campaign = Campaign::new(
            vec![generous(), idle_server()],
            suite::builtin(picklock_scenarios::testing::STORES).into_iter().take(scenarios).collect(),
            100..117,
        );
        let pairings = campaign.pairings();
        let blocks = Blocks::of(&campaign, &pairings);
        let mut done: BTreeMap<usize, u64> = BTreeMap::new();
        let mut last = 0;
        while let Some(block) = blocks.take(|_, _| true) {
            assert!(block.seeds.start >= last, "an earlier block comes after a later one");
            last = block.seeds.start;
            for &cell in block.cells {
                let next = done.entry(cell).or_insert(campaign.seeds.start);
                assert_eq!(*next, block.seeds.start, "seeds are left out or come twice");
                *next = block.seeds.end;
            }
        }
        let with_runs = pairings.iter().filter(|pairing| pairing.design.is_ok()).count();
        assert_eq!(done.len(), with_runs);
        assert!(done.values().all(|next| *next == campaign.seeds.end));
    }
}

#[test]
fn a_campaign_of_one_design_has_work_for_several_threads() {
    let campaign = Campaign::new(vec![generous()], suite::builtin(picklock_scenarios::testing::STORES), 0..4);
    let blocks = Blocks::of(&campaign, &campaign.pairings());
    assert_eq!(std::iter::from_fn(|| blocks.take(|_, _| true)).count(), 4);
}

#[test]
fn a_campaign_without_designs_or_scenarios_or_seeds_has_no_blocks() {
    let run = |designs, scenarios, seeds| {
        let campaign = Campaign::new(designs, scenarios, seeds);
        campaign
            .run(&AtomicBool::new(false), &Silent)
            .unwrap()
            .cells
            .iter()
            .map(|cell| cell.runs)
            .sum::<u64>()
    };
    assert_eq!(run(Vec::new(), suite::builtin(picklock_scenarios::testing::STORES), 0..4), 0);
    assert_eq!(run(vec![generous()], Vec::new(), 0..4), 0);
    assert_eq!(run(vec![generous()], suite::builtin(picklock_scenarios::testing::STORES), 4..4), 0);
}

/// Grants everything under a name that is another one in each run.
struct Counting;

impl Lock for Counting {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ok(Some(Grant::new(key, NEXT.fetch_add(1, Ordering::Relaxed).to_string())))
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

#[test]
fn a_run_that_violates_something_is_made_twice_if_that_is_asked_for() {
    let counting = Design::new("counting", |_| async { Ok(Client::lock(Counting)) });
    let calm = suite::named("calm", picklock_scenarios::testing::STORES).unwrap();
    let run = |repeated, seeds| {
        let campaign = Campaign::new(vec![counting.clone()], vec![calm.clone()], seeds);
        Campaign { repeated, ..campaign }.run(&AtomicBool::new(false), &Silent)
    };
    // Seed 70 is neither one of the first nor of the sample.
    run(Repeated::Sample, 65..71).unwrap();
    run(Repeated::Sample, 64..71).unwrap_err();
    let error = run(Repeated::Violations, 65..71).unwrap_err();
    assert!(matches!(error, CampaignError::NotTheSame { seed: 65, .. }), "{error}");
}

#[test]
fn the_failure_of_a_campaign_is_that_of_its_earliest_run_whatever_the_number_of_threads() {
    let brittle = Design::new("brittle", |_| async move { panic!("the lease table is full") });
    let scenarios = suite::builtin(picklock_scenarios::testing::STORES);
    for jobs in [1, 2, 5] {
        let campaign = Campaign {
            jobs: NonZero::new(jobs).unwrap(),
            ..Campaign::new(vec![generous(), brittle.clone()], scenarios.clone(), 3..40)
        };
        let error = campaign.run(&AtomicBool::new(false), &Silent).unwrap_err();
        let CampaignError::Check { design, scenario, source, replay } = &error else { panic!("{error}") };
        assert_eq!((&**design, scenario.as_str()), ("brittle", scenarios[0].name()));
        assert!(source.to_string().contains("seed 3: the lease table is full"), "{source}");
        assert_eq!(**replay, format!("picklock replay brittle {scenario} 3"));
        assert!(error.to_string().ends_with(&format!("\nreplay: {replay}")), "{error}");
    }
}

/// A store that fails ends neither the process nor the campaign: its runs say what they met.
#[test]
fn a_store_that_panics_in_a_run_is_counted_and_the_campaign_goes_on() {
    let server = |_| async { panic!("the table of the store is full") };
    let broken = Design { name: "broken".into(), ..generous().on(Topology::independent(1), server) };
    let calm = suite::named("calm", picklock_scenarios::testing::STORES).unwrap();
    let campaign = Campaign::new(vec![broken], vec![calm], 3..40);
    let summary = campaign.run(&AtomicBool::new(false), &Silent).unwrap();
    let met = "a request on which the simulated store fails (the table of the store is full)";
    assert_eq!(summary.cells[0].not_modelled, [(met.to_owned(), 37)].into());
}

/// The journal of a campaign of two designs, of several lines.
fn kept(directory: &std::path::Path) -> (Campaign<'static>, std::path::PathBuf) {
    let scenarios = suite::builtin(picklock_scenarios::testing::STORES).into_iter().take(2).collect();
    let campaign = Campaign::new(vec![generous(), idle_server()], scenarios, 0..300);
    let path = directory.join(journal::FILE);
    let kept = Journal::begin(&path, &campaign, vec!["run".to_owned()]).unwrap();
    for blocks in [0..2, 2..5, 5..6] {
        let mut batch = journal::Batch::default();
        for block in blocks {
            let cells = BTreeMap::from([(0, Tally::default()), (1, Tally::default())]);
            batch.add(block, cells);
        }
        kept.write(&batch).unwrap();
    }
    (campaign, path)
}

/// True if a journal with one bit changed is mended to the same bytes; else it must be refused with the line.
fn is_mended(whole: &[u8], bit: usize, campaign: &Campaign<'_>, path: &std::path::Path) -> bool {
    let (at, mut bytes) = (bit / 8, whole.to_vec());
    bytes[at] ^= 1 << (bit % 8);
    std::fs::write(path, &bytes).unwrap();
    let line = 1 + whole[..at].iter().filter(|byte| **byte == b'\n').count();
    let resumed = Journal::resume(path, campaign);
    let left = std::fs::read(path).unwrap();
    let Err(error) = resumed else {
        assert!(left == whole, "bit {bit}: nothing was noticed");
        return true;
    };
    let error = error.to_string();
    assert!(error.contains(&format!("{}, line {line}: ", path.display())), "bit {bit}: {error}");
    assert!(left == bytes, "bit {bit}: what is refused is left as it is");
    false
}

#[test]
fn a_journal_with_a_flipped_bit_is_refused_with_its_line_or_mended_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (campaign, path) = kept(directory.path());
    let whole = std::fs::read(&path).unwrap();
    // The end of a line, and of these that of the last one, says nothing.
    for (end, _) in whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        let mended = (8 * end..8 * end + 8).filter(|bit| is_mended(&whole, *bit, &campaign, &path)).count();
        assert_eq!(mended, if end + 1 == whole.len() { 8 } else { 0 });
    }
    let mut stream = Seed(1).stream("flipped bits");
    for _ in 0..1_000 {
        let bit = stream.below(8 * whole.len() as u64 - 8) as usize;
        assert!(!is_mended(&whole, bit, &campaign, &path));
    }
}

#[test]
fn a_journal_that_was_cut_anywhere_goes_on_after_its_last_whole_line() {
    let directory = tempfile::tempdir().unwrap();
    let (campaign, path) = kept(directory.path());
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for length in (0..first).step_by(97).chain(first..whole.len()) {
        std::fs::write(&path, &whole[..length]).unwrap();
        let resumed = Journal::resume(&path, &campaign);
        if length < first {
            assert!(resumed.err().unwrap().to_string().contains("line 1: it has no whole first line"));
            continue;
        }
        resumed.unwrap();
        let left = std::fs::read(&path).unwrap();
        assert!(whole.starts_with(&left) && left.ends_with(b"\n"), "{length}");
        assert!(
            left.len() >= whole[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
        );
    }
}

/// A program whose runs take some time of the machine: each of its clients takes 20 ms to begin.
fn slow() -> Design {
    let design = Design::new("slow", |context| async move {
        std::thread::sleep(Duration::from_millis(20));
        Ok(Client::lock(Generous(context.host)))
    });
    design.made_of(vec![Part { file: "slow".to_owned(), digest: String::new() }])
}

#[test]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a budget is time of the machine")]
fn violations_of_a_slow_program_are_confirmed_before_they_are_reduced_and_the_budget_is_kept() {
    let scenarios = ["calm", "long-work"].map(|name| suite::named(name, &[]).unwrap());
    let mut campaign = Campaign::new(vec![slow()], scenarios.to_vec(), 0..1);
    campaign.reported = Reported::All;
    campaign.confirm = true;
    let budget = Duration::from_secs(5);
    campaign.shrink_budget = Some(budget);
    let stop = AtomicBool::new(false);
    let made = campaign.make(&stop, &Silent).unwrap();
    let began = std::time::Instant::now();
    let summary = campaign.report(&made, &stop, &Silent).unwrap();
    let took = began.elapsed();
    let violations: Vec<_> = summary.cells.iter().flat_map(|cell| cell.violations.values()).collect();
    assert!(violations.len() > 1);
    for violation in violations {
        let confirmed = violation.confirmed.unwrap();
        assert!(confirmed.of > 0 && confirmed.seen > 0, "{confirmed:?}");
    }
    // A machine with other work to do may take longer for one run.
    assert!(took < budget + Duration::from_secs(5), "{took:?}");
}
