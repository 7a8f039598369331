//! The stream of effects as one numbered history: its identifier, its offset, and the last part of it.
//!
//! Offsets count bytes. A history has a second identifier after a promotion: what its replicas saw under the old primary,
//! up to that offset, is the same history. A replica that asks for what follows an offset gets it when the history is
//! one of the two and the backlog still has the bytes.
//!
//! Source: `replication.c` of Redis 7.0 (`masterTryPartialResynchronization`, `shiftReplicationId`).

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use super::writer::Writer;
use crate::server::store::Effects;

/// How much of the stream is kept for replicas that come back: `repl-backlog-size`, in bytes.
pub(crate) const BACKLOG_SIZE: usize = 1024 * 1024;

/// The name of a history: 40 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplicationId([u8; 40]);

impl ReplicationId {
    /// The identifier of no history.
    pub(crate) const NONE: ReplicationId = ReplicationId([b'0'; 40]);

    /// Reads an identifier.
    pub(crate) fn parse(text: &[u8]) -> Option<ReplicationId> {
        text.try_into().ok().map(ReplicationId)
    }

    /// Its digits.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for ReplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for ReplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A history of effects, as the node that makes it or follows it keeps it.
#[derive(Debug)]
pub(crate) struct History {
    id: ReplicationId,
    /// The identifier that the history had up to this offset, which is the first that is not common.
    second: Option<(ReplicationId, u64)>,
    /// How many bytes there were.
    offset: u64,
    /// The last bytes; `None` until there is a replica: without one nothing is counted.
    backlog: Option<VecDeque<u8>>,
    /// The most bytes to keep.
    backlog_size: usize,
    writer: Writer,
}

impl History {
    /// A history without bytes.
    pub(crate) fn new(id: ReplicationId) -> History {
        History {
            id,
            second: None,
            offset: 0,
            backlog: None,
            backlog_size: BACKLOG_SIZE,
            writer: Writer::default(),
        }
    }

    /// Gives the history another name, as long as nobody knows it by the one that it has.
    pub(crate) fn rename(&mut self, id: ReplicationId) {
        self.id = id;
    }

    pub(crate) fn id(&self) -> ReplicationId {
        self.id
    }

    /// The identifier that replicas may also know it by, and the first offset that is not common.
    pub(crate) fn second(&self) -> Option<(ReplicationId, u64)> {
        self.second
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The database that the stream has selected.
    pub(crate) fn selected(&self) -> Option<usize> {
        self.writer.selected
    }

    /// The offset of the first byte that is kept, and how many are; `None` without a backlog.
    pub(crate) fn kept(&self) -> Option<(u64, usize)> {
        self.backlog.as_ref().map(|backlog| (self.offset + 1 - backlog.len() as u64, backlog.len()))
    }

    /// True if effects are counted.
    pub(crate) fn is_kept(&self) -> bool {
        self.backlog.is_some()
    }

    /// The most bytes of the stream that are kept.
    pub(crate) fn backlog_size(&self) -> usize {
        self.backlog_size
    }

    /// Sets how many bytes of the stream are kept.
    pub(crate) fn set_backlog_size(&mut self, size: usize) {
        self.backlog_size = size;
        self.trim();
    }

    /// Prepares for a full copy: what follows it says its database anew. The first replica begins a new history, since
    /// nothing was counted before.
    pub(crate) fn begin_copy(&mut self, fresh: impl FnOnce() -> ReplicationId) {
        self.writer.selected = None;
        if self.backlog.is_none() {
            self.id = fresh();
            self.second = None;
            self.backlog = Some(VecDeque::new());
        }
    }

    /// Writes the effects of one command into the stream, and returns what was written.
    pub(crate) fn write<'a>(&mut self, effects: &'a Effects) -> Cow<'a, [u8]> {
        let out = self.writer.write(effects);
        self.append(&out);
        out
    }

