//! The files that a node leaves on disk: its dataset as the plan's persistence says, and its role.
//!
//! - always: an append-only file that is synced before a command is answered;
//! - every second: the same, synced about once a second: a process that is killed loses nothing, a power loss takes the
//!   last second;
//! - RDB: a snapshot once a second while there are changes (`save 1 1`, which comes to two seconds as Redis counts); a
//!   crash takes what came after it. Redis's own save points are minutes apart, longer than a run;
//! - none: nothing.
//!
//! Unless the file holds everything, all effects are also kept in a second file, but only so that the simulator can report
//! which records a restart has lost; nothing of it comes back.
//!
//! Left out on purpose: reading and writing take no time, so a node is never seen loading.

use std::cell::RefMut;

use picklock_model::time::WallTime;
use picklock_model::trace::What;
use picklock_sim::disk::Disk;
use picklock_sim::host::Host;
use picklock_sim::own_thread::OwnThread;

use crate::server::aof::Log;
use crate::server::node::{Node, Upstream};
use crate::server::setup::Persistence;
use crate::server::snapshot;
use crate::server::store::{Effects, Store};
use crate::server::version::Version;

/// The file that a role is kept in when CONFIG REWRITE was asked for.
const CONFIG: &str = "redis.conf";

/// The file of snapshots.
const SNAPSHOT: &str = "dump.rdb";

/// The file in which a node of a cluster keeps what it knows of the others.
const NODES: &str = "nodes.conf";

/// After how many whole seconds a snapshot is due, if there were changes.
const SAVE_AFTER_S: i64 = 1;

/// A node's files.
pub(super) struct Journal {
    disk: Disk,
    persistence: Persistence,
    state: OwnThread<State>,
}

struct State {
    /// The append-only file, if the node has one.
    file: Option<Log>,
    /// All effects, if the file may lack some after a crash.
    truth: Option<Log>,
    /// True if the file was written to since it was synced.
    unsynced: bool,
    /// When it was synced last, in seconds of the wall clock.
    synced_s: i64,
    /// How many commands with effects there were since the last snapshot.
    changes: u64,
    /// When the last snapshot was made, in seconds of the wall clock.
    saved_s: i64,
}

/// The dataset at the start of a life, and what became of the records of the previous one.
pub(super) struct Restored {
    pub(super) store: Store,
    pub(super) events: Vec<What>,
    /// The moment of the replication stream that the dataset is, if it came from a snapshot.
    pub(super) stream: Option<snapshot::StreamAt>,
}

impl Journal {
    /// The files of a host. With `reports`, records that a restart loses are reported, for which all effects of a life are kept.
    pub(super) fn open(host: &Host, persistence: Persistence, reports: bool) -> Journal {
        let disk = host.disk();
        let appends = matches!(persistence, Persistence::Always | Persistence::EverySec);
        let file = appends.then(|| Log::new(disk.clone(), "appendonly.base.rdb", "appendonly.incr.aof"));
        let truth = (reports && persistence != Persistence::Always)
            .then(|| Log::new(disk.clone(), "base-of-this-life", "effects-of-this-life"));
        let now_s = seconds(host.wall());
        let state = State { file, truth, unsynced: false, synced_s: now_s, changes: 0, saved_s: now_s };
        Journal { disk, persistence, state: OwnThread::new(state) }
    }

