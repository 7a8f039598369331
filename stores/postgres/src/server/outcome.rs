//! Transactions: their beginnings, their savepoints, their ends, and what others hear of these.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use picklock_model::trace::What;
use picklock_sim::host::Origin;

use crate::protocol::timestamp;
use crate::server::data::{Ended, Place, Row, Schema, Xid};
use crate::server::guarded::{Deed, advisory_key, event_of};
use crate::server::locks::{Scope, SessionId, Tag};
use crate::server::machine::{Machine, Now};
use crate::server::session::{Notification, Post, Transaction};
use crate::server::sql::Isolation;

impl Machine {
    /// The transaction of a session: the one under way, or a new one that ends with the query.
    pub(crate) fn transaction(&mut self, id: SessionId, now: Now) -> Option<&mut Transaction> {
        let session = self.sessions.get_mut(&id)?;
        Some(session.transaction.get_or_insert_with(|| {
            let top = self.heap.begin(None);
            self.owners.insert(top, id);
            Transaction {
                top,
                began: timestamp(now.wall.as_nanos()),
                block: false,
                failed: false,
                before: session.settled.clone(),
                isolation: session.settings.isolation,
                snapshot: None,
                looked: false,
                command: 0,
                savepoints: Vec::new(),
                reported: Vec::new(),
                posts: Vec::new(),
                wrote: false,
                logged: None,
                unawaited: false,
            }
        }))
    }

    /// Ends the transaction of a session, if there is one.
    pub(crate) fn end(&mut self, id: SessionId, commits: bool) {
        if commits {
            self.log_commit(id);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.snapshot = None;
        let Some(transaction) = session.transaction.take() else { return };
        let commits = commits && !transaction.failed;
        if !commits {
            session.settled = transaction.before;
        }
        session.settings = session.settled.clone();
        session.portals.clear();
        let (origin, top) = (session.origin, transaction.top);
        self.owners.remove(&top);
        if commits {
            let ended = self.heap.commit(top);
            self.publish(origin, ended);
        } else {
            self.heap.abort(top);
        }
        for (_, table, name) in transaction.reported {
            self.record(origin, &table, &name, &Deed::Unlocked);
        }
        self.over(id, &|scope| scope != Scope::Session);
        if commits {
            self.post(id, transaction.posts.into_iter().map(|(_, post)| post).collect());
        }
    }

    /// Lets others go on after the end of a transaction, or of a part of one, and gives back its locks.
    fn over(&mut self, id: SessionId, scope: &dyn Fn(Scope) -> bool) {
        let heap = &self.heap;
        self.waits.ended(|xid| heap.top(xid).is_none());
        let gone = self.waits.give_back_all(id, scope);
        self.unlocked(id, &gone);
        let seen = |session: &crate::server::session::Session| {
            let whole = session.transaction.as_ref().and_then(|transaction| transaction.snapshot);
            session.snapshot.into_iter().chain(whole).min()
        };
        let oldest = self.sessions.values().filter_map(seen).min();
        self.heap.vacuum(oldest);
    }

    /// Gives up what a failed transaction has made and locked since its last savepoint; one that was begun by BEGIN has to be
    /// ended all the same.
    pub(crate) fn abort(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(transaction) = session.transaction.as_mut().filter(|transaction| transaction.block) else {
            return self.end(id, false);
        };
        if transaction.failed {
            return;
        }
        transaction.failed = true;
        let xid = transaction.actor().xid;
        session.portals.clear();
        self.undo(id, xid);
    }

    /// Undoes a transaction, or a part of one, that is not over by that.
    fn undo(&mut self, id: SessionId, xid: Xid) {
        let gone = self.heap.abort(xid);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.snapshot = None;
        let origin = session.origin;
        let mut unlocked = Vec::new();
        if let Some(transaction) = &mut session.transaction {
            transaction.posts.retain(|(xid, _)| !gone.contains(xid));
            let (over, rest) = std::mem::take(&mut transaction.reported)
                .into_iter()
                .partition(|(xid, _, _)| gone.contains(xid));
            unlocked = over;
            transaction.reported = rest;
        }
        for (_, table, name) in unlocked {
            self.record(origin, &table, &name, &Deed::Unlocked);
        }
        self.over(id, &|scope| matches!(scope, Scope::Transaction(xid) if gone.contains(&xid)));
    }

    /// Begins a new part of the transaction.
    pub(crate) fn begin_part(&mut self, id: SessionId) -> Option<Xid> {
        let transaction = self.sessions.get(&id)?.transaction.as_ref()?;
        Some(self.heap.begin(Some(transaction.actor().xid)))
    }

    /// Undoes the part that began with a savepoint, and begins it anew.
    pub(crate) fn back_to(&mut self, id: SessionId, at: usize) {
        let Some(transaction) = self.sessions.get_mut(&id).and_then(|session| session.transaction.as_mut())
        else {
            return;
        };
        transaction.failed = false;
        let xid = transaction.savepoints[at].xid;
        let (name, settings, settled) = {
            let savepoint = &transaction.savepoints[at];
            (savepoint.name.clone(), savepoint.settings.clone(), savepoint.settled.clone())
        };
        transaction.savepoints.truncate(at);
        self.undo(id, xid);
        let Some(xid) = self.begin_part(id) else { return };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.settings = settings.clone();
            session.settled = settled.clone();
            if let Some(transaction) = &mut session.transaction {
                let savepoint = crate::server::session::Savepoint { name, xid, settings, settled };
                transaction.savepoints.push(savepoint);
            }
        }
    }

