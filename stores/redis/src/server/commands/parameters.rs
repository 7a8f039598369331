//! The parameters of Redis 7.0.15: their names, their possible values, and their defaults.
//!
//! Most have no effect here; they are kept so that a client that sets them and asks again is answered as by Redis.

use crate::protocol::resp;

/// The possible values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `yes` or `no`.
    Bool,
    /// An integer from one to another.
    Integer(i64, i64),
    /// An integer with a unit, in bytes.
    Memory(i64, i64),
    /// One of these words.
    Enum(&'static str),
    /// Anything.
    Text,
    /// Nothing while the server runs.
    Fixed,
    /// Nothing, unless the server was started so.
    Protected,
    /// Classes of keyspace notifications.
    Notifications,
    /// Pairs of seconds and changes.
    Save,
    /// Percentages.
    Percentiles,
    /// A class of clients, a hard and a soft limit, and seconds.
    Limits,
}

use Kind::{Bool, Enum, Fixed, Integer, Limits, Memory, Notifications, Percentiles, Protected, Save, Text};

/// One parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// An older name; empty if there is none.
    pub(crate) alias: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: &'static str,
}

const fn param(name: &'static str, alias: &'static str, kind: Kind, default: &'static str) -> Parameter {
    Parameter { name, alias, kind, default }
}

const INT: i64 = i32::MAX as i64;

impl Parameter {
    /// The parameter of a name in any case.
    pub(crate) fn find(name: &[u8]) -> Option<&'static Parameter> {
        let named = |known: &str| !known.is_empty() && name.eq_ignore_ascii_case(known.as_bytes());
        ALL.iter().find(|parameter| named(parameter.name) || named(parameter.alias))
    }

    /// A value in the form in which it is kept.
    ///
    /// # Errors
    /// The reason why it may not be set.
    pub(crate) fn check(&self, value: &[u8]) -> Result<String, String> {
        let text = String::from_utf8_lossy(value).into_owned();
        let within = |number: i64, from: i64, to: i64| {
            let outside = format!("argument must be between {from} and {to} inclusive");
            if (from..=to).contains(&number) { Ok(number.to_string()) } else { Err(outside) }
        };
        match self.kind {
            Bool if text.eq_ignore_ascii_case("yes") || text.eq_ignore_ascii_case("no") => {
                Ok(text.to_ascii_lowercase())
            }
            Bool => Err("argument must be 'yes' or 'no'".into()),
            Integer(from, to) => {
                let number = resp::integer(value).ok_or("argument couldn't be parsed into an integer")?;
                within(number, from, to)
            }
            Memory(from, to) => within(memory(&text).ok_or("argument must be a memory value")?, from, to),
            Enum(words) => {
                let word = words.split(", ").find(|word| word.eq_ignore_ascii_case(&text));
                word.map(str::to_owned)
                    .ok_or_else(|| format!("argument(s) must be one of the following: {words}"))
            }
            Text => Ok(text),
            Fixed => Err("can't set immutable config".into()),
            Protected => Err("can't set protected config".into()),
            Notifications => notifications(&text)
                .map(|_| text.clone())
                .ok_or_else(|| "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.".into()),
            Save => save(&text).ok_or_else(|| "Invalid save parameters".into()),
            Limits => limits(&text, self.default).map(|_| text),
            Percentiles => {
                let numbers: Option<Vec<f64>> =
                    text.split(' ').filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect();
                let numbers = numbers.ok_or("Invalid latency-tracking-info-percentiles parameters")?;
                if numbers.iter().all(|number| (0.0..=100.0).contains(number)) {
                    Ok(text)
                } else {
                    Err("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]".into())
                }
            }
        }
    }
}

/// A number of bytes with a unit.
fn memory(text: &str) -> Option<i64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(factor)
}

/// The classes that the letter `A` stands for.
const ALL_CLASSES: &[u8] = b"g$lshzxetd";

/// A set of classes of notifications, a bit for each letter.
pub(crate) fn notifications(text: &str) -> Option<u128> {
    let mut bits = 0;
    for letter in text.bytes() {
        match letter {
            b'A' => bits |= ALL_CLASSES.iter().fold(0, |bits, class| bits | 1 << class),
            b'g' | b'$' | b'l' | b's' | b'h' | b'z' | b'x' | b'e' | b'K' | b'E' | b't' | b'm' | b'd'
            | b'n' => {
                bits |= 1 << letter;
            }
            _ => return None,
        }
    }
    Some(bits)
}

/// The same as letters, in the order in which Redis shows them.
pub(crate) fn shown_notifications(bits: u128) -> String {
    let has = |letter: u8| bits & (1 << letter) != 0;
    let mut text = String::new();
    if ALL_CLASSES.iter().all(|class| has(*class)) {
        text.push('A');
    } else {
        text.extend(b"g$lshzxetdn".iter().filter(|class| has(**class)).map(|class| char::from(*class)));
    }
    text.extend(b"KEm".iter().filter(|class| has(**class)).map(|class| char::from(*class)));
    text
}

