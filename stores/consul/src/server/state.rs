//! Keys, sessions and lock-delays, and what each change makes of them.
//!
//! *Source:* `agent/consul/state/{kvs,session,delay_oss}.go` of Consul.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::time::Monotonic;
use serde::{Deserialize, Serialize};

use crate::LOCK_DELAY_MAX;
use crate::api::{Pair, Session, encoded};

/// A change, as the log has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Command {
    /// A session begins.
    Create(Session),
    /// A session ends.
    Destroy { id: String },
    /// A key is set, whoever holds it.
    Set(Put),
    /// A key is set if its index is this one; 0: if it is not there.
    SetIf { put: Put, index: u64 },
    /// A session acquires a key.
    Lock { put: Put, session: String },
    /// A session releases a key.
    Unlock { put: Put, session: String },
    /// A key is deleted.
    Delete { key: String },
    /// A key is deleted if its index is this one.
    DeleteIf { key: String, index: u64 },
}

/// A key and what is put there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Put {
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
    pub(crate) flags: u64,
}

/// Another session holds a key than before, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) key: String,
    pub(crate) was_held: bool,
    pub(crate) is_held: bool,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    value: Vec<u8>,
    flags: u64,
    /// The session that holds it; empty if none does.
    session: String,
    lock_index: u64,
    create_index: u64,
    modify_index: u64,
}

/// The state of a server.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The index of the last change.
    index: u64,
    /// The index of the last change of any key.
    keys_index: u64,
    entries: BTreeMap<String, Entry>,
    sessions: BTreeMap<String, Session>,
    /// Until when nobody can acquire a key.
    delays: BTreeMap<String, Monotonic>,
    /// What the last change has moved.
    moved: Vec<Moved>,
}

impl State {
    /// Makes a change at this time. True unless a condition of it was not met.
    ///
    /// # Errors
    /// When it cannot be made, in Consul's words.
    pub(crate) fn apply(&mut self, now: Monotonic, command: &Command) -> Result<bool, String> {
        self.index += 1;
        self.moved.clear();
        match command {
            Command::Create(session) => {
                let (create_index, modify_index) = (self.index, self.index);
                let session = Session { create_index, modify_index, ..session.clone() };
                self.sessions.insert(session.id.clone(), session);
                Ok(true)
            }
            Command::Destroy { id } => {
                self.destroy(now, id);
                Ok(true)
            }
            Command::Set(put) => {
                let session = self.entries.get(&put.key).map(|entry| entry.session.clone());
                self.set(put, session.unwrap_or_default(), 0);
                Ok(true)
            }
            Command::SetIf { put, index } => {
                let found = self.entries.get(&put.key);
                if found.map_or(0, |entry| entry.modify_index) != *index {
                    return Ok(false);
                }
                let session = found.map(|entry| entry.session.clone());
                self.set(put, session.unwrap_or_default(), 0);
                Ok(true)
            }
            Command::Lock { put, session } => self.lock(put, session),
            Command::Unlock { put, session } => self.unlock(put, session),
            Command::Delete { key } => {
                self.delete(key);
                Ok(true)
            }
            Command::DeleteIf { key, index } => match self.entries.get(key) {
                Some(entry) if entry.modify_index != *index => Ok(false),
                _ => {
                    self.delete(key);
                    Ok(true)
                }
            },
        }
    }

    /// What the last change has moved.
    pub(crate) fn moved(&self) -> &[Moved] {
        &self.moved
    }

    fn lock(&mut self, put: &Put, session: &str) -> Result<bool, String> {
        if session.is_empty() {
            return Err("missing session".to_owned());
        }
        if !self.sessions.contains_key(session) {
            return Err(format!("invalid session {session:?}"));
        }
        let lock_index = match self.entries.get(&put.key) {
            None => 1,
            Some(entry) if entry.session == session => entry.lock_index,
            Some(entry) if entry.session.is_empty() => entry.lock_index + 1,
            Some(_) => return Ok(false),
        };
        self.set(put, session.to_owned(), lock_index);
        Ok(true)
    }

