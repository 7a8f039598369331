//! The commands, as a table: name, arity, what it may do, and the function that does it.
//!
//! Names, arities and error texts are those of Redis 7.0.15 (`src/commands/*.json`). A command is either about data and
//! then also callable from scripts, or about the server or the connection.

mod acl;
mod blocking;
pub(super) mod catalogue;
mod client;
mod command;
mod config;
mod connection;
mod debug;
mod hashes;
mod info;
mod keys;
pub(super) mod parameters;
mod persistence;
mod pubsub;
mod scripting;
mod server;
mod slowlog;
mod strings;
mod transactions;

pub(super) use blocking::Pop;
pub(super) use catalogue::flags;
pub(super) use connection::hello;
pub(super) use slowlog::SlowLog;

use super::node::{Answer, Node, SessionId};
use super::resp::{self, Reply};
use super::store::Store;
use super::version::Version;

/// A command about data: the arguments include the name.
pub(super) type OnData = fn(&mut Store, &[&[u8]]) -> Result<Reply, Reply>;
/// A command about the server or the connection, and the session that sent it.
pub(super) type OnServer = fn(&mut Node, SessionId, &[&[u8]]) -> Result<Answer, Reply>;

/// One row of the table.
#[derive(Clone, Copy)]
pub(super) struct Command {
    /// Its name in lowercase.
    pub(super) name: &'static str,
    /// Its name as one number, which a search compares faster than a text.
    number: u128,
    /// How many arguments it takes with its name; at least so many if negative.
    arity: i32,
    /// What kind of command it is: bits of [`flags`].
    pub(super) flags: u32,
    /// True if it may change data.
    pub(super) writes: bool,
    /// True if what it does depends on its subcommand.
    container: bool,
    /// What executes it.
    pub(super) run: Run,
}

#[derive(Clone, Copy)]
pub(super) enum Run {
    Data(OnData),
    Server(OnServer),
}

const fn read(name: &'static str, arity: i32, run: OnData) -> Command {
    row(name, arity, false, Run::Data(run))
}

const fn write(name: &'static str, arity: i32, run: OnData) -> Command {
    row(name, arity, true, Run::Data(run))
}

const fn serve(name: &'static str, arity: i32, run: OnServer) -> Command {
    row(name, arity, false, Run::Server(run))
}

/// What is not said here is in the catalogue; what is said twice must agree.
const fn row(name: &'static str, arity: i32, writes: bool, run: Run) -> Command {
    let mut flags = if writes { flags::WRITE } else { 0 };
    if let Some(fact) = catalogue::find(name) {
        assert!(fact.arity == arity, "the arity is Redis's");
        assert!(!writes || fact.flags & flags::WRITE != 0, "it writes in Redis as well");
        flags |= fact.flags;
    }
    if may_replicate(name) {
        flags |= flags::MAY_REPLICATE;
    }
    let number = number_of(name.as_bytes());
    Command { name, number, arity, flags, writes, container: catalogue::is_container(name), run }
}

/// True for commands that change no data themselves, and may all the same have effects on replicas.
const fn may_replicate(name: &str) -> bool {
    matches!(name.as_bytes(), b"eval" | b"evalsha" | b"fcall" | b"publish" | b"spublish" | b"pfcount")
}

/// No name is longer than this.
const NAME_MAX: usize = 16;

/// A name in any case as a number, in the order of the alphabet.
const fn number_of(name: &[u8]) -> u128 {
    let mut lower = [0; NAME_MAX];
    let mut at = 0;
    while at < name.len() {
        lower[at] = name[at].to_ascii_lowercase();
        at += 1;
    }
    u128::from_be_bytes(lower)
}

