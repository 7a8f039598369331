//! Replication without a world: nodes whose links are wires in memory, against what Redis 7.0.15 was seen to send.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::seed::Seed;
use picklock_model::time::{EPOCH_NS, WallTime};
use picklock_model::trace::What;

use crate::protocol::resp::{Reply, Requests};
use crate::server::following::Link;
use crate::server::node::LinkState;
use crate::server::node::{Next, Node, SessionId, Then};
use crate::server::store::Store;

/// A node, a client of it, and, if it follows a primary, its link there.
struct Member {
    node: Node,
    client: SessionId,
    events: Vec<What>,
    link: Option<(Link, SessionId)>,
}

/// Members that see the same wall clock.
struct Group {
    now: WallTime,
    members: Vec<Member>,
    /// The bytes of the links from primaries to replicas.
    wire: Vec<u8>,
}

impl Member {
    fn new(seed: u64, primary: Option<&str>) -> Member {
        let mut node = Node::new(Store::default(), primary.map(str::to_owned));
        node.replication.rename(Seed(seed));
        let client = node.connect("client");
        Member { node, client, events: Vec::new(), link: None }
    }
}

impl Group {
    /// A primary and so many replicas, all in step.
    fn of(replicas: usize) -> Group {
        let mut members = vec![Member::new(1, None)];
        members.extend((0..replicas).map(|at| Member::new(2 + at as u64, Some("node-0"))));
        let mut group = Group { now: WallTime(EPOCH_NS), members, wire: Vec::new() };
        for at in 1..=replicas {
            group.link(at, 0);
        }
        group
    }

    /// Makes a new link from a replica to a primary.
    fn link(&mut self, replica: usize, primary: usize) {
        let session = self.members[primary].node.connect(&format!("node-{replica}"));
        let link = Link::new(self.members[replica].node.introduction());
        self.members[replica].link = Some((link, session));
        self.pump(replica, primary);
    }

    /// Breaks the link of a replica.
    fn cut(&mut self, replica: usize, primary: usize) {
        if let Some((_, session)) = self.members[replica].link.take() {
            self.members[primary].node.disconnect(session);
            self.members[replica].node.link_is(self.now, LinkState::Down);
        }
    }

    /// Carries bytes over a link until there are none.
    fn pump(&mut self, replica: usize, primary: usize) {
        while let Some((mut link, session)) = self.members[replica].link.take() {
            let asked = link.take_output();
            let sent = self.ask(primary, session, &asked);
            let Some(sent) = sent else {
                self.members[replica].node.link_is(self.now, LinkState::Down);
                return;
            };
            self.wire.extend_from_slice(&sent);
            link.room().extend_from_slice(&sent);
            let member = &mut self.members[replica];
            loop {
                match member.node.hear(self.now, &mut link) {
                    Ok(Some(heard)) => member.events.extend(heard.effects.events),
                    Ok(None) => break,
                    Err(_) => return member.node.link_is(self.now, LinkState::Down),
                }
            }
            member.link = Some((link, session));
            if asked.is_empty() && sent.is_empty() {
                return;
            }
        }
    }

    /// Executes what a replica's session sends; what it gets, or nothing if it is closed.
    fn ask(&mut self, primary: usize, session: SessionId, bytes: &[u8]) -> Option<Vec<u8>> {
        let node = &mut self.members[primary].node;
        let mut requests = Requests::default();
        requests.room().extend_from_slice(bytes);
        let mut out = Vec::new();
        while let Some(request) = requests.take().unwrap() {
            let _ = node.execute(self.now, session, &request.args, &mut out);
        }
        let (ours, others) =
            node.take_deliveries().into_iter().partition(|delivery| delivery.session == session);
        node.deliveries = others;
        for delivery in ours {
            out.extend_from_slice(&delivery.bytes);
            if delivery.then == Then::Close {
                return None;
            }
        }
        Some(out)
    }

    /// Has the client of a member execute a command, and the links carry what that makes.
    fn run(&mut self, at: usize, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        let member = &mut self.members[at];
        let outcome = member.node.execute(self.now, member.client, &words, &mut out);
        member.events.extend(outcome.effects.events);
        self.carry();
        Reply::decode(&out).unwrap().map_or(String::new(), |(reply, _)| match reply {
            Reply::Bulk(bytes) => String::from_utf8(bytes).unwrap(),
            Reply::Error(text) | Reply::Status(text) => text.into_owned(),
            Reply::Integer(number) => number.to_string(),
            Reply::Nil => "nil".to_owned(),
            other => format!("{other:?}"),
        })
    }

    fn carry(&mut self) {
        for replica in 1..self.members.len() {
            let primary = self.members[replica].node.upstream().map(|up| up.host.clone());
            if let Some(primary) = primary.and_then(|host| host.strip_prefix("node-")?.parse().ok()) {
                self.pump(replica, primary);
            }
        }
    }