    fn unlock(&mut self, put: &Put, session: &str) -> Result<bool, String> {
        if session.is_empty() {
            return Err("missing session".to_owned());
        }
        let Some(entry) = self.entries.get(&put.key).filter(|entry| entry.session == session) else {
            return Ok(false);
        };
        self.set(put, String::new(), entry.lock_index);
        Ok(true)
    }

    /// Sets a key. One that stays as it is keeps its index.
    fn set(&mut self, put: &Put, session: String, lock_index: u64) {
        let existing = self.entries.get(&put.key);
        let create_index = existing.map_or(self.index, |entry| entry.create_index);
        let is_same = existing.is_some_and(|entry| {
            entry.value == put.value
                && entry.flags == put.flags
                && entry.session == session
                && entry.lock_index == lock_index
        });
        if is_same {
            return;
        }
        let before = existing.map(|entry| entry.session.clone()).unwrap_or_default();
        if before != session {
            let (was_held, is_held) = (!before.is_empty(), !session.is_empty());
            self.moved.push(Moved { key: put.key.clone(), was_held, is_held });
        }
        let (value, flags, modify_index) = (put.value.clone(), put.flags, self.index);
        let entry = Entry { value, flags, session, lock_index, create_index, modify_index };
        self.entries.insert(put.key.clone(), entry);
        self.keys_index = self.index;
    }

    fn delete(&mut self, key: &str) {
        let Some(entry) = self.entries.remove(key) else { return };
        if !entry.session.is_empty() {
            self.moved.push(Moved { key: key.to_owned(), was_held: true, is_held: false });
        }
        self.keys_index = self.index;
    }

    /// Ends a session: its keys are released or deleted, and nobody can acquire them for as long as its lock-delay.
    fn destroy(&mut self, now: Monotonic, id: &str) {
        let Some(session) = self.sessions.remove(id) else { return };
        let delay = Duration::from_nanos(session.lock_delay).min(LOCK_DELAY_MAX);
        for key in self.held_by(id) {
            if session.behavior == "delete" {
                self.delete(&key);
            } else if let Some(entry) = self.entries.get(&key) {
                let lock_index = entry.lock_index;
                let put = Put { key: key.clone(), value: entry.value.clone(), flags: entry.flags };
                self.set(&put, String::new(), lock_index);
            }
            if !delay.is_zero() {
                self.delays.insert(key, now + delay);
            }
        }
    }

    /// The keys that a session holds.
    pub(crate) fn held_by(&self, session: &str) -> Vec<String> {
        let held = self.entries.iter().filter(|(_, entry)| entry.session == session);
        held.map(|(key, _)| key.clone()).collect()
    }

    /// True if nobody can acquire a key at this time, because its last holder was lost.
    pub(crate) fn is_delayed(&self, key: &str, now: Monotonic) -> bool {
        self.delays.get(key).is_some_and(|until| *until > now)
    }

    /// A key, and the index of this answer.
    pub(crate) fn get(&self, key: &str) -> (u64, Option<Pair>) {
        match self.entries.get(key) {
            // No change has the index 1: it is that of nothing.
            None => (self.keys_index.max(1), None),
            Some(entry) => {
                let pair = Pair {
                    lock_index: entry.lock_index,
                    key: key.to_owned(),
                    flags: entry.flags,
                    value: encoded(&entry.value),
                    session: (!entry.session.is_empty()).then(|| entry.session.clone()),
                    create_index: entry.create_index,
                    modify_index: entry.modify_index,
                };
                (entry.modify_index, Some(pair))
            }
        }
    }

    pub(crate) fn value(&self, key: &str) -> Option<Vec<u8>> {
        self.entries.get(key).map(|entry| entry.value.clone())
    }

    pub(crate) fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The index of the last change.
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// Begins as a server that has been there before: the first change of a real one has about this index.
    pub(crate) fn new() -> State {
        State { index: 10, ..State::default() }
    }
}
