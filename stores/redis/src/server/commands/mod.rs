//! The commands: one function each, in a file for what they are about. Which there are, the table of the floor above says.
//!
//! Error texts are those of Redis 7.0.15. A command is either about data and then also callable from scripts, or about
//! the server or the connection.

pub(crate) mod auth;
pub(crate) mod blocking;
pub(crate) mod client;
pub(crate) mod cluster;
pub(crate) mod conditions;
pub(crate) mod config;
pub(crate) mod connection;
pub(crate) mod counters;
pub(crate) mod debug;
pub(crate) mod expiry;
mod facts;
pub(crate) mod hashes;
pub(crate) mod info;
pub(crate) mod keys;
pub(crate) mod list_elements;
pub(crate) mod lists;
pub(crate) mod numbers;
pub(crate) mod parameters;
pub(crate) mod payload;
pub(crate) mod persistence;
pub(crate) mod pubsub;
pub(crate) mod replication;
pub(crate) mod sets;
pub(crate) mod sorted_ranges;
pub(crate) mod sorted_sets;
pub(crate) mod strings;
mod tracking;
pub(crate) mod transactions;

use crate::protocol::resp::{self, Reply};
use crate::server::catalogue;
use crate::server::node::{Answer, Node, SessionId};
use crate::server::store::Store;
use crate::server::version::Version;

/// A command about data: the arguments include the name.
pub(crate) type OnData = fn(&mut Store, &[&[u8]]) -> Result<Reply, Reply>;
/// A command about the server or the connection, and the session that sent it.
pub(crate) type OnServer = fn(&mut Node, SessionId, &[&[u8]]) -> Result<Answer, Reply>;

/// The reply to a command that is not in the table.
pub(crate) fn unknown(args: &[&[u8]]) -> Reply {
    let mut rest = String::new();
    let mut left = 128_usize;
    for arg in &args[1..] {
        if left == 0 {
            break;
        }
        let shown = shown(arg, left);
        rest.push_str(&format!("'{}' ", String::from_utf8_lossy(shown)));
        // The quotes and the space count as well.
        left = left.saturating_sub(shown.len() + 3);
    }
    let name = String::from_utf8_lossy(shown(args[0], 128));
    Reply::Error(format!("ERR unknown command '{name}', with args beginning with: {rest}").into())
}

/// As much of an argument as an error shows: a zero byte ends it, as in a text of C.
pub(crate) fn shown(arg: &[u8], most: usize) -> &[u8] {
    let most = &arg[..arg.len().min(most)];
    most.split(|byte| *byte == 0).next().unwrap_or(most)
}

/// The reply to a wrong number of arguments.
pub(crate) fn wrong_arity(name: &str) -> Reply {
    Reply::Error(format!("ERR wrong number of arguments for '{name}' command").into())
}

/// The reply to a subcommand that there is not.
pub(crate) fn unknown_subcommand(command: &str, sub: &[u8]) -> Reply {
    let command = command.to_ascii_uppercase();
    let sub = String::from_utf8_lossy(&sub[..sub.len().min(128)]).into_owned();
    Reply::Error(format!("ERR unknown subcommand '{sub}'. Try {command} HELP.").into())
}

/// The reply to a subcommand with arguments that it does not take.
pub(crate) fn subcommand_syntax(command: &str, sub: &[u8]) -> Reply {
    let sub = String::from_utf8_lossy(&sub[..sub.len().min(128)]).into_owned();
    Reply::Error(
        format!("ERR unknown subcommand or wrong number of arguments for '{sub}'. Try {command} HELP.")
            .into(),
    )
}

/// The reply to `HELP`: the subcommands by name. Redis's explanations are not repeated.
pub(crate) fn help(command: &str, version: Version) -> Reply {
    let name = command.to_ascii_uppercase();
    let mut lines = vec![format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")];
    let subs = catalogue::subcommands(command).filter(|fact| catalogue::is_in(fact, version));
    lines.extend(subs.map(|fact| fact.name[command.len() + 1..].to_ascii_uppercase()));
    Reply::Array(lines.into_iter().map(|line| Reply::Status(line.into())).collect())
}

/// The reply to options that contradict each other or do not exist.
pub(crate) const SYNTAX: Reply = Reply::error("ERR syntax error");
pub(crate) const NOT_AN_INTEGER: Reply = Reply::error("ERR value is not an integer or out of range");

/// An argument that must be an integer.
pub(crate) fn number(arg: &[u8]) -> Result<i64, Reply> {
    resp::integer(arg).ok_or(NOT_AN_INTEGER)
}

/// A number as it is stored.
pub(crate) fn digits(value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    resp::decimal(&mut out, value);
    out
}

/// A count as it is replied.
pub(crate) fn count(len: usize) -> Reply {
    Reply::Integer(i64::try_from(len).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_commands_are_shown_with_their_arguments_up_to_a_length() {
        assert_eq!(
            unknown(&[b"FOO", b"bar", b"baz"]),
            Reply::error("ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' ")
        );
        let Reply::Error(text) = unknown(&[&[b'x'; 300], &[b'y'; 300], b"z"]) else { panic!("an error") };
        assert!(text.len() < 400 && !text.contains('z'));
    }
}
