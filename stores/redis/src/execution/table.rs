//! The table of commands: name, arity, what each may do, and the function that does it.
//!
//! Names and arities are those of Redis 7.0.15 (`src/commands/*.json`).

use super::{command, exec, scripting};
use crate::catalogue::{self, flags};
use crate::commands::{OnData, OnServer, unknown, unknown_subcommand, wrong_arity};
use crate::commands::{
    acl, bitfield, bits, blocking, client, config, connection, counters, debug, expiry, hashes, info, keys,
    list_elements, lists, payload, persistence, pubsub, ranges, replication, scan, sets, slowlog, sort,
    sorted_algebra, sorted_ranges, sorted_sets, strings, transactions,
};
use crate::resp::Reply;
use crate::version::Version;

/// One row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Command {
    /// Its name in lowercase.
    pub(crate) name: &'static str,
    /// Its name as one number, which a search compares faster than a text.
    number: u128,
    /// How many arguments it takes with its name; at least so many if negative.
    arity: i32,
    /// What kind of command it is: bits of [`flags`].
    pub(crate) flags: u32,
    /// True if it may change data.
    pub(crate) writes: bool,
    /// True if what it does depends on its subcommand.
    container: bool,
    /// Where it stands in the catalogue.
    pub(crate) nth: usize,
    /// What executes it.
    pub(crate) run: Run,
}

#[derive(Clone, Copy)]
pub(crate) enum Run {
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
    let Some(nth) = catalogue::position(name) else { panic!("all commands are in the catalogue") };
    let fact = &catalogue::FACTS[nth];
    assert!(fact.arity == arity, "the arity is Redis's");
    assert!(!writes || fact.flags & flags::WRITE != 0, "it writes in Redis as well");
    let flags = if may_replicate(name) { fact.flags | flags::MAY_REPLICATE } else { fact.flags };
    let number = number_of(name.as_bytes());
    Command { name, number, arity, flags, writes, container: catalogue::is_container(name), nth, run }
}

/// True for commands that change no data themselves, and may all the same have effects on replicas.
const fn may_replicate(name: &str) -> bool {
    matches!(name.as_bytes(), b"eval" | b"evalsha" | b"fcall" | b"publish" | b"spublish" | b"pfcount")
}

