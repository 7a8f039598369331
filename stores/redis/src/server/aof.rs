//! The append-only file: a snapshot as its base, and the effects since then.
//!
//! The base has the RDB format, as with `aof-use-rdb-preamble`. Like Redis, the file is rewritten as a new base when it
//! has grown to twice its size, though from a few kilobytes on and not only from 64 MB, since a simulated dataset is
//! small. An end that a crash has torn is dropped, and with it a transaction that is not complete (`aof-load-truncated`).
//!
//! Left out on purpose: the manifest; the two parts have fixed names.

use picklock_model::time::WallTime;
use picklock_sim::disk::Disk;

use crate::protocol::resp::Requests;
use crate::server::execution::{Command, TABLE};
use crate::server::node::Node;
use crate::server::snapshot;
use crate::server::store::{Access, Effects, Store, database};
use crate::server::stream::Writer;
use crate::server::version::Version;

/// A file smaller than this is not rewritten, in bytes.
const REWRITE_MIN: usize = 4 * 1024;

/// An append-only file.
#[derive(Debug)]
pub(super) struct Log {
    disk: Disk,
    /// The names of its two parts.
    base: &'static str,
    increment: &'static str,
    writer: Writer,
    /// How long it is, and how long it may grow, in bytes.
    len: usize,
    len_max: usize,
}

impl Log {
    pub(super) fn new(disk: Disk, base: &'static str, increment: &'static str) -> Log {
        Log { disk, base, increment, writer: Writer::default(), len: 0, len_max: REWRITE_MIN }
    }

    /// Appends the effects of a command that led to the present state of the node.
    pub(super) fn append(&mut self, effects: &Effects, node: &Node) {
        let bytes = self.writer.write(effects);
        self.len += bytes.len();
        if self.len > self.len_max {
            self.rewrite(node);
        } else {
            self.disk.append(self.increment, &bytes);
        }
    }

    /// Makes what was appended survive a power loss.
    pub(super) fn sync(&self) {
        self.disk.sync(self.increment);
    }

    /// Replaces the file by a snapshot.
    pub(super) fn rewrite(&mut self, node: &Node) {
        let snapshot = snapshot::of_node(node, true);
        self.len = snapshot.len();
        self.len_max = REWRITE_MIN.max(2 * snapshot.len());
        self.writer = Writer::default();
        self.disk.write(self.base, &snapshot);
        self.disk.write(self.increment, b"");
        self.disk.sync(self.base);
        self.disk.sync(self.increment);
    }

    /// The dataset that the file makes; `None` if there is no file. Dead keys are in it.
    pub(super) fn load(&self, version: Version, now: WallTime) -> Option<Store> {
        let (base, increment) = (self.disk.read(self.base), self.disk.read(self.increment));
        if base.is_empty() && increment.is_empty() {
            return None;
        }
        // A base that cannot be read is no file of ours: what was written since then is all that there is.
        let blank = Store::blank(version, now);
        let mut store = snapshot::load(&base, blank, false)
            .map_or_else(|_| Store::blank(version, now), |copy| copy.store);
        replay(&mut store, &increment);
        Some(store)
    }
}

/// Executes effects as they stand in a file, up to the first that is not complete. Their events are not reported.
pub(crate) fn replay(store: &mut Store, bytes: &[u8]) {
    store.access = Access::Stream;
    let mut requests = Requests::default();
    requests.room().extend_from_slice(complete(bytes));
    while let Ok(Some(request)) = requests.take() {
        match TABLE.named(&request.args) {
            Some(Command { name: "select", .. }) => {
                store.selected = database(request.args[1]).unwrap_or(store.selected);
            }
            Some(command) => command.apply(store, &request.args),
            None => {}
        }
    }
    store.selected = 0;
    store.access = Access::Primary;
    store.effects = Effects::default();
    store.changes.clear();
}

/// The bytes without a transaction at their end that is not complete.
fn complete(bytes: &[u8]) -> &[u8] {
    let mut requests = Requests::default();
    requests.room().extend_from_slice(bytes);
    let (mut end, mut transaction) = (0, None);
    while let Ok(Some(request)) = requests.take() {
        if request.args[0].eq_ignore_ascii_case(b"MULTI") {
            transaction = Some(end);
        } else if request.args[0].eq_ignore_ascii_case(b"EXEC") {
            transaction = None;
        }
        end += request.raw.len();
    }
    &bytes[..transaction.unwrap_or(end)]
}
