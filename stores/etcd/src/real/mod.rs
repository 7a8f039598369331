//! How a real member runs: the command that starts it, in a world where hosts find each other by name, and what is read in its log.

mod log;

use std::process::Command;
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_sim::store::{Installed, Keeps, Member, RealServer};

use crate::params::{ELECTION_TIMEOUT, HEARTBEAT};
use crate::{CLIENT_PORT, PEER_PORT};

/// Runs its arguments in its own directory, which a restart finds as it was left, after a delay.
///
/// New members ask those that listen already whether they are expected, for a second each. Whoever asks members that
/// have only just begun to listen waits for all of them, and so do they: a cluster of three would take two seconds.
const AT_HOME: &str = r#"sleep "$0" && cd "$HOME" && exec "$@""#;

/// By how many milliseconds each member starts later than the one before.
const APART_MS: usize = 20;

/// The fewest heartbeats of an election timeout that etcd takes.
const HEARTBEATS_LEAST: u32 = 5;

/// The longest election timeout that etcd takes.
const ELECTION_MOST: Duration = Duration::from_secs(50);

/// Which etcd there is: `etcd 3.4.23`.
pub(crate) const INSTALLED: Installed =
    Installed { program: "etcd", package: "etcd-server", takes_over: false, version };

fn version() -> Option<String> {
    let output = Command::new("etcd").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.lines().find_map(|line| line.strip_prefix("etcd Version: "))?;
    Some(format!("etcd {}", version.trim()))
}

/// How a member of these runs.
pub(crate) fn server(member: &Member, members: &[Member], settings: &Settings) -> RealServer {
    let command = command(member, members, settings);
    RealServer { keeps: Keeps::All, leads: log::leads, ..RealServer::new(command) }
}

/// The command of a member of these.
///
/// Only the first one counts the time before its start as waited for a leader, and so is elected first; all others do as
/// etcd does with `--initial-election-tick-advance=false`.
fn command(member: &Member, members: &[Member], settings: &Settings) -> Vec<String> {
    let name = &member.name;
    let cluster: Vec<String> =
        members.iter().map(|Member { name, .. }| format!("{name}=http://{name}:{PEER_PORT}")).collect();
    let heartbeat = settings.get(HEARTBEAT);
    let election = settings.get(ELECTION_TIMEOUT).max(HEARTBEATS_LEAST * heartbeat).min(ELECTION_MOST);
    let place = members.iter().position(|other| other == member).unwrap_or_default();
    let options = [
        ("name", name.clone()),
        ("data-dir", "data".to_owned()),
        ("listen-client-urls", format!("http://0.0.0.0:{CLIENT_PORT}")),
        ("advertise-client-urls", format!("http://{name}:{CLIENT_PORT}")),
        ("listen-peer-urls", format!("http://0.0.0.0:{PEER_PORT}")),
        ("initial-advertise-peer-urls", format!("http://{name}:{PEER_PORT}")),
        ("initial-cluster", cluster.join(",")),
        ("initial-cluster-state", "new".to_owned()),
        ("heartbeat-interval", heartbeat.as_millis().to_string()),
        ("election-timeout", election.as_millis().to_string()),
        ("initial-election-tick-advance", (place == 0).to_string()),
        ("logger", "zap".to_owned()),
        ("log-outputs", "stdout".to_owned()),
    ];
    let delay = format!("0.{:03}", place * APART_MS);
    let shell = ["sh", "-c", AT_HOME, &delay, "etcd"].map(str::to_owned);
    shell.into_iter().chain(options.map(|(option, value)| format!("--{option}={value}"))).collect()
}

#[cfg(test)]
mod tests {
    use picklock_sim::store::{StoreSpec as _, Topology, complete};

    use super::*;
    use crate::{Etcd, PARAMS};

    #[test]
    fn each_member_is_given_all_and_only_the_first_wants_to_lead_at_once() {
        let settings = complete(PARAMS, &Settings::default(), Duration::from_secs(2));
        let members = Etcd::of(3).members(Topology { stores: 1, replicated: true }, &settings);
        let line = |at: usize| command(&members[at], &members, &settings).join(" ");
        let all = "--initial-cluster=node-1=http://node-1:2380,node-2=http://node-2:2380,node-3=http://node-3:2380 ";
        assert!((0..3).all(|at| line(at).contains(all)), "{}", line(0));
        assert!(line(1).contains("--name=node-2 ") && line(1).contains("--election-timeout=1000 "));
        assert!(line(0).contains("tick-advance=true") && line(2).contains("tick-advance=false"));
    }
}
