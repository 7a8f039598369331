//! A node on a host: what it keeps goes to the host's disk before what it says goes to the others, and what is committed is applied to the
//! state of the store.

mod files;
mod peers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::{Host, Origin};
use tokio::sync::{mpsc, oneshot};

use crate::bytes::framed;
use crate::entry::{Content, Entry, MemberId};
use crate::message::{Body, Message};
use crate::node::{NoLeader, Node, Outcome, Role, Rules, Silence};
use files::Files;
pub use files::Keeps;
use peers::{Notify, Parcel};

/// The state that the entries of a log change, alike on every member. It is the same after the same entries: it draws nothing, and reads
/// no clock to decide what an entry does.
pub trait State: Send + 'static {
    /// Applies an entry.
    fn apply(&mut self, host: &Host, applied: Applied<'_>);

    /// The member plays another part in this term.
    fn turns(&mut self, host: &Host, role: Role, term: u64);

    /// Goes on from this state after the entry of this place, which another member or an earlier life has saved.
    fn restore(&mut self, host: &Host, index: u64, state: &[u8]);

    /// The state as bytes.
    fn save(&self) -> Vec<u8>;

    /// The member follows another leader from now on, itself perhaps, or nobody that it knows of.
    fn follows(&mut self, host: &Host, leader: Option<MemberId>) {
        let _ = (host, leader);
    }

    /// What the member has to say to its leader, which has shown that it is there. Nothing is not sent.
    fn reports(&mut self, host: &Host) -> Vec<u8> {
        let _ = host;
        Vec::new()
    }

    /// Another member says something that the log does not hold.
    fn hears(&mut self, host: &Host, origin: Origin, from: MemberId, said: &[u8]) {
        let _ = (host, origin, from, said);
    }
}

/// An entry that is to be applied.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'e> {
    /// Its place in the log.
    pub index: u64,
    /// The term in which it was made.
    pub term: u64,
    /// The message that brought it about.
    pub origin: Origin,
    /// The change; none for an entry that concerns the log alone.
    pub data: Option<&'e [u8]>,
}

/// The times of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The span of a tick, in which a leader sends one heartbeat.
    pub tick: Duration,
    /// An election timeout, in ticks.
    pub election_ticks: u32,
    /// See [`Rules::asks_first`].
    pub asks_first: bool,
    /// See [`Rules::silence`].
    pub silence: Option<Silence>,
    /// What a loss of power leaves of a member's files.
    pub keeps: Keeps,
}

/// One member of a group.
pub struct Replica<S> {
    /// Its host.
    pub host: Host,
    /// The times of the group.
    pub timing: Timing,
    inner: Mutex<Inner<S>>,
}

struct Inner<S> {
    node: Node,
    state: S,
    files: Files,
    applied: u64,
    /// Who led when the state last heard of it.
    leader: Option<MemberId>,
    /// When the last tick was.
    ticked: Monotonic,
    peers: BTreeMap<MemberId, mpsc::Sender<Parcel>>,
    /// Reads that nobody has confirmed yet, by number.
    reads: BTreeMap<u64, oneshot::Sender<()>>,
    last_read: u64,
    /// Confirmed reads that wait until so much is applied.
    confirmed: Vec<(u64, oneshot::Sender<()>)>,
}

