//! Nodes of a cluster without a world: what they make of each other's messages, links that break, and lives that end.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::seed::{Seed, Stream};
use proptest::prelude::*;

use super::{Act, BusLink, Cluster, Local, Message, NodeId, Place, Settings, Slots};

const TIMEOUT: i64 = 1_000;
const SHARDS: u32 = 3;

/// Something that happens to a node at a moment.
#[derive(Clone, Debug)]
enum Event {
    Connected { node: usize, link: BusLink, to: usize },
    Bytes { node: usize, link: BusLink, bytes: Vec<u8> },
    Lost { node: usize, link: BusLink },
}

impl Event {
    /// The node that it happens to.
    fn node(&self) -> usize {
        match self {
            Event::Connected { node, .. } | Event::Bytes { node, .. } | Event::Lost { node, .. } => *node,
        }
    }
}

/// Three primaries, then a replica of each.
pub(super) struct Net {
    pub(super) now: i64,
    timeout: i64,
    nodes: Vec<Option<Cluster>>,
    files: Vec<String>,
    ids: Vec<NodeId>,
    /// The other end of each link.
    ends: BTreeMap<(usize, BusLink), (usize, BusLink)>,
    pub(super) cut: BTreeSet<(usize, usize)>,
    /// Those that stand still: what comes to them waits, and their links stay.
    pub(super) stopped: BTreeSet<usize>,
    held: Vec<Event>,
    queue: BTreeMap<(i64, u64), Event>,
    events: u64,
    random: Stream,
    /// When each node became a primary, by its promotions.
    pub(super) promoted: Vec<(i64, usize)>,
}

fn settings(node_timeout: i64) -> Settings {
    Settings { node_timeout, ..Settings::default() }
}

fn place(node: usize) -> Place {
    let host = format!("host-{node}");
    Place { address: host.clone(), host, port: 6379 }
}

impl Net {
    fn new(seed: u64) -> Net {
        Net::of(seed, TIMEOUT)
    }

    pub(super) fn of(seed: u64, timeout: i64) -> Net {
        let ids: Vec<NodeId> = (0..6).map(|node| NodeId::of(&format!("host-{node}"))).collect();
        let nodes = (0..6).map(|node| {
            let all = (0..6).map(|other: usize| {
                let shard = u32::try_from(other).unwrap() % SHARDS;
                let primary = (other >= 3).then(|| ids[other - 3]);
                let slots = if other < 3 { Slots::share(shard, SHARDS) } else { Slots::default() };
                (ids[other], place(other), primary, slots)
            });
            Some(Cluster::new(ids[node], all.collect(), settings(timeout), Seed(seed * 100 + node as u64)))
        });
        Net {
            now: 1_000_000,
            timeout,
            nodes: nodes.collect(),
            files: vec![String::new(); 6],
            ids,
            ends: BTreeMap::new(),
            cut: BTreeSet::new(),
            stopped: BTreeSet::new(),
            held: Vec::new(),
            queue: BTreeMap::new(),
            events: 0,
            random: Seed(seed).stream("net"),
            promoted: Vec::new(),
        }
    }

    fn schedule(&mut self, event: Event) {
        let delay = 1 + self.random.below(3).cast_signed();
        self.events += 1;
        self.queue.insert((self.now + delay, self.events), event);
    }

    /// Has a node do something, and takes up what comes of it.
    fn with(&mut self, node: usize, does: impl FnOnce(&mut Cluster)) {
        let now = self.now;
        let Some(cluster) = self.nodes[node].as_mut() else { return };
        cluster.at(Local { now, offset: 1, data_age: 0 });
        does(cluster);
        cluster.before_sleep();
        if cluster.take_dirty() {
            self.files[node] = cluster.file();
        }
        for act in cluster.take_acts() {
            match act {
                Act::Connect { link, host } => {
                    let to: usize = host.trim_start_matches("host-").parse().unwrap();
                    self.schedule(Event::Connected { node, link, to });
                }
                Act::Send { link, bytes } => {
                    if let Some(&(to, link)) = self.ends.get(&(node, link))
                        && !self.cut.contains(&(node, to))
                    {
                        self.schedule(Event::Bytes { node: to, link, bytes });
                    }
                }
                Act::Close { link } => self.close(node, link),
                Act::Promote => self.promoted.push((now, node)),
                _ => {}
            }
        }
    }

