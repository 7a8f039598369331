//! A simulated Redis: one node and its replicas, the Sentinels that watch them, and clusters, after Redis 7.0.15.
//!
//! It speaks Redis's protocol over the streams of a simulated host and knows nothing of locks. It is trusted because the same commands give
//! the same replies, the same replication stream and the same timing as the real server; `docs/conformance.md` says how that is compared.
//!
//! **Entry point:** [`Node`](server::node::Node) executes commands and touches nothing else, so it can be tested without a world; [`serve()`]
//! puts the server that a context asks for on its host. [`KIND`] is Redis as a store kind, [`CLUSTER`] is Redis Cluster as another.
//!
//! # Scope
//!
//! The scope is closed (`docs/decisions/0050`): `server/scope.txt` lists each command with its senders, and the catalogue has no other. Supported
//! are the commands that designs, rebuilt bugs, shipped adapters, exhibits and findings send, those that client libraries send while they
//! connect, and those of Sentinels, clusters, replication and persistence. A program that sends another command runs with `--servers real`.
//!
//! | family | commands | first of all for |
//! | --- | --- | --- |
//! | records of locks | SET with its options, GET, SETNX, SETEX, GETSET, DEL, UNLINK, EXISTS, INCR, MGET, GETRANGE | every lock; tokens; bsm/redislock (MGET, GETRANGE) |
//! | conditions | SET with IFEQ, DELEX, DELIFEQ | designs on stores of Redis 8.4 and Valkey 9.0 |
//! | leases | PEXPIRE, EXPIRE, PEXPIREAT, PTTL, TTL, PERSIST | every lock with a lease |
//! | scripts | EVAL, EVALSHA, SCRIPT, with Lua's own libraries | nearly every lock |
//! | hashes | HEXISTS, HINCRBY, HGET, HSET, HSETNX, HDEL, HLEN, HKEYS, HGETALL | Redisson and the designs after it |
//! | lists | LPUSH, RPUSH, LPOP, RPOP, LINDEX, LRANGE, LREM, LLEN, BLPOP, BRPOP | fair locks, signals of python-redis-lock |
//! | sorted sets | ZADD, ZSCORE, ZREM, ZINCRBY, ZRANGE, ZRANGEBYSCORE, ZREMRANGEBYSCORE, ZCARD, ZCOUNT | fair locks, semaphores |
//! | sets | SADD, SREM, SMEMBERS, SISMEMBER, SCARD | values of a real server's snapshots and stream |
//! | Pub/Sub | SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE, PUBLISH, SPUBLISH | waiting locks, Sentinels |
//! | transactions | WATCH, UNWATCH, MULTI, EXEC, DISCARD | optimistic locks, pipelines |
//! | connections | HELLO, CLIENT, INFO, PING, SELECT, AUTH, QUIT, RESET, COMMAND | client libraries, redis-cli |
//! | clusters | CLUSTER, ASKING, READONLY, READWRITE, MIGRATE, RESTORE | design `cluster`, cluster clients, redis-cli |
//! | replication | WAIT, WAITAOF, ROLE, PSYNC, REPLCONF, REPLICAOF, FAILOVER | replicated designs, replicas, Sentinels |
//! | persistence | SAVE, BGSAVE, BGREWRITEAOF, LASTSAVE, SHUTDOWN | what a restart finds is a parameter of the store (`persistence`) |
//!
//! A snapshot, a stream and an append-only file may hold strings, hashes, lists, sets and sorted sets.
//!
//! Left out on purpose: bits, SORT, algebra of sets and sorted sets, pops of several lists, sums of fractions, scans, renames and copies, ends of
//! fields of hashes, functions, the libraries bit, cjson, cmsgpack and struct of Lua, streams, geometry, HyperLogLog, modules, users other than
//! the default one, ACL, SLOWLOG, LATENCY, MEMORY, OBJECT, new nodes that join a cluster.
//!
//! # Where things are
//!
//! Each room may name those below it:
//!
//! | room | what |
//! | --- | --- |
//! | `spec`, `cluster_spec` | Redis and Redis Cluster as store kinds |
//! | `real` | how a real Redis is started in its place |
//! | [`hostile`] | entry points of the fuzz targets: bytes that others wrote |
//! | [`server`] | the simulated servers: nodes and Sentinels |
//! | [`protocol`], `params` | the protocol, and its words in a story; the parameters of stores |
//! | `tests` | the servers as a whole: without a world, in one, with Sentinels, beside a real server |
//!
//! The modules of [`server`] stand on floors. A module may name those of the floors below it, and none of its own floor or above, so that
//! each can be read and tested without what stands upon it:
//!
//! | floor | modules | what |
//! | --- | --- | --- |
//! | 10 | `serve`, [`sentinel`](server::sentinel) | what a host runs: sockets, tasks, a Sentinel |
//! | 9 | `journal` | a node's files |
//! | 8 | `aof`, `following` | effects executed again, from a disk; and as a replica hears them |
//! | 7 | `execution` | the table of commands, what becomes of one, and those that execute others (EXEC, EVAL) |
//! | 6 | `commands`, `lua` | what each command does; the interpreter of scripts |
//! | 5 | `replication` | replicas are fed, roles change |
//! | 4 | `snapshot` | a node's dataset with its place in the stream |
//! | 3 | [`node`](server::node) | the state of a node |
//! | 2 | `stream`, `rdb`, `cluster` | the stream of effects and its history; the format of snapshots; the part of a node in a cluster, and its bus |
//! | 1 | [`store`](server::store), `catalogue`, `setup` | the dataset; what is known of each command; what a server is started with |
//! | 0 | `glob`, [`version`](server::version) | patterns, versions |
//!
//! Where a lower floor has to reach a higher one, it is handed what it needs: a session that waits for a key brings what it takes from it, a
//! command that is kept during a pause brings what executes it, and a script is given the commands that it may call.

#[doc(hidden)]
pub mod hostile;
pub mod protocol;
pub mod server;

mod cluster_spec;
mod params;
mod real;
mod spec;
#[cfg(test)]
mod tests;

pub use cluster_spec::{CLUSTER, RedisCluster};
pub use params::{CLUSTER_PARAMS, DOWN_AFTER, NODE_TIMEOUT, PARAMS, PERSISTENCE, REPLICAS};
pub use server::cluster::slot_of;
pub use server::node::{PORT, sent};
pub use server::{Own, serve, serve_as, serve_in_cluster, serve_own};
pub use spec::{KIND, Redis};
