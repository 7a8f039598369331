//! The words of four letters that a member answers without a session, on a connection of their own: of a member that allows `envi`, `isro`,
//! `ruok`, `srvr` and `stat` (`4lw.commands.whitelist`; by default it is `srvr` alone).
//!
//! *Source:* `FourLetterCommands`, `EnvCommand`, `IsroCommand` and `StatCommand` of ZooKeeper 3.8.

use super::state::Machine;

/// The words that there are.
const ALL: [&str; 19] = [
    "conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "hash", "isro", "mntr", "orst", "ruok", "srst",
    "srvr", "stat", "stmk", "wchc", "wchp", "wchs",
];

/// The word that four bytes are, if they are one.
pub(super) fn word(bytes: [u8; 4]) -> Option<&'static str> {
    ALL.into_iter().find(|word| word.as_bytes() == bytes)
}

/// The answer to a word.
pub(super) fn answer(word: &str, machine: &Machine) -> String {
    let version = machine.version().full();
    match word {
        "envi" => format!("Environment:\nzookeeper.version={version}\n"),
        "isro" if machine.is_serving() => "rw".to_owned(),
        "isro" => "null".to_owned(),
        "ruok" => "imok".to_owned(),
        "srvr" | "stat" if !machine.is_serving() => {
            "This ZooKeeper instance is not currently serving requests\n".to_owned()
        }
        "srvr" => format!("Zookeeper version: {version}\n{}", facts(machine)),
        "stat" => format!("Zookeeper version: {version}\nClients:\n\n{}", facts(machine)),
        _ => format!("{word} is not executed because it is not in the whitelist.\n"),
    }
}

fn facts(machine: &Machine) -> String {
    let mode = match (machine.is_alone(), machine.leads()) {
        (true, _) => "standalone",
        (false, true) => "leader",
        (false, false) => "follower",
    };
    let (connections, zxid, nodes) = (machine.connections.len(), machine.zxid, machine.tree.len());
    format!(
        "Latency min/avg/max: 0/0.0/0\nReceived: 0\nSent: 0\nConnections: {connections}\nOutstanding: 0\n\
         Zxid: {zxid:#x}\nMode: {mode}\nNode count: {nodes}\n"
    )
}