    fn close(&mut self, node: usize, link: BusLink) {
        if let Some((to, other)) = self.ends.remove(&(node, link)) {
            self.ends.remove(&(to, other));
            self.schedule(Event::Lost { node: to, link: other });
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Connected { node, link, to } => {
                if self.cut.contains(&(node, to)) {
                    // The other side does not answer: the node gives the link up by itself.
                    return;
                }
                if self.nodes[to].is_none() {
                    return self.with(node, |cluster| cluster.lost(link));
                }
                let mut other = BusLink(0);
                self.with(to, |cluster| other = cluster.accepted());
                self.ends.insert((node, link), (to, other));
                self.ends.insert((to, other), (node, link));
                self.with(node, |cluster| cluster.connected(link));
            }
            Event::Bytes { node, link, bytes } => {
                let (message, _) = Message::decode(&bytes).unwrap().unwrap();
                self.with(node, |cluster| cluster.receive(link, message));
            }
            Event::Lost { node, link } => self.with(node, |cluster| cluster.lost(link)),
        }
        self.check();
    }

    /// Lets so much time pass.
    pub(super) fn run(&mut self, ms: i64) {
        let end = self.now + ms;
        while self.now < end {
            while let Some((&(at, nth), _)) = self.queue.first_key_value()
                && at <= self.now
            {
                let event = self.queue.remove(&(at, nth)).unwrap();
                if self.stopped.contains(&event.node()) {
                    self.held.push(event);
                } else {
                    self.handle(event);
                }
            }
            for node in (0..6).filter(|node| !self.stopped.contains(node)).collect::<Vec<_>>() {
                // Their beats are at different points of the period.
                if (self.now + 17 * node as i64) % 101 == 0 {
                    self.with(node, Cluster::beat);
                    self.check();
                }
            }
            self.now += 1;
        }
    }

    /// Has all go on that stand still, with what has come meanwhile.
    pub(super) fn go_on(&mut self) {
        self.stopped.clear();
        for event in std::mem::take(&mut self.held) {
            self.schedule(event);
        }
    }

    pub(super) fn kill(&mut self, node: usize) {
        self.nodes[node] = None;
        let links: Vec<BusLink> =
            self.ends.keys().filter(|(of, _)| *of == node).map(|(_, link)| *link).collect();
        links.into_iter().for_each(|link| self.close(node, link));
        self.queue.retain(|_, event| match event {
            Event::Connected { node: of, .. }
            | Event::Bytes { node: of, .. }
            | Event::Lost { node: of, .. } => *of != node,
        });
    }

    pub(super) fn revive(&mut self, node: usize) {
        if self.nodes[node].is_none() {
            let places: Vec<_> = (0..6).map(|node| (self.ids[node], place(node))).collect();
            let seed = Seed(self.random.next_u64());
            let settings = settings(self.timeout);
            self.nodes[node] = Cluster::restore(&self.files[node], self.ids[node], &places, settings, seed);
            assert!(self.nodes[node].is_some(), "its file names the node");
        }
    }

    pub(super) fn cut_off(&mut self, side: &[usize]) {
        for node in 0..6 {
            for other in 0..6 {
                if side.contains(&node) != side.contains(&other) {
                    self.cut.insert((node, other));
                }
            }
        }
    }

    pub(super) fn node(&self, node: usize) -> &Cluster {
        self.nodes[node].as_ref().unwrap()
    }

    /// No two nodes are primaries of one slot under one epoch.
    fn check(&self) {
        for (a, one) in self.nodes.iter().enumerate() {
            for (b, other) in self.nodes.iter().enumerate().skip(a + 1) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                let (x, y) = (one.myself(), other.myself());
                if x.is_replica || y.is_replica || x.config_epoch != y.config_epoch {
                    continue;
                }
                let both = x.slots.iter().find(|slot| y.slots.contains(*slot));
                assert_eq!(both, None, "{a} and {b} serve a slot under epoch {}", x.config_epoch);
            }
        }
    }
}

