//! Redlock: a lock on a majority of independent stores.
//!
//! *Claim:* at most one holder while fewer than half of the stores fail, as long as clocks run at about the same rate.
//! *Weakness:* the holder must look at the validity that is left, and even then a pause between the look and the write
//! lets a stale write through. A store that restarts without its memory, or whose clock jumps, gives its vote
//! twice: with as many of them as two majorities may have in common, there are two holders.
//! *Source:* Salvatore Sanfilippo, "Distributed Locks with Redis", redis.io, as published:
//! stores one after another in their order, a timeout per store that is small against the lease, validity = lease -
//! elapsed - drift, release on all stores.
//!
//! `redlock` has honest holders; [`redlock-naive`](super::naive) is the same algorithm with others. A trusting
//! holder counts the whole lease from the last reply, as libraries did that forgot the time that asking took.
//!
//! With `renewal=on` the leases are extended in the background, as the published algorithm suggests under "extending the
//! lock": on every store that still keeps the value, and as long as a majority may. An honest holder gains nothing by it:
//! the deadline of its grant stands. Left out on purpose: asking the stores at once. `redlock-budget` is a variant with other
//! rules.

use std::time::Duration;

use picklock_model::ids::{Key, Token};
use picklock_sim::design::{Context, Design, Family, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param};
use picklock_sim::params;

use super::raised::raise_counter;
use crate::client::connection::Connection;
use crate::client::policy::{
    BELIEF_HONEST, CLOCK, DRIFT, FAILURE, Failure, NODE_TIMEOUT, Policy, RENEWAL, RETRY, Reading, TOKEN,
    TokenTaken,
};
use crate::client::renewal::Renew;
use crate::redis::common::{
    compare_and_delete, connect_if_possible, extend_if_owner, on_stores_renewed, set_and_count,
    set_if_absent, set_then_count,
};

/// The family of Redlock with honest holders.
pub(crate) static FAMILY: Family = Family {
    name: "redlock",
    claim: "a lock on a majority of independent stores, with honest holders: survives the loss of a minority",
    weakness: "a pause between the check and the write; stores that forget, or whose clocks jump",
    source: SOURCE,
    params: params![NODES, BELIEF_HONEST, CLOCK, DRIFT, RETRY, NODE_TIMEOUT, FAILURE, RENEWAL],
    build: |args| build(args, Rules::published(Tokens::None)),
};

/// Where the algorithm was published.
pub(crate) const SOURCE: &str = "Sanfilippo, Distributed Locks with Redis (redis.io), the Redlock algorithm";

/// The parameters of Redlock's fenced kin.
pub(crate) const FENCED: &[Param] =
    params![NODES, BELIEF_HONEST, CLOCK, DRIFT, RETRY, NODE_TIMEOUT, FAILURE, RENEWAL, TOKEN];

/// How many stores there are.
pub(crate) const NODES: Param<Count> =
    Param { name: "nodes", domain: Count(1, 15), default: "5", doc: "the number of independent stores" };

/// Where the fencing tokens come from, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// There are none.
    None,
    /// The highest counter of the stores that granted.
    Highest,
    /// The same, written back to a majority before the grant counts.
    WrittenBack,
}

/// The rules by which one design of the Redlock kind differs from another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Where tokens come from.
    pub(crate) tokens: Tokens,
    /// True: the stores share half of the lease as the time that asking them all may take. Otherwise each has the timeout
    /// of the policy.
    pub(crate) budgeted: bool,
    /// True: a grant whose validity is over when it is complete does not count.
    pub(crate) looks_at_validity: bool,
}

impl Rules {
    /// Those of the published algorithm.
    pub(crate) const fn published(tokens: Tokens) -> Rules {
        Rules { tokens, budgeted: false, looks_at_validity: true }
    }
}

/// A design of the Redlock kind.
pub(crate) fn build(args: &Args, rules: Rules) -> Design {
    let design = on_stores_renewed(args, nodes(args), move |context, policy| async move {
        Ok(Redlock::connect(context, policy, rules).await)
    });
    match rules.tokens {
        Tokens::None => design,
        Tokens::WrittenBack => design.fenced().persistent(),
        Tokens::Highest => design.fenced(),
    }
}

/// As many independent stores as the arguments say.
pub(crate) fn nodes(args: &Args) -> Topology {
    Topology::independent(u32::try_from(args.get(NODES)).expect("the domain ends at 15"))
}

/// A client.
pub(crate) struct Redlock {
    host: Host,
    ttl: Duration,
    nodes: Vec<Connection>,
    policy: Policy,
    rules: Rules,
}

/// The answer of one store to the request for the lock.
enum Vote<'a> {
    /// Yes, with its counter where tokens are wanted.
    Yes(&'a Connection, Option<Token>),
    /// No: somebody else has its vote.
    No,
    /// Nothing, or an error.
    Silent,
}

impl<'a> Vote<'a> {
    fn yes(&self) -> Option<(&'a Connection, Option<Token>)> {
        match *self {
            Vote::Yes(node, counter) => Some((node, counter)),
            Vote::No | Vote::Silent => None,
        }
    }
}