    fn state(&self) -> RefMut<'_, State> {
        self.state.get()
    }

    /// Keeps the effects of a command that led to the present state of the node.
    pub(super) fn append(&self, effects: &Effects, node: &Node) {
        if effects
            .parts
            .iter()
            .zip(starts(effects))
            .all(|(part, start)| is_message(&effects.writes[start..part.end]))
        {
            // Messages are no data.
            return;
        }
        let mut state = self.state();
        let now_s = node.now_s();
        state.changes += 1;
        if let Some(truth) = &mut state.truth {
            truth.append(effects, node);
            truth.sync();
        }
        if let Some(file) = &mut state.file {
            file.append(effects, node);
            state.unsynced = true;
            state.sync_if(self.persistence == Persistence::Always, now_s);
        }
    }

    /// True if there is something to do on a tick.
    pub(super) fn needs_ticks(&self) -> bool {
        let state = self.state();
        state.unsynced || self.persistence == Persistence::Rdb && state.changes > 0
    }

    /// The regular work: a sync in every new second, a snapshot when its time has come.
    pub(super) fn tick(&self, node: &Node) {
        let mut state = self.state();
        let now_s = node.now_s();
        state.sync_if(false, now_s);
        if self.persistence == Persistence::Rdb && state.changes > 0 && now_s - state.saved_s > SAVE_AFTER_S {
            drop(state);
            self.save(node);
        }
    }

    /// Makes a snapshot.
    pub(super) fn save(&self, node: &Node) {
        self.disk.write(SNAPSHOT, &snapshot::of_node(node, false));
        self.disk.sync(SNAPSHOT);
        let mut state = self.state();
        state.changes = 0;
        state.saved_s = node.now_s();
    }

    /// Replaces all that there is by the node's present state, as after a full copy from a primary.
    pub(super) fn replace(&self, node: &Node) {
        let mut state = self.state();
        let State { file, truth, unsynced, .. } = &mut *state;
        for log in file.iter_mut().chain(truth) {
            log.rewrite(node);
        }
        *unsynced = false;
    }

    /// The dataset at the start of a life: of a primary, or of a replica, which leaves dead keys alone.
    pub(super) fn restore(&self, version: Version, now: WallTime, primary: bool) -> Restored {
        let state = self.state();
        let mut stream = None;
        let found = match &state.file {
            Some(file) => file.load(version, now),
            // A snapshot is loaded whoever wrote it, as Redis does without an append-only file.
            None => snapshot::load(&self.disk.read(SNAPSHOT), Store::blank(version, now), primary).ok().map(
                |copy| {
                    stream = copy.stream;
                    copy.store
                },
            ),
        };
        let mut found = found.unwrap_or_default();
        found.now = now;
        let events = match state.truth.as_ref().and_then(|truth| truth.load(version, now)) {
            Some(mut truth) => {
                let mut events = bury(&mut truth);
                bury(&mut found);
                truth.replace(found);
                events.append(&mut truth.effects.events);
                found = truth;
                found.effects = Effects::default();
                events
            }
            None if primary => bury(&mut found),
            None => Vec::new(),
        };
        Restored { store: found, events, stream }
    }

    /// Keeps what the node knows of its cluster over restarts.
    pub(super) fn keep_nodes(&self, file: &str) {
        self.disk.write(NODES, file.as_bytes());
        self.disk.sync(NODES);
    }

    /// What the node knew of its cluster; empty if it is new.
    pub(super) fn kept_nodes(disk: &Disk) -> String {
        String::from_utf8_lossy(&disk.read(NODES)).into_owned()
    }

    /// Keeps the role over restarts.
    pub(super) fn keep_role(&self, primary: Option<&Upstream>) {
        let line = primary.map_or_else(
            || "replicaof no one".to_owned(),
            |primary| format!("replicaof {} {}", primary.host, primary.port),
        );
        self.disk.write(CONFIG, line.as_bytes());
        self.disk.sync(CONFIG);
    }

    /// The role that was kept, if one was: the primary to follow, or none.
    pub(super) fn kept_role(&self) -> Option<Option<String>> {
        let bytes = self.disk.read(CONFIG);
        let text = String::from_utf8_lossy(&bytes);
        let primary = text.strip_prefix("replicaof ")?;
        Some((primary != "no one").then(|| primary.to_owned()))
    }
}

impl State {
    /// Syncs what was appended, at once or in the first second after the last sync.
    fn sync_if(&mut self, always: bool, now_s: i64) {
        if self.unsynced && (always || now_s > self.synced_s) {
            if let Some(file) = &self.file {
                file.sync();
            }
            self.unsynced = false;
            self.synced_s = now_s;
        }
    }
}

/// Deletes the keys that have died while nobody looked; the events of that.
fn bury(store: &mut Store) -> Vec<What> {
    store.expire_dead();
    std::mem::take(&mut store.effects).events
}

/// Where the commands of effects begin.
fn starts(effects: &Effects) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(effects.parts.iter().map(|part| part.end))
}

/// True for the bytes of PUBLISH and SPUBLISH.
fn is_message(bytes: &[u8]) -> bool {
    let names = [b"*3\r\n$7\r\nPUBLISH\r\n".as_slice(), b"*3\r\n$8\r\nSPUBLISH\r\n"];
    names.iter().any(|name| bytes.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

fn seconds(wall: WallTime) -> i64 {
    i64::try_from(wall.as_millis() / 1000).unwrap_or(i64::MAX)
}
