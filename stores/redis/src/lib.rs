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
//! Supported are all commands on strings, hashes, lists, sets and sorted sets, keys and their expiry, transactions, blocking commands,
//! Pub/Sub, scripts, eviction, replication, persistence and Sentinel. The scope is wider than what locks send, for three reasons:
//!
//! - A lock from outside (a program, or a client of `picklock serve`) sends what its library and its own scripts send, and its application
//!   may use the same store. A missing command is an error in plain sight, and keeps the lock from being tested.
//! - A script can call any of these commands, and a snapshot or a replica must hold any value.
//! - Redis's own tests and random commands need the surface that they use: a node that runs them is checked by tests that
//!   were not written for it.
//!
//! The senders of commands, as seen on the wire for the library versions of `docs/libraries.md` (of rslock by its source);
//! *designs* and *bugs* are those of `impls`:
//!
//! | family | commands | sent by |
//! | --- | --- | --- |
//! | records of locks | SET with its options, GET, SETNX, GETSET, DEL, UNLINK, EXISTS, INCR | redis-py, python-redis-lock, pottery, node-redis, node-redlock, redsync, rslock and locks by hand (SET NX PX, GET, DEL); Redisson and node-redlock (EXISTS); designs `setnx` (SETNX), all with tokens (INCR); bugs `redis-semaphore-23`, `yii-redis-18` (GETSET), `spring-8699` (UNLINK) |
//! | leases | PEXPIRE, EXPIRE, PTTL, TTL | redis-py, python-redis-lock, pottery, node-redis, redsync; designs `setnx-expire`, every one that renews, and Redisson's (PTTL); bug `redlock-rb-44` (EXPIRE) |
//! | scripts | EVAL, EVALSHA, SCRIPT | every library above, and nearly every design |
//! | hashes | HEXISTS, HINCRBY, HGET, HSET, HSETNX, HDEL, HLEN, HKEYS, HGETALL | Redisson: designs `reentrant`, `fair`, `read-write`, `redlock-multi` and the bugs of Redisson; design `setnx-expire` (HSETNX); bug `redis-semaphore-10` |
//! | lists | LPUSH, RPUSH, LPOP, LINDEX, LREM, BLPOP | python-redis-lock (LPUSH, BLPOP); Redisson's queue: design `fair`; bug `redis-semaphore-10` |
//! | sorted sets | ZADD, ZSCORE, ZREM, ZINCRBY, ZRANGE, ZRANGEBYSCORE, ZREMRANGEBYSCORE, ZCARD | Redisson: designs `fair`, `permits` |
//! | Pub/Sub | SUBSCRIBE, PUBLISH | Redisson: design `reentrant` whose clients wait for a message; Sentinels |
//! | transactions | WATCH, UNWATCH, MULTI, EXEC | bug `redis-py-1031`; pipelines of every client library |
//! | connections | HELLO, CLIENT, INFO, PING, SELECT, AUTH, QUIT | redis-py, node-redis, ioredis (HELLO, CLIENT SETINFO), ioredis (INFO before its first command), the redis crate (CLIENT SETINFO) |
//! | caches of clients | CLIENT TRACKING, CLIENT CACHING | rueidis and its lock; invalidations come as pushes, or on `__redis__:invalidate` |
//! | clusters | CLUSTER, ASKING, READONLY, READWRITE, MIGRATE | design `cluster` (CLUSTER SLOTS, ASKING); the cluster clients of redis-py, ioredis, go-redis; redis-cli |
//! | replication | WAIT, ROLE, PSYNC, REPLCONF, REPLICAOF, FAILOVER | design `replicated-wait` (WAIT); the clients of replicated designs (ROLE, SENTINEL); replicas; Sentinels (INFO, PING, PUBLISH, REPLICAOF, CONFIG, CLIENT KILL) |
//! | time | TIME | bugs `redis-semaphore-10`, `redis-semaphore-23`; nodes of 7.2 have a time that stands still in scripts |
//! | persistence | SAVE, BGSAVE, BGREWRITEAOF, LASTSAVE, SHUTDOWN | no lock: what a restart finds is a parameter of the store (`persistence`), and these are compared by whole runs with restarts |
//! | the rest of the data types | bits, ranges, counters, SORT, SCAN, unions and intersections, DUMP and RESTORE, moves between keys | no lock here: `tests/stores/conformance` (random commands and golden scripts), Redis's tests of strings, hashes, expiry, counters (`tests/external/redis-suite`), locks from outside |
//! | the rest of blocking and Pub/Sub | BLMOVE, BZPOPMIN, PSUBSCRIBE, SSUBSCRIBE .. | no lock here: `tests/stores/conformance`, Redis's tests of Pub/Sub |
//! | the server | ACL, COMMAND, CONFIG, DEBUG, LATENCY, MEMORY, MONITOR, OBJECT, SLOWLOG | Redis's own tests set the server up with CONFIG and DEBUG; redis-cli and client libraries ask COMMAND; `picklock serve` for people who look |
//! | libraries of Lua | bit, cjson, cmsgpack, struct | scripts of locks from outside; Redis's tests of scripts |
//!
//! Left out on purpose: streams, geometry, HyperLogLog, modules, users other than the default one, new nodes that join a cluster.
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
pub use server::node::PORT;
pub use server::{Own, serve, serve_as, serve_in_cluster, serve_own};
pub use spec::{KIND, Redis};