impl Redlock {
    pub(crate) async fn connect(context: Context, policy: Policy, rules: Rules) -> Redlock {
        let share = context.ttl / 2 / u32::try_from(context.stores.len()).unwrap_or(u32::MAX).max(1);
        let timeout = if rules.budgeted { share } else { policy.timeout(context.ttl) };
        let nodes: Vec<Connection> = context
            .stores
            .into_iter()
            .map(|address| Connection::new(&context.host, address, timeout))
            .collect();
        for node in &nodes {
            connect_if_possible(node).await;
        }
        Redlock { host: context.host, ttl: context.ttl, nodes, policy, rules }
    }

    /// The connections to the stores.
    pub(crate) fn nodes(&self) -> &[Connection] {
        &self.nodes
    }

    /// How many stores are a majority.
    pub(crate) fn quorum(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// Asks every store for its vote, one after another, until the budget is spent if there is one.
    async fn poll(&self, key: &Key, owner: &str, start: Reading) -> Vec<Vote<'_>> {
        let mut votes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let spent = self.rules.budgeted && self.policy.clock.read(&self.host) >= start.plus(self.ttl / 2);
            votes.push(if spent { Vote::Silent } else { self.ask(node, key, owner).await });
        }
        votes
    }

    async fn ask<'a>(&self, node: &'a Connection, key: &Key, owner: &str) -> Vote<'a> {
        let counted = |counter: Option<Token>| counter.map(Some);
        let answer = match (self.rules.tokens, self.policy.token) {
            (Tokens::None, _) => {
                set_if_absent(node, key, owner, self.ttl).await.map(|granted| granted.then_some(None))
            }
            (_, TokenTaken::WithGrant) => set_and_count(node, key, owner, self.ttl).await.map(counted),
            (_, TokenTaken::Afterwards) => set_then_count(node, key, owner, self.ttl).await.map(counted),
        };
        match answer {
            Ok(Some(counter)) => Vote::Yes(node, counter),
            Ok(None) => Vote::No,
            Err(_) => Vote::Silent,
        }
    }

    /// Makes a grant of the votes, if they are a majority and some validity is left.
    async fn elect(&self, key: &Key, owner: &str, start: Reading, votes: &[Vote<'_>]) -> Option<Grant> {
        let yes: Vec<(&Connection, Option<Token>)> = votes.iter().filter_map(Vote::yes).collect();
        if yes.len() < self.quorum() {
            return None;
        }
        let token = yes.iter().filter_map(|(_, counter)| *counter).max();
        if let (Tokens::WrittenBack, Some(token)) = (self.rules.tokens, token) {
            let mut raised = 0;
            for (node, _) in &yes {
                raised += usize::from(raise_counter(node, key, owner, token).await.unwrap_or(false));
            }
            if raised < self.quorum() {
                return None;
            }
        }
        // "Validity = lease - elapsed - drift is positive", without computing a difference: the end of the validity is
        // absolute, so that a pause after this line cannot move it.
        let valid_until = self.policy.lease_end(start, self.ttl);
        let now = self.policy.clock.read(&self.host);
        if self.rules.looks_at_validity && now >= valid_until {
            return None;
        }
        let deadline = if self.policy.belief == Belief::Trusting { now.plus(self.ttl) } else { valid_until };
        let mut grant = Grant::new(key, owner).with_deadline(deadline.deadline());
        grant.token = token;
        Some(grant)
    }

    /// Releases on every store, also on those that refused or did not answer: a request may have been executed although
    /// its reply was lost. Returns how many answered.
    pub(crate) async fn release_everywhere(&self, key: &Key, owner: &str) -> usize {
        let mut answered = 0;
        for node in &self.nodes {
            answered += usize::from(compare_and_delete(node, key, owner).await.is_ok());
        }
        answered
    }

    /// Extends on every store what it still keeps of this owner.
    pub(crate) async fn extend_everywhere(&self, key: &Key, owner: &str) -> Extended {
        let mut extended = Extended::default();
        for node in &self.nodes {
            match extend_if_owner(node, key, owner, self.ttl).await {
                Ok(true) => extended.yes += 1,
                Ok(false) => extended.gone += 1,
                Err(_) => {}
            }
        }
        extended
    }
}

/// How many stores extended a lease, and how many say that they do not keep it any more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extended {
    /// Those that extended it.
    pub(crate) yes: usize,
    /// Those that do not keep it.
    pub(crate) gone: usize,
}

impl Lock for Redlock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        // Before the first request: the stores begin to count the lease later than this, never earlier.
        let start = self.policy.clock.read(&self.host);
        let votes = self.poll(key, &owner, start).await;
        if let Some(grant) = self.elect(key, &owner, start, &votes).await {
            return Ok(Some(grant));
        }
        if self.policy.failure == Failure::Release {
            self.release_everywhere(key, &owner).await;
        }
        let answered = votes.iter().filter(|vote| !matches!(vote, Vote::Silent)).count();
        if answered < self.quorum() {
            return Err(too_few(answered, self.nodes.len()));
        }
        Ok(None)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let answered = self.release_everywhere(&grant.key, &grant.owner).await;
        if answered < self.quorum() {
            return Err(too_few(answered, self.nodes.len()));
        }
        Ok(())
    }
}

impl Renew for Redlock {
    /// Extends it wherever it is; lost when a majority cannot have it any more.
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        let extended = self.extend_everywhere(key, owner).await;
        Ok(extended.gone + self.quorum() <= self.nodes.len())
    }
}

fn too_few(answered: usize, nodes: usize) -> LockError {
    LockError::in_doubt(format!("only {answered} of {nodes} stores answered"))
}
