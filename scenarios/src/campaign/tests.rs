//! Campaigns against a lock that grants everything to everybody.

use picklock_sim::design::{Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::ids::Key;
use picklock_sim::lock::{Client, Grant, Lock, LockError};

use super::*;
use crate::suite;

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
    Design::new("generous", |seat| async move { Ok(Client::lock(Generous(seat.host))) })
}

/// The same, with a server that does nothing, so that scenarios that replicate it say something of it too.
fn idle_server() -> Design {
    Design { name: "idle-server".into(), ..generous().on(Topology::independent(1), |_| async {}) }
}

#[test]
fn a_campaign_adds_up_the_runs_that_its_seeds_give_one_by_one() {
    let campaign =
        Campaign::new(vec![generous(), idle_server()], suite::builtin(crate::testing::STORES), 40..45);
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
            suite::builtin(crate::testing::STORES).into_iter().take(scenarios).collect(),
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
    let campaign = Campaign::new(vec![generous()], suite::builtin(crate::testing::STORES), 0..4);
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
    assert_eq!(run(Vec::new(), suite::builtin(crate::testing::STORES), 0..4), 0);
    assert_eq!(run(vec![generous()], Vec::new(), 0..4), 0);
    assert_eq!(run(vec![generous()], suite::builtin(crate::testing::STORES), 4..4), 0);
}
