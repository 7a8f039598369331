//! How long nobody can have a lock: what docs/guide/bounds.md says of simulated nodes, from 200 seeds with a node timeout of 2 s.
//!
//! `cargo test -p picklock-redis --lib cluster::bounds -- --nocapture` prints the spans.

use super::tests::Net;

const TIMEOUT: i64 = 2_000;
const SEEDS: u64 = 200;

/// A cluster that has run for a while, a different one each time.
fn net(seed: u64) -> Net {
    let mut net = Net::of(seed, TIMEOUT);
    net.run(3_000 + seed.cast_signed() * 37);
    net
}

/// The least, the median and the most of a span over all seeds.
fn spans(what: &str, span: impl Fn(u64) -> i64) -> (i64, i64, i64) {
    let mut all: Vec<i64> = (1..=SEEDS).map(span).collect();
    all.sort_unstable();
    let (least, median, most) = (all[0], all[all.len() / 2], all[all.len() - 1]);
    println!("{what}: {least} to {most} ms, median {median} ms");
    (least, median, most)
}

/// How long until this holds.
fn until(net: &mut Net, holds: impl Fn(&Net) -> bool) -> i64 {
    let began = net.now;
    while !holds(net) {
        net.run(1);
        assert!(net.now - began < 20_000, "it never comes");
    }
    net.now - began
}

#[test]
fn a_replica_serves_after_one_to_one_and_a_half_node_timeouts_and_an_election() {
    let (least, median, most) = spans("failover", |seed| {
        let mut net = net(seed);
        net.kill(0);
        until(&mut net, |net| !net.node(3).is_replica() && net.node(3).is_up)
    });
    assert!(least >= TIMEOUT + 500, "{least}");
    // Real nodes take 3.77 s; nodes that ping in step took 4.17 s.
    assert!((3_600..4_000).contains(&median), "{median}");
    assert!(most <= TIMEOUT * 3 / 2 + 2_200, "{most}");
}

#[test]
fn a_primary_that_is_started_anew_refuses_for_two_seconds() {
    let (least, _, most) = spans("restart", |seed| {
        let mut net = net(seed);
        net.kill(0);
        net.run(100);
        net.revive(0);
        until(&mut net, |net| net.node(0).is_up)
    });
    assert!((1_990..=2_210).contains(&least) && most <= 2_310, "{least} {most}");
}

#[test]
fn a_primary_that_comes_back_from_the_minority_refuses_for_a_node_timeout() {
    let (least, _, most) = spans("heal", |seed| {
        let mut net = net(seed);
        // All others stand still, as real ones do at SIGSTOP, so that nobody takes its place.
        net.stopped = (1..6).collect();
        net.run(2 * TIMEOUT + seed.cast_signed() * 7);
        assert!(!net.node(0).is_up);
        net.go_on();
        let span = until(&mut net, |net| net.node(0).is_up);
        assert_eq!(net.promoted, []);
        span
    });
    assert!(least >= TIMEOUT - 101, "{least}");
    assert!(most <= TIMEOUT + 300, "{most}");
}
