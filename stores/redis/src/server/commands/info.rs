//! INFO, with the sections and names of Redis 7.0; what a simulated node has nothing to say about is zero.

use std::fmt::Write as _;

use super::facts::{constant, lines};
use crate::protocol::resp::Reply;
use crate::server::node::{Answer, ChannelKind, Node, SessionId};
use crate::server::store::{BASE_MEMORY, DATABASES};

/// The writer of a section.
type Section = fn(&Node, &mut String);

/// The sections in order, and whether they are shown without being asked for.
const SECTIONS: [(&str, bool, Section); 13] = [
    ("Server", true, server),
    ("Clients", true, clients),
    ("Memory", true, memory_section),
    ("Persistence", true, persistence),
    ("Stats", true, stats),
    ("Replication", true, replication),
    ("CPU", true, cpu),
    ("Modules", true, nothing),
    ("Commandstats", false, commandstats),
    ("Errorstats", true, errorstats),
    ("Latencystats", false, nothing),
    ("Cluster", true, cluster),
    ("Keyspace", true, keyspace),
];

pub(crate) fn info(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    Ok(text(node, args).into())
}

/// The sections that are asked for.
pub(crate) fn text(node: &Node, args: &[&[u8]]) -> Reply {
    let asked = |name: &str| args[1..].iter().any(|word| word.eq_ignore_ascii_case(name.as_bytes()));
    let all = asked("all") || asked("everything");
    let usual = args.len() == 1 || asked("default");
    // The usual sections come to about as much.
    let mut text = String::with_capacity(if usual || all { 6 << 10 } else { 512 });
    for (name, shown, write) in SECTIONS {
        if all || usual && shown || asked(name) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            text.push_str("# ");
            text.push_str(name);
            text.push_str("\r\n");
            write(node, &mut text);
        }
    }
    Reply::Verbatim("txt", text.into_bytes())
}

fn nothing(_: &Node, _: &mut String) {}

fn server(node: &Node, text: &mut String) {
    let up = (node.store.now_ms() - node.stats.started_ms.unwrap_or(0)) / 1000;
    let micros = node.store.now.as_nanos() / 1_000;
    let hz = node.parameter_named("hz");
    lines(text, &[("redis_version", &node.store.version.text())]);
    if let Some(valkey) = node.store.version.of_valkey() {
        lines(text, &[("server_name", &"valkey"), ("valkey_version", &valkey)]);
    }
    text.push_str(constant!(
        "redis_git_sha1": "00000000",
        "redis_git_dirty": 0,
        "redis_build_id": "0",
    ));
    lines(text, &[("redis_mode", &if node.cluster.is_some() { "cluster" } else { "standalone" })]);
    text.push_str(constant!(
        "os": "Linux x86_64",
        "arch_bits": 64,
        "monotonic_clock": "POSIX clock_gettime",
        "multiplexing_api": "epoll",
        "atomicvar_api": "c11-builtin",
        "gcc_version": "12.2.0",
        "process_id": 1,
        "process_supervised": "no",
    ));
    lines(
        text,
        &[
            ("run_id", &node.config.run_id),
            ("tcp_port", &node.config.port),
            ("server_time_usec", &micros),
            ("uptime_in_seconds", &up),
            ("uptime_in_days", &(up / 86_400)),
            ("hz", &hz),
            ("configured_hz", &hz),
            ("lru_clock", &((node.store.now_ms() / 1000) & 0xff_ffff)),
        ],
    );
    text.push_str(constant!(
        "executable": "/usr/bin/redis-server",
        "config_file": "",
        "io_threads_active": 0,
    ));
}

fn clients(node: &Node, text: &mut String) {
    let feeds = node.replication.replicas.len();
    lines(
        text,
        &[
            ("connected_clients", &(node.sessions().count().saturating_sub(feeds))),
            ("cluster_connections", &0),
            ("maxclients", &node.config.clients_max),
        ],
    );
    text.push_str(constant!(
        "client_recent_max_input_buffer": 0,
        "client_recent_max_output_buffer": 0,
    ));
    lines(
        text,
        &[
            ("blocked_clients", &node.blocked()),
            ("tracking_clients", &node.sessions().filter(|session| session.caching.is_some()).count()),
            ("clients_in_timeout_table", &node.overdue_later()),
        ],
    );
}

/// A number of bytes for people.
fn human(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("T", 40), ("G", 30), ("M", 20), ("K", 10)];
    let unit = UNITS.into_iter().find(|(_, bits)| bytes >= 1 << bits);
    unit.map_or_else(
        || format!("{bytes}B"),
        |(name, bits)| format!("{:.2}{name}", bytes as f64 / (1_u64 << bits) as f64),
    )
}

