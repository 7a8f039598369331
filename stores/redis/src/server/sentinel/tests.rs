//! A Sentinel by itself: its words, its votes, its choice, its file.

use picklock_model::seed::Seed;
use picklock_model::time::WallTime;

use super::front::Front;
use super::ids::{InstanceId, LinkId};
use super::instance::{Address, Awaited};
use super::primary::{Failover, Watch};
use super::state::{Act, Sentinel};
use crate::protocol::resp::{Protocol, Reply, request};

/// A time in milliseconds at which a Sentinel may begin; it takes 0 for never.
const BEGIN: i64 = 1_000_000;

fn sentinel() -> (Sentinel, InstanceId) {
    let mut sentinel = Sentinel::new("a".repeat(40), Address::new("me", 26379), Seed(1), BEGIN);
    let watch = Watch { down_after_ms: 1_000, ..Watch::default() };
    let id = sentinel.monitor("mymaster", Address::new("node", 6379), watch);
    for name in ["first", "second"] {
        sentinel.add_replica(id, Address::new(name, 6379));
    }
    for name in ["b", "c"] {
        sentinel.add_sentinel(id, Address::new(name, 26379), &name.repeat(40));
    }
    (sentinel, id)
}

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

/// The answer to a client, as it goes over the wire.
fn answer(front: &mut Front, line: &str) -> String {
    let session = front.connect("client");
    let mut out = Vec::new();
    let _ = front.execute(WallTime(BEGIN as u64 * 1_000_000), session, &words(line), &mut out);
    String::from_utf8(out).unwrap()
}

/// The events since the last look.
fn events(sentinel: &mut Sentinel) -> Vec<String> {
    let published = sentinel.take_acts().into_iter().filter_map(|act| match act {
        Act::Publish { channel, message } => Some(format!("{channel} {message}")),
        _ => None,
    });
    published.collect()
}

/// Answers all that waits for an answer on the connection for commands of a server.
fn answer_all(sentinel: &mut Sentinel, now: i64, id: InstanceId, info: &str) {
    let link = sentinel.instance(id).wire.commands.unwrap();
    while let Some(awaited) = sentinel.instance(id).wire.awaited.front().copied() {
        let reply = match awaited {
            Awaited::Ping => Reply::Status("PONG".into()),
            Awaited::Info => Reply::text(info),
            Awaited::Greeting => Reply::Integer(1),
            Awaited::Question => Reply::Array(vec![Reply::Integer(1), Reply::text("*"), Reply::Integer(0)]),
            Awaited::Order => Reply::OK,
        };
        sentinel.answered(now, link, reply);
    }
}

fn replica_info(offset: u64, priority: u64) -> String {
    format!(
        "role:slave\r\nmaster_host:node\r\nmaster_port:6379\r\nmaster_link_status:up\r\nslave_repl_offset:{offset}\r\n\
         slave_priority:{priority}\r\n"
    )
}

#[test]
fn what_is_not_for_a_sentinel_is_refused_in_the_words_of_redis() {
    let mut front = Front::new(sentinel().0, None);
    for (line, expected) in [
        ("GET a", "-ERR unknown command 'GET', with args beginning with: 'a' \r\n"),
        ("RESET", "-ERR unknown command 'RESET', with args beginning with: \r\n"),
        ("SENTINEL", "-ERR wrong number of arguments for 'sentinel' command\r\n"),
        ("SENTINEL FOO", "-ERR unknown subcommand 'FOO'. Try SENTINEL HELP.\r\n"),
        ("SENTINEL MASTER", "-ERR wrong number of arguments for 'sentinel|master' command\r\n"),
        ("SENTINEL MASTER x", "-ERR No such master with that name\r\n"),
        ("SENTINEL GET-MASTER-ADDR-BY-NAME x", "*-1\r\n"),
        (
            "SENTINEL SET mymaster foo 1",
            "-ERR Unknown option or number of arguments for SENTINEL SET 'foo'\r\n",
        ),
        ("SENTINEL SET mymaster quorum 0", "-ERR Invalid argument '0' for SENTINEL SET 'quorum'\r\n"),
        ("SENTINEL MONITOR mymaster h 1 2", "-ERR Duplicate master name.\r\n"),
        ("SENTINEL MONITOR x h 1 0", "-ERR Quorum must be 1 or greater.\r\n"),
        ("SENTINEL SIMULATE-FAILURE x", "-ERR Unknown failure simulation specified\r\n"),
        ("SENTINEL FAILOVER mymaster", "-NOGOODSLAVE No suitable replica to promote\r\n"),
        ("PUBLISH a b", "-ERR Only HELLO messages are accepted by Sentinel instances.\r\n"),
        ("PUBLISH __sentinel__:hello b", ":1\r\n"),
        ("ROLE", "*2\r\n$8\r\nsentinel\r\n*1\r\n$8\r\nmymaster\r\n"),
    ] {
        assert_eq!(answer(&mut front, line), expected, "{line}");
    }
}

