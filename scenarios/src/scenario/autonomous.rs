//! The part of a scenario that applies to autonomous clients: how many there are, how often each holds the lock, and what
//! goes wrong. When one asks, how long it works and for which keys is up to itself.

use picklock_sim::design::Design;
use picklock_sim::param::Args;

use super::parts::Scenario;
use super::world::{IGNORES_LOSS, RELEASES, STOCK, WAIT};
use crate::faults::{self, FaultEntry, Hits};
use crate::workloads::{self, ASSIGN, BACKGROUND, FIRST_WORK, KEYS, SHAPE, SHARED, TASKS, WORK};

/// The parameters that say how clients carry sections out.
const OF_SECTIONS: [&str; 8] = [
    KEYS.name,
    ASSIGN.name,
    TASKS.name,
    SHARED.name,
    WORK.name,
    SHAPE.name,
    FIRST_WORK.name,
    BACKGROUND.name,
];

/// The parameters of the world that do.
const OF_CLIENTS: [&str; 4] = [WAIT.name, STOCK.name, IGNORES_LOSS.name, RELEASES.name];

/// True if an autonomous client decides by itself what this setting is about: `work=2s`, `contend.work=2s`.
#[must_use]
pub fn is_up_to_the_client(setting: &str) -> bool {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name).trim();
    let own = name.rsplit('.').next().unwrap_or(name);
    let group = name.rsplit_once('.').map_or("", |(group, _)| group);
    let of_load = group.is_empty() || workloads::named(group).is_some();
    let of_world = group.is_empty() || group == "world";
    (of_load && OF_SECTIONS.contains(&own)) || (of_world && OF_CLIENTS.contains(&own))
}

impl Scenario {
    /// `Err` if it does not apply to a design because its clients are autonomous: the reason, as a fragment.
    pub(super) fn fits_autonomous(&self, design: &Design) -> Result<(), String> {
        if !design.autonomous {
            return Ok(());
        }
        if self.workload.name != workloads::ALL[0].name {
            return Err(
                "its sections are no plain ones, and an autonomous client has sections of its own".into()
            );
        }
        if self.load.get(TASKS) > 1 || self.load.get(SHARED) > 0 {
            return Err(
                "its clients have several tasks, or share the lock, and an autonomous client does as it likes".into()
            );
        }
        // Without faults it is about what sections do.
        let defaults = Args::defaults(self.workload.params);
        let mut both = self.load.iter().zip(defaults.iter());
        let of_sections =
            both.any(|((param, value), (_, default))| OF_SECTIONS.contains(&param.name) && value != default);
        if self.faults.is_empty() && of_sections {
            return Err(
                "it is about how sections work, and an autonomous client decides that by itself".into()
            );
        }
        Ok(())
    }
}

/// `Ok` if a fault can hit an autonomous client as it is meant to.
pub(super) fn hits(entry: &FaultEntry, design: &Design) -> Result<(), String> {
    if design.autonomous && entry.fault.hits == Hits::Calls {
        return Err(
            "it hits the section of a client and not its lock, and an autonomous client is both".into()
        );
    }
    if design.autonomous && faults::hits_resource(&entry.args) {
        return Err("it hits the links to the resource, and an autonomous client uses none".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::tests::design;

    fn applies(text: &str) -> Result<Design, String> {
        let scenario = Scenario::parse("s.toml", &format!("summary = 's'\n{text}"), &[]).unwrap();
        scenario.adapt(&design(1, false).autonomous())
    }

    #[test]
    fn an_autonomous_client_has_its_own_sections() {
        assert!(applies("").is_ok());
        assert!(applies("[contend]\nclients = 5\nsections = 4").is_ok());
        assert!(applies("[contend]\nwork = '2s'").unwrap_err().contains("decides that by itself"));
        assert!(applies("[contend]\nwork = '2s'\n[[fault]]\nkind = 'pause'").is_ok());
        assert!(applies("[contend]\ntasks = 2").unwrap_err().contains("several tasks"));
        assert!(applies("workload = 'sell'").unwrap_err().contains("sections of its own"));
        assert!(applies("[[fault]]\nkind = 'stall'").unwrap_err().contains("an autonomous client is both"));
        let resource = "[[fault]]\nkind = 'lost-reply'\nlinks = 'resource'";
        assert!(applies(resource).unwrap_err().contains("uses none"));
    }

    #[test]
    fn settings_of_sections_are_distinguished_from_those_of_faults() {
        for setting in ["work=2s", "contend.work=2s", "keys = 3", "wait=1s", "world.wait=1s"] {
            assert!(is_up_to_the_client(setting), "{setting}");
        }
        for setting in
            ["clients=5", "sections=3", "think=1ms", "ttl=2s", "pause.for=2s", "redis.persistence=none"]
        {
            assert!(!is_up_to_the_client(setting), "{setting}");
        }
    }
}
