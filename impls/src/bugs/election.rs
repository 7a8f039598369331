//! The election of a leader by a row with the end of its term: as the bugs of elections have it.
//!
//! Each attempt is one transaction: a row whose term is over is deleted, and then a candidate inserts its own, or a leader extends it.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design};
use picklock_sim::lock::{Client, Grant, Lock, LockError};

use super::rows::{Rows, on_postgres};

/// An election, whose statements are about the row of name `$1`, by the owner `$2`. `LEASE` stands for the length of a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Election {
    /// The name that all candidates have, as processes of one host; each grant has one of its own if absent.
    pub(super) owner: Option<&'static str>,
    /// How often a leader extends a term before its end.
    pub(super) extensions: u32,
    pub(super) set_up: &'static str,
    pub(super) delete_over: &'static str,
    pub(super) elect: &'static str,
    pub(super) extend: &'static str,
    pub(super) resign: &'static str,
}

/// A design whose clients elect a leader like this.
pub(super) fn design(election: Election) -> Design {
    let client = move |context: Context| async move {
        let rows = Rows::new(&context, election.set_up)?;
        Ok(Client::lock(Candidate { rows, election }))
    };
    on_postgres(Design::new("", client)).renewing()
}

struct Candidate {
    rows: Rows,
    election: Election,
}

impl Candidate {
    /// Deletes a row whose term is over, and executes a statement: true if it has a row.
    async fn attempt(&self, statement: &str, key: &Key, owner: &str) -> Result<bool, LockError> {
        let statement = statement.replace("LEASE", &self.rows.lease());
        let rows = self.rows.transact(&[self.election.delete_over, &statement], key, owner).await?;
        Ok(!rows.is_empty())
    }
}

impl Lock for Candidate {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.election.owner.map_or_else(|| self.rows.host.rng().owner_id(), str::to_owned);
        let elected = self.attempt(self.election.elect, key, &owner).await?;
        Ok(elected.then(|| Grant::new(key, owner)))
    }

    fn checkpoint(&self) -> Option<Duration> {
        Some(self.rows.ttl / self.election.extensions)
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        self.attempt(self.election.extend, &grant.key, &grant.owner).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        match self.rows.transact(&[self.election.resign], &grant.key, &grant.owner).await?.is_empty() {
            false => Ok(()),
            true => Err(LockError::new("it leads no more")),
        }
    }
}
