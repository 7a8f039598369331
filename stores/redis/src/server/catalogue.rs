//! The facts about each command: flags, keys, categories, tips and subcommands, as the COMMAND of
//! Redis 7.0.15 answers them.
//!
//! The table of commands takes its flags from here. The commands of Redis that the node does not have are listed by name
//! alone ([`lacking`]); `scope.txt` names the senders of the others.

use crate::server::version::Version;

/// The flags of commands, as bits.
pub(crate) mod flags {
    /// May change data.
    pub(crate) const WRITE: u32 = 1;
    /// Reads keys and changes nothing.
    pub(crate) const READONLY: u32 = 1 << 1;
    /// Refused when memory is full.
    pub(crate) const DENYOOM: u32 = 1 << 2;
    /// For operators.
    pub(crate) const ADMIN: u32 = 1 << 3;
    /// About Pub/Sub.
    pub(crate) const PUBSUB: u32 = 1 << 4;
    /// Not for scripts.
    pub(crate) const NOSCRIPT: u32 = 1 << 5;
    /// May wait for something.
    pub(crate) const BLOCKING: u32 = 1 << 6;
    /// Answered while the dataset is loaded.
    pub(crate) const LOADING: u32 = 1 << 7;
    /// Answered by a replica that has lost its primary.
    pub(crate) const STALE: u32 = 1 << 8;
    /// Not shown by MONITOR.
    pub(crate) const SKIP_MONITOR: u32 = 1 << 9;
    /// Not kept by SLOWLOG.
    pub(crate) const SKIP_SLOWLOG: u32 = 1 << 10;
    /// About the slots of a cluster.
    pub(crate) const ASKING: u32 = 1 << 11;
    /// Takes constant or logarithmic time.
    pub(crate) const FAST: u32 = 1 << 12;
    /// Answered before AUTH.
    pub(crate) const NO_AUTH: u32 = 1 << 13;
    /// Not in a transaction.
    pub(crate) const NO_MULTI: u32 = 1 << 14;
    /// Answered while a script takes too long.
    pub(crate) const ALLOW_BUSY: u32 = 1 << 15;
    /// Its keys may be none.
    pub(crate) const NO_MANDATORY_KEYS: u32 = 1 << 16;
    /// Its keys are not at fixed places.
    pub(crate) const MOVABLEKEYS: u32 = 1 << 17;
    /// Not while a dataset is loaded beside the one that is served.
    pub(crate) const NO_ASYNC_LOADING: u32 = 1 << 18;

    /// Has effects on replicas though it changes no data: not shown.
    pub(crate) const MAY_REPLICATE: u32 = 1 << 19;

    /// The flags by name, in the order in which COMMAND answers them.
    pub(crate) const NAMES: [(&str, u32); 19] = [
        ("write", WRITE),
        ("readonly", READONLY),
        ("denyoom", DENYOOM),
        ("admin", ADMIN),
        ("pubsub", PUBSUB),
        ("noscript", NOSCRIPT),
        ("blocking", BLOCKING),
        ("loading", LOADING),
        ("stale", STALE),
        ("skip_monitor", SKIP_MONITOR),
        ("skip_slowlog", SKIP_SLOWLOG),
        ("asking", ASKING),
        ("fast", FAST),
        ("no_auth", NO_AUTH),
        ("no_multi", NO_MULTI),
        ("allow_busy", ALLOW_BUSY),
        ("no_mandatory_keys", NO_MANDATORY_KEYS),
        ("movablekeys", MOVABLEKEYS),
        ("no_async_loading", NO_ASYNC_LOADING),
    ];

    /// The bits of a list of names with spaces between them.
    pub(crate) const fn of(text: &str) -> u32 {
        let text = text.as_bytes();
        let (mut bits, mut from, mut to) = (0, 0, 0);
        while to <= text.len() {
            if to == text.len() || text[to] == b' ' {
                let mut at = 0;
                while at < NAMES.len() {
                    if same(NAMES[at].0.as_bytes(), text, from, to) {
                        bits |= NAMES[at].1;
                    }
                    at += 1;
                }
                from = to + 1;
            }
            to += 1;
        }
        bits
    }

