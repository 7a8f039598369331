//! How a real server runs: alone, as a primary, or as a standby.
//!
//! A standby begins with the same files as its primary and a `standby.signal`, which its promotion takes away. It starts a millisecond later, since one
//! that finds no primary asks again only after 5 s (`wal_retrieve_retry_interval`); a server starts in no virtual time.

use std::path::Path;
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::store::{Keeps, Member, RealServer};

use super::agent::agent;
use super::cluster::{CONNECTIONS, first_files};
use super::installed::{as_user_words, programs};
use super::log;
use crate::PORT;
use crate::params::{DISK_DELAY, FSYNC, SYNCHRONOUS_COMMIT};
use crate::server::Pair;

/// Runs a server in its directory, as the user `postgres` where this is root: a server refuses to run as root. What an earlier life says of its
/// process is not true of this one.
const AT_HOME: &str = r#"cd "$HOME/data" && rm -f postmaster.pid && exec "$@""#;

/// Runs a standby: one that has run before is a standby as long as it was not promoted.
const FOLLOWING: &str = r#"cd "$HOME/data" && rm -f postmaster.pid && { [ -e followed ] || { cp -p PG_VERSION standby.signal && cp -p PG_VERSION followed && sleep 0.001; }; } && exec "$@""#;

/// Options that change nothing of what a client sees. The log is kept whole for a standby that was away.
const OPTIONS: [&str; 9] = [
    "listen_addresses=*",
    "unix_socket_directories=",
    "autovacuum=off",
    "shared_buffers=8MB",
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    "logging_collector=off",
    "wal_keep_size=1GB",
];

/// How a server runs among these members. None without an installed server, and for a disk that syncs late or never.
pub(super) fn server(member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
    if settings.get(FSYNC) != "on" || settings.get(DISK_DELAY) > Duration::ZERO {
        return None;
    }
    let pair = Pair::of(member, members, settings).filter(|_| member.role == Role::Leader);
    Some(RealServer {
        keeps: Keeps::All,
        files: first_files(),
        leads: log::leads,
        agent: pair.map(agent),
        ..RealServer::new(command(&programs()?.join("postgres"), member, members, settings))
    })
}

/// The command by which this program runs as this one of the members of its store.
fn command(program: &Path, member: &Member, members: &[Member], settings: &Settings) -> Vec<String> {
    let commits = settings.get(SYNCHRONOUS_COMMIT);
    let name = |role| members.iter().find(|other| other.role == role).map(|other| other.name.as_str());
    let mut options: Vec<String> = OPTIONS.map(str::to_owned).to_vec();
    options.push(format!("max_connections={CONNECTIONS}"));
    options.push(format!("synchronous_commit={commits}"));
    let script = match (member.role, name(Role::Leader), name(Role::Follower)) {
        (Role::Follower, Some(primary), _) => {
            let name = &member.name;
            let place = format!("host={primary} port={PORT} user=postgres application_name={name}");
            options.push(format!("primary_conninfo={place}"));
            FOLLOWING
        }
        (_, _, Some(standby)) if commits == "on" => {
            options.push(format!("synchronous_standby_names=\"{standby}\""));
            AT_HOME
        }
        _ => AT_HOME,
    };
    let mut words: Vec<String> = ["sh", "-c", script, "sh"].map(str::to_owned).to_vec();
    words.extend(as_user_words());
    words.extend([program.display().to_string(), "-D".into(), ".".into(), "-p".into(), PORT.to_string()]);
    words.extend(options.into_iter().flat_map(|option| ["-c".to_owned(), option]));
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_sim::store::{StoreSpec as _, Topology, complete};

    use super::*;
    use crate::Postgres;
    use crate::params::PARAMS;

    /// The commands of the servers of a store.
    fn lines(replicated: bool, commits: &str) -> Vec<String> {
        let given = Settings::default().with(SYNCHRONOUS_COMMIT, commits);
        let settings = complete(PARAMS, &given, Duration::from_secs(2));
        let members = Postgres::default().members(Topology { stores: 1, replicated }, &settings);
        let servers = members.iter().filter(|member| member.role != Role::Monitor);
        servers
            .map(|member| command(Path::new("/bin/postgres"), member, &members, &settings).join(" "))
            .collect()
    }

    #[test]
    fn a_standby_follows_its_primary_which_waits_for_it_if_commits_are_to_be_there_too() {
        let lines = |commits| lines(true, commits);
        let [primary, standby] = &lines("on")[..] else { panic!("{:?}", lines("on")) };
        assert!(
            primary.ends_with(r#"-c synchronous_commit=on -c synchronous_standby_names="standby-1""#),
            "{primary}"
        );
        assert!(
            standby.contains(
                "-c primary_conninfo=host=node-1 port=5432 user=postgres application_name=standby-1"
            )
        );
        assert!(standby.contains("standby.signal") && !primary.contains("standby.signal"));
        assert!(lines("off").iter().all(|line| line.contains("-c synchronous_commit=off")));
        assert!(!lines("local")[0].contains("synchronous_standby_names"));
    }

    #[test]
    fn a_server_that_is_alone_waits_for_nobody() {
        let lines = lines(false, "on");
        assert!(lines.len() == 1 && lines[0].ends_with("-c synchronous_commit=on"), "{lines:?}");
    }
}