fn save(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let numbers: Option<Vec<i64>> = words.iter().map(|word| word.parse().ok()).collect();
    let valid = |pair: &[i64]| pair.len() == 2 && pair[0] >= 1 && pair[1] >= 0;
    numbers.filter(|numbers| numbers.chunks(2).all(valid)).map(|_| words.join(" "))
}

/// The limits that a text sets, and those of the other classes as they are.
pub(crate) fn limits(text: &str, before: &str) -> Result<String, String> {
    let known: Vec<&str> = before.split(' ').collect();
    let mut shown: Vec<(&str, String)> =
        known.chunks_exact(4).map(|group| (group[0], group[1..].join(" "))).collect();
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    if words.is_empty() || !words.len().is_multiple_of(4) {
        return Err("Wrong number of arguments in buffer limit configuration.".into());
    }
    for group in words.chunks(4) {
        let class = if group[0].eq_ignore_ascii_case("replica") { "slave" } else { group[0] };
        let slot = shown.iter_mut().find(|(name, _)| class.eq_ignore_ascii_case(name));
        let slot = slot.ok_or("Invalid client class specified in buffer limit configuration.")?;
        let invalid = "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
        let hard = memory(group[1]).ok_or(invalid)?;
        let soft = memory(group[2]).ok_or(invalid)?;
        let seconds: i64 = group[3].parse().ok().filter(|seconds| *seconds >= 0).ok_or(invalid)?;
        slot.1 = format!("{hard} {soft} {seconds}");
    }
    let shown: Vec<String> = shown.into_iter().map(|(name, limit)| format!("{name} {limit}")).collect();
    Ok(shown.join(" "))
}

