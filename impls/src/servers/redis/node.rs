//! A node: it executes commands and touches nothing else, neither clock nor socket nor disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use picklock_sim::time::WallTime;
use picklock_sim::trace::What;

use super::commands::{self, Command, Run};
use super::lua::{Script, Sha};
use super::resp::{Protocol, Reply, Request};
use super::store::{Access, Effects, Store};

/// The state of a node.
#[derive(Debug, Default)]
pub struct Node {
    /// The dataset.
    pub(super) store: Store,
    /// The scripts that it was given.
    pub(super) scripts: BTreeMap<Sha, Arc<Script>>,
    /// The host name of the primary that it follows; `None` for a primary.
    primary: Option<String>,
    /// For a replica: true while it is in step with its primary.
    pub(super) linked: bool,
    /// How many bytes of effects there were so far, counted as the primary counts.
    offset: u64,
    /// The replicas that this node feeds.
    pub(super) replicas: Vec<FedReplica>,
    /// How many connections there were so far.
    sessions: u64,
}

/// A replica as its primary sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FedReplica {
    /// The session of its link.
    pub(super) session: u64,
    /// The name of its host.
    pub(super) name: String,
    /// The offset up to which it has applied the effects.
    pub(super) acked: u64,
}

/// What a node keeps of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Its number, from 1.
    pub id: u64,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The name that the client gave itself; empty if none.
    pub name: Vec<u8>,
    /// The offset of the effects of its last write.
    pub wrote: u64,
}

/// What executing one command came to, besides the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// What happened to the dataset.
    pub effects: Effects,
    /// What the server has to do now.
    pub next: Next,
}

/// What a server has to do after a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// Nothing special.
    #[default]
    Continue,
    /// Close the connection.
    Close,
    /// Reply when so many replicas have acknowledged what this connection wrote, or the time is up.
    Wait {
        /// How many replicas.
        replicas: usize,
        /// For how long, in milliseconds; 0 without limit.
        timeout_ms: u64,
    },
    /// Look at waiting connections again: a replica has acknowledged something.
    Acknowledged,
    /// Make the connection a replica's link, beginning with a full copy.
    Feed,
    /// Cut the replicas' links and follow the new primary, if there is one.
    RoleChanged,
    /// Write the role to disk.
    RewriteConfig,
}

/// What a command about the server answers with.
pub(super) struct Answer {
    /// The reply, if there is one now.
    pub(super) reply: Option<Reply>,
    /// What the server has to do.
    pub(super) next: Next,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer { reply: Some(reply), next: Next::Continue }
    }
}

impl Node {
    /// A node with this dataset: a primary, or a replica of the host named.
    #[must_use]
    pub fn new(store: Store, primary: Option<String>) -> Node {
        Node { store, primary, ..Node::default() }
    }

    /// The state of a new connection.
    pub fn session(&mut self) -> Session {
        self.sessions += 1;
        Session { id: self.sessions, ..Session::default() }
    }

    /// Executes a client's command when the wall clock shows `now`, and appends the reply to `reply`.
    pub fn execute(
        &mut self,
        now: WallTime,
        session: &mut Session,
        args: &[&[u8]],
        reply: &mut Vec<u8>,
    ) -> Outcome {
        self.store.now = now;
        self.store.access = if self.primary.is_some() { Access::Replica } else { Access::Primary };
        let answer = self.dispatch(session, args).unwrap_or_else(Answer::from);
        if let Some(answer) = answer.reply {
            answer.encode(session.protocol, reply);
        }
        let effects = self.take_effects();
        if !effects.writes.is_empty() {
            session.wrote = self.offset;
        }
        Outcome { effects, next: answer.next }
    }

    fn dispatch(&mut self, session: &mut Session, args: &[&[u8]]) -> Result<Answer, Reply> {
        let Some(name) = args.first() else { return Ok(Answer { reply: None, next: Next::Continue }) };
        let command = Command::find(name).ok_or_else(|| commands::unknown(args))?;
        if !command.takes(args.len()) {
            return Err(commands::wrong_arity(command.name));
        }
        if command.writes && self.store.access == Access::Replica {
            return Err(READ_ONLY);
        }
        match command.run {
            Run::Data(run) => run(&mut self.store, args).map(Answer::from),
            Run::Server(run) => run(self, session, args),
        }
    }

    /// Applies an effect that came from the primary, or from the append-only file. What is no effect is skipped.
    pub fn apply(&mut self, now: WallTime, request: &Request<'_>) -> Effects {
        self.store.apply(now, &request.args);
        self.offset += request.raw.len() as u64;
        let mut effects = std::mem::take(&mut self.store.effects);
        // Replicas of this replica must count the same bytes as the primary does.
        effects.writes = request.raw.to_vec();
        effects
    }

    /// Deletes the keys that are dead when the wall clock shows `now`. A replica leaves that to its primary.
    pub fn expire(&mut self, now: WallTime) -> Effects {
        if self.primary.is_none() {
            self.store.now = now;
            self.store.expire_dead();
        }
        self.take_effects()
    }

    /// True while it has to look for dead keys.
    #[must_use]
    pub fn may_expire(&self) -> bool {
        self.primary.is_none() && self.store.has_volatile()
    }

    /// Takes over a primary's full copy, which stands for all effects up to `offset`.
    pub fn resync(&mut self, copy: Store, offset: u64) -> Effects {
        self.store.replace(copy);
        self.offset = offset;
        self.linked = true;
        self.replicas.clear();
        std::mem::take(&mut self.store.effects)
    }

    /// The whole dataset as commands that make it.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.store.snapshot()
    }

    /// The host name of the primary that it follows; `None` for a primary.
    #[must_use]
    pub fn primary(&self) -> Option<&str> {
        self.primary.as_deref()
    }

    /// How many bytes of effects there were so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many replicas have acknowledged the effects up to `offset`.
    #[must_use]
    pub fn acknowledged(&self, offset: u64) -> usize {
        self.replicas.iter().filter(|replica| replica.acked >= offset).count()
    }

    /// Becomes a primary. False if it is one.
    pub(super) fn promote(&mut self) -> bool {
        let promoted = self.primary.take().is_some();
        if promoted {
            self.store.effects.events.push(What::Promoted);
            self.replicas.clear();
        }
        promoted
    }

    /// Becomes a replica of another host.
    pub(super) fn follow(&mut self, primary: String) {
        if self.primary.replace(primary).is_none() {
            self.store.effects.events.push(What::Demoted);
        }
        self.linked = false;
        self.replicas.clear();
    }

    fn take_effects(&mut self) -> Effects {
        let effects = std::mem::take(&mut self.store.effects);
        self.offset += effects.writes.len() as u64;
        effects
    }
}

impl Store {
    /// Applies an effect. What is no effect is skipped: a primary sends nothing else.
    pub fn apply(&mut self, now: WallTime, args: &[&[u8]]) {
        self.now = now;
        self.access = Access::Stream;
        let command =
            args.first().and_then(|name| Command::find(name)).filter(|command| command.takes(args.len()));
        if let Some(Command { writes: true, run: Run::Data(run), .. }) = command {
            // An effect's reply is of no interest: the primary's client got one.
            let _ = run(self, args);
        }
    }
}

/// The reply to a write on a replica.
pub(super) const READ_ONLY: Reply = Reply::error("READONLY You can't write against a read only replica.");
