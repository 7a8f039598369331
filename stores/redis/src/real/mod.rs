//! The command that starts a real Redis server as a member of a store, in a world where hosts find each other by name.

pub(crate) mod cluster;

use std::env;
use std::process::Command;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::store::{Installed, Keeps, Member, RealServer};

use crate::PORT;
use crate::params::{DOWN_AFTER, MAX_LAG, MIN_REPLICAS, PERSISTENCE};
use crate::server::sentinel;

/// Runs its arguments in its own, empty directory.
const AT_HOME: &str = r#"cd "$HOME" && exec "$@""#;

/// Writes its first argument to a file and runs a Sentinel by it: a Sentinel keeps what it finds out there.
const WITH_FILE: &str =
    r#"cd "$HOME" && printf '%s' "$1" > sentinel.conf && exec redis-server sentinel.conf --sentinel"#;

/// The options by which a server keeps as much over a restart as the simulated one does.
fn keeping(persistence: &str) -> Vec<String> {
    let (appends, syncs, saves) = match persistence {
        "always" => ("yes", "always", ""),
        "everysec" => ("yes", "everysec", ""),
        "rdb" => ("no", "everysec", "1 1"),
        _ => ("no", "everysec", ""),
    };
    let mut words = vec!["--appendonly", appends, "--save", saves];
    if appends == "yes" {
        // A rewrite changes nothing that is kept.
        words.extend(["--appendfsync", syncs, "--auto-aof-rewrite-percentage", "0"]);
    }
    words.into_iter().map(str::to_owned).collect()
}

/// Which real Redis there is: `redis-server 7.0.15`. The variable `PICKLOCK_REDIS_SERVER` set to nothing says that none is to be
/// used.
pub(crate) const INSTALLED: Installed =
    Installed { program: "redis-server", package: "redis-server", takes_over: false, version };

fn version() -> Option<String> {
    if env::var_os("PICKLOCK_REDIS_SERVER").is_some_and(|path| path.is_empty()) {
        return None;
    }
    let output = Command::new("redis-server").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("v="))?;
    Some(format!("redis-server {version}"))
}

/// How a member runs. Sentinels keep nothing that a restart needs.
pub(crate) fn server(member: &Member, members: &[Member], settings: &Settings) -> RealServer {
    let persists = member.role != Role::Monitor && settings.get(PERSISTENCE) != "none";
    let keeps = if persists { Keeps::Synced } else { Keeps::Nothing };
    RealServer { keeps, ..RealServer::new(command(member, members, settings)) }
}

/// The words of a shell that runs a script with these arguments.
fn words(script: &str, rest: Vec<String>) -> Vec<String> {
    let shell = ["sh", "-c", script, "sh"].map(str::to_owned);
    shell.into_iter().chain(rest).collect()
}

/// The command.
fn command(member: &Member, members: &[Member], settings: &Settings) -> Vec<String> {
    let primary =
        members.iter().find(|other| other.role == Role::Leader).map_or("", |primary| primary.name.as_str());
    match member.role {
        Role::Monitor => words(WITH_FILE, vec![watch(member, members, settings, primary)]),
        role => {
            let mut line = format!(
                "redis-server --port {PORT} --bind 0.0.0.0 --protected-mode no --repl-diskless-sync-delay 0 \
                 --replica-announce-ip {}",
                member.name
            );
            let least = settings.get(MIN_REPLICAS);
            if least > 0 {
                let lag = settings.get(MAX_LAG).as_secs();
                line.push_str(&format!(" --min-replicas-to-write {least} --min-replicas-max-lag {lag}"));
            }
            if role == Role::Follower {
                line.push_str(&format!(" --replicaof {primary} {PORT}"));
            }
            let mut rest: Vec<String> = line.split(' ').map(str::to_owned).collect();
            rest.extend(keeping(settings.get(PERSISTENCE)));
            words(AT_HOME, rest)
        }
    }
}

/// A Sentinel's file: whom it watches, and whom it knows already, as the simulated ones do when they begin.
fn watch(member: &Member, members: &[Member], settings: &Settings, primary: &str) -> String {
    let of_role = |role| members.iter().filter(move |other| other.role == role);
    let (name, quorum) = (sentinel::PRIMARY_NAME, of_role(Role::Monitor).count() / 2 + 1);
    let down_after = i64::try_from(settings.get(DOWN_AFTER).as_millis()).unwrap_or(i64::MAX).max(1);
    let mut file = format!(
        "port {}\nbind 0.0.0.0\nprotected-mode no\nsentinel myid {}\nsentinel resolve-hostnames yes\n\
         sentinel announce-hostnames yes\nsentinel announce-ip {}\nsentinel monitor {name} {primary} {PORT} {quorum}\n\
         sentinel down-after-milliseconds {name} {down_after}\nsentinel failover-timeout {name} {}\n",
        sentinel::PORT,
        sentinel::identifier(&member.name),
        member.name,
        sentinel::failover_timeout_ms(down_after),
    );
    for replica in of_role(Role::Follower) {
        file.push_str(&format!("sentinel known-replica {name} {} {PORT}\n", replica.name));
    }
    for other in of_role(Role::Monitor).filter(|other| other.name != member.name) {
        let (port, id) = (sentinel::PORT, sentinel::identifier(&other.name));
        file.push_str(&format!("sentinel known-sentinel {name} {} {port} {id}\n", other.name));
    }
    file
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn members() -> Vec<Member> {
        let all =
            [("node-1", Role::Leader), ("replica-1-1", Role::Follower), ("sentinel-1-1", Role::Monitor)];
        all.map(|(name, role)| Member::new(name, 1, role)).to_vec()
    }

    fn settings(persistence: &str) -> Settings {
        Settings::default()
            .with(PERSISTENCE, persistence)
            .with(MIN_REPLICAS, 1)
            .with(MAX_LAG, Duration::from_secs(10))
            .with(DOWN_AFTER, Duration::from_millis(200))
    }

    #[test]
    fn each_member_is_given_the_one_that_it_follows_or_watches() {
        let members = members();
        let line = |at: usize| command(&members[at], &members, &settings("none")).join(" ");
        assert!(line(0).contains("--min-replicas-to-write 1") && !line(0).contains("--replicaof"));
        assert!(line(1).contains("--replicaof node-1 6379 --appendonly no --save "));
        assert!(
            line(2).contains("sentinel monitor mymaster node-1 6379 1\n")
                && line(2).contains("milliseconds mymaster 200")
        );
    }

    #[test]
    fn what_is_to_last_is_asked_for() {
        let members = members();
        let line = |persistence| command(&members[0], &members, &settings(persistence)).join(" ");
        assert!(line("always").contains("--appendonly yes --save  --appendfsync always"));
        assert!(line("everysec").contains("--appendfsync everysec"));
        assert!(line("rdb").ends_with("--appendonly no --save 1 1"));
    }
}