fn memory_section(node: &Node, text: &mut String) {
    let used = node.store.used_memory();
    let most = node.config.maxmemory;
    let used_human = human(used);
    let scripts = node.scripts.len();
    lines(
        text,
        &[
            ("used_memory", &used),
            ("used_memory_human", &used_human),
            ("used_memory_rss", &used),
            ("used_memory_rss_human", &used_human),
            ("used_memory_peak", &used),
            ("used_memory_peak_human", &used_human),
            ("used_memory_peak_perc", &"100.00%"),
            ("used_memory_overhead", &BASE_MEMORY),
            ("used_memory_startup", &BASE_MEMORY),
            ("used_memory_dataset", &(used - BASE_MEMORY)),
            ("used_memory_dataset_perc", &"100.00%"),
            ("allocator_allocated", &used),
            ("allocator_active", &used),
            ("allocator_resident", &used),
        ],
    );
    text.push_str(constant!(
        "total_system_memory": 0,
        "total_system_memory_human": "0B",
        "used_memory_lua": 0,
        "used_memory_vm_eval": 0,
        "used_memory_lua_human": "0B",
        "used_memory_scripts_eval": 0,
    ));
    lines(text, &[("number_of_cached_scripts", &scripts)]);
    text.push_str(constant!(
        "number_of_functions": 0,
        "number_of_libraries": 0,
        "used_memory_vm_functions": 0,
        "used_memory_vm_total": 0,
        "used_memory_vm_total_human": "0B",
        "used_memory_functions": 0,
        "used_memory_scripts": 0,
        "used_memory_scripts_human": "0B",
    ));
    lines(
        text,
        &[
            ("maxmemory", &most),
            ("maxmemory_human", &human(most)),
            ("maxmemory_policy", &node.config.policy.name()),
        ],
    );
    text.push_str(constant!(
        "allocator_frag_ratio": "1.00",
        "allocator_frag_bytes": 0,
        "allocator_rss_ratio": "1.00",
        "allocator_rss_bytes": 0,
        "rss_overhead_ratio": "1.00",
        "rss_overhead_bytes": 0,
        "mem_fragmentation_ratio": "1.00",
        "mem_fragmentation_bytes": 0,
        "mem_not_counted_for_evict": 0,
        "mem_replication_backlog": 0,
        "mem_total_replication_buffers": 0,
        "mem_clients_slaves": 0,
        "mem_clients_normal": 0,
        "mem_cluster_links": 0,
        "mem_aof_buffer": 0,
        "mem_allocator": "jemalloc-5.3.0",
        "active_defrag_running": 0,
        "lazyfree_pending_objects": 0,
        "lazyfreed_objects": 0,
    ));
}

fn persistence(node: &Node, text: &mut String) {
    let saved = node.stats.saved_ms.or(node.stats.started_ms).unwrap_or(0) / 1000;
    let logs = u8::from(node.parameter_named("appendonly") == "yes");
    // Sentinels ask for this all the time: within a run, the answer has the same length whatever was written.
    let changes = if node.config.mover.is_some() { node.stats.changes } else { 0 };
    lines(text, &[("loading", &u8::from(node.loading))]);
    text.push_str(constant!(
        "async_loading": 0,
        "current_cow_peak": 0,
        "current_cow_size": 0,
        "current_cow_size_age": 0,
        "current_fork_perc": "0.00",
        "current_save_keys_processed": 0,
        "current_save_keys_total": 0,
    ));
    lines(
        text,
        &[
            ("rdb_changes_since_last_save", &changes),
            ("rdb_bgsave_in_progress", &0),
            ("rdb_last_save_time", &saved),
        ],
    );
    text.push_str(constant!(
        "rdb_last_bgsave_status": "ok",
        "rdb_last_bgsave_time_sec": -1,
        "rdb_current_bgsave_time_sec": -1,
        "rdb_saves": 0,
        "rdb_last_cow_size": 0,
        "rdb_last_load_keys_expired": 0,
        "rdb_last_load_keys_loaded": 0,
    ));
    lines(text, &[("aof_enabled", &logs)]);
    text.push_str(constant!(
        "aof_rewrite_in_progress": 0,
        "aof_rewrite_scheduled": 0,
        "aof_last_rewrite_time_sec": -1,
        "aof_current_rewrite_time_sec": -1,
        "aof_last_bgrewrite_status": "ok",
        "aof_rewrites": 0,
        "aof_rewrites_consecutive_failures": 0,
        "aof_last_write_status": "ok",
        "aof_last_cow_size": 0,
        "module_fork_in_progress": 0,
        "module_fork_last_cow_size": 0,
    ));
}

