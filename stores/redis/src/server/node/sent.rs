//! A record of the commands that nodes have executed: the list of the scope (`scope.txt`) is held against it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::server::catalogue;

thread_local! {
    /// The commands that nodes of this thread have executed, while they are recorded.
    static SENT: RefCell<Option<BTreeSet<&'static str>>> = const { RefCell::new(None) };
}

/// Runs something on this thread, and returns the commands that its nodes have executed.
pub fn sent<T>(run: impl FnOnce() -> T) -> (T, BTreeSet<&'static str>) {
    SENT.set(Some(BTreeSet::new()));
    let made = run();
    (made, SENT.take().unwrap_or_default())
}

/// The counters of one command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) done: u32,
    /// Not executed.
    pub(crate) refused: u32,
    /// Answered with an error.
    pub(crate) failed: u32,
}

/// The counters of each command, by its place in the catalogue.
#[derive(Debug, Default)]
pub(crate) struct CallCounts(Vec<Calls>);

impl CallCounts {
    /// The counters of a command.
    pub(super) fn of(&mut self, nth: usize) -> &mut Calls {
        if self.0.len() <= nth {
            self.0.resize(catalogue::FACTS.len(), Calls::default());
        }
        &mut self.0[nth]
    }

    /// The commands and their counters.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Calls)> {
        catalogue::FACTS.iter().map(|fact| fact.name).zip(&self.0)
    }
}

/// A node that ends leaves its commands in the record.
impl Drop for CallCounts {
    fn drop(&mut self) {
        // A spare node of the thread may outlive the record.
        let _ = SENT.try_with(|sent| {
            if let Some(sent) = sent.borrow_mut().as_mut() {
                sent.extend(self.iter().filter(|(_, calls)| calls.done > 0).map(|(name, _)| name));
            }
        });
    }
}
