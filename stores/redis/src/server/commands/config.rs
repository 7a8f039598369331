//! CONFIG (Redis 7.0 `config.c`): parameters are read by pattern and set together or not at all.

use std::collections::BTreeSet;

use crate::server::setup::MinReplicas;

use super::parameters::{ALL, Parameter, limits, notifications, shown_notifications};
use crate::protocol::resp::Reply;
use crate::server::glob;
use crate::server::node::{Answer, Mover, Next, Node, OutputLimit, SessionId, Stats};
use crate::server::store::{Counts, Policy};

pub(crate) fn config(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    match () {
        () if is(b"GET") => Ok(get(node, &args[2..]).into()),
        () if is(b"SET") => set(node, &args[2..]).map(Answer::from),
        () if is(b"REWRITE") => Ok(Answer { next: Next::RewriteConfig, ..Answer::from(Reply::OK) }),
        () if is(b"RESETSTAT") => {
            let Stats { started_ms, saved_ms, changes, .. } = *node.stats;
            *node.stats = Stats { started_ms, saved_ms, changes, ..Stats::default() };
            node.store.counts = Counts::default();
            Ok(Reply::OK.into())
        }
        () => Ok(super::help("config", node.store.version).into()),
    }
}

/// Parameters asked for by their names come first, with the names as they were asked for.
fn get(node: &Node, patterns: &[&[u8]]) -> Reply {
    let (globs, names): (Vec<&[u8]>, Vec<&[u8]>) =
        patterns.iter().partition(|pattern| pattern.iter().any(|byte| b"*?[".contains(byte)));
    let mut pairs: Vec<(Reply, Reply)> = Vec::new();
    let mut answered: BTreeSet<Vec<u8>> = BTreeSet::new();
    for name in names {
        if let Some(parameter) = Parameter::find(name)
            && answered.insert(name.to_ascii_lowercase())
        {
            pairs.push((Reply::Bulk(name.to_vec()), Reply::text(&node.parameter(parameter))));
        }
    }
    for parameter in ALL {
        for name in [parameter.name, parameter.alias] {
            let wanted = |pattern: &&[u8]| glob::fits(&pattern.to_ascii_lowercase(), name.as_bytes());
            if !name.is_empty() && globs.iter().any(wanted) && answered.insert(name.as_bytes().to_vec()) {
                pairs.push((Reply::text(name), Reply::text(&node.parameter(parameter))));
            }
        }
    }
    Reply::Map(pairs)
}

