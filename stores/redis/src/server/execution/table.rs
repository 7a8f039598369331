//! The table of commands: name, arity, what each may do, and the function that does it.
//!
//! Names and arities are those of Redis 7.0.15 (`src/commands/*.json`), and of later versions for what only these have.

use super::row::{Command, Table, about, read, serve, write};
use super::{command, exec, scripting};
use crate::server::commands::{
    auth, blocking, client, cluster, conditions, config, connection, counters, debug, expiry, hashes, info,
    keys, list_elements, lists, payload, persistence, pubsub, replication, sets, sorted_ranges, sorted_sets,
    strings, transactions,
};

/// All commands.
pub(crate) static TABLE: Table = Table::new(ROWS);

/// In alphabetical order.
static ROWS: &[Command] = &[
    serve("asking", 1, cluster::asking),
    serve("auth", -2, auth::auth),
    serve("bgrewriteaof", 1, persistence::bgrewriteaof),
    serve("bgsave", -1, persistence::bgsave),
    serve("blpop", -3, blocking::blpop),
    serve("brpop", -3, blocking::brpop),
    serve("client", -2, client::client),
    serve("cluster", -2, cluster::cluster),
    about("command", -1, command::command),
    serve("config", -2, config::config),
    read("dbsize", 1, keys::dbsize),
    serve("debug", -2, debug::debug),
    write("decr", 2, counters::decr),
    write("decrby", 3, counters::decrby),
    write("del", -2, keys::del),
    write("delex", -2, conditions::delex),
    write("delifeq", 3, conditions::delifeq),
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
    serve("failover", -1, replication::failover),
    write("flushall", -1, keys::flushall),
    write("flushdb", -1, keys::flushdb),
    read("get", 2, strings::get),
    read("getrange", 4, strings::getrange),
    write("getset", 3, strings::getset),
    write("hdel", -3, hashes::hdel),
    serve("hello", -1, connection::hello_command),
    read("hexists", 3, hashes::hexists),
    read("hget", 3, hashes::hget),
    read("hgetall", 2, hashes::hgetall),
    write("hincrby", 4, hashes::hincrby),
    read("hkeys", 2, hashes::hkeys),
    read("hlen", 2, hashes::hlen),
    write("hmset", -4, hashes::hmset),
    write("hset", -4, hashes::hset),
    write("hsetnx", 4, hashes::hsetnx),
    write("incr", 2, counters::incr),
    write("incrby", 3, counters::incrby),
    serve("info", -1, info::info),
    read("keys", 2, keys::keys),
    serve("lastsave", 1, persistence::lastsave),
    read("lindex", 3, list_elements::lindex),
    read("llen", 2, list_elements::llen),
    write("lpop", -2, lists::lpop),
    write("lpush", -3, lists::lpush),
    read("lrange", 4, list_elements::lrange),
    write("lrem", 4, list_elements::lrem),
    read("mget", -2, strings::mget),
    serve("migrate", -6, cluster::migrate),
    serve("monitor", 1, client::monitor),
    write("mset", -3, strings::mset),
    serve("multi", 1, transactions::multi),
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
    serve("readonly", 1, cluster::readonly),
    serve("readwrite", 1, cluster::readwrite),
    serve("replconf", -1, replication::replconf),
    serve("replicaof", 3, replication::replicaof),
    serve("reset", 1, connection::reset),
    write("restore", -4, payload::restore),
    write("restore-asking", -4, payload::restore),
    serve("role", 1, replication::role),
    write("rpop", -2, lists::rpop),
    write("rpush", -3, lists::rpush),
    write("sadd", -3, sets::sadd),
    serve("save", 1, persistence::save),
    read("scard", 2, sets::scard),
    serve("script", -2, scripting::script),
    serve("select", 2, connection::select),
    write("set", -3, strings::set),
    write("setex", 4, strings::setex),
    write("setnx", 3, strings::setnx),
    serve("shutdown", -1, persistence::shutdown),
    read("sismember", 3, sets::sismember),
    serve("slaveof", 3, replication::replicaof),
    read("smembers", 2, sets::smembers),
    serve("spublish", 3, pubsub::spublish),
    write("srem", -3, sets::srem),
    serve("ssubscribe", -2, pubsub::ssubscribe),
    serve("subscribe", -2, pubsub::subscribe),
    serve("sunsubscribe", -1, pubsub::sunsubscribe),
    serve("sync", 1, replication::sync),
    read("time", 1, connection::time),
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
    write("zincrby", 4, sorted_sets::zincrby),
    read("zrange", -4, sorted_ranges::zrange),
    read("zrangebyscore", -4, sorted_ranges::zrangebyscore),
    write("zrem", -3, sorted_sets::zrem),
    write("zremrangebyscore", 4, sorted_ranges::zremrangebyscore),
    read("zscore", 3, sorted_sets::zscore),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::catalogue;

    #[test]
    fn the_table_is_in_order_so_that_it_can_be_searched() {
        assert!(ROWS.is_sorted_by(|a, b| a.name < b.name));
        assert!(ROWS.iter().all(|command| TABLE.find(command.name.as_bytes()).is_some()));
        assert!(TABLE.find(b"GeT").is_some() && TABLE.find(b"get\0").is_none());
    }

    #[test]
    fn the_catalogue_and_the_table_have_the_same_commands() {
        let names = catalogue::FACTS.iter().map(|fact| fact.name).filter(|name| !name.contains('|'));
        assert!(names.eq(ROWS.iter().map(|command| command.name)));
    }
}