    fn beat(&mut self) {
        self.now = self.now + Duration::from_secs(1);
        for member in &mut self.members {
            let _ = member.node.beat(self.now);
            if let Some((link, _)) = member.link.as_mut().filter(|_| member.node.is_replica()) {
                link.acknowledge(member.node.offset());
            }
        }
        self.carry();
    }

    fn take_wire(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.wire)).replace("\r\n", " ")
    }

    fn take_events(&mut self, at: usize) -> Vec<What> {
        std::mem::take(&mut self.members[at].events)
    }

    /// A line of INFO.
    fn info(&mut self, at: usize, name: &str) -> String {
        let text = self.run(at, "INFO replication");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().to_owned()
    }

    fn in_step(&self) -> bool {
        let first = &self.members[0].node;
        self.members.iter().all(|member| {
            member.node.offset() == first.offset() && member.node.store.all().eq(first.store.all())
        })
    }
}

fn key(name: &str) -> Key {
    Key::new(name)
}

#[test]
fn a_replica_gets_a_copy_and_then_every_effect() {
    let mut group = Group::of(0);
    group.run(0, "SET before 1 NX PX 60000");
    group.members.push(Member::new(2, Some("node-0")));
    group.link(1, 0);
    let wire = group.take_wire();
    assert!(wire.starts_with("+PONG +OK +OK +FULLRESYNC ") && wire.contains(" 0 $"), "{wire}");
    assert_eq!(group.run(1, "GET before"), "1");
    for line in ["SET lock me NX PX 100", "INCR n", "HSET h f 1", "PEXPIRE h 500", "SETNX bare v"] {
        group.run(0, line);
    }
    assert!(group.take_wire().starts_with("*2 $6 SELECT $1 0 *5 $3 SET $4 lock $2 me $4 PXAT $13 "));
    assert!(group.in_step());
    assert_eq!(group.info(1, "master_replid"), group.info(0, "master_replid"));
    assert_eq!(group.run(1, "SET lock you"), "READONLY You can't write against a read only replica.");
    let events = group.take_events(0);
    assert_eq!(group.take_events(1), events, "the copy and the effects make the same records");
}

#[test]
fn a_scripts_effects_arrive_as_one_transaction() {
    let mut group = Group::of(1);
    group.take_wire();
    let script: [&[u8]; 3] = [b"EVAL", b"redis.call('set','x',1) redis.call('set','y',2)", b"0"];
    let member = &mut group.members[0];
    let _ = member.node.execute(group.now, member.client, &script, &mut Vec::new());
    // Half of the transaction arrives, and nothing of it is seen.
    let session = group.members[1].link.as_ref().map(|(_, session)| *session).unwrap();
    let bytes = group.ask(0, session, b"").unwrap();
    let (first, second) = bytes.split_at(bytes.len() - 5);
    let now = group.now;
    let hear = |group: &mut Group, bytes: &[u8]| {
        let Member { node, link, .. } = &mut group.members[1];
        let (link, _) = link.as_mut().unwrap();
        link.room().extend_from_slice(bytes);
        while node.hear(now, link).unwrap().is_some() {}
    };
    hear(&mut group, first);
    assert_eq!((group.members[1].node.store.len(), group.members[1].node.offset()), (0, 23));
    hear(&mut group, second);
    assert!(group.in_step());
}

#[test]
fn a_replica_hides_dead_keys_but_leaves_them_to_its_primary() {
    let mut group = Group::of(1);
    group.run(0, "SET lock me NX PX 100");
    group.now = group.now + Duration::from_millis(101);
    assert_eq!(group.run(1, "GET lock"), "nil");
    assert!(!group.members[1].node.needs_ticks());
    assert_eq!(group.members[1].node.tick(group.now).events, []);
    assert_eq!(
        group.members[0].node.tick(group.now).events,
        [What::Expired { key: key("lock"), overdue_ns: 0 }]
    );
    group.take_wire();
    group.carry();
    assert_eq!(group.take_wire(), "*2 $3 DEL $4 lock ");
    assert_eq!(group.take_events(1).last(), Some(&What::Expired { key: key("lock"), overdue_ns: 0 }));
}

#[test]
fn a_broken_link_goes_on_where_it_stopped() {
    let mut group = Group::of(1);
    group.run(0, "SET a 1");
    group.cut(1, 0);
    assert_eq!(group.info(1, "master_link_status"), "down");
    group.run(0, "SET b 2");
    group.take_wire();
    group.link(1, 0);
    let wire = group.take_wire();
    assert!(wire.starts_with("+PONG +OK +OK +CONTINUE "), "{wire}");
    assert!(wire.ends_with(" *3 $3 SET $1 b $1 2 "), "{wire}");
    assert!(group.in_step());
    // What the backlog no longer has takes a full copy.
    group.cut(1, 0);
    group.run(0, "CONFIG SET repl-backlog-size 16384");
    group.run(0, &format!("SET long {}", "x".repeat(20_000)));
    group.take_wire();
    group.link(1, 0);
    assert!(group.take_wire().contains("+FULLRESYNC "));
    assert!(group.in_step());
}

