//! The command that starts a real Redis as a node of a cluster.
//!
//! The nodes know each other from the start, as simulated ones do: their file of nodes is written before they are started, and nobody has to be
//! met. A node that restarts finds the file. Each announces its name as its address, so that nodes and clients find it by that.
//!
//! A primary refuses for its first two seconds: `clusterUpdateState` counts CLUSTER_WRITABLE_DELAY from the start of the process, and no option changes
//! it. Simulated nodes have run for a while when a run begins.

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::store::{Keeps, Member, RealServer};

use super::{keeping, words};
use crate::PORT;
use crate::params::{NODE_TIMEOUT, PERSISTENCE};
use crate::server::cluster::{BUS_PORT_ABOVE, NodeId, Slots};

/// Writes the file of nodes if there is none, and runs the rest in its own directory.
const WITH_NODES: &str = r#"cd "$HOME" || exit
if [ ! -e nodes.conf ]; then
    printf '%s' "$1" > nodes.new
    sync nodes.new
    mv nodes.new nodes.conf
fi
shift
exec "$@""#;

/// How a node runs. Whatever else it keeps, it keeps the file of nodes.
pub(crate) fn server(member: &Member, members: &[Member], settings: &Settings) -> RealServer {
    RealServer { keeps: Keeps::Synced, leads, ..RealServer::new(command(member, members, settings)) }
}

fn command(member: &Member, members: &[Member], settings: &Settings) -> Vec<String> {
    let timeout = settings.get(NODE_TIMEOUT).as_millis();
    let line = format!(
        "redis-server --port {PORT} --bind 0.0.0.0 --protected-mode no --repl-diskless-sync-delay 0 --cluster-enabled yes \
         --cluster-config-file nodes.conf --cluster-node-timeout {timeout} --cluster-announce-ip {}",
        member.name
    );
    let mut rest = vec![file(member, members)];
    rest.extend(line.split(' ').map(str::to_owned));
    rest.extend(keeping(settings.get(PERSISTENCE)));
    words(WITH_NODES, rest)
}

/// The file of nodes of this one: each primary has its share of the slots and an epoch of its own.
fn file(me: &Member, members: &[Member]) -> String {
    let id = |member: &Member| NodeId::of(&member.name);
    let primaries: Vec<&Member> = members.iter().filter(|member| member.role == Role::Leader).collect();
    let line = |member: &Member| {
        let shard = primaries.iter().position(|primary| primary.group == member.group).unwrap_or(0);
        let (flag, primary, slots) = if member.role == Role::Leader {
            let share = Slots::share(shard as u32, primaries.len() as u32).ranges();
            let slots: Vec<String> = share.iter().map(|(first, last)| format!(" {first}-{last}")).collect();
            ("master", "-".to_owned(), slots.concat())
        } else {
            ("slave", id(primaries[shard]).to_string(), String::new())
        };
        let myself = if member == me { "myself," } else { "" };
        let epoch = shard + 1;
        let (id, name, bus) = (id(member), &member.name, PORT + BUS_PORT_ABOVE);
        format!("{id} {name}:{PORT}@{bus} {myself}{flag} {primary} 0 0 {epoch} connected{slots}\n")
    };
    let lines: String = members.iter().map(line).collect();
    format!("{lines}vars currentEpoch {} lastVoteEpoch 0\n", members.len())
}

/// What a line of a node's log says of whether it leads its shard.
fn leads(line: &str) -> Option<bool> {
    match () {
        () if line.contains("Failover election won: I'm the new master.") => Some(true),
        () if line.contains("Reconfiguring myself as a replica of") => Some(false),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_sim::store::{StoreSpec as _, Topology};

    use super::*;
    use crate::RedisCluster;

    #[test]
    fn each_node_knows_all_with_itself_among_them() {
        let settings = Settings::default()
            .with(PERSISTENCE, "none")
            .with(NODE_TIMEOUT, Duration::from_millis(200))
            .with(crate::params::SHARD_REPLICAS, 1);
        let topology = Topology { stores: 1, replicated: true };
        let members = RedisCluster::of(3).members(topology, &settings);
        let file = file(&members[4], &members);
        let lines: Vec<&str> = file.lines().collect();
        assert!(lines[0].ends_with(" node-1:6379@16379 master - 0 0 1 connected 0-5460"), "{file}");
        assert_eq!(lines[6], "vars currentEpoch 6 lastVoteEpoch 0");
        let primary = NodeId::of("node-2").to_string();
        assert!(lines[4].contains(" myself,slave ") && lines[4].contains(&primary), "{file}");
        let line = command(&members[0], &members, &settings).join(" ");
        assert!(line.ends_with("--cluster-announce-ip node-1 --appendonly no --save "), "{line}");
        assert!(line.contains("--cluster-node-timeout 200 "), "{line}");
    }

    #[test]
    fn who_leads_stands_in_the_log() {
        assert_eq!(leads("1:S 27 Nov 2026 # Failover election won: I'm the new master."), Some(true));
        assert_eq!(
            leads("# Configuration change detected. Reconfiguring myself as a replica of 07c3"),
            Some(false)
        );
        assert_eq!(leads("# Cluster state changed: ok"), None);
    }
}
