//! The outputs of a node: replies to the session whose command is executed, deliveries to all others.

use std::sync::Arc;

use super::delivery::{Delivery, Then};
use super::ids::SessionId;
use super::session::Answers;
use super::state::Node;
use crate::protocol::resp::{self, Reply};
use crate::server::store::Part;

impl Node {
    /// Sends bytes to a session: to the one whose command is executed with its reply, to others as a delivery.
    pub(crate) fn send(&mut self, session: SessionId, bytes: &[u8]) {
        if self.current == Some(session) {
            self.out.extend_from_slice(bytes);
        } else {
            self.deliver(session, bytes.into(), Then::Same);
        }
    }

    pub(crate) fn deliver(&mut self, session: SessionId, bytes: Arc<[u8]>, then: Then) {
        self.deliveries.push(Delivery { session, bytes, then });
    }

    /// The messages to other sessions since the last call, in order.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    /// Answers the command of the session that is executed, if it wants answers.
    pub(crate) fn reply(&mut self, id: SessionId, reply: &Reply) {
        let session = self.sessions.get(&id).expect("a session is used only while it is connected");
        if session.is_answered() {
            reply.encode(session.protocol, &mut self.out);
        }
    }

    /// The same for a reply in its last form.
    pub(crate) fn answer_raw(&mut self, id: SessionId, bytes: &[u8]) {
        if self.session(id).is_answered() {
            self.out.extend_from_slice(bytes);
        }
    }

    /// The command after CLIENT REPLY SKIP is not answered, the next one is.
    pub(crate) fn advance_answers(&mut self, id: SessionId) {
        let session = self.session_mut(id);
        session.answers = match session.answers {
            Answers::SkipNext => Answers::Skip,
            Answers::Skip => Answers::On,
            same => same,
        };
    }

    /// Executes for a session that is not the one whose command is executed, and delivers what it is answered.
    pub(crate) fn execute_for(&mut self, id: SessionId, run: impl FnOnce(&mut Node) -> Option<Then>) -> bool {
        let (current, out) = (self.current.replace(id), std::mem::take(&mut self.out));
        let from = self.store.effects.parts.len();
        let then = run(self);
        self.seal(from);
        let bytes = std::mem::replace(&mut self.out, out);
        self.current = current;
        if let Some(then) = then {
            self.deliver(id, bytes.into(), then);
        }
        then.is_some()
    }

    /// Makes a transaction of the effects since the one that began at this part, if there are several.
    pub(crate) fn seal(&mut self, from: usize) {
        let effects = &mut self.store.effects;
        if effects.parts.len() < from + 2 {
            return;
        }
        let begin = from.checked_sub(1).map_or(0, |before| effects.parts[before].end);
        let rest = effects.writes.split_off(begin);
        resp::request(&mut effects.writes, &[b"MULTI"]);
        let shift = effects.writes.len() - begin;
        let first = effects.parts[from].database;
        for part in &mut effects.parts[from..] {
            part.end += shift;
        }
        effects.parts.insert(from, Part { database: first, end: effects.writes.len() });
        effects.writes.extend_from_slice(&rest);
        let last = effects.parts.last().map_or(first, |part| part.database);
        resp::request(&mut effects.writes, &[b"EXEC"]);
        effects.parts.push(Part { database: last, end: effects.writes.len() });
    }

    /// Ends a connection: at once, or after the reply if it is the one whose command is executed.
    pub(crate) fn kill(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.leaving = true;
            if self.current != Some(id) {
                self.deliver(id, Arc::default(), Then::Close);
            }
        }
    }
}
