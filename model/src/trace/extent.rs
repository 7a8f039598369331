//! The extent of all that is broken at an instant: nothing, some of the stores, one client, or more than that.

use super::condition::{Condition, Conditions};
use super::event::Halt;
use super::outage::Broken;
use super::record::{HostInfo, Role};
use crate::ids::HostId;

/// The trouble of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its process is dead and will be started anew.
    Dead,
    /// Its process stands still.
    Paused,
    /// Its critical section stands still, and whatever else it does goes on.
    Stalled,
    /// Links of it are cut.
    Cut {
        /// True if so little of what it sends arrives that it can renew nothing.
        silenced: bool,
    },
}

/// The extent of all outages of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Nothing is broken.
    pub nothing: bool,
    /// Nothing is but fewer than half of the stores, or the ways to them.
    pub few_stores: bool,
    /// Nothing is but servers of a replicated store that are dead or stand still, and another one of it is there.
    pub primary_down: bool,
    /// Nothing is but one client, in one way.
    pub one_client: Option<(HostId, Trouble)>,
}

impl Extent {
    /// Of these outages among these hosts.
    #[must_use]
    pub fn of(hosts: &[HostInfo], broken: &[Broken]) -> Extent {
        let role = |host: HostId| hosts.get(usize::from(host.0)).map(|info| info.role);
        let keeps = |host: HostId| matches!(role(host), Some(Role::Leader | Role::Follower));
        let stores = hosts.iter().filter(|info| matches!(info.role, Role::Leader | Role::Follower)).count();
        let few = stores.saturating_sub(1) / 2;
        let mut hit: Vec<HostId> = Vec::new();
        let all_at_stores = broken.iter().all(|what| {
            let host = match *what {
                Broken::Dead(host) | Broken::Halted(host, _) => Some(host),
                Broken::Link(from, to) => [from, to].into_iter().find(|host| keeps(*host)),
                Broken::Late => None,
            };
            let host = host.filter(|host| keeps(*host));
            hit.extend(host);
            host.is_some()
        });
        hit.sort_unstable();
        hit.dedup();
        let is_replicated = hosts.iter().any(|info| info.role == Role::Follower);
        let all_still = broken.iter().all(|what| matches!(what, Broken::Dead(_) | Broken::Halted(..)));
        let client = |what: &Broken| match *what {
            Broken::Dead(host) | Broken::Halted(host, _) => Some(host),
            Broken::Link(from, to) => [from, to].into_iter().find(|host| role(*host) == Some(Role::Client)),
            Broken::Late => None,
        };
        let client = broken.first().and_then(client).filter(|host| role(*host) == Some(Role::Client));
        let reaches = |host: HostId| {
            let mut cut: Vec<HostId> = broken
                .iter()
                .filter_map(|what| match *what {
                    Broken::Link(from, to) if from == host && keeps(to) => Some(to),
                    _ => None,
                })
                .collect();
            cut.sort_unstable();
            cut.dedup();
            stores - cut.len()
        };
        let trouble = client.and_then(|host| {
            let kinds = broken.iter().map(|what| match *what {
                Broken::Dead(other) if other == host => Some(Trouble::Dead),
                Broken::Halted(other, Halt::Stall) if other == host => Some(Trouble::Stalled),
                Broken::Halted(other, _) if other == host => Some(Trouble::Paused),
                Broken::Link(from, to) if from == host || to == host => {
                    Some(Trouble::Cut { silenced: stores > 0 && reaches(host) <= stores / 2 })
                }
                _ => None,
            });
            let all: Option<Vec<Trouble>> = kinds.collect();
            all.filter(|all| all.windows(2).all(|pair| pair[0] == pair[1])).map(|all| (host, all[0]))
        });
        Extent {
            nothing: broken.is_empty(),
            few_stores: !broken.is_empty() && all_at_stores && hit.len() <= few,
            primary_down: !broken.is_empty()
                && is_replicated
                && all_at_stores
                && all_still
                && hit.len() < stores,
            one_client: trouble,
        }
    }

    /// True if nothing is broken but stores, and no more of them than whoever survives these conditions can do without.
    #[must_use]
    pub fn leaves_stores(&self, survives: Conditions) -> bool {
        (self.few_stores && survives.has(Condition::MinorityDown))
            || (self.primary_down && survives.has(Condition::PrimaryDown))
    }