    /// Counts and keeps bytes of the stream.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        if let Some(backlog) = &mut self.backlog {
            self.offset += bytes.len() as u64;
            backlog.extend(bytes);
            self.trim();
        }
    }

    fn trim(&mut self) {
        if let Some(backlog) = &mut self.backlog
            && backlog.len() > self.backlog_size
        {
            backlog.drain(..backlog.len() - self.backlog_size);
        }
    }

    /// The stream from byte number `from` on, counted from 1, for a replica that followed the history `id`;
    /// `None` if only a full copy helps.
    pub(crate) fn since(&self, id: &[u8], from: u64) -> Option<Vec<u8>> {
        let known = self.id.is(id) || self.second.is_some_and(|(second, end)| second.is(id) && from <= end);
        let backlog = self.backlog.as_ref().filter(|_| known)?;
        let first = self.offset + 1 - backlog.len() as u64;
        let skipped = usize::try_from(from.checked_sub(first)?).ok()?;
        (skipped <= backlog.len()).then(|| backlog.range(skipped..).copied().collect())
    }

    /// Goes on under a new identifier, as a promoted replica does; the old one stays known.
    pub(crate) fn shift(&mut self, id: ReplicationId) {
        // The offset is the first that is not common: a replica with all of the old history may come back.
        self.second = Some((self.id, self.offset + 1));
        self.id = id;
        self.writer.selected = None;
    }

    /// Becomes the history of a primary whose full copy was taken over.
    pub(crate) fn adopt(&mut self, id: ReplicationId, offset: u64) {
        self.id = id;
        self.second = None;
        self.offset = offset;
        self.backlog = Some(VecDeque::new());
        self.writer.selected = None;
    }

    /// Continues the stream of a primary that had what this node lacked. True if the history has a new name: this
    /// node's own replicas have to learn it.
    pub(crate) fn resume(&mut self, id: Option<ReplicationId>) -> bool {
        self.backlog.get_or_insert_default();
        match id {
            Some(id) if id != self.id => {
                self.second = Some((self.id, self.offset + 1));
                self.id = id;
                true
            }
            _ => false,
        }
    }

    /// Takes up a history from a snapshot on disk: as a replica under its own name, as a primary under a new one.
    pub(crate) fn restore(&mut self, id: ReplicationId, offset: u64, primary: bool) {
        self.offset = offset;
        self.backlog = Some(VecDeque::new());
        if primary {
            self.second = Some((id, offset + 1));
        } else {
            self.id = id;
        }
    }

    /// Forgets the backlog and the name, as a primary without replicas does in the end.
    pub(crate) fn forget(&mut self, id: ReplicationId) {
        self.id = id;
        self.second = None;
        self.backlog = None;
    }
}

impl ReplicationId {
    fn is(&self, text: &[u8]) -> bool {
        self.0.eq_ignore_ascii_case(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ReplicationId = ReplicationId([b'a'; 40]);
    const B: ReplicationId = ReplicationId([b'b'; 40]);
    const C: ReplicationId = ReplicationId([b'c'; 40]);

    fn followed() -> History {
        let mut history = History::new(A);
        history.begin_copy(|| B);
        history
    }

    #[test]
    fn nothing_is_counted_before_the_first_replica() {
        let mut history = History::new(A);
        history.append(b"1234");
        assert_eq!((history.offset(), history.kept()), (0, None));
        history.begin_copy(|| B);
        assert_eq!((history.id(), history.kept()), (B, Some((1, 0))));
        history.append(b"1234");
        history.begin_copy(|| C);
        assert_eq!((history.id(), history.offset(), history.kept()), (B, 4, Some((1, 4))));
    }

    #[test]
    fn a_replica_goes_on_where_the_backlog_reaches() {
        let mut history = followed();
        history.set_backlog_size(4);
        history.append(b"123456");
        assert_eq!(history.since(B.as_bytes(), 3), Some(b"3456".to_vec()));
        assert_eq!(history.since(B.as_bytes(), 7), Some(Vec::new()));
        assert_eq!(history.since(B.as_bytes(), 2), None, "too old");
        assert_eq!(history.since(B.as_bytes(), 8), None, "from the future");
        assert_eq!(history.since(A.as_bytes(), 7), None, "another history");
        assert_eq!(history.since(b"?", 0), None);
    }

    #[test]
    fn after_a_promotion_the_common_part_is_still_known() {
        let mut history = followed();
        history.append(b"1234");
        history.shift(C);
        history.append(b"5678");
        assert_eq!(history.since(B.as_bytes(), 4), Some(b"45678".to_vec()));
        assert_eq!(history.since(B.as_bytes(), 5), Some(b"5678".to_vec()));
        assert_eq!(history.since(B.as_bytes(), 6), None, "the old primary went on by itself");
        assert_eq!(history.since(C.as_bytes(), 6), Some(b"678".to_vec()));
    }

    #[test]
    fn a_history_goes_on_under_the_name_that_its_primary_has_now() {
        let mut history = followed();
        history.append(b"1234");
        assert!(!history.resume(Some(B)));
        assert!(history.resume(Some(C)));
        assert_eq!((history.id(), history.second(), history.offset()), (C, Some((B, 5)), 4));
    }
}