#[test]
fn nodes_that_reach_each_other_stay_as_they_are() {
    let mut net = Net::new(1);
    net.run(20_000);
    assert_eq!(net.promoted, []);
    for node in 0..6 {
        let cluster = net.node(node);
        assert!(cluster.is_up && cluster.current_epoch == 6 && cluster.size == 3);
        assert!(cluster.peers.values().all(|peer| !peer.is_suspected && !peer.is_failed));
    }
}

#[test]
fn a_replica_takes_the_place_of_a_primary_that_is_lost_and_the_old_one_follows_it() {
    for seed in 1..=20 {
        let mut net = Net::new(seed);
        net.run(5_000);
        let killed = net.now;
        net.kill(0);
        net.run(6_000);
        let [(at, 3)] = net.promoted[..] else { panic!("{:?}", net.promoted) };
        // Suspected after one to one and a half timeouts; gossip; a delay of half a second to a second.
        let after = at - killed;
        assert!((1_500..3_700).contains(&after), "seed {seed}: after {after} ms");
        assert_eq!(net.node(3).myself().config_epoch, 7);
        assert_eq!(net.node(3).myself().slots, Slots::share(0, SHARDS));
        net.revive(0);
        assert!(!net.node(0).is_up, "it takes nothing yet");
        net.run(1_000);
        assert!(net.node(0).is_replica(), "it has heard of the newer epoch");
        assert_eq!(net.node(0).myself().primary, Some(net.ids[3]));
        net.run(2_000);
        assert!((0..6).all(|node| net.node(node).is_up));
    }
}

#[test]
fn a_primary_that_restarts_before_a_vote_refuses_for_two_seconds() {
    let mut net = Net::new(3);
    net.run(5_000);
    net.kill(0);
    net.run(200);
    net.revive(0);
    net.run(1_900);
    assert!(!net.node(0).is_up);
    net.run(300);
    assert!(net.node(0).is_up && !net.node(0).is_replica());
    assert_eq!(net.promoted, []);
}

#[test]
fn a_primary_in_the_minority_stops_after_one_to_one_and_a_half_node_timeouts() {
    for seed in 1..=20 {
        let mut net = Net::new(seed);
        net.run(5_000 + seed.cast_signed() * 37);
        net.cut_off(&[0]);
        let began = net.now;
        while net.node(0).is_up {
            net.run(10);
            assert!(net.now - began < 3_000);
        }
        let after = net.now - began;
        assert!((TIMEOUT..=TIMEOUT * 3 / 2 + 150).contains(&after), "seed {seed}: after {after} ms");
        net.run(5_000);
        assert_eq!(net.promoted.iter().map(|(_, node)| *node).collect::<Vec<_>>(), [3]);
        net.cut.clear();
        net.run(3_000);
        assert!(net.node(0).is_replica());
    }
}

#[test]
fn without_a_majority_of_primaries_nobody_is_promoted() {
    let mut net = Net::new(1);
    net.run(3_000);
    net.kill(0);
    net.kill(1);
    net.run(20_000);
    assert_eq!(net.promoted, []);
    assert!(!net.node(2).is_up);
}

#[test]
fn a_replica_takes_over_by_hand_once_it_has_everything() {
    let mut net = Net::new(1);
    net.run(3_000);
    let began = net.now;
    net.with(3, |cluster| cluster.begin_manual(false, false));
    net.run(1_000);
    let [(at, 3)] = net.promoted[..] else { panic!("{:?}", net.promoted) };
    assert!(at - began < 300, "without the delay of an election");
    assert!(net.node(0).is_replica());
    net.with(0, |cluster| cluster.begin_manual(true, true));
    net.run(1_000);
    assert!(net.node(3).is_replica() && !net.node(0).is_replica(), "taken over without a vote");
}