/// Which command came with 7.2; all others are older.
const WAITAOF: Option<usize> = catalogue::position("waitaof");

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
pub(crate) static TABLE: &[Command] = &[
    serve("acl", -2, acl::acl),
    write("append", 3, ranges::append),
    serve("asking", 1, connection::no_cluster),
    serve("auth", -2, acl::auth),
    serve("bgrewriteaof", 1, persistence::bgrewriteaof),
    serve("bgsave", -1, persistence::bgsave),
    read("bitcount", -2, bits::bitcount),
    write("bitfield", -2, bitfield::bitfield),
    read("bitfield_ro", -2, bitfield::bitfield_ro),
    write("bitop", -4, bits::bitop),
    read("bitpos", -3, bits::bitpos),
    serve("blmove", 6, blocking::blmove),
    serve("blmpop", -5, blocking::blmpop),
    serve("blpop", -3, blocking::blpop),
    serve("brpop", -3, blocking::brpop),
    serve("brpoplpush", 4, blocking::brpoplpush),
    serve("bzmpop", -5, blocking::bzmpop),
    serve("bzpopmax", -3, blocking::bzpopmax),
    serve("bzpopmin", -3, blocking::bzpopmin),
    serve("client", -2, client::client),
    serve("cluster", -2, connection::no_cluster),
    serve("command", -1, command::command),
    serve("config", -2, config::config),
    write("copy", -3, keys::copy),
    read("dbsize", 1, keys::dbsize),
    serve("debug", -2, debug::debug),
    write("decr", 2, counters::decr),
    write("decrby", 3, counters::decrby),
    write("del", -2, keys::del),
    serve("discard", 1, transactions::discard),
    read("dump", 2, payload::dump),
    read("echo", 2, connection::echo),
    serve("eval", -3, scripting::eval),
    serve("eval_ro", -3, scripting::eval_ro),
    serve("evalsha", -3, scripting::evalsha),
    serve("evalsha_ro", -3, scripting::evalsha_ro),
    serve("exec", 1, exec::exec),
    read("exists", -2, keys::exists),
    write("expire", -3, expiry::expire),
    write("expireat", -3, expiry::expireat),
    read("expiretime", 2, expiry::expiretime),
    serve("failover", -1, replication::failover),
    serve("fcall", -3, scripting::fcall),
    serve("fcall_ro", -3, scripting::fcall),
    write("flushall", -1, keys::flushall),
    write("flushdb", -1, keys::flushdb),
    serve("function", -2, scripting::function),
    read("get", 2, strings::get),
    read("getbit", 3, bits::getbit),
    write("getdel", 2, strings::getdel),
    write("getex", -2, strings::getex),
    read("getrange", 4, ranges::getrange),
    write("getset", 3, strings::getset),
    write("hdel", -3, hashes::hdel),
    serve("hello", -1, connection::hello_command),
    read("hexists", 3, hashes::hexists),
    read("hget", 3, hashes::hget),
    read("hgetall", 2, hashes::hgetall),
    write("hincrby", 4, hashes::hincrby),
    write("hincrbyfloat", 4, hashes::hincrbyfloat),
    read("hkeys", 2, hashes::hkeys),
    read("hlen", 2, hashes::hlen),
    read("hmget", -3, hashes::hmget),
    write("hmset", -4, hashes::hmset),
    read("hrandfield", -2, hashes::hrandfield),
    read("hscan", -3, scan::hscan),
    write("hset", -4, hashes::hset),
    write("hsetnx", 4, hashes::hsetnx),
    read("hstrlen", 3, hashes::hstrlen),
    read("hvals", 2, hashes::hvals),
    write("incr", 2, counters::incr),
    write("incrby", 3, counters::incrby),
    write("incrbyfloat", 3, counters::incrbyfloat),
    serve("info", -1, info::info),
    read("keys", 2, keys::keys),
    serve("lastsave", 1, persistence::lastsave),
    serve("latency", -2, info::latency),
    read("lcs", -3, ranges::lcs),
    read("lindex", 3, list_elements::lindex),
    write("linsert", 5, list_elements::linsert),
    read("llen", 2, list_elements::llen),
    write("lmove", 5, lists::lmove),
    write("lmpop", -4, lists::lmpop),
    read("lolwut", -1, info::lolwut),
    write("lpop", -2, lists::lpop),
    read("lpos", -3, list_elements::lpos),
    write("lpush", -3, lists::lpush),
    write("lpushx", -3, lists::lpushx),
    read("lrange", 4, list_elements::lrange),
    write("lrem", 4, list_elements::lrem),
    write("lset", 4, list_elements::lset),
    write("ltrim", 4, list_elements::ltrim),
    serve("memory", -2, info::memory),
    read("mget", -2, strings::mget),
    serve("monitor", 1, client::monitor),
    write("move", 3, keys::move_key),
    write("mset", -3, strings::mset),
    write("msetnx", -3, strings::msetnx),
    serve("multi", 1, transactions::multi),
    read("object", -2, keys::object),
    write("persist", 2, expiry::persist),
    write("pexpire", -3, expiry::pexpire),
    write("pexpireat", -3, expiry::pexpireat),
    read("pexpiretime", 2, expiry::pexpiretime),
    serve("ping", -1, connection::ping),
    write("psetex", 4, strings::psetex),
    serve("psubscribe", -2, pubsub::psubscribe),
    serve("psync", -3, replication::psync),
    read("pttl", 2, expiry::pttl),
    serve("publish", 3, pubsub::publish),
    serve("pubsub", -2, pubsub::pubsub),
    serve("punsubscribe", -1, pubsub::punsubscribe),
    serve("quit", -1, connection::quit),
    read("randomkey", 1, keys::randomkey),
    serve("readonly", 1, connection::no_cluster),
    serve("readwrite", 1, connection::no_cluster),
    write("rename", 3, keys::rename),
    write("renamenx", 3, keys::renamenx),
    serve("replconf", -1, replication::replconf),
    serve("replicaof", 3, replication::replicaof),
    serve("reset", 1, connection::reset),
    write("restore", -4, payload::restore),
    serve("role", 1, replication::role),
    write("rpop", -2, lists::rpop),
    write("rpoplpush", 3, lists::rpoplpush),
    write("rpush", -3, lists::rpush),
    write("rpushx", -3, lists::rpushx),
    write("sadd", -3, sets::sadd),
    serve("save", 1, persistence::save),
    read("scan", -2, scan::scan),
    read("scard", 2, sets::scard),
    serve("script", -2, scripting::script),
    read("sdiff", -2, sets::sdiff),
    write("sdiffstore", -3, sets::sdiffstore),
    serve("select", 2, connection::select),
    write("set", -3, strings::set),
    write("setbit", 4, bits::setbit),
    write("setex", 4, strings::setex),
    write("setnx", 3, strings::setnx),
    write("setrange", 4, ranges::setrange),
    serve("shutdown", -1, persistence::shutdown),
    read("sinter", -2, sets::sinter),
    read("sintercard", -3, sets::sintercard),
    write("sinterstore", -3, sets::sinterstore),
    read("sismember", 3, sets::sismember),
    serve("slaveof", 3, replication::replicaof),
    serve("slowlog", -2, slowlog::slowlog),
    read("smembers", 2, sets::smembers),
    read("smismember", -3, sets::smismember),
    write("smove", 4, sets::smove),
    write("sort", -2, sort::sort),
    read("sort_ro", -2, sort::sort_ro),
    write("spop", -2, sets::spop),
    serve("spublish", 3, pubsub::spublish),
    read("srandmember", -2, sets::srandmember),
    write("srem", -3, sets::srem),
    read("sscan", -3, scan::sscan),
    serve("ssubscribe", -2, pubsub::ssubscribe),
    read("strlen", 2, strings::strlen),
    serve("subscribe", -2, pubsub::subscribe),
    read("substr", 4, ranges::getrange),
    read("sunion", -2, sets::sunion),
    write("sunionstore", -3, sets::sunionstore),
    serve("sunsubscribe", -1, pubsub::sunsubscribe),
    write("swapdb", 3, keys::swapdb),
    serve("sync", 1, replication::sync),
    read("time", 1, connection::time),
    read("touch", -2, keys::touch),
    read("ttl", 2, expiry::ttl),
    read("type", 2, keys::type_of),
    write("unlink", -2, keys::del),
    serve("unsubscribe", -1, pubsub::unsubscribe),
    serve("unwatch", 1, transactions::unwatch),
    serve("wait", 3, replication::wait),
    serve("waitaof", 4, replication::waitaof),
    serve("watch", -2, transactions::watch),
    write("zadd", -4, sorted_sets::zadd),
    read("zcard", 2, sorted_sets::zcard),
    read("zcount", 4, sorted_ranges::zcount),
    read("zdiff", -3, sorted_algebra::zdiff),
    write("zdiffstore", -4, sorted_algebra::zdiffstore),
    write("zincrby", 4, sorted_sets::zincrby),
    read("zinter", -3, sorted_algebra::zinter),
    read("zintercard", -3, sorted_algebra::zintercard),
    write("zinterstore", -4, sorted_algebra::zinterstore),
    read("zlexcount", 4, sorted_ranges::zlexcount),
    write("zmpop", -4, sorted_sets::zmpop),
    read("zmscore", -3, sorted_sets::zmscore),
    write("zpopmax", -2, sorted_sets::zpopmax),
    write("zpopmin", -2, sorted_sets::zpopmin),
    read("zrandmember", -2, sorted_sets::zrandmember),
    read("zrange", -4, sorted_ranges::zrange),
    read("zrangebylex", -4, sorted_ranges::zrangebylex),
    read("zrangebyscore", -4, sorted_ranges::zrangebyscore),
    write("zrangestore", -5, sorted_ranges::zrangestore),
    read("zrank", 3, sorted_sets::zrank),
    write("zrem", -3, sorted_sets::zrem),
    write("zremrangebylex", 4, sorted_ranges::zremrangebylex),
    write("zremrangebyrank", 4, sorted_ranges::zremrangebyrank),
    write("zremrangebyscore", 4, sorted_ranges::zremrangebyscore),
    read("zrevrange", -4, sorted_ranges::zrevrange),
    read("zrevrangebylex", -4, sorted_ranges::zrevrangebylex),
    read("zrevrangebyscore", -4, sorted_ranges::zrevrangebyscore),
    read("zrevrank", 3, sorted_sets::zrevrank),
    read("zscan", -3, scan::zscan),
    read("zscore", 3, sorted_sets::zscore),
    read("zunion", -3, sorted_algebra::zunion),
    write("zunionstore", -4, sorted_algebra::zunionstore),
];