    /// True if nothing is broken but what may be survived under these conditions, at least as one of those who hold or wait.
    #[must_use]
    pub fn may_be_survived(&self, survives: Conditions) -> bool {
        let client = match self.one_client {
            None => false,
            Some((_, Trouble::Dead)) => survives.has(Condition::HolderDead),
            Some((_, Trouble::Cut { .. })) => survives.has(Condition::ClientCut),
            Some((_, Trouble::Paused | Trouble::Stalled)) => {
                survives.has(Condition::HolderPaused) || survives.has(Condition::WaiterPaused)
            }
        };
        self.nothing || client || self.leaves_stores(survives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: HostId = HostId(0);
    const OTHER: HostId = HostId(1);

    fn node(nth: u16) -> HostId {
        HostId(1 + nth)
    }

    fn hosts(stores: usize) -> Vec<HostInfo> {
        let mut hosts =
            vec![HostInfo::new("client-1", Role::Client), HostInfo::new("client-2", Role::Client)];
        hosts.extend((1..=stores).map(|nth| HostInfo::new(&format!("node-{nth}"), Role::Leader)));
        hosts.push(HostInfo::new("resource", Role::Resource));
        hosts
    }

    fn few(stores: usize, dead: u16) -> bool {
        let dead: Vec<Broken> = (1..=dead).map(|nth| Broken::Dead(node(nth))).collect();
        Extent::of(&hosts(stores), &dead).few_stores
    }

    fn client(broken: &[Broken]) -> Option<(HostId, Trouble)> {
        Extent::of(&hosts(5), broken).one_client
    }

    #[test]
    fn fewer_than_half_of_the_stores_are_few() {
        assert!(few(5, 1) && few(5, 2) && !few(5, 3));
        assert!(few(4, 1) && !few(4, 2));
        assert!(!few(2, 1) && !few(1, 1));
        assert!(Extent::of(&hosts(5), &[]).nothing);
    }

    #[test]
    fn a_cut_link_to_a_store_counts_as_an_unreachable_store() {
        let cut = [Broken::Link(CLIENT, node(1)), Broken::Link(node(1), OTHER), Broken::Dead(node(2))];
        assert!(Extent::of(&hosts(5), &cut).few_stores);
        assert!(!Extent::of(&hosts(3), &cut).few_stores);
    }

    #[test]
    fn a_replicated_store_is_there_while_one_of_its_servers_is() {
        let mut hosts = hosts(1);
        let down = |hosts: &[HostInfo], broken: &[Broken]| Extent::of(hosts, broken).primary_down;
        assert!(!down(&hosts, &[Broken::Dead(node(1))]), "it is the only one");
        hosts[3] = HostInfo::new("node-2", Role::Follower);
        assert!(down(&hosts, &[Broken::Dead(node(1))]));
        assert!(down(&hosts, &[Broken::Halted(node(1), Halt::Pause)]));
        assert!(!down(&hosts, &[Broken::Dead(node(1)), Broken::Dead(node(2))]));
        assert!(!down(&hosts, &[Broken::Dead(node(1)), Broken::Dead(CLIENT)]));
        assert!(!down(&hosts, &[Broken::Link(node(1), node(2))]), "cut off it may go on by itself");
        assert!(!down(&hosts, &[]));
    }

    #[test]
    fn one_client_in_one_way_is_distinguished_from_more() {
        let paused = Broken::Halted(CLIENT, Halt::Suspend);
        assert_eq!(client(&[paused]), Some((CLIENT, Trouble::Paused)));
        assert_eq!(client(&[paused, Broken::Halted(OTHER, Halt::Pause)]), None);
        assert_eq!(client(&[paused, Broken::Link(CLIENT, node(1))]), None, "two conditions at once");
        assert_eq!(client(&[Broken::Halted(CLIENT, Halt::Stall)]), Some((CLIENT, Trouble::Stalled)));
        assert_eq!(client(&[Broken::Dead(node(1))]), None);
        assert_eq!(client(&[Broken::Late]), None);
    }

    #[test]
    fn a_client_is_silenced_if_it_reaches_no_majority() {
        let cut = |to: u16| -> Vec<Broken> { (1..=to).map(|nth| Broken::Link(CLIENT, node(nth))).collect() };
        assert_eq!(client(&cut(2)), Some((CLIENT, Trouble::Cut { silenced: false })));
        assert_eq!(client(&cut(3)), Some((CLIENT, Trouble::Cut { silenced: true })));
        let deaf: Vec<Broken> = (1..=5).map(|nth| Broken::Link(node(nth), CLIENT)).collect();
        assert_eq!(client(&deaf), Some((CLIENT, Trouble::Cut { silenced: false })), "what it sends arrives");
    }
}