    const fn same(name: &[u8], text: &[u8], from: usize, to: usize) -> bool {
        if name.len() != to - from {
            return false;
        }
        let mut at = 0;
        while at < name.len() {
            if name[at] != text[from + at] {
                return false;
            }
            at += 1;
        }
        true
    }
}

/// The facts about a command or a subcommand.
pub(crate) struct Fact {
    /// Its name in lowercase; that of a subcommand follows the command's after a bar.
    pub(crate) name: &'static str,
    pub(crate) arity: i32,
    pub(crate) flags: u32,
    /// The first and the last key, and the step between keys; zeros without keys.
    pub(crate) keys: [i32; 3],
    /// The categories of access control, without their at-signs.
    pub(crate) categories: &'static str,
    pub(crate) tips: &'static str,
    /// Where the keys are: flags, where to begin, how to find them, between bars; several between semicolons.
    pub(crate) specs: &'static str,
}

const fn fact(
    name: &'static str,
    arity: i32,
    flags: &'static str,
    keys: [i32; 3],
    categories: &'static str,
    tips: &'static str,
    specs: &'static str,
) -> Fact {
    Fact { name, arity, flags: flags::of(flags), keys, categories, tips, specs }
}

/// The command or subcommand of a name in lowercase.
pub(crate) const fn find(name: &str) -> Option<&'static Fact> {
    match position(name) {
        Some(nth) => Some(&FACTS[nth]),
        None => None,
    }
}

/// Where a command or subcommand stands.
pub(crate) const fn position(name: &str) -> Option<usize> {
    let (mut low, mut high) = (0, FACTS.len());
    while low < high {
        let middle = (low + high) / 2;
        match order(FACTS[middle].name.as_bytes(), name.as_bytes()) {
            0 => return Some(middle),
            1 => high = middle,
            _ => low = middle + 1,
        }
    }
    None
}

/// 0 when equal, 1 when `a` comes after `b`, else -1.
const fn order(a: &[u8], b: &[u8]) -> i32 {
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return if a[at] > b[at] { 1 } else { -1 };
        }
        at += 1;
    }
    if a.len() == b.len() {
        0
    } else if a.len() > b.len() {
        1
    } else {
        -1
    }
}

/// The subcommand of a name in any case, and where it stands.
pub(crate) fn subcommand(command: &str, sub: &[u8], version: Version) -> Option<(usize, &'static Fact)> {
    let is = |fact: &Fact| fact.name.as_bytes()[command.len() + 1..].eq_ignore_ascii_case(sub);
    numbered(command).find(|(_, fact)| is(fact) && is_in(fact, version))
}

/// True if a version knows it.
pub(crate) fn is_in(fact: &Fact, version: Version) -> bool {
    knows(version, fact.name)
}

fn knows(version: Version, name: &str) -> bool {
    SINCE.iter().all(|(known, knows)| *known != name || knows(version))
}

/// The name of the command or subcommand that these arguments call, if Redis has it and the node does not.
pub(crate) fn lacking(args: &[&[u8]], version: Version) -> Option<&'static str> {
    let lower = |arg: &[u8]| std::str::from_utf8(arg).ok().map(str::to_ascii_lowercase);
    let name = lower(args.first()?)?;
    let sub = args.get(1).and_then(|sub| lower(sub)).map(|sub| format!("{name}|{sub}"));
    let is = |lacking: &&str| *lacking == name || sub.as_deref() == Some(*lacking);
    LACKING.split_ascii_whitespace().find(is).filter(|lacking| knows(version, lacking))
}

/// True if a version knows the command at this place of the catalogue.
pub(crate) fn has(version: Version, nth: usize) -> bool {
    LATE.iter().zip(&SINCE).all(|(place, (_, knows))| *place != Some(nth) || knows(version))
}

/// Where those stand that came later.
const LATE: [Option<usize>; SINCE.len()] = {
    let mut places = [None; SINCE.len()];
    let mut at = 0;
    while at < SINCE.len() {
        places[at] = position(SINCE[at].0);
        at += 1;
    }
    places
};

/// Whether a version knows something.
type Knows = fn(Version) -> bool;