#[test]
fn what_a_node_keeps_is_what_it_knew() {
    let mut net = Net::new(1);
    net.with(0, |cluster| {
        cluster.migrating.insert(7, net_id(1));
        cluster.assign(16_000, Some(net_id(1)));
        cluster.was_changed();
    });
    net.run(3_000);
    net.with(0, Cluster::save);
    let before = net.node(0).file();
    net.kill(0);
    net.revive(0);
    let strip = |text: &str| -> Vec<String> {
        // Times and links are not kept.
        let words = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            if words[0] == "vars" {
                words.join(" ")
            } else {
                [&words[..4], &words[6..7], &words[8..]].concat().join(" ")
            }
        };
        text.lines().map(words).collect()
    };
    assert_eq!(strip(&net.node(0).file()), strip(&before));
}

fn net_id(node: usize) -> NodeId {
    NodeId::of(&format!("host-{node}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_two_nodes_serve_a_slot_under_one_epoch(seed in 1_u64..1_000_000, steps in prop::collection::vec((0_u8..8, 0_usize..6, 0_usize..6, 100_i64..3_000), 1..14)) {
        let mut net = Net::new(seed);
        net.run(1_500);
        for (what, node, other, ms) in steps {
            match what {
                0 => net.kill(node),
                1 | 2 => net.revive(node),
                3 => net.cut_off(&[node]),
                4 => net.cut_off(&[node, other]),
                5 => net.cut.clear(),
                6 => net.with(node, |cluster| if cluster.is_replica() { cluster.begin_manual(ms % 2 == 0, false) }),
                _ => _ = net.cut.insert((node, other)),
            }
            net.run(ms);
        }
        net.cut.clear();
        (0..6).for_each(|node| net.revive(node));
        net.run(15_000);
        // In the end each slot has one primary, and all agree on it.
        let serving: usize = (0..6).map(|node| net.node(node).myself()).filter(|me| !me.is_replica).map(|me| me.slots.len()).sum();
        prop_assert_eq!(serving, 16_384);
        for node in 1..6 {
            for slot in [0, 6_000, 12_000] {
                prop_assert_eq!(net.node(node).owner(slot), net.node(0).owner(slot));
            }
        }
    }
}

#[test]
fn a_node_that_was_reset_is_met_again_and_takes_back_its_slots() {
    let mut net = Net::new(5);
    net.run(5_000);
    net.with(2, |cluster| cluster.reset(true));
    net.with(5, |cluster| cluster.reset(false));
    for node in [2, 5] {
        let cluster = net.node(node);
        assert!(!cluster.is_replica() && cluster.peers.len() == 1 && cluster.myself().slots.is_empty());
    }
    for forgotten in [2, 5] {
        let id = net.ids[forgotten];
        [0, 1, 3, 4].into_iter().for_each(|node| net.with(node, |cluster| cluster.forget(id)));
    }
    net.run(3_000);
    assert!(!net.node(2).is_up && net.node(0).peers.len() == 4, "hearsay does not bring it back");
    net.with(2, |cluster| {
        Slots::share(2, SHARDS).iter().for_each(|slot| cluster.assign(slot, Some(cluster.me)));
        assert!(
            cluster.meet("host-0", 6379) && cluster.meet("10.0.0.1", 6379) && !cluster.meet("nobody", 6379)
        );
    });
    net.with(5, |cluster| assert!(cluster.meet("host-2", 6379)));
    net.run(5_000);
    assert!(net.node(0).peers.len() == 5 && net.node(2).peers.len() == 6, "who forgot it waits for a minute");
    net.run(60_000);
    for node in 0..6 {
        assert_eq!(net.node(node).peers.len(), 6, "{node}");
        assert!(net.node(node).is_up, "{node}");
    }
}

#[test]
fn a_reset_sends_those_away_who_listen_at_a_primary() {
    let mut net = Net::new(6);
    net.run(5_000);
    for (node, sends_away) in [(2, Slots::share(2, SHARDS).len()), (5, 0)] {
        let cluster = net.nodes[node].as_mut().unwrap();
        cluster.reset(false);
        let sent = cluster.take_acts().into_iter().filter(|act| matches!(act, Act::DropChannels(_)));
        assert_eq!(sent.count(), sends_away);
    }
}