/// All parameters, by name.
#[rustfmt::skip]
pub(crate) static ALL: &[Parameter] = &[
    param("acl-pubsub-default", "", Enum("allchannels, resetchannels"), "resetchannels"),
    param("aclfile", "", Fixed, ""),
    param("acllog-max-len", "", Integer(0, i64::MAX), "128"),
    param("active-defrag-cycle-max", "", Integer(1, 99), "25"),
    param("active-defrag-cycle-min", "", Integer(1, 99), "1"),
    param("active-defrag-ignore-bytes", "", Memory(1, i64::MAX), "104857600"),
    param("active-defrag-max-scan-fields", "", Integer(1, i64::MAX), "1000"),
    param("active-defrag-threshold-lower", "", Integer(0, 1000), "10"),
    param("active-defrag-threshold-upper", "", Integer(0, 1000), "100"),
    param("active-expire-effort", "", Integer(1, 10), "1"),
    param("activedefrag", "", Bool, "no"),
    param("activerehashing", "", Bool, "yes"),
    param("always-show-logo", "", Fixed, "no"),
    param("aof-disable-auto-gc", "", Bool, "no"),
    param("aof-load-truncated", "", Bool, "yes"),
    param("aof-rewrite-incremental-fsync", "", Bool, "yes"),
    param("aof-timestamp-enabled", "", Bool, "no"),
    param("aof-use-rdb-preamble", "", Bool, "yes"),
    param("aof_rewrite_cpulist", "", Fixed, ""),
    param("appenddirname", "", Fixed, "appendonlydir"),
    param("appendfilename", "", Fixed, "appendonly.aof"),
    param("appendfsync", "", Enum("everysec, always, no"), "everysec"),
    param("appendonly", "", Bool, "no"),
    param("auto-aof-rewrite-min-size", "", Memory(0, i64::MAX), "67108864"),
    param("auto-aof-rewrite-percentage", "", Integer(0, INT), "100"),
    param("bgsave_cpulist", "", Fixed, ""),
    param("bind", "", Text, "* -::*"),
    param("bind-source-addr", "", Text, ""),
    param("bio_cpulist", "", Fixed, ""),
    param("busy-reply-threshold", "lua-time-limit", Integer(0, i64::MAX), "5000"),
    param("client-output-buffer-limit", "", Limits, "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"),
    param("client-query-buffer-limit", "", Memory(1048576, i64::MAX), "1073741824"),
    param("cluster-allow-pubsubshard-when-down", "", Bool, "yes"),
    param("cluster-allow-reads-when-down", "", Bool, "no"),
    param("cluster-allow-replica-migration", "", Bool, "yes"),
    param("cluster-announce-bus-port", "", Integer(0, 65535), "0"),
    param("cluster-announce-hostname", "", Text, ""),
    param("cluster-announce-ip", "", Text, ""),
    param("cluster-announce-port", "", Integer(0, 65535), "0"),
    param("cluster-announce-tls-port", "", Integer(0, 65535), "0"),
    param("cluster-config-file", "", Fixed, "nodes.conf"),
    param("cluster-enabled", "", Fixed, "no"),
    param("cluster-link-sendbuf-limit", "", Memory(0, i64::MAX), "0"),
    param("cluster-migration-barrier", "", Integer(0, INT), "1"),
    param("cluster-node-timeout", "", Integer(0, i64::MAX), "15000"),
    param("cluster-port", "", Fixed, "0"),
    param("cluster-preferred-endpoint-type", "", Enum("ip, hostname, unknown-endpoint"), "ip"),
    param("cluster-replica-no-failover", "cluster-slave-no-failover", Bool, "no"),
    param("cluster-replica-validity-factor", "cluster-slave-validity-factor", Integer(0, INT), "10"),
    param("cluster-require-full-coverage", "", Bool, "yes"),
    param("crash-log-enabled", "", Bool, "yes"),
    param("crash-memcheck-enabled", "", Bool, "yes"),
    param("daemonize", "", Fixed, "no"),
    param("databases", "", Fixed, "16"),
    param("dbfilename", "", Protected, "dump.rdb"),
    param("dir", "", Protected, "/"),
    param("disable-thp", "", Fixed, "yes"),
    param("dynamic-hz", "", Bool, "yes"),
    param("enable-debug-command", "", Fixed, "yes"),
    param("enable-module-command", "", Fixed, "no"),
    param("enable-protected-configs", "", Fixed, "no"),
    param("hash-max-listpack-entries", "hash-max-ziplist-entries", Integer(0, i64::MAX), "512"),
    param("hash-max-listpack-value", "hash-max-ziplist-value", Memory(0, i64::MAX), "64"),
    param("hll-sparse-max-bytes", "", Memory(0, i64::MAX), "3000"),
    param("hz", "", Integer(0, INT), "10"),
    param("ignore-warnings", "", Text, ""),
    param("io-threads", "", Fixed, "1"),
    param("io-threads-do-reads", "", Fixed, "no"),
    param("jemalloc-bg-thread", "", Bool, "yes"),
    param("latency-monitor-threshold", "", Integer(0, i64::MAX), "0"),
    param("latency-tracking", "", Bool, "yes"),
    param("latency-tracking-info-percentiles", "", Percentiles, "50 99 99.9"),
    param("lazyfree-lazy-eviction", "", Bool, "no"),
    param("lazyfree-lazy-expire", "", Bool, "no"),
    param("lazyfree-lazy-server-del", "", Bool, "no"),
    param("lazyfree-lazy-user-del", "", Bool, "no"),
    param("lazyfree-lazy-user-flush", "", Bool, "no"),
    param("lfu-decay-time", "", Integer(0, INT), "1"),
    param("lfu-log-factor", "", Integer(0, INT), "10"),
    param("list-compress-depth", "", Integer(0, INT), "0"),
    param("list-max-listpack-size", "list-max-ziplist-size", Integer(-INT - 1, INT), "-2"),
    param("logfile", "", Fixed, ""),
    param("loglevel", "", Enum("debug, verbose, notice, warning"), "notice"),
    param("masterauth", "", Text, ""),
    param("masteruser", "", Text, ""),
    param("maxclients", "", Integer(1, 4294967295), "10000"),
    param("maxmemory", "", Memory(0, i64::MAX), "0"),
    param("maxmemory-clients", "", Memory(0, i64::MAX), "0"),
    param("maxmemory-eviction-tenacity", "", Integer(0, 100), "10"),
    param("maxmemory-policy", "", Enum("volatile-lru, volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, noeviction"), "noeviction"),
    param("maxmemory-samples", "", Integer(1, INT), "5"),
    param("min-replicas-max-lag", "min-slaves-max-lag", Integer(0, INT), "10"),
    param("min-replicas-to-write", "min-slaves-to-write", Integer(0, INT), "0"),
    param("no-appendfsync-on-rewrite", "", Bool, "no"),
    param("notify-keyspace-events", "", Notifications, ""),
    param("oom-score-adj", "", Enum("no, yes, relative, absolute"), "no"),
    param("oom-score-adj-values", "", Text, "0 200 800"),
    param("pidfile", "", Fixed, "/var/run/redis.pid"),
    param("port", "", Integer(0, 65535), "6379"),
    param("proc-title-template", "", Text, "{title} {listen-addr} {server-mode}"),
    param("propagation-error-behavior", "", Enum("ignore, panic, panic-on-replicas"), "ignore"),
    param("protected-mode", "", Bool, "yes"),
    param("proto-max-bulk-len", "", Memory(1048576, i64::MAX), "536870912"),
    param("rdb-del-sync-files", "", Bool, "no"),
    param("rdb-save-incremental-fsync", "", Bool, "yes"),
    param("rdbchecksum", "", Fixed, "yes"),
    param("rdbcompression", "", Bool, "yes"),
    param("repl-backlog-size", "", Memory(1, i64::MAX), "1048576"),
    param("repl-backlog-ttl", "", Integer(0, i64::MAX), "3600"),
    param("repl-disable-tcp-nodelay", "", Bool, "no"),
    param("repl-diskless-load", "", Enum("disabled, on-empty-db, swapdb"), "disabled"),
    param("repl-diskless-sync", "", Bool, "yes"),
    param("repl-diskless-sync-delay", "", Integer(0, INT), "5"),
    param("repl-diskless-sync-max-replicas", "", Integer(0, INT), "0"),
    param("repl-ping-replica-period", "repl-ping-slave-period", Integer(1, INT), "10"),
    param("repl-timeout", "", Integer(1, INT), "60"),
    param("replica-announce-ip", "slave-announce-ip", Text, ""),
    param("replica-announce-port", "slave-announce-port", Integer(0, 65535), "0"),
    param("replica-announced", "", Bool, "yes"),
    param("replica-ignore-disk-write-errors", "", Bool, "no"),
    param("replica-ignore-maxmemory", "slave-ignore-maxmemory", Bool, "yes"),
    param("replica-lazy-flush", "slave-lazy-flush", Bool, "no"),
    param("replica-priority", "slave-priority", Integer(0, INT), "100"),
    param("replica-read-only", "slave-read-only", Bool, "yes"),
    param("replica-serve-stale-data", "slave-serve-stale-data", Bool, "yes"),
    param("replicaof", "slaveof", Fixed, ""),
    param("requirepass", "", Text, ""),
    param("sanitize-dump-payload", "", Enum("no, yes, clients"), "no"),
    param("save", "", Save, ""),
    param("server_cpulist", "", Fixed, ""),
    param("set-max-intset-entries", "", Integer(0, i64::MAX), "512"),
    param("set-proc-title", "", Fixed, "yes"),
    param("shutdown-on-sigint", "", Enum("default, save, nosave, now, force"), "default"),
    param("shutdown-on-sigterm", "", Enum("default, save, nosave, now, force"), "default"),
    param("shutdown-timeout", "", Integer(0, INT), "10"),
    param("slowlog-log-slower-than", "", Integer(-1, i64::MAX), "10000"),
    param("slowlog-max-len", "", Integer(0, i64::MAX), "128"),
    param("socket-mark-id", "", Fixed, "0"),
    param("stop-writes-on-bgsave-error", "", Bool, "yes"),
    param("stream-node-max-bytes", "", Memory(0, i64::MAX), "4096"),
    param("stream-node-max-entries", "", Integer(0, i64::MAX), "100"),
    param("supervised", "", Fixed, "no"),
    param("syslog-enabled", "", Fixed, "no"),
    param("syslog-facility", "", Fixed, "local0"),
    param("syslog-ident", "", Fixed, "redis"),
    param("tcp-backlog", "", Fixed, "511"),
    param("tcp-keepalive", "", Integer(0, INT), "300"),
    param("timeout", "", Integer(0, INT), "0"),
    param("tls-auth-clients", "", Enum("no, yes, optional"), "yes"),
    param("tls-ca-cert-dir", "", Text, ""),
    param("tls-ca-cert-file", "", Text, ""),
    param("tls-cert-file", "", Text, ""),
    param("tls-ciphers", "", Text, ""),
    param("tls-ciphersuites", "", Text, ""),
    param("tls-client-cert-file", "", Text, ""),
    param("tls-client-key-file", "", Text, ""),
    param("tls-client-key-file-pass", "", Text, ""),
    param("tls-cluster", "", Bool, "no"),
    param("tls-dh-params-file", "", Text, ""),
    param("tls-key-file", "", Text, ""),
    param("tls-key-file-pass", "", Text, ""),
    param("tls-port", "", Integer(0, 65535), "0"),
    param("tls-prefer-server-ciphers", "", Bool, "no"),
    param("tls-protocols", "", Text, ""),
    param("tls-replication", "", Bool, "no"),
    param("tls-session-cache-size", "", Integer(0, INT), "20480"),
    param("tls-session-cache-timeout", "", Integer(0, INT), "300"),
    param("tls-session-caching", "", Bool, "yes"),
    param("tracking-table-max-keys", "", Integer(0, i64::MAX), "1000000"),
    param("unixsocket", "", Fixed, ""),
    param("unixsocketperm", "", Fixed, "0"),
    param("zset-max-listpack-entries", "zset-max-ziplist-entries", Integer(0, i64::MAX), "128"),
    param("zset-max-listpack-value", "zset-max-ziplist-value", Memory(0, i64::MAX), "64"),];