impl<S: State> Replica<S> {
    /// Starts the member of this number. `peers` are all members with their addresses on the port of members, itself included.
    ///
    /// It finds on its disk what it has kept in an earlier life. `first` is true for the member of a new group that is to be elected
    /// at once.
    pub fn start(
        host: &Host,
        id: MemberId,
        peers: &[(MemberId, String)],
        timing: Timing,
        (port, first): (u16, bool),
        mut state: S,
    ) -> Arc<Replica<S>> {
        let files = Files::new(host.disk(), timing.keeps);
        let stored = files.stored();
        let is_new = stored.vote.term == 0;
        if let Some(snapshot) = &stored.snapshot {
            state.restore(host, snapshot.index, &snapshot.state);
        }
        let applied = stored.snapshot.as_ref().map_or(0, |snapshot| snapshot.index);
        let members: BTreeSet<MemberId> = peers.iter().map(|(member, _)| *member).collect();
        let rules = Rules {
            election_ticks: timing.election_ticks,
            asks_first: timing.asks_first,
            silence: timing.silence,
        };
        let drawing = host.clone();
        let draw = Box::new(move |bound: u32| drawing.rng().below(u64::from(bound)) as u32);
        let mut node = Node::new(id, members, rules, stored, draw);
        let hurries = first && is_new;
        if hurries {
            node.hurry();
        }
        let (mut senders, mut queues) = (BTreeMap::new(), Vec::new());
        for (member, address) in peers.iter().filter(|(member, _)| *member != id) {
            let (sender, queue) = peers::queue();
            senders.insert(*member, sender);
            queues.push((*member, address.clone(), queue));
        }
        let inner = Inner {
            node,
            state,
            files,
            applied,
            leader: None,
            ticked: host.monotonic(),
            peers: senders,
            reads: BTreeMap::new(),
            last_read: 0,
            confirmed: Vec::new(),
        };
        let replica = Arc::new(Replica { host: host.clone(), timing, inner: Mutex::new(inner) });
        let patience = Duration::from_secs(1) + timing.tick * timing.election_ticks;
        let silence = timing.silence.map(|silence| timing.tick * silence.ticks);
        for (member, address, queue) in queues {
            let notify = replica.notify();
            host.spawn(peers::speak(
                host.clone(),
                (patience, silence),
                (member, address, port),
                queue,
                notify,
            ));
        }
        host.spawn(peers::listen(host.clone(), port, silence, replica.notify()));
        host.spawn(Arc::clone(&replica).keep_time(hurries));
        replica
    }

    /// Looks at the node and at the state, and may change the state in what no other member has.
    pub fn with<T>(&self, look: impl FnOnce(&Node, &mut S) -> T) -> T {
        let inner = &mut *self.inner();
        look(&inner.node, &mut inner.state)
    }

    /// Has a change appended to the log, in the service of a message.
    ///
    /// # Errors
    /// When nobody is known who leads. Otherwise it may still come to nothing.
    pub fn propose(&self, origin: Origin, data: Vec<u8>) -> Result<(), NoLeader> {
        self.act(origin, |node| node.propose(origin, data))
    }

    /// Has one member added or removed. True if the members are to be others than they were.
    ///
    /// # Errors
    /// When it does not lead, or cannot change them yet. Otherwise it may still come to nothing.
    pub fn change_members(&self, change: impl FnOnce(&mut BTreeSet<MemberId>)) -> Result<bool, NoLeader> {
        self.act(Origin::default(), |node| {
            let mut members = node.members().clone();
            change(&mut members);
            if members == *node.members() {
                return if node.role() == Role::Leader { Ok(false) } else { Err(NoLeader) };
            }
            node.propose_members(members).map(|()| true)
        })
    }

    /// Waits until everything is applied here that was committed when this was called.
    ///
    /// # Errors
    /// When nobody is known who leads. Without a majority it waits for ever.
    pub async fn read(&self, origin: Origin) -> Result<(), NoLeader> {
        let (done, outcome) = oneshot::channel();
        let number = {
            let inner = &mut *self.inner();
            inner.last_read += 1;
            // Nobody waits for these any more.
            inner.reads.retain(|_, waits| !waits.is_closed());
            inner.reads.insert(inner.last_read, done);
            inner.last_read
        };
        self.act(origin, |node| node.read(number))?;
        outcome.await.map_err(|_| NoLeader)
    }

    /// Saves the state and forgets the entries that it stands for.
    pub fn compact(&self) {
        let inner = &mut *self.inner();
        let state = inner.state.save();
        inner.node.compact(inner.applied, state);
        if let Some(snapshot) = inner.node.snapshot() {
            inner.files.replace(snapshot, inner.node.entries_from(snapshot.index + 1));
        }
    }