fn set(node: &mut Node, pairs: &[&[u8]]) -> Result<Reply, Reply> {
    let unknown = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        Reply::Error(format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'").into())
    };
    if pairs.len() % 2 == 1 {
        return Err(super::SYNTAX);
    }
    let refused = |name: &[u8], why: &str| {
        let name = String::from_utf8_lossy(name);
        Reply::Error(format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {why}").into())
    };
    let mut wanted: Vec<(&'static Parameter, &[u8], &[u8])> = Vec::new();
    for pair in pairs.chunks_exact(2) {
        let parameter = Parameter::find(pair[0]).ok_or_else(|| unknown(pair[0]))?;
        match parameter.kind {
            super::parameters::Kind::Fixed => return Err(refused(pair[0], "can't set immutable config")),
            super::parameters::Kind::Protected => return Err(refused(pair[0], "can't set protected config")),
            _ => {}
        }
        if wanted.iter().any(|(other, _, _)| std::ptr::eq(*other, parameter)) {
            return Err(refused(pair[0], "duplicate parameter"));
        }
        wanted.push((parameter, pair[0], pair[1]));
    }
    let mut values = Vec::new();
    for (parameter, name, value) in wanted {
        let mut value = parameter.check(value).map_err(|why| refused(name, &why))?;
        if parameter.kind == super::parameters::Kind::Limits {
            value = limits(&value, &node.parameter(parameter)).map_err(|why| refused(name, &why))?;
        }
        values.push((parameter.name, value));
    }
    for (name, value) in &values {
        if *name == "port" && !moves_to(node, value) {
            return Err(refused(b"port", "Unable to listen on this port. Check server logs."));
        }
    }
    let limits_memory = values.iter().any(|(name, _)| *name == "maxmemory");
    for (name, value) in values {
        node.configure(name, value);
    }
    if limits_memory && node.config.maxmemory > 0 {
        node.make_room();
    }
    Ok(Reply::OK)
}

/// Has clients come through another port, if they are real. Port 0 closes none here.
fn moves_to(node: &mut Node, port: &str) -> bool {
    let (port, mover) = (port.parse().unwrap_or(0), node.config.mover.clone());
    let Some(Mover(moves)) = mover.filter(|_| port != 0 && port != node.config.port) else { return true };
    if moves(port) {
        node.config.port = port;
        node.replication.settings.announced_port = port;
    }
    node.config.port == port
}

impl Node {
    /// The value of a parameter.
    fn parameter(&self, parameter: &Parameter) -> String {
        match parameter.name {
            "replicaof" => self
                .upstream()
                .map_or_else(String::new, |upstream| format!("{} {}", upstream.host, upstream.port)),
            "notify-keyspace-events" => shown_notifications(self.config.notifications),
            "port" if !self.config.set.contains_key("port") => self.config.port.to_string(),
            name => self.config.set.get(name).cloned().unwrap_or_else(|| parameter.default.to_owned()),
        }
    }

    /// The value of the parameter of a name, as it was set or by default.
    pub(crate) fn parameter_named(&self, name: &str) -> String {
        Parameter::find(name.as_bytes()).map_or_else(String::new, |parameter| self.parameter(parameter))
    }

    /// Sets a parameter to a value that was checked.
    pub(crate) fn configure(&mut self, name: &'static str, value: String) {
        let config = &mut self.config;
        // Numbers were checked: what does not fit is a limit that is never reached.
        let number = || value.parse::<i64>().unwrap_or(i64::MAX);
        let size = || usize::try_from(number()).unwrap_or(usize::MAX);
        match name {
            "requirepass" => config.password = value.clone().into_bytes(),
            "maxmemory" => config.maxmemory = u64::try_from(number()).unwrap_or(0),
            "maxmemory-policy" => {
                config.policy = Policy::parse(value.as_bytes()).unwrap_or_default();
                self.store.policy = config.policy;
            }
            "notify-keyspace-events" => config.notifications = notifications(&value).unwrap_or(0),
            "replica-read-only" => config.replica_read_only = value == "yes",
            "replica-serve-stale-data" => config.replica_serve_stale_data = value == "yes",
            "min-replicas-to-write" => config.min_replicas = size(),
            "min-replicas-max-lag" => config.min_replicas_max_lag = number(),
            "proto-max-bulk-len" => config.bulk_max = number(),
            "client-query-buffer-limit" => config.query_max = size(),
            "busy-reply-threshold" => config.busy_ms = u64::try_from(number()).unwrap_or(0),
            "client-output-buffer-limit" => {
                // A class, a hard and a soft limit, and seconds, for each of the three.
                let words: Vec<u64> = value.split(' ').filter_map(|word| word.parse().ok()).collect();
                for (limit, numbers) in config.output.iter_mut().zip(words.chunks_exact(3)) {
                    *limit = OutputLimit { hard: numbers[0], soft: numbers[1], soft_s: numbers[2] };
                }
            }
            "protected-mode" => config.protected = value == "yes",
            "maxclients" => config.clients_max = size(),
            _ => {}
        }
        self.replication.configure(name, &value);
        if let Some(cluster) = self.cluster.as_deref_mut() {
            cluster.settings.configure(name, &value);
        }
        self.config.set.insert(name, value);
        self.look_away();
    }

    /// Takes writes only while so many replicas acknowledge them, as if its configuration file said so.
    pub(crate) fn require_replicas(&mut self, least: MinReplicas) {
        if least.count > 0 {
            let whole_seconds = least.max_lag.as_nanos().div_ceil(1_000_000_000);
            self.configure("min-replicas-to-write", least.count.to_string());
            self.configure("min-replicas-max-lag", whole_seconds.to_string());
        }
    }
}