/// Where the rows of the table are found: each at the place that its number gives, or at the next free one.
static PLACES: [u16; 1024] = places(TABLE);

/// The place of no row.
const FREE: u16 = u16::MAX;

const fn places(table: &[Command]) -> [u16; 1024] {
    let mut places = [FREE; 1024];
    let mut row = 0;
    while row < table.len() {
        let mut place = place_of(table[row].number);
        while places[place] != FREE {
            place = (place + 1) % places.len();
        }
        places[place] = row as u16;
        row += 1;
    }
    places
}

/// The place for a number: the ten highest bits of a product with the golden ratio, which differ for names that are alike.
const fn place_of(number: u128) -> usize {
    let folded = (number >> 64) as u64 ^ number as u64;
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize
}

impl Command {
    /// The row of a name in any case.
    pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
        if name.len() > NAME_MAX {
            return None;
        }
        let number = number_of(name);
        let mut place = place_of(number);
        let command = loop {
            let command = TABLE.get(usize::from(PLACES[place]))?;
            if command.number == number {
                break command;
            }
            place = (place + 1) % PLACES.len();
        };
        // A name that ends with zero bytes has the number of the name without them.
        Some(command).filter(|command| command.name.len() == name.len())
    }

    /// The command that a client means, with the flags and the name of its subcommand if it has one.
    ///
    /// # Errors
    /// The reply to give when there is no such command, or not with so many arguments.
    pub(crate) fn resolve(name: &[u8], args: &[&[u8]], version: Version) -> Result<Command, Reply> {
        let mut command = *Command::find(name).ok_or_else(|| unknown(args))?;
        if command.container && args.len() > 1 {
            let fact = catalogue::subcommand(command.name, args[1], version);
            let (nth, fact) = fact.ok_or_else(|| unknown_subcommand(command.name, args[1]))?;
            command.nth = nth;
            (command.name, command.flags, command.arity) = (fact.name, fact.flags, fact.arity);
        } else if Some(command.nth) == WAITAOF && version < Version::V7_2 {
            return Err(unknown(args));
        }
        if command.takes(args.len()) { Ok(command) } else { Err(wrong_arity(command.name)) }
    }

    /// True if it has any of these flags.
    pub(crate) fn is(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// True if it takes this many arguments, its name included.
    pub(crate) fn takes(&self, args: usize) -> bool {
        let least = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { args >= least } else { args == least }
    }
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
}
