//! How a real member runs: the command that starts it, in a world where hosts find each other by name, and what is read in its log.

mod log;

use std::path::Path;
use std::process::Command;

use picklock_model::plan::Settings;
use picklock_sim::store::{Installed, Keeps, Member, RealServer};

use crate::params::TICK_TIME;
use crate::{CLASS_PATH, CLIENT_PORT, ELECTION_PORT, PEER_PORT, SYNC_LIMIT};

/// Writes its number and its configuration where it finds them, and runs the rest of its arguments there.
const AT_HOME: &str = r#"cd "$HOME" && echo "$0" > myid && printf %s "$1" > zoo.cfg && shift && exec "$@""#;

/// The options of the JVM: one processor, no threads that compile or collect beside the program's own, nothing that is
/// shared with other processes, and a log on standard output.
const JAVA: [&str; 11] = [
    "java",
    "-Xint",
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=1",
    "-XX:-UsePerfData",
    "-XX:+DisableAttachMechanism",
    "-Xmx64m",
    "-Djava.net.preferIPv4Stack=true",
    "-Dzookeeper.jmx.log4j.disable=true",
    "-Dorg.slf4j.simpleLogger.logFile=System.out",
    "-cp",
];

/// The program of a member.
const MAIN: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

/// Which ZooKeeper there is: `zookeeper 3.8.0`. None also where Java is missing.
pub(crate) const INSTALLED: Installed = Installed {
    program: "zookeeper (and java)",
    package: "zookeeper and libslf4j-java",
    takes_over: false,
    version,
};

fn version() -> Option<String> {
    let java = Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success());
    let there = CLASS_PATH.split(':').all(|jar| Path::new(jar).is_file());
    if !java || !there {
        return None;
    }
    // The version stands in the name of a link beside the archive.
    let beside = Path::new(CLASS_PATH.rsplit(':').next()?).parent()?;
    let names = std::fs::read_dir(beside).ok()?.flatten().map(|entry| entry.file_name());
    let version = names.into_iter().find_map(|name| {
        let version = name.to_str()?.strip_prefix("zookeeper-")?.strip_suffix(".jar")?;
        version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
    });
    Some(version.map_or_else(|| "zookeeper".to_owned(), |version| format!("zookeeper {version}")))
}

/// How a member of these runs.
pub(crate) fn server(member: &Member, members: &[Member], settings: &Settings) -> RealServer {
    let command = command(member, members, settings);
    RealServer { keeps: Keeps::All, leads: log::leads, ..RealServer::new(command) }
}

/// The command of a member of these.
fn command(member: &Member, members: &[Member], settings: &Settings) -> Vec<String> {
    // The first has the highest number, and so is elected where all have the same data.
    let numbered = || members.iter().rev().zip(1..);
    let number = numbered().find_map(|(other, number)| (other == member).then_some(number)).unwrap_or(1);
    let mut configuration = format!(
        "tickTime={}\ninitLimit=10\nsyncLimit={SYNC_LIMIT}\ndataDir=./.\nclientPort={CLIENT_PORT}\n\
         admin.enableServer=false\nautopurge.purgeInterval=0\n",
        settings.get(TICK_TIME).as_millis()
    );
    if members.len() > 1 {
        for (Member { name, .. }, number) in numbered() {
            configuration.push_str(&format!("server.{number}={name}:{PEER_PORT}:{ELECTION_PORT}\n"));
        }
    }
    let shell = ["sh", "-c", AT_HOME, &number.to_string(), &configuration].map(str::to_owned);
    let java = JAVA.into_iter().chain([CLASS_PATH, MAIN, "./zoo.cfg"]).map(str::to_owned);
    shell.into_iter().chain(java).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_sim::store::{StoreSpec as _, Topology, complete};

    use super::*;
    use crate::{PARAMS, ZooKeeper};

    #[test]
    fn each_member_is_given_all_and_the_first_has_the_highest_number() {
        let settings = complete(PARAMS, &Settings::default(), Duration::from_secs(4));
        let line = |count: u32, at: usize| {
            let replicated = count > 1;
            let kind = ZooKeeper { members: count };
            let members = kind.members(Topology { stores: 1, replicated }, &settings);
            command(&members[at], &members, &settings)
        };
        let all = "server.1=node-3:2888:3888\nserver.2=node-2:2888:3888\nserver.3=node-1:2888:3888\n";
        assert!((0..3).all(|at| line(3, at)[4].ends_with(all)), "{:?}", line(3, 0));
        assert_eq!([&line(3, 0)[3], &line(3, 2)[3], &line(1, 0)[3]], ["3", "1", "1"]);
        assert!(!line(1, 0)[4].contains("server.") && line(1, 0)[4].contains("tickTime=2000\n"));
    }
}
