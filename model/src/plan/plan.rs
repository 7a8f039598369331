//! The plan of one run.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::action::{Action, Target};
use super::choice::Choice;
use super::client::ClientPlan;
use super::point::When;
use super::world::WorldSpec;
use crate::seed::Seed;
use crate::time::TrueTime;

/// One run, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The seed of the hosts' own randomness (owner values, retry delays, wake order).
    pub seed: Seed,
    /// The seed of message latencies; the same as `seed` unless a violation is being confirmed under other networks.
    pub network_seed: Seed,
    /// The fixed parameters of the world.
    pub world: WorldSpec,
    /// The workload's name.
    pub workload: String,
    /// The plan of each client.
    pub clients: Vec<ClientPlan>,
    /// The injections, in no particular order.
    pub injections: Vec<Injection>,
    /// The choices that do not come from the seed, in no particular order, each named once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

impl Plan {
    /// Has all clients come later by this much, and with them what is injected at an instant after the start.
    pub fn come_later(&mut self, by: Duration) {
        for client in &mut self.clients {
            let mut seen = BTreeSet::new();
            let first_of_each_task = client.sections.iter_mut().filter(|section| seen.insert(section.task));
            first_of_each_task.for_each(|section| section.think += by);
        }
        for injection in &mut self.injections {
            if let When::At { at_ns } = &mut injection.when
                && *at_ns > TrueTime(0)
            {
                *at_ns = *at_ns + by;
            }
        }
        self.world.horizon += by;
    }

    /// The same without one injection, and without those that are tied to it.
    #[must_use]
    pub fn without_injection(&self, at: usize) -> Plan {
        let mut gone = vec![at as u32];
        // Those that are tied to one that is tied to it follow it in turn.
        while let Some(next) = (0..self.injections.len() as u32).find(|other| {
            let tied = |entry: &Injection| matches!(entry.when, When::With { injection, .. } if gone.contains(&injection));
            !gone.contains(other) && tied(&self.injections[*other as usize])
        }) {
            gone.push(next);
        }
        let mut plan = self.clone();
        let mut number = 0;
        plan.injections.retain(|_| {
            number += 1;
            !gone.contains(&(number - 1))
        });
        for entry in &mut plan.injections {
            if let When::With { injection, .. } = &mut entry.when {
                *injection -= gone.iter().filter(|other| **other < *injection).count() as u32;
            }
        }
        plan
    }
}

/// One action, applied once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// The name of the fault that scheduled it; injections of one fault are counted together.
    pub fault: String,
    /// When it is applied.
    pub when: When,
    /// Which hosts it works on.
    pub target: Target,
    /// Its fault action.
    #[serde(alias = "lever")]
    pub action: Action,
}

#[cfg(test)]
mod tests {
    use super::super::action::Action;
    use super::*;
    use crate::ids::Key;
    use crate::plan::{ClientPolicy, Latency, ReadyOrder, SectionPlan, Settings};

    #[test]
    fn who_comes_later_waits_once_and_what_holds_from_the_start_does_so_still() {
        let ms = Duration::from_millis;
        let section =
            |ordinal, task| SectionPlan { task, ..SectionPlan::new(ordinal, Key::new("k"), ms(5), ms(10)) };
        let drift = |at_ns| Injection {
            fault: "drift".into(),
            when: When::At { at_ns: TrueTime(at_ns) },
            target: Target::host("client-1"),
            action: Action::SetDrift { ppm: 1 },
        };
        let mut plan = Plan {
            seed: Seed(1),
            network_seed: Seed(1),
            world: WorldSpec {
                ttl: ms(1_000),
                wait: ms(1_000),
                horizon: ms(2_000),
                decide: Duration::ZERO,
                latency: Latency { min: ms(1), max: ms(1) },
                tcp_timeout: ms(1_000),
                stock: 0,
                final_client: false,
                ready_order: ReadyOrder::Woken,
                policy: ClientPolicy::default(),
                store: Settings::default(),
            },
            workload: "contend".into(),
            clients: vec![ClientPlan::new("client-1", vec![section(1, 0), section(2, 0), section(3, 1)])],
            injections: vec![drift(0), drift(7_000_000)],
            choices: Vec::new(),
        };
        plan.come_later(ms(300));
        let thinks: Vec<Duration> = plan.clients[0].sections.iter().map(|section| section.think).collect();
        assert_eq!(thinks, [ms(305), ms(5), ms(305)]);
        assert_eq!(plan.injections, [drift(0), drift(307_000_000)]);
        assert_eq!(plan.world.horizon, ms(2_300));
    }
}