#[test]
fn wait_asks_the_replicas_and_counts_their_answers() {
    let mut group = Group::of(2);
    group.run(0, "SET k v");
    group.take_wire();
    let member = &mut group.members[0];
    let outcome = member.node.execute(group.now, member.client, &[b"WAIT", b"2", b"50"], &mut Vec::new());
    assert_eq!(outcome.next, Next::Blocked);
    group.carry();
    assert!(group.wire.starts_with(b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"));
    let answers = group.members[0].node.take_deliveries();
    assert_eq!((answers.len(), &*answers[0].bytes, answers[0].then), (1, b":2\r\n".as_slice(), Then::Resume));
    assert_eq!(group.run(0, "WAIT 2 50"), "2", "known already");
    // The question itself is not acknowledged before the next beat.
    let offset = group.members[0].node.offset();
    assert_eq!(
        group.info(0, "slave0"),
        format!("ip=node-1,port=6379,state=online,offset={},lag=0", offset - 37)
    );
    group.beat();
    assert!(group.info(0, "slave1").starts_with("ip=node-2,port=6379,state=online,offset="));
    assert_eq!(group.members[0].node.acknowledged(offset), 2);
}

#[test]
fn writes_are_refused_when_replicas_have_been_silent_for_whole_seconds() {
    let mut group = Group::of(1);
    assert_eq!(group.run(0, "CONFIG SET min-replicas-to-write 1 min-replicas-max-lag 2"), "OK");
    assert_eq!(group.run(0, "SET k v"), "OK");
    group.cut(1, 0);
    assert_eq!(group.run(0, "SET k v"), "NOREPLICAS Not enough good replicas to write.");
    group.link(1, 0);
    let session = group.members[1].link.take().map(|(_, session)| session);
    for beat in 1..=3 {
        group.beat();
        let expected = if beat <= 2 { "OK" } else { "NOREPLICAS Not enough good replicas to write." };
        assert_eq!(group.run(0, "SET k v"), expected, "{beat} s after the last acknowledgement");
    }
    assert!(session.is_some());
    assert_eq!(group.info(0, "min_slaves_good_slaves"), "0");
}

#[test]
fn a_promoted_replicas_sibling_goes_on_without_a_copy() {
    let mut group = Group::of(2);
    group.run(0, "SET k v NX PX 60000");
    group.cut(1, 0);
    group.cut(2, 0);
    let old = group.info(0, "master_replid");
    let offset = group.members[0].node.offset();
    assert_eq!(group.run(1, "REPLICAOF NO ONE"), "OK");
    assert!(group.members[1].node.replication.role_changed);
    assert_eq!(group.take_events(1).last(), Some(&What::BecameLeader));
    assert_ne!(group.info(1, "master_replid"), old);
    assert_eq!(
        (group.info(1, "master_replid2"), group.info(1, "second_repl_offset")),
        (old, (offset + 1).to_string())
    );
    group.run(2, "REPLICAOF node-1 6379");
    group.take_wire();
    group.link(2, 1);
    assert!(group.take_wire().contains("+CONTINUE "));
    assert_eq!(group.info(2, "master_replid"), group.info(1, "master_replid"));
    group.run(1, "SET k2 v");
    assert_eq!(group.run(2, "GET k2"), "v");
    // The old primary went on by itself: what only it knew is lost.
    group.run(0, "SET stray v NX PX 60000");
    assert_eq!(group.run(0, "REPLICAOF node-1 6379"), "OK");
    assert_eq!(group.run(0, "REPLICAOF node-1 6379"), "OK Already connected to specified master");
    group.take_wire();
    group.link(0, 1);
    assert!(group.take_wire().contains("+FULLRESYNC "));
    assert_eq!(group.take_events(0)[2..], [What::StoppedLeading, What::Lost { key: key("stray") }]);
}

#[test]
fn an_idle_old_primary_goes_on_from_its_own_history() {
    let mut group = Group::of(1);
    group.run(0, "SET k v");
    group.cut(1, 0);
    group.run(1, "REPLICAOF NO ONE");
    group.run(0, "REPLICAOF node-1 6379");
    group.take_wire();
    group.link(0, 1);
    assert!(group.take_wire().contains("+CONTINUE "));
}

#[test]
fn a_replica_of_a_replica_counts_the_same_bytes() {
    let mut group = Group::of(1);
    group.members.push(Member::new(9, Some("node-1")));
    group.link(2, 1);
    group.run(0, "SET k v");
    group.carry();
    assert!(group.in_step());
    assert_eq!(group.info(2, "master_replid"), group.info(0, "master_replid"));
    group.cut(1, 0);
    group.cut(2, 1);
    group.link(2, 1);
    assert_eq!(group.info(2, "master_link_status"), "down", "a replica without its primary takes none");
}

#[test]
fn a_primary_that_comes_back_empty_empties_its_replicas() {
    let mut group = Group::of(1);
    group.run(0, "SET k v NX PX 60000");
    group.cut(1, 0);
    group.members[0] = Member::new(7, None);
    group.take_events(1);
    group.link(1, 0);
    assert_eq!(group.take_events(1), [What::Lost { key: key("k") }]);
    assert!(group.in_step());
}

#[test]
fn a_record_that_comes_back_without_its_lease_has_lost_that_and_nothing_else() {
    let mut group = Group::of(1);
    group.run(0, "SET k v NX PX 60000");
    group.cut(1, 0);
    group.members[0] = Member::new(7, None);
    group.run(0, "SETNX k v");
    group.take_events(1);
    group.link(1, 0);
    assert_eq!(group.take_events(1), [What::LeaseLost { key: key("k") }]);
    assert!(group.in_step());
}

#[test]
fn a_copy_makes_a_record_of_what_has_got_a_lease_and_a_record_stays_one() {
    let mut group = Group::of(1);
    group.run(0, "SET k v");
    let copy_of_another = |group: &mut Group, lines: &[&str]| {
        group.cut(1, 0);
        group.members[0] = Member::new(7, None);
        lines.iter().for_each(|line| drop(group.run(0, line)));
        group.take_events(1);
        group.link(1, 0);
        group.take_events(1)
    };
    assert_eq!(
        copy_of_another(&mut group, &["SET k v", "PEXPIRE k 60000"]),
        [What::Created { key: key("k") }]
    );
    assert_eq!(copy_of_another(&mut group, &["SET k v"]), [What::LeaseLost { key: key("k") }]);
    group.run(0, "DEL k");
    assert_eq!(group.take_events(1), [What::Deleted { key: key("k") }]);
}

#[test]
fn stale_replicas_may_be_ordered_to_be_silent() {
    let mut group = Group::of(1);
    group.run(1, "CONFIG SET replica-serve-stale-data no");
    assert_eq!(group.run(1, "GET k"), "nil");
    group.cut(1, 0);
    assert!(group.run(1, "GET k").starts_with("MASTERDOWN Link with MASTER is down and"));
    assert!(group.run(1, "INFO").contains("role:slave"));
}

#[test]
fn a_silent_replica_is_given_up_and_a_silent_primary_missed() {
    let mut group = Group::of(1);
    assert_eq!(group.run(0, "ROLE").matches("node-1").count(), 0, "addresses are bytes");
    let session = group.members[1].link.take().map(|(_, session)| session).unwrap();
    for _ in 0..61 {
        group.beat();
    }
    let closed = group.members[0].node.take_deliveries();
    assert!(closed.iter().any(|delivery| delivery.session == session && delivery.then == Then::Close));
    assert_eq!(group.info(0, "connected_slaves"), "0");
    let now = group.now;
    assert!(group.members[1].node.misses_primary(now));
}

#[test]
fn a_primary_pings_its_replicas() {
    let mut group = Group::of(1);
    let before = group.members[0].node.offset();
    group.take_wire();
    for _ in 0..10 {
        group.beat();
    }
    assert_eq!(group.take_wire(), "*1 $4 ping ");
    assert_eq!(group.members[1].node.offset(), before + 14);
}

#[test]
fn a_copy_without_a_disk_waits_for_more_replicas_and_the_stream_for_the_first_acknowledgement() {
    let mut group = Group::of(0);
    group.run(0, "CONFIG SET repl-diskless-sync yes repl-diskless-sync-delay 2");
    group.run(0, "SET before 1");
    for seed in [2, 3] {
        group.members.push(Member::new(seed, Some("node-0")));
        let at = group.members.len() - 1;
        group.link(at, 0);
        group.run(0, &format!("SET while-waiting {at}"));
        assert!(group.run(0, "INFO replication").contains("state=wait_bgsave,offset=0,lag=0"));
        assert_eq!(group.run(at, "GET before"), "nil");
    }
    assert_eq!(group.members[0].node.acknowledged(0), 0, "they do not count for WAIT");
    for _ in 0..2 {
        group.beat();
    }
    assert!(!group.run(0, "INFO replication").contains("wait_bgsave"));
    for at in [1, 2] {
        assert_eq!(group.run(at, "GET while-waiting"), "2", "one copy for both");
    }
    group.run(0, "SET after 1");
    group.pump(1, 0);
    assert_eq!(group.run(1, "GET after"), "1");
}