/// All commands, in alphabetical order.
static TABLE: &[Command] = &[
    serve("acl", -2, acl::acl),
    serve("auth", -2, acl::auth),
    serve("bgrewriteaof", 1, persistence::bgrewriteaof),
    serve("bgsave", -1, persistence::bgsave),
    serve("blmove", 6, blocking::blmove),
    serve("blmpop", -5, blocking::blmpop),
    serve("blpop", -3, blocking::blpop),
    serve("brpop", -3, blocking::brpop),
    serve("brpoplpush", 4, blocking::brpoplpush),
    serve("bzmpop", -5, blocking::bzmpop),
    serve("bzpopmax", -3, blocking::bzpopmax),
    serve("bzpopmin", -3, blocking::bzpopmin),
    serve("client", -2, client::client),
    serve("command", -1, command::command),
    serve("config", -2, config::config),
    read("dbsize", 1, keys::dbsize),
    serve("debug", -2, debug::debug),
    write("decr", 2, strings::decr),
    write("decrby", 3, strings::decrby),
    write("del", -2, keys::del),
    serve("discard", 1, transactions::discard),
    read("echo", 2, connection::echo),
    serve("eval", -3, scripting::eval),
    serve("evalsha", -3, scripting::evalsha),
    serve("exec", 1, transactions::exec),
    read("exists", -2, keys::exists),
    write("expire", -3, keys::expire),
    write("expireat", -3, keys::expireat),
    read("expiretime", 2, keys::expiretime),
    write("flushall", -1, keys::flushall),
    write("flushdb", -1, keys::flushall),
    serve("function", -2, scripting::function),
    read("get", 2, strings::get),
    write("getdel", 2, strings::getdel),
    write("hdel", -3, hashes::hdel),
    serve("hello", -1, connection::hello_command),
    read("hexists", 3, hashes::hexists),
    read("hget", 3, hashes::hget),
    read("hgetall", 2, hashes::hgetall),
    write("hincrby", 4, hashes::hincrby),
    read("hkeys", 2, hashes::hkeys),
    read("hlen", 2, hashes::hlen),
    write("hset", -4, hashes::hset),
    write("hsetnx", 4, hashes::hsetnx),
    write("incr", 2, strings::incr),
    write("incrby", 3, strings::incrby),
    serve("info", -1, info::info),
    serve("lastsave", 1, persistence::lastsave),
    serve("latency", -2, info::latency),
    read("lolwut", -1, info::lolwut),
    serve("memory", -2, info::memory),
    serve("monitor", 1, client::monitor),
    serve("multi", 1, transactions::multi),
    write("persist", 2, keys::persist),
    write("pexpire", -3, keys::pexpire),
    write("pexpireat", -3, keys::pexpireat),
    read("pexpiretime", 2, keys::pexpiretime),
    serve("ping", -1, connection::ping),
    write("psetex", 4, strings::psetex),
    serve("psubscribe", -2, pubsub::psubscribe),
    serve("psync", -3, server::psync),
    read("pttl", 2, keys::pttl),
    serve("publish", 3, pubsub::publish),
    serve("pubsub", -2, pubsub::pubsub),
    serve("punsubscribe", -1, pubsub::punsubscribe),
    serve("quit", -1, connection::quit),
    serve("replconf", -1, server::replconf),
    serve("replicaof", 3, server::replicaof),
    serve("reset", 1, connection::reset),
    serve("role", 1, server::role),
    serve("save", 1, persistence::save),
    serve("script", -2, scripting::script),
    serve("select", 2, connection::select),
    write("set", -3, strings::set),
    write("setex", 4, strings::setex),
    write("setnx", 3, strings::setnx),
    serve("shutdown", -1, persistence::shutdown),
    serve("slaveof", 3, server::replicaof),
    serve("slowlog", -2, slowlog::slowlog),
    serve("spublish", 3, pubsub::spublish),
    serve("ssubscribe", -2, pubsub::ssubscribe),
    read("strlen", 2, strings::strlen),
    serve("subscribe", -2, pubsub::subscribe),
    serve("sunsubscribe", -1, pubsub::sunsubscribe),
    read("time", 1, connection::time),
    read("ttl", 2, keys::ttl),
    read("type", 2, keys::type_of),
    write("unlink", -2, keys::del),
    serve("unsubscribe", -1, pubsub::unsubscribe),
    serve("unwatch", 1, transactions::unwatch),
    serve("wait", 3, server::wait),
    serve("waitaof", 4, server::waitaof),
    serve("watch", -2, transactions::watch),
];

