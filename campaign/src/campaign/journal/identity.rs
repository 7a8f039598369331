//! The identity of a campaign: all that campaigns must have in common so that their runs may be added up.

use serde::{Deserialize, Serialize};

use crate::campaign::blocks::BLOCK;
use crate::request::Campaign;
use picklock_scenarios::scenario::Scenario;

/// Everything that decides which runs there are, and what each of them is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    /// The version of picklock.
    picklock: String,
    engine: String,
    /// The first seed, and the one after the last.
    seeds: (u64, u64),
    /// How many runs are handed out at a time.
    block: u64,
    designs: Vec<Designed>,
    scenarios: Vec<Set>,
}

/// A design as it is spelled, and what it is made of where that can change (the files of a program).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Designed {
    name: String,
    parts: Vec<String>,
}

/// A scenario with all of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    settings: Vec<String>,
}

impl Identity {
    pub(crate) fn of(campaign: &Campaign<'_>) -> Identity {
        Identity {
            picklock: env!("CARGO_PKG_VERSION").to_owned(),
            engine: campaign.engine.to_string(),
            seeds: (campaign.seeds.start, campaign.seeds.end),
            block: BLOCK,
            designs: (campaign.designs.iter())
                .map(|design| Designed {
                    name: design.name.to_string(),
                    parts: design.parts.iter().map(|part| format!("{} {}", part.file, part.digest)).collect(),
                })
                .collect(),
            scenarios: campaign.scenarios.iter().map(Set::of).collect(),
        }
    }

    /// The differences in words; `None` if there are none.
    pub(crate) fn departs_from(&self, other: &Identity) -> Option<String> {
        if self == other {
            return None;
        }
        let differs =
            |what: &str, here: String, there: String| Some(format!("its {what} is {here}, not {there}"));
        if self.picklock != other.picklock {
            return differs("picklock", self.picklock.clone(), other.picklock.clone());
        }
        if self.engine != other.engine {
            return differs("engine", self.engine.clone(), other.engine.clone());
        }
        if self.seeds != other.seeds {
            let range = |(from, to): (u64, u64)| format!("{from}..{to}");
            return differs("range of seeds", range(self.seeds), range(other.seeds));
        }
        let design = self.designs.iter().zip(&other.designs).find(|(here, there)| here != there);
        if let Some((here, there)) = design {
            return Some(if here.name == there.name {
                format!("the files of {} have changed", here.name)
            } else {
                format!("it runs {} in the place of {}", here.name, there.name)
            });
        }
        if self.designs.len() != other.designs.len() {
            return differs(
                "number of designs",
                self.designs.len().to_string(),
                other.designs.len().to_string(),
            );
        }
        let scenario = self.scenarios.iter().zip(&other.scenarios).find(|(here, there)| here != there);
        Some(match scenario {
            Some((here, there)) if here.name == there.name => {
                let setting = here.settings.iter().find(|setting| !there.settings.contains(setting));
                let setting = setting.map(|setting| format!(": it has {setting}")).unwrap_or_default();
                format!("its scenario {} is another one{setting}", here.name)
            }
            Some((here, there)) => format!("it runs scenario {} in the place of {}", here.name, there.name),
            None => "it has other scenarios".to_owned(),
        })
    }
}

impl Set {
    fn of(scenario: &Scenario) -> Set {
        let settings = scenario.settable().into_iter();
        let settings =
            settings.map(|one| format!("{}.{}={}", one.group, one.param.name, one.value)).collect();
        Set { name: scenario.name().to_owned(), settings }
    }
}