fn stats(node: &Node, text: &mut String) {
    let (stats, counts) = (&node.stats, &node.store.counts);
    lines(
        text,
        &[("total_connections_received", &stats.connections), ("total_commands_processed", &stats.commands)],
    );
    text.push_str(constant!(
        "instantaneous_ops_per_sec": 0,
        "total_net_input_bytes": 0,
        "total_net_output_bytes": 0,
        "total_net_repl_input_bytes": 0,
        "total_net_repl_output_bytes": 0,
        "instantaneous_input_kbps": "0.00",
        "instantaneous_output_kbps": "0.00",
        "instantaneous_input_repl_kbps": "0.00",
        "instantaneous_output_repl_kbps": "0.00",
    ));
    lines(
        text,
        &[
            ("rejected_connections", &stats.rejected),
            ("sync_full", &stats.full_copies),
            ("sync_partial_ok", &stats.resumed),
            ("sync_partial_err", &stats.not_resumed),
            ("expired_keys", &counts.expired),
        ],
    );
    text.push_str(constant!(
        "expired_stale_perc": "0.00",
        "expired_time_cap_reached_count": 0,
        "expire_cycle_cpu_milliseconds": 0,
    ));
    lines(text, &[("evicted_keys", &counts.evicted)]);
    text.push_str(constant!(
        "evicted_clients": 0,
        "total_eviction_exceeded_time": 0,
        "current_eviction_exceeded_time": 0,
    ));
    lines(
        text,
        &[
            ("keyspace_hits", &counts.hits),
            ("keyspace_misses", &counts.misses),
            ("pubsub_channels", &node.channels.of(ChannelKind::Channel).len()),
            ("pubsub_patterns", &node.channels.of(ChannelKind::Pattern).len()),
            ("pubsubshard_channels", &node.channels.of(ChannelKind::Shard).len()),
        ],
    );
    text.push_str(constant!(
        "latest_fork_usec": 0,
        "total_forks": 0,
        "migrate_cached_sockets": 0,
        "slave_expires_tracked_keys": 0,
        "active_defrag_hits": 0,
        "active_defrag_misses": 0,
        "active_defrag_key_hits": 0,
        "active_defrag_key_misses": 0,
        "total_active_defrag_time": 0,
        "current_active_defrag_time": 0,
    ));
    lines(
        text,
        &[
            ("tracking_total_keys", &node.tracking.keys.len()),
            ("tracking_total_items", &node.tracking.items()),
            ("tracking_total_prefixes", &node.tracking.prefixes.len()),
            ("unexpected_error_replies", &0),
            ("total_error_replies", &stats.errors),
            ("dump_payload_sanitizations", &0),
            ("total_reads_processed", &stats.commands),
            ("total_writes_processed", &stats.commands),
        ],
    );
    text.push_str(constant!(
        "io_threaded_reads_processed": 0,
        "io_threaded_writes_processed": 0,
        "reply_buffer_shrinks": 0,
        "reply_buffer_expands": 0,
    ));
}

fn replication(node: &Node, text: &mut String) {
    super::replication::info(node, text);
}

fn cpu(_: &Node, text: &mut String) {
    text.push_str(constant!(
        "used_cpu_sys": "0.000000",
        "used_cpu_user": "0.000000",
        "used_cpu_sys_children": "0.000000",
        "used_cpu_user_children": "0.000000",
        "used_cpu_sys_main_thread": "0.000000",
        "used_cpu_user_main_thread": "0.000000",
    ));
}

/// A command takes no time.
fn commandstats(node: &Node, text: &mut String) {
    for (name, calls) in node.stats.calls.iter() {
        if calls.done + calls.refused > 0 {
            let _ = write!(
                text,
                "cmdstat_{}:calls={},usec=0,usec_per_call=0.00,rejected_calls={},failed_calls={}\r\n",
                name, calls.done, calls.refused, calls.failed
            );
        }
    }
}

fn errorstats(node: &Node, text: &mut String) {
    for (kind, count) in &node.stats.by_error {
        let _ = write!(text, "errorstat_{kind}:count={count}\r\n");
    }
}

fn cluster(node: &Node, text: &mut String) {
    lines(text, &[("cluster_enabled", &u8::from(node.cluster.is_some()))]);
}

fn keyspace(node: &Node, text: &mut String) {
    let (mut keys, mut expires, mut left) = ([0_u64; DATABASES], [0_u64; DATABASES], [0_i64; DATABASES]);
    for (database, _, entry) in node.store.all() {
        keys[database] += 1;
        if let Some(when) = entry.expires {
            expires[database] += 1;
            left[database] = left[database].saturating_add(when.saturating_sub(node.store.now_ms()).max(0));
        }
    }
    for database in (0..DATABASES).filter(|database| keys[*database] > 0) {
        let (keys, expires) = (keys[database], expires[database]);
        let average = left[database] / i64::try_from(expires.max(1)).unwrap_or(1);
        let _ = write!(text, "db{database}:keys={keys},expires={expires},avg_ttl={average}\r\n");
    }
}