#[test]
fn a_client_that_listens_may_do_nothing_else_in_resp2() {
    let mut front = Front::new(sentinel().0, None);
    let session = front.connect("client");
    let mut out = Vec::new();
    let now = WallTime(BEGIN as u64 * 1_000_000);
    let _ = front.execute(now, session, &words("SUBSCRIBE +sdown"), &mut out);
    out.clear();
    let _ = front.execute(now, session, &words("SENTINEL MASTERS"), &mut out);
    let expected = "-ERR Can't execute 'sentinel|masters': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET \
                    are allowed in this context\r\n";
    assert_eq!(String::from_utf8_lossy(&out), expected);
    front.publish("+sdown", "master mymaster node 6379");
    let mut message = Vec::new();
    request(&mut message, &[b"message", b"+sdown", b"master mymaster node 6379"]);
    assert_eq!(*front.take_deliveries()[0].bytes, *message);
}

#[test]
fn one_vote_is_given_in_an_epoch_and_kept_over_a_restart() {
    let (mut sentinel, id) = sentinel();
    let (b, c) = ("b".repeat(40), "c".repeat(40));
    assert_eq!(sentinel.vote(id, 5, &b), (Some(b.clone()), 5));
    assert_eq!(sentinel.vote(id, 5, &c), (Some(b.clone()), 5), "the first who asks has it");
    assert_eq!(events(&mut sentinel), ["+new-epoch 5".to_owned(), format!("+vote-for-leader {b} 5")]);
    assert!(sentinel.take_dirty());

    let mut again = Sentinel::new(String::new(), Address::new("me", 26379), Seed(2), BEGIN);
    again.restore(&sentinel.config());
    assert_eq!(again.config(), sentinel.config());
    let id = again.named(b"mymaster").unwrap();
    assert_eq!(again.vote(id, 5, &c), (None, 5), "it does not remember for whom, but that it has voted");
    assert_eq!(again.vote(id, 6, &c), (Some(c), 6));
}

#[test]
fn the_replica_with_most_of_the_data_is_promoted_unless_another_is_preferred() {
    let (mut sentinel, id) = sentinel();
    let replicas: Vec<InstanceId> = sentinel.replicas_of(id).map(|(instance, _)| instance.id).collect();
    assert_eq!(sentinel.best_replica(id), None, "nothing is known of them yet");
    sentinel.tick(BEGIN + 1);
    answer_all(&mut sentinel, BEGIN + 2, replicas[0], &replica_info(10, 100));
    answer_all(&mut sentinel, BEGIN + 2, replicas[1], &replica_info(20, 100));
    assert_eq!(sentinel.best_replica(id), Some(replicas[1]));
    for (replica, offset, priority) in [(0, 10, 50), (1, 20, 100)] {
        sentinel.command(replicas[replica], &[b"INFO"], Awaited::Info);
        answer_all(&mut sentinel, BEGIN + 3, replicas[replica], &replica_info(offset, priority));
    }
    assert_eq!(sentinel.best_replica(id), Some(replicas[0]), "a lower priority comes first");
    sentinel.command(replicas[0], &[b"INFO"], Awaited::Info);
    answer_all(&mut sentinel, BEGIN + 4, replicas[0], &replica_info(10, 0));
    assert_eq!(
        sentinel.best_replica(id),
        Some(replicas[1]),
        "priority 0 is for those that are never promoted"
    );
}

#[test]
fn a_higher_configuration_epoch_wins_and_a_lower_one_is_not_believed() {
    let (mut sentinel, id) = sentinel();
    let b = "b".repeat(40);
    sentinel.hear_greeting(&format!("b,26379,{b},3,mymaster,first,6379,3"));
    let mut seen = events(&mut sentinel);
    seen.retain(|event| event.starts_with("+switch-master"));
    assert_eq!(seen, ["+switch-master mymaster node 6379 first 6379"]);
    sentinel.hear_greeting(&format!("b,26379,{b},3,mymaster,second,6379,2"));
    assert_eq!(sentinel.current_address(id), &Address::new("first", 6379));
    let replicas: Vec<&str> = sentinel.replicas_of(id).map(|(instance, _)| instance.name.as_str()).collect();
    assert_eq!(replicas, ["second:6379", "node:6379"], "the old primary is a replica now");
}