    /// The number of commits that the statements of a transaction see, if they all see the same.
    pub(crate) fn fix_snapshot(&mut self, id: SessionId) {
        let commits = self.heap.commits();
        let transaction = self.sessions.get_mut(&id).and_then(|session| session.transaction.as_mut());
        if let Some(transaction) = transaction {
            transaction.looked = true;
            if transaction.isolation != Isolation::ReadCommitted {
                transaction.snapshot.get_or_insert(commits);
            }
        }
    }

    /// Makes a commit known.
    pub(crate) fn publish(&mut self, origin: Origin, ended: Ended) {
        self.come_and_gone(origin, &ended);
        self.report_leases(origin, &ended);
        for (place, row, _) in ended.born.into_iter().filter(|(_, _, changed)| *changed) {
            self.record_row(origin, &place.table, &row);
        }
    }

    /// Reports which of the rows that are locks have come, and which are gone: one that was replaced is there all the time.
    fn come_and_gone(&mut self, origin: Origin, ended: &Ended) {
        let table = self.guarded.locks.clone();
        let Some(schema) = self.heap.catalogue.any_schema(&table) else { return };
        let name = |place: &Place, row| if *place.table == *table { schema.name_of(row) } else { None };
        let born: Vec<String> = ended.born.iter().filter_map(|(place, row, _)| name(place, row)).collect();
        let died: Vec<String> = ended.died.iter().filter_map(|(place, row)| name(place, row)).collect();
        for gone in died.iter().filter(|name| !born.contains(name)) {
            self.record(origin, &table, gone, &Deed::Deleted);
        }
        for come in born.iter().filter(|name| !died.contains(name)) {
            self.record(origin, &table, come, &Deed::Inserted);
        }
    }

    /// Reports the change of a row.
    fn record_row(&mut self, origin: Origin, table: &str, row: &Row) {
        let name = self.heap.catalogue.any_schema(table).and_then(|schema| schema.name_of(row));
        if let Some(name) = name {
            self.record(origin, table, &name, &Deed::Changed(row));
        }
    }

    pub(crate) fn record(&mut self, origin: Origin, table: &str, name: &str, deed: &Deed<'_>) {
        let Some(schema) = self.heap.catalogue.any_schema(table) else { return };
        if let Some(what) = event_of(&self.guarded, schema, name, deed) {
            self.effects.events.push((origin, what));
        }
    }

    /// Reports that a session has locked a row, unless it was reported before in this transaction.
    pub(crate) fn locked(&mut self, id: SessionId, schema: &Arc<Schema>, row: &Row) {
        let Some(name) = schema.name_of(row) else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let origin = session.origin;
        let Some(transaction) = &mut session.transaction else { return };
        let is_known = |(_, table, known): &(Xid, Arc<str>, String)| *table == schema.name && *known == name;
        if !transaction.reported.iter().any(is_known) {
            let xid = transaction.actor().xid;
            transaction.reported.push((xid, Arc::clone(&schema.name), name.clone()));
            self.record(origin, &schema.name, &name, &Deed::Locked);
        }
    }

    /// Reports that a session has taken an advisory lock alone.
    pub(crate) fn took(&mut self, id: SessionId, tag: Tag) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let origin = session.origin;
        if let Some(key) = advisory_key(&tag, &self.hashed)
            && let Entry::Vacant(place) = session.reported.entry(tag)
        {
            place.insert(key.clone());
            self.effects.events.push((origin, What::Created { key }));
        }
    }

    /// Reports that a session has these locks alone no more, as far as it was reported that it had them: it may have been
    /// given one and have ended before it went on.
    pub(crate) fn unlocked(&mut self, id: SessionId, tags: &[Tag]) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let origin = session.origin;
        // By the name that it had then: the text of its number may have become known since.
        for key in tags.iter().filter_map(|tag| session.reported.remove(tag)) {
            self.effects.events.push((origin, What::Deleted { key }));
        }
    }

    /// Carries out what a committed transaction wants of channels.
    fn post(&mut self, id: SessionId, posts: Vec<Post>) {
        let mut sent: Vec<Notification> = Vec::new();
        for post in posts {
            let Some(session) = self.sessions.get_mut(&id) else { return };
            match post {
                Post::Listen(channel) => drop(session.channels.insert(channel)),
                Post::Unlisten(Some(channel)) => drop(session.channels.remove(&channel)),
                Post::Unlisten(None) => session.channels.clear(),
                Post::Notify { channel, payload } => {
                    let notification = Notification { pid: session.pid, channel, payload };
                    // The same message is sent once.
                    if !sent.contains(&notification) {
                        sent.push(notification);
                    }
                }
            }
        }
        if sent.is_empty() {
            return;
        }
        let mut idle = Vec::new();
        for (other, session) in &mut self.sessions {
            // Who listens at all reads every message, and leaves out those of other channels only then.
            if !session.channels.is_empty() {
                session.notices.extend(sent.iter().cloned());
                if *other != id && session.is_idle() {
                    idle.push(*other);
                }
            }
        }
        for other in idle {
            self.deliver(other);
            self.flush(other);
        }
    }

    /// Sends a session what came on its channels.
    pub(crate) fn deliver(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            for Notification { pid, channel, payload } in std::mem::take(&mut session.notices) {
                if session.channels.contains(&channel) {
                    session.replies.notification(pid, &channel, &payload);
                }
            }
        }
    }
}