    /// True if the last three ticks did not come: the process stood still, or still does not run as it should.
    pub fn has_missed_ticks(&self) -> bool {
        let ticked = self.inner().ticked;
        self.host.monotonic().since(ticked) > 3 * self.timing.tick
    }

    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.inner.lock().expect("nothing panics while it holds the node")
    }

    /// Has the node do something in the service of a message, and does what comes of it.
    fn act<T>(&self, origin: Origin, act: impl FnOnce(&mut Node) -> T) -> T {
        let inner = &mut *self.inner();
        let result = act(&mut inner.node);
        let outcome = inner.node.take_outcome();
        inner.follow_up(&self.host, origin, outcome);
        result
    }

    /// What connections report to this member.
    fn notify(self: &Arc<Self>) -> Notify {
        let (taking, losing) = (Arc::clone(self), Arc::clone(self));
        Notify {
            take: Arc::new(move |origin, message| taking.take(origin, message)),
            lose: Arc::new(move |member| losing.act(Origin::default(), |node| node.lose(member))),
        }
    }

    /// Takes a message of another member.
    fn take(&self, origin: Origin, message: Message) {
        if message.to != self.inner().node.id() {
            return;
        }
        match message {
            Message { from, body: Body::Note { origin: of_sender, data }, .. } => {
                // The sender names the section, and the message that brought it here is the last one on the way.
                let origin = Origin { cause: origin.cause.or(of_sender.cause), ..of_sender };
                self.inner().state.hears(&self.host, origin, from, &data);
            }
            message => self.act(origin, |node| node.step(message)),
        }
    }

    /// Says something to another member that the log does not hold. It may come to nothing.
    pub fn say(&self, to: MemberId, origin: Origin, data: Vec<u8>) {
        self.inner().say(to, origin, data);
    }

    /// Ticks, from some time within the first tick on, as no two members start at once. Ticks that were missed, as in a pause, are one.
    async fn keep_time(self: Arc<Self>, hurries: bool) {
        if hurries {
            self.act(Origin::default(), Node::tick);
        }
        let tick = self.timing.tick.max(Duration::from_millis(1));
        self.host.sleep(self.host.rng().span(Duration::ZERO, tick)).await;
        let began = self.host.monotonic();
        loop {
            let passed = self.host.monotonic().since(began).as_nanos() / tick.as_nanos();
            self.host.sleep_until(began + tick * u32::try_from(passed + 1).unwrap_or(u32::MAX)).await;
            self.inner().ticked = self.host.monotonic();
            self.act(Origin::default(), Node::tick);
        }
    }
}

impl<S: State> Inner<S> {
    fn follow_up(&mut self, host: &Host, origin: Origin, outcome: Outcome) {
        if let Some(vote) = outcome.vote {
            self.files.keep_vote(vote);
        }
        if let Some(snapshot) = &outcome.installed {
            self.files.replace(snapshot, &[]);
            self.state.restore(host, snapshot.index, &snapshot.state);
            self.applied = snapshot.index;
        }
        if let Some(first) = outcome.changed_from {
            self.files.append(self.node.entries_from(first));
        }
        for message in outcome.messages {
            if let Some(peer) = self.peers.get(&message.to) {
                // Who does not listen misses it, and is sent it again.
                let _ = peer.try_send(Parcel { origin, bytes: framed(&message) });
            }
        }
        if let Some(role) = outcome.role {
            self.state.turns(host, role, self.node.term());
        }
        let leader = self.node.leader();
        if self.leader != leader {
            self.leader = leader;
            self.state.follows(host, leader);
        }
        if let Some(leader) = leader.filter(|_| outcome.heard) {
            let data = self.state.reports(host);
            if !data.is_empty() {
                self.say(leader, Origin::default(), data);
            }
        }
        for entry in outcome.committed {
            self.apply(host, &entry);
        }
        for (number, index) in outcome.readable {
            if let Some(done) = self.reads.remove(&number) {
                self.confirmed.push((index, done));
            }
        }
        for (_, done) in self.confirmed.extract_if(.., |(index, _)| *index <= self.applied) {
            // Who asked may be gone.
            let _ = done.send(());
        }
    }

    fn say(&self, to: MemberId, origin: Origin, data: Vec<u8>) {
        let (from, term) = (self.node.id(), self.node.term());
        let message = Message { from, to, term, body: Body::Note { origin, data } };
        if let Some(peer) = self.peers.get(&to) {
            // Who does not listen misses it.
            let _ = peer.try_send(Parcel { origin, bytes: framed(&message) });
        }
    }

    fn apply(&mut self, host: &Host, entry: &Entry) {
        self.applied = entry.index;
        let data = match &entry.content {
            Content::Data(data) => Some(data.as_slice()),
            _ => None,
        };
        let Entry { term, index, origin, .. } = *entry;
        self.state.apply(host, Applied { index, term, origin, data });
    }
}