#[test]
fn a_sentinel_that_moves_is_known_by_its_identifier() {
    let (mut sentinel, id) = sentinel();
    let b = "b".repeat(40);
    sentinel.hear_greeting(&format!("elsewhere,26379,{b},0,mymaster,node,6379,0"));
    let moved = format!("+sentinel-address-switch master mymaster node 6379 ip elsewhere port 26379 for {b}");
    assert_eq!(events(&mut sentinel), [moved]);
    assert_eq!(sentinel.sentinels_of(id).count(), 2);
    let d = "d".repeat(40);
    sentinel.hear_greeting(&format!("elsewhere,26379,{d},0,mymaster,node,6379,0"));
    let seen = events(&mut sentinel);
    assert!(seen[0].starts_with("+sentinel-invalid-addr"), "another identifier took its place: {seen:?}");
    assert_eq!(sentinel.sentinels_of(id).count(), 2);
}

#[test]
fn a_greeting_that_says_nothing_new_is_a_sign_of_life_and_an_empty_one_is_not() {
    let (mut sentinel, id) = sentinel();
    let b = "b".repeat(40);
    let heard = |sentinel: &Sentinel| {
        sentinel
            .sentinels_of(id)
            .map(|(instance, peer)| (instance.run_id == b, peer.hello))
            .collect::<Vec<_>>()
    };
    let greeting = format!("b,26379,{b},0,mymaster,node,6379,0");
    for now in [BEGIN + 1, BEGIN + 2_000, BEGIN + 4_000] {
        sentinel.set_now(now);
        sentinel.hear_greeting(&greeting);
        sentinel.hear_greeting("");
        assert!(
            heard(&sentinel).iter().all(|(is_b, hello)| (*hello == now) == *is_b),
            "{:?}",
            heard(&sentinel)
        );
    }
    // What changes is heeded, also if it comes from where nothing new came before.
    sentinel.hear_greeting(&format!("b,26379,{b},3,mymaster,first,6379,3"));
    sentinel.hear_greeting(&greeting);
    assert_eq!(sentinel.current_address(id), &Address::new("first", 6379));
}

#[test]
fn a_failover_that_nobody_votes_for_is_given_up() {
    let (mut sentinel, id) = sentinel();
    sentinel.start_failover(id);
    events(&mut sentinel);
    let mut now = BEGIN;
    while sentinel.primary(id).failover != Failover::None {
        now += 100;
        assert!(now < BEGIN + 12_000, "it goes on for no longer than an election may take");
        sentinel.tick(now);
    }
    assert!(now > BEGIN + 10_000);
    assert!(
        events(&mut sentinel).contains(&"-failover-abort-not-elected master mymaster node 6379".to_owned())
    );
}

#[test]
fn garbage_from_servers_and_other_sentinels_is_ignored() {
    let (mut sentinel, id) = sentinel();
    sentinel.tick(BEGIN + 1);
    let link = sentinel.instance(id).wire.commands.unwrap();
    for reply in [Reply::Nil, Reply::Array(vec![]), Reply::Integer(-1), Reply::Bulk(vec![0xff; 100])] {
        for _ in 0..10 {
            sentinel.answered(BEGIN + 2, link, reply.clone());
        }
    }
    sentinel.answered(BEGIN + 2, LinkId(12_345), Reply::OK);
    sentinel.command(id, &[b"INFO"], Awaited::Info);
    let odd =
        "run_id:".to_owned() + &"\u{e9}\u{20ac}".repeat(20) + "\r\nslave0:ip=,port=x\r\nrole:x\r\n:\r\n";
    answer_all(&mut sentinel, BEGIN + 2, id, &odd);
    for greeting in ["", ",,,,,,,", "a,b,c,d,e,f,g,h", "h,1,id,18446744073709551616,mymaster,n,1,1"] {
        sentinel.hear_greeting(greeting);
    }
    sentinel.restore(
        "sentinel\nsentinel known-replica mymaster x\nsentinel monitor\nfoo\nsentinel config-epoch x y",
    );
    assert_eq!(sentinel.current_address(id), &Address::new("node", 6379));
    let mut front = Front::new(sentinel, None);
    let session = front.connect("client");
    let mut out = Vec::new();
    let _ = front.execute(WallTime(0), session, &[], &mut out);
    Reply::Nil.encode(Protocol::Two, &mut out);
    assert_eq!(out, b"$-1\r\n");
}