/// True if a command has subcommands.
pub(crate) const fn is_container(name: &str) -> bool {
    let mut at = 0;
    while at < FACTS.len() {
        let fact = FACTS[at].name.as_bytes();
        if fact.len() > name.len() && fact[name.len()] == b'|' && starts_with(fact, name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let mut at = 0;
    while at < start.len() {
        if text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The subcommands of a command.
pub(crate) fn subcommands(command: &str) -> impl Iterator<Item = &'static Fact> + '_ {
    numbered(command).map(|(_, fact)| fact)
}

fn numbered(command: &str) -> impl Iterator<Item = (usize, &'static Fact)> + '_ {
    let from = FACTS.partition_point(|fact| fact.name.as_bytes() < command.as_bytes());
    // A longer name may stand between a command and its subcommands, which begin with a bar.
    let of = move |fact: &Fact| fact.name.as_bytes().get(command.len()) == Some(&b'|');
    let all = FACTS.iter().enumerate().skip(from);
    all.take_while(move |(_, fact)| fact.name.starts_with(command)).filter(move |(_, fact)| of(fact))
}

/// The commands and subcommands that came after 7.0, and which versions know them.
const SINCE: [(&str, Knows); 20] = [
    ("client|no-touch", |version| version >= Version::V7_2),
    ("client|setinfo", |version| version >= Version::V7_2),
    ("cluster|migration", Version::moves_slots_at_once),
    ("cluster|syncslots", Version::moves_slots_at_once),
    ("delex", |version| version == Version::V8_4),
    ("delifeq", |version| version == Version::Valkey9_0),
    ("digest", |version| version == Version::V8_4),
    ("hexpire", Version::has_field_ends),
    ("hexpireat", Version::has_field_ends),
    ("hexpiretime", Version::has_field_ends),
    ("hgetdel", Version::reads_and_ends_fields),
    ("hgetex", Version::reads_and_ends_fields),
    ("hpersist", Version::has_field_ends),
    ("hpexpire", Version::has_field_ends),
    ("hpexpireat", Version::has_field_ends),
    ("hpexpiretime", Version::has_field_ends),
    ("hpttl", Version::has_field_ends),
    ("hsetex", Version::reads_and_ends_fields),
    ("httl", Version::has_field_ends),
    ("waitaof", |version| version >= Version::V7_2),
];

/// The commands of Redis that the node does not have, and subcommands of commands that it has.
const LACKING: &str = "\
    acl append bitcount bitfield bitfield_ro bitop bitpos blmove blmpop brpoplpush bzmpop bzpopmax bzpopmin copy \
    digest expiretime fcall fcall_ro function geoadd geodist geohash geopos georadius georadius_ro \
    georadiusbymember georadiusbymember_ro geosearch geosearchstore getbit getdel getex hexpire \
    hexpireat hexpiretime hgetdel hgetex hincrbyfloat hmget hpersist hpexpire hpexpireat hpexpiretime hpttl \
    hrandfield hscan hsetex hstrlen httl hvals incrbyfloat latency lcs linsert lmove lmpop lolwut lpos lpushx \
    lset ltrim memory module move msetnx object pfadd pfcount pfdebug pfmerge pfselftest randomkey rename \
    renamenx rpoplpush rpushx scan script|debug sdiff sdiffstore setbit setrange sinter sintercard sinterstore \
    slowlog smismember smove sort sort_ro spop srandmember sscan strlen substr sunion sunionstore swapdb touch \
    xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread xreadgroup xrevrange xsetid xtrim \
    zdiff zdiffstore zinter zintercard zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrandmember \
    zrangebylex zrangestore zrank zremrangebylex zremrangebyrank zrevrange zrevrangebylex zrevrangebyscore \
    zrevrank zscan zunion zunionstore";

/// All commands and subcommands, in the order of the bytes of their names.
#[rustfmt::skip]
pub(crate) const FACTS: &[Fact] = &[
    fact("asking", 1, "fast", [0, 0, 0], "fast connection", "", ""),
    fact("auth", -2, "noscript loading stale fast no_auth allow_busy", [0, 0, 0], "fast connection", "", ""),
    fact("bgrewriteaof", 1, "admin noscript no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("bgsave", -1, "admin noscript no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("blpop", -3, "write noscript blocking", [1, -2, 1], "write list slow blocking", "", "RW access delete|index 1|range -2 1 0"),
    fact("brpop", -3, "write noscript blocking", [1, -2, 1], "write list slow blocking", "", "RW access delete|index 1|range -2 1 0"),
    fact("client", -2, "", [0, 0, 0], "slow", "", ""),
    fact("client|caching", 3, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|getname", 2, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|getredir", 2, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|help", 2, "loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|id", 2, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|info", 2, "noscript loading stale", [0, 0, 0], "slow connection", "nondeterministic_output", ""),
    fact("client|kill", -3, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous connection", "", ""),
    fact("client|list", -2, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous connection", "nondeterministic_output", ""),
    fact("client|no-evict", 3, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous connection", "", ""),
    fact("client|no-touch", 3, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|pause", -3, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous connection", "", ""),
    fact("client|reply", 3, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|setinfo", 4, "noscript loading stale", [0, 0, 0], "slow connection", "request_policy:all_nodes response_policy:all_succeeded", ""),
    fact("client|setname", 3, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|tracking", -3, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|trackinginfo", 2, "noscript loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("client|unblock", -3, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous connection", "", ""),
    fact("client|unpause", 2, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous connection", "", ""),
    fact("cluster", -2, "", [0, 0, 0], "slow", "", ""),
    fact("cluster|addslots", -3, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|addslotsrange", -4, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|bumpepoch", 2, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "nondeterministic_output", ""),
    fact("cluster|count-failure-reports", 3, "admin stale", [0, 0, 0], "admin slow dangerous", "nondeterministic_output", ""),
    fact("cluster|countkeysinslot", 3, "stale", [0, 0, 0], "slow", "", ""),
    fact("cluster|delslots", -3, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|delslotsrange", -4, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|failover", -2, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|flushslots", 2, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|forget", 3, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|getkeysinslot", 4, "stale", [0, 0, 0], "slow", "nondeterministic_output", ""),
    fact("cluster|help", 2, "loading stale", [0, 0, 0], "slow", "", ""),
    fact("cluster|info", 2, "stale", [0, 0, 0], "slow", "nondeterministic_output", ""),
    fact("cluster|keyslot", 3, "stale", [0, 0, 0], "slow", "", ""),
    fact("cluster|links", 2, "stale", [0, 0, 0], "slow", "nondeterministic_output", ""),
    fact("cluster|meet", -4, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|migration", -4, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|myid", 2, "stale", [0, 0, 0], "slow", "", ""),
    fact("cluster|nodes", 2, "stale", [0, 0, 0], "slow", "nondeterministic_output", ""),
    fact("cluster|replicas", 3, "admin stale", [0, 0, 0], "admin slow dangerous", "nondeterministic_output", ""),
    fact("cluster|replicate", 3, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|reset", -2, "admin noscript stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|saveconfig", 2, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|set-config-epoch", 3, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|setslot", -4, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("cluster|shards", 2, "stale", [0, 0, 0], "slow", "nondeterministic_output", ""),
    fact("cluster|slaves", 3, "admin stale", [0, 0, 0], "admin slow dangerous", "nondeterministic_output", ""),
    fact("cluster|slots", 2, "stale", [0, 0, 0], "slow", "nondeterministic_output", ""),
    fact("cluster|syncslots", -3, "admin stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("command", -1, "loading stale", [0, 0, 0], "slow connection", "nondeterministic_output_order", ""),
    fact("command|count", 2, "loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("command|docs", -2, "loading stale", [0, 0, 0], "slow connection", "nondeterministic_output_order", ""),
    fact("command|getkeys", -4, "loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("command|getkeysandflags", -4, "loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("command|help", 2, "loading stale", [0, 0, 0], "slow connection", "", ""),
    fact("command|info", -2, "loading stale", [0, 0, 0], "slow connection", "nondeterministic_output_order", ""),
    fact("command|list", -2, "loading stale", [0, 0, 0], "slow connection", "nondeterministic_output_order", ""),
    fact("config", -2, "", [0, 0, 0], "slow", "", ""),
    fact("config|get", -3, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("config|help", 2, "loading stale", [0, 0, 0], "slow", "", ""),
    fact("config|resetstat", 2, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("config|rewrite", 2, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("config|set", -4, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous", "request_policy:all_nodes response_policy:all_succeeded", ""),
    fact("dbsize", 1, "readonly fast", [0, 0, 0], "keyspace read fast", "request_policy:all_shards response_policy:agg_sum", ""),
    fact("debug", -2, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("decr", 2, "write denyoom fast", [1, 1, 1], "write string fast", "", "RW access update|index 1|range 0 1 0"),
    fact("decrby", 3, "write denyoom fast", [1, 1, 1], "write string fast", "", "RW access update|index 1|range 0 1 0"),
    fact("del", -2, "write", [1, -1, 1], "keyspace write slow", "request_policy:multi_shard response_policy:agg_sum", "RM delete|index 1|range -1 1 0"),
    fact("delex", -2, "write fast", [1, 1, 1], "write string fast", "", "RW delete variable_flags|index 1|range 0 1 0"),
    fact("delifeq", 3, "write fast", [1, 1, 1], "write string fast", "", "RW access delete|index 1|range 0 1 0"),
    fact("discard", 1, "noscript loading stale fast allow_busy", [0, 0, 0], "fast transaction", "", ""),
    fact("dump", 2, "readonly", [1, 1, 1], "keyspace read slow", "nondeterministic_output", "RO access|index 1|range 0 1 0"),
    fact("echo", 2, "loading stale fast", [0, 0, 0], "fast connection", "", ""),
    fact("eval", -3, "noscript stale skip_monitor no_mandatory_keys movablekeys", [0, 0, 0], "slow scripting", "", "RW access update|index 2|keynum 0 1 1"),
    fact("eval_ro", -3, "readonly noscript stale skip_monitor no_mandatory_keys movablekeys", [0, 0, 0], "slow scripting", "", "RO access|index 2|keynum 0 1 1"),
    fact("evalsha", -3, "noscript stale skip_monitor no_mandatory_keys movablekeys", [0, 0, 0], "slow scripting", "", "RW access update|index 2|keynum 0 1 1"),
    fact("evalsha_ro", -3, "readonly noscript stale skip_monitor no_mandatory_keys movablekeys", [0, 0, 0], "slow scripting", "", "RO access|index 2|keynum 0 1 1"),
    fact("exec", 1, "noscript loading stale skip_slowlog", [0, 0, 0], "slow transaction", "", ""),
    fact("exists", -2, "readonly fast", [1, -1, 1], "keyspace read fast", "request_policy:multi_shard response_policy:agg_sum", "RO|index 1|range -1 1 0"),
    fact("expire", -3, "write fast", [1, 1, 1], "keyspace write fast", "", "RW update|index 1|range 0 1 0"),
    fact("expireat", -3, "write fast", [1, 1, 1], "keyspace write fast", "", "RW update|index 1|range 0 1 0"),
    fact("failover", -1, "admin noscript stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("flushall", -1, "write", [0, 0, 0], "keyspace write slow dangerous", "request_policy:all_shards response_policy:all_succeeded", ""),
    fact("flushdb", -1, "write", [0, 0, 0], "keyspace write slow dangerous", "request_policy:all_shards response_policy:all_succeeded", ""),
    fact("get", 2, "readonly fast", [1, 1, 1], "read string fast", "", "RO access|index 1|range 0 1 0"),
    fact("getrange", 4, "readonly", [1, 1, 1], "read string slow", "", "RO access|index 1|range 0 1 0"),
    fact("getset", 3, "write denyoom fast", [1, 1, 1], "write string fast", "", "RW access update|index 1|range 0 1 0"),
    fact("hdel", -3, "write fast", [1, 1, 1], "write hash fast", "", "RW delete|index 1|range 0 1 0"),
    fact("hello", -1, "noscript loading stale fast no_auth allow_busy", [0, 0, 0], "fast connection", "", ""),
    fact("hexists", 3, "readonly fast", [1, 1, 1], "read hash fast", "", "RO|index 1|range 0 1 0"),
    fact("hget", 3, "readonly fast", [1, 1, 1], "read hash fast", "", "RO access|index 1|range 0 1 0"),
    fact("hgetall", 2, "readonly", [1, 1, 1], "read hash slow", "nondeterministic_output_order", "RO access|index 1|range 0 1 0"),
    fact("hincrby", 4, "write denyoom fast", [1, 1, 1], "write hash fast", "", "RW access update|index 1|range 0 1 0"),
    fact("hkeys", 2, "readonly", [1, 1, 1], "read hash slow", "nondeterministic_output_order", "RO access|index 1|range 0 1 0"),
    fact("hlen", 2, "readonly fast", [1, 1, 1], "read hash fast", "", "RO|index 1|range 0 1 0"),
    fact("hmset", -4, "write denyoom fast", [1, 1, 1], "write hash fast", "", "RW update|index 1|range 0 1 0"),
    fact("hset", -4, "write denyoom fast", [1, 1, 1], "write hash fast", "", "RW update|index 1|range 0 1 0"),
    fact("hsetnx", 4, "write denyoom fast", [1, 1, 1], "write hash fast", "", "RW insert|index 1|range 0 1 0"),
    fact("incr", 2, "write denyoom fast", [1, 1, 1], "write string fast", "", "RW access update|index 1|range 0 1 0"),
    fact("incrby", 3, "write denyoom fast", [1, 1, 1], "write string fast", "", "RW access update|index 1|range 0 1 0"),
    fact("info", -1, "loading stale", [0, 0, 0], "slow dangerous", "nondeterministic_output request_policy:all_shards response_policy:special", ""),
    fact("keys", 2, "readonly", [0, 0, 0], "keyspace read slow dangerous", "request_policy:all_shards nondeterministic_output_order", ""),
    fact("lastsave", 1, "loading stale fast", [0, 0, 0], "admin fast dangerous", "nondeterministic_output", ""),
    fact("lindex", 3, "readonly", [1, 1, 1], "read list slow", "", "RO access|index 1|range 0 1 0"),
    fact("llen", 2, "readonly fast", [1, 1, 1], "read list fast", "", "RO|index 1|range 0 1 0"),
    fact("lpop", -2, "write fast", [1, 1, 1], "write list fast", "", "RW access delete|index 1|range 0 1 0"),
    fact("lpush", -3, "write denyoom fast", [1, 1, 1], "write list fast", "", "RW insert|index 1|range 0 1 0"),
    fact("lrange", 4, "readonly", [1, 1, 1], "read list slow", "", "RO access|index 1|range 0 1 0"),
    fact("lrem", 4, "write", [1, 1, 1], "write list slow", "", "RW delete|index 1|range 0 1 0"),
    fact("mget", -2, "readonly fast", [1, -1, 1], "read string fast", "request_policy:multi_shard", "RO access|index 1|range -1 1 0"),
    fact("migrate", -6, "write movablekeys", [3, 3, 1], "keyspace write slow dangerous", "nondeterministic_output", "RW access delete|index 3|range 0 1 0;RW access delete incomplete|keyword KEYS -2|range -1 1 0"),
    fact("monitor", 1, "admin noscript loading stale", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("mset", -3, "write denyoom", [1, -1, 2], "write string slow", "request_policy:multi_shard response_policy:all_succeeded", "OW update|index 1|range -1 2 0"),
    fact("multi", 1, "noscript loading stale fast allow_busy", [0, 0, 0], "fast transaction", "", ""),
    fact("persist", 2, "write fast", [1, 1, 1], "keyspace write fast", "", "RW update|index 1|range 0 1 0"),
    fact("pexpire", -3, "write fast", [1, 1, 1], "keyspace write fast", "", "RW update|index 1|range 0 1 0"),
    fact("pexpireat", -3, "write fast", [1, 1, 1], "keyspace write fast", "", "RW update|index 1|range 0 1 0"),
    fact("pexpiretime", 2, "readonly fast", [1, 1, 1], "keyspace read fast", "", "RO access|index 1|range 0 1 0"),
    fact("ping", -1, "fast", [0, 0, 0], "fast connection", "request_policy:all_shards response_policy:all_succeeded", ""),
    fact("psetex", 4, "write denyoom", [1, 1, 1], "write string slow", "", "OW update|index 1|range 0 1 0"),
    fact("psubscribe", -2, "pubsub noscript loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("psync", -3, "admin noscript no_async_loading no_multi", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("pttl", 2, "readonly fast", [1, 1, 1], "keyspace read fast", "nondeterministic_output", "RO access|index 1|range 0 1 0"),
    fact("publish", 3, "pubsub loading stale fast", [0, 0, 0], "pubsub fast", "", ""),
    fact("pubsub", -2, "", [0, 0, 0], "slow", "", ""),
    fact("pubsub|channels", -2, "pubsub loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("pubsub|help", 2, "loading stale", [0, 0, 0], "slow", "", ""),
    fact("pubsub|numpat", 2, "pubsub loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("pubsub|numsub", -2, "pubsub loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("pubsub|shardchannels", -2, "pubsub loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("pubsub|shardnumsub", -2, "pubsub loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("punsubscribe", -1, "pubsub noscript loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("quit", -1, "noscript loading stale fast no_auth allow_busy", [0, 0, 0], "fast connection", "", ""),
    fact("readonly", 1, "loading stale fast", [0, 0, 0], "fast connection", "", ""),
    fact("readwrite", 1, "loading stale fast", [0, 0, 0], "fast connection", "", ""),
    fact("replconf", -1, "admin noscript loading stale allow_busy", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("replicaof", 3, "admin noscript stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("reset", 1, "noscript loading stale fast no_auth allow_busy", [0, 0, 0], "fast connection", "", ""),
    fact("restore", -4, "write denyoom", [1, 1, 1], "keyspace write slow dangerous", "", "OW update|index 1|range 0 1 0"),
    fact("restore-asking", -4, "write denyoom asking", [1, 1, 1], "keyspace write slow dangerous", "", "OW update|index 1|range 0 1 0"),
    fact("role", 1, "noscript loading stale fast", [0, 0, 0], "admin fast dangerous", "", ""),
    fact("rpop", -2, "write fast", [1, 1, 1], "write list fast", "", "RW access delete|index 1|range 0 1 0"),
    fact("rpush", -3, "write denyoom fast", [1, 1, 1], "write list fast", "", "RW insert|index 1|range 0 1 0"),
    fact("sadd", -3, "write denyoom fast", [1, 1, 1], "write set fast", "", "RW insert|index 1|range 0 1 0"),
    fact("save", 1, "admin noscript no_async_loading no_multi", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("scard", 2, "readonly fast", [1, 1, 1], "read set fast", "", "RO|index 1|range 0 1 0"),
    fact("script", -2, "", [0, 0, 0], "slow", "", ""),
    fact("script|exists", -3, "noscript", [0, 0, 0], "slow scripting", "request_policy:all_shards response_policy:agg_logical_and", ""),
    fact("script|flush", -2, "noscript", [0, 0, 0], "slow scripting", "request_policy:all_nodes response_policy:all_succeeded", ""),
    fact("script|help", 2, "loading stale", [0, 0, 0], "slow scripting", "", ""),
    fact("script|kill", 2, "noscript allow_busy", [0, 0, 0], "slow scripting", "request_policy:all_shards response_policy:one_succeeded", ""),
    fact("script|load", 3, "noscript stale", [0, 0, 0], "slow scripting", "request_policy:all_nodes response_policy:all_succeeded", ""),
    fact("select", 2, "loading stale fast", [0, 0, 0], "fast connection", "", ""),
    fact("set", -3, "write denyoom", [1, 1, 1], "write string slow", "", "RW access update variable_flags|index 1|range 0 1 0"),
    fact("setex", 4, "write denyoom", [1, 1, 1], "write string slow", "", "OW update|index 1|range 0 1 0"),
    fact("setnx", 3, "write denyoom fast", [1, 1, 1], "write string fast", "", "OW insert|index 1|range 0 1 0"),
    fact("shutdown", -1, "admin noscript loading stale no_multi allow_busy", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("sismember", 3, "readonly fast", [1, 1, 1], "read set fast", "", "RO|index 1|range 0 1 0"),
    fact("slaveof", 3, "admin noscript stale no_async_loading", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("smembers", 2, "readonly", [1, 1, 1], "read set slow", "nondeterministic_output_order", "RO access|index 1|range 0 1 0"),
    fact("spublish", 3, "pubsub loading stale fast", [1, 1, 1], "pubsub fast", "", "not_key|index 1|range 0 1 0"),
    fact("srem", -3, "write fast", [1, 1, 1], "write set fast", "", "RW delete|index 1|range 0 1 0"),
    fact("ssubscribe", -2, "pubsub noscript loading stale", [1, -1, 1], "pubsub slow", "", "not_key|index 1|range -1 1 0"),
    fact("subscribe", -2, "pubsub noscript loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("sunsubscribe", -1, "pubsub noscript loading stale", [1, -1, 1], "pubsub slow", "", "not_key|index 1|range -1 1 0"),
    fact("sync", 1, "admin noscript no_async_loading no_multi", [0, 0, 0], "admin slow dangerous", "", ""),
    fact("time", 1, "loading stale fast", [0, 0, 0], "fast", "nondeterministic_output", ""),
    fact("ttl", 2, "readonly fast", [1, 1, 1], "keyspace read fast", "nondeterministic_output", "RO access|index 1|range 0 1 0"),
    fact("type", 2, "readonly fast", [1, 1, 1], "keyspace read fast", "", "RO|index 1|range 0 1 0"),
    fact("unlink", -2, "write fast", [1, -1, 1], "keyspace write fast", "request_policy:multi_shard response_policy:agg_sum", "RM delete|index 1|range -1 1 0"),
    fact("unsubscribe", -1, "pubsub noscript loading stale", [0, 0, 0], "pubsub slow", "", ""),
    fact("unwatch", 1, "noscript loading stale fast allow_busy", [0, 0, 0], "fast transaction", "", ""),
    fact("wait", 3, "noscript", [0, 0, 0], "slow connection", "request_policy:all_shards response_policy:agg_min", ""),
    fact("waitaof", 4, "noscript blocking", [0, 0, 0], "slow blocking connection", "request_policy:all_shards response_policy:agg_min", ""),
    fact("watch", -2, "noscript loading stale fast allow_busy", [1, -1, 1], "fast transaction", "", "RO|index 1|range -1 1 0"),
    fact("zadd", -4, "write denyoom fast", [1, 1, 1], "write sortedset fast", "", "RW update|index 1|range 0 1 0"),
    fact("zcard", 2, "readonly fast", [1, 1, 1], "read sortedset fast", "", "RO|index 1|range 0 1 0"),
    fact("zcount", 4, "readonly fast", [1, 1, 1], "read sortedset fast", "", "RO access|index 1|range 0 1 0"),
    fact("zincrby", 4, "write denyoom fast", [1, 1, 1], "write sortedset fast", "", "RW access update|index 1|range 0 1 0"),
    fact("zrange", -4, "readonly", [1, 1, 1], "read sortedset slow", "", "RO access|index 1|range 0 1 0"),
    fact("zrangebyscore", -4, "readonly", [1, 1, 1], "read sortedset slow", "", "RO access|index 1|range 0 1 0"),
    fact("zrem", -3, "write fast", [1, 1, 1], "write sortedset fast", "", "RW delete|index 1|range 0 1 0"),
    fact("zremrangebyscore", 4, "write", [1, 1, 1], "write sortedset slow", "", "RW delete|index 1|range 0 1 0"),
    fact("zscore", 3, "readonly fast", [1, 1, 1], "read sortedset fast", "", "RO access|index 1|range 0 1 0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_in_order_so_that_they_can_be_searched() {
        assert!(FACTS.is_sorted_by(|a, b| a.name.as_bytes() < b.name.as_bytes()));
        assert_eq!(find("get").map(|fact| fact.flags), Some(flags::READONLY | flags::FAST));
        assert_eq!(subcommands("script").count(), 5);
    }

    #[test]
    fn the_catalogue_has_the_commands_of_the_scope_and_no_others() {
        let lines = include_str!("scope.txt").lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (names, senders): (Vec<&str>, Vec<&str>) = lines.filter_map(|line| line.split_once(' ')).unzip();
        assert_eq!(names, FACTS.iter().map(|fact| fact.name).collect::<Vec<_>>());
        assert!(senders.iter().all(|senders| !senders.trim().is_empty()));
    }

    #[test]
    fn a_command_is_either_in_the_catalogue_or_lacking() {
        let names: Vec<&str> = LACKING.split_ascii_whitespace().collect();
        assert!(names.is_sorted_by(|a, b| a < b));
        assert!(names.iter().all(|name| find(name).is_none()));
        let lacks = |line: &str, version| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            lacking(&words, version)
        };
        assert_eq!(lacks("XADD s * a 1", Version::V7_0), Some("xadd"));
        assert_eq!(lacks("Script Debug yes", Version::V7_0), Some("script|debug"));
        assert_eq!(lacks("GET xadd", Version::V7_0), None);
    }
}
