//! The members of an ensemble, in the order in which a client tries them.

use std::time::Duration;

use picklock_sim::design::Context;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use picklock_sim::store::StoreAddress;

/// How long a client waits once it has tried all of them.
const ROUND: Duration = Duration::from_secs(1);

/// The members, and which of them is tried next.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    names: Vec<String>,
    /// The one that was tried last.
    current: Option<usize>,
    /// The one at which a round is over.
    last: Option<usize>,
}

impl Members {
    /// The members of a design's store, in an order that is drawn.
    ///
    /// # Errors
    /// When the design has none.
    pub(crate) fn of(context: &Context) -> Result<Members, LockError> {
        let names = match context.stores.first() {
            Some(StoreAddress::Host(name)) => vec![name.clone()],
            Some(StoreAddress::Ask(names) | StoreAddress::Among(names)) => names.clone(),
            None => Vec::new(),
        };
        if names.is_empty() {
            return Err(LockError::new("the design has no store"));
        }
        Ok(Members { names: shuffled(names, &context.host), current: None, last: None })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        self.names.len() as u32
    }

    /// The next one to try, and how long to wait before.
    pub(super) fn next(&mut self) -> (String, Duration) {
        let at = self.current.map_or(0, |current| (current + 1) % self.names.len());
        self.current = Some(at);
        let wait = if self.last == Some(at) { ROUND } else { Duration::ZERO };
        self.last = self.last.or(Some(0));
        (self.names[at].clone(), wait)
    }

    /// The one that was tried last is connected.
    pub(super) fn connected(&mut self) {
        self.last = self.current;
    }
}

fn shuffled(mut names: Vec<String>, host: &Host) -> Vec<String> {
    for left in (2..=names.len()).rev() {
        names.swap(left - 1, host.rng().below(left as u64) as usize);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(count: usize) -> Members {
        let names = (1..=count).map(|nth| format!("zk-{nth}")).collect();
        Members { names, current: None, last: None }
    }

    fn tried(members: &mut Members, times: usize) -> Vec<(String, u64)> {
        let tried = (0..times).map(|_| members.next());
        tried.map(|(name, wait)| (name, wait.as_secs())).collect()
    }

    fn named(tries: &[(&str, u64)]) -> Vec<(String, u64)> {
        tries.iter().map(|(name, wait)| ((*name).to_owned(), *wait)).collect()
    }

    #[test]
    fn a_client_waits_once_all_members_were_tried() {
        let mut three = members(3);
        assert_eq!(
            tried(&mut three, 5),
            named(&[("zk-1", 0), ("zk-2", 0), ("zk-3", 0), ("zk-1", 1), ("zk-2", 0)])
        );
        three.connected();
        assert_eq!(tried(&mut three, 3), named(&[("zk-3", 0), ("zk-1", 0), ("zk-2", 1)]));
    }

    #[test]
    fn a_client_of_a_lone_member_waits_before_each_further_try() {
        assert_eq!(tried(&mut members(1), 3), named(&[("zk-1", 0), ("zk-1", 1), ("zk-1", 1)]));
    }
}