impl Command {
    /// The row of a name in any case.
    pub(super) fn find(name: &[u8]) -> Option<&'static Command> {
        if name.len() > NAME_MAX {
            return None;
        }
        let at = TABLE.binary_search_by_key(&number_of(name), |command| command.number).ok()?;
        // A name that ends with zero bytes has the number of the name without them.
        Some(&TABLE[at]).filter(|command| command.name.len() == name.len())
    }

    /// The command that a client means, with the flags and the name of its subcommand if it has one.
    ///
    /// # Errors
    /// The reply to give when there is no such command, or not with so many arguments.
    pub(super) fn resolve(name: &[u8], args: &[&[u8]], version: Version) -> Result<Command, Reply> {
        let mut command = *Command::find(name).ok_or_else(|| unknown(args))?;
        if command.container && args.len() > 1 {
            let fact = catalogue::subcommand(command.name, args[1], version);
            let fact = fact.ok_or_else(|| unknown_subcommand(command.name, args[1]))?;
            (command.name, command.flags, command.arity) = (fact.name, fact.flags, fact.arity);
        } else if command.name == "waitaof" && version < Version::V7_2 {
            return Err(unknown(args));
        }
        if command.takes(args.len()) { Ok(command) } else { Err(wrong_arity(command.name)) }
    }

    /// True if it has any of these flags.
    pub(super) fn is(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// True if it takes this many arguments, its name included.
    pub(super) fn takes(&self, args: usize) -> bool {
        let least = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { args >= least } else { args == least }
    }
}

/// The reply to a command that is not in the table.
pub(super) fn unknown(args: &[&[u8]]) -> Reply {
    let shown = |arg: &[u8], most: usize| String::from_utf8_lossy(&arg[..arg.len().min(most)]).into_owned();
    let mut rest = String::new();
    for arg in &args[1..] {
        if rest.len() >= 128 {
            break;
        }
        let arg = shown(arg, 128 - rest.len());
        rest.push_str(&format!("'{arg}' "));
    }
    let name = shown(args[0], 128);
    Reply::Error(format!("ERR unknown command '{name}', with args beginning with: {rest}").into())
}

/// The reply to a wrong number of arguments.
pub(super) fn wrong_arity(name: &str) -> Reply {
    Reply::Error(format!("ERR wrong number of arguments for '{name}' command").into())
}

/// The reply to a subcommand that there is not.
fn unknown_subcommand(command: &str, sub: &[u8]) -> Reply {
    let command = command.to_ascii_uppercase();
    let sub = String::from_utf8_lossy(&sub[..sub.len().min(128)]).into_owned();
    Reply::Error(format!("ERR unknown subcommand '{sub}'. Try {command} HELP.").into())
}

/// The reply to a subcommand with arguments that it does not take.
fn subcommand_syntax(command: &str, sub: &[u8]) -> Reply {
    let sub = String::from_utf8_lossy(&sub[..sub.len().min(128)]).into_owned();
    Reply::Error(
        format!("ERR unknown subcommand or wrong number of arguments for '{sub}'. Try {command} HELP.")
            .into(),
    )
}

/// The reply to `HELP`: the subcommands by name. Redis's explanations are not repeated.
fn help(command: &str, version: Version) -> Reply {
    let name = command.to_ascii_uppercase();
    let mut lines = vec![format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")];
    let subs = catalogue::subcommands(command).filter(|fact| catalogue::is_in(fact, version));
    lines.extend(subs.map(|fact| fact.name[command.len() + 1..].to_ascii_uppercase()));
    Reply::Array(lines.into_iter().map(|line| Reply::Status(line.into())).collect())
}

/// The reply to options that contradict each other or do not exist.
const SYNTAX: Reply = Reply::error("ERR syntax error");
const NOT_AN_INTEGER: Reply = Reply::error("ERR value is not an integer or out of range");

/// An argument that must be an integer.
fn number(arg: &[u8]) -> Result<i64, Reply> {
    resp::integer(arg).ok_or(NOT_AN_INTEGER)
}

/// A number as it is stored.
fn digits(value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    resp::decimal(&mut out, value);
    out
}

/// A count as it is replied.
fn count(len: usize) -> Reply {
    Reply::Integer(i64::try_from(len).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_so_that_it_can_be_searched() {
        assert!(TABLE.is_sorted_by(|a, b| a.name < b.name));
        assert!(TABLE.iter().all(|command| catalogue::find(command.name).is_some()));
        assert!(TABLE.iter().all(|command| Command::find(command.name.as_bytes()).is_some()));
        assert!(Command::find(b"GeT").is_some() && Command::find(b"get\0").is_none());
    }

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
