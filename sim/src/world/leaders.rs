//! The leaders: each group of members (a store with its replicas, a shard, an ensemble) has a leader of its own.

use std::collections::BTreeMap;

use picklock_model::ids::HostId;
use picklock_model::trace::{HostInfo, Role};

/// The leaders of all groups.
pub(crate) struct Leaders {
    /// The facts of each host that count here.
    members: Vec<Member>,
    /// The member of each group that last came to lead.
    leaders: BTreeMap<u32, HostId>,
    /// The group in which that happened last; at first, the first one.
    last: Option<u32>,
}

struct Member {
    store: u32,
    group: u32,
    /// True if it keeps the data of its group.
    keeps: bool,
}

impl Leaders {
    /// At first whoever has the role of a store leads its group, the first of several.
    pub(super) fn new(hosts: &[HostInfo]) -> Leaders {
        let member = |host: &HostInfo| Member {
            store: host.store,
            group: host.group,
            keeps: matches!(host.role, Role::Leader | Role::Follower),
        };
        let mut leaders = BTreeMap::new();
        let mut last = None;
        for (at, host) in hosts.iter().enumerate().filter(|(_, host)| host.role == Role::Leader) {
            leaders.entry(host.group).or_insert(HostId(at as u16));
            last = last.or(Some(host.group));
        }
        Leaders { members: hosts.iter().map(member).collect(), leaders, last }
    }

    /// A member came to lead.
    pub(super) fn leads(&mut self, host: HostId) {
        let group = self.members[usize::from(host.0)].group;
        self.leaders.insert(group, host);
        self.last = Some(group);
    }

    /// The leader of a group, or of the one in which it changed last.
    pub(super) fn leader(&self, group: Option<u32>) -> Option<HostId> {
        self.leaders.get(&group.or(self.last)?).copied()
    }

    /// The first of the others of such a group that keep its data and are alive.
    pub(super) fn follower(&self, group: Option<u32>, is_alive: impl Fn(HostId) -> bool) -> Option<HostId> {
        let leader = self.leader(group)?;
        let leads = &self.members[usize::from(leader.0)];
        let follows =
            |member: &Member| member.keeps && (member.store, member.group) == (leads.store, leads.group);
        let others = self.members.iter().enumerate().filter(|(_, member)| follows(member));
        let mut others = others.map(|(at, _)| HostId(at as u16)).filter(|host| *host != leader);
        others.find(|host| is_alive(*host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(members: &[(Role, u32)]) -> Vec<HostInfo> {
        let host =
            |(role, group): &(Role, u32)| HostInfo { store: 1, group: *group, ..HostInfo::new("x", *role) };
        members.iter().map(host).collect()
    }

    #[test]
    fn each_group_has_a_leader_and_followers_of_its_own() {
        use Role::{Client, Follower, Leader};
        let shards = [(Client, 0), (Leader, 1), (Leader, 2), (Follower, 1), (Follower, 2), (Follower, 2)];
        let mut leaders = Leaders::new(&hosts(&shards));
        let alive = |_| true;
        assert_eq!(
            [None, Some(1), Some(2)].map(|group| leaders.leader(group)),
            [1, 1, 2].map(|at| Some(HostId(at)))
        );
        assert_eq!(leaders.follower(Some(2), alive), Some(HostId(4)));
        assert_eq!(leaders.follower(Some(2), |host| host != HostId(4)), Some(HostId(5)));
        leaders.leads(HostId(5));
        assert_eq!(
            [None, Some(1), Some(2)].map(|group| leaders.leader(group)),
            [5, 1, 5].map(|at| Some(HostId(at)))
        );
        assert_eq!(leaders.follower(None, alive), Some(HostId(2)));
        assert_eq!(leaders.follower(Some(1), alive), Some(HostId(3)));
        assert_eq!(leaders.leader(Some(3)), None);
    }
}
