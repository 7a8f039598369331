//! The promises of Raft: one leader a term, one entry a place, nothing chosen is lost, no read is stale, and somebody gets on.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::group::Group;
use crate::{MemberId, Role};

/// A step of a run.
#[derive(Clone, Debug)]
enum Step {
    Tick(MemberId),
    TickAll,
    Deliver(usize),
    DeliverMany(usize, usize),
    Drop(usize),
    Kill(MemberId),
    Start(MemberId),
    Propose(MemberId),
    Read(MemberId),
    Compact(MemberId),
    Lose(MemberId, MemberId),
    /// Whoever leads has this member removed, or added.
    Change(MemberId),
}

fn step(members: u32) -> impl Strategy<Value = Step> {
    let member = 1..=members;
    prop_oneof![
        4 => member.clone().prop_map(Step::Tick),
        6 => Just(Step::TickAll),
        10 => any::<usize>().prop_map(Step::Deliver),
        10 => (any::<usize>(), 1..30_usize).prop_map(|(link, many)| Step::DeliverMany(link, many)),
        2 => any::<usize>().prop_map(Step::Drop),
        1 => member.clone().prop_map(Step::Kill),
        2 => member.clone().prop_map(Step::Start),
        3 => member.clone().prop_map(Step::Propose),
        3 => member.clone().prop_map(Step::Read),
        1 => member.clone().prop_map(Step::Compact),
        1 => member.clone().prop_map(Step::Change),
        2 => (member.clone(), member).prop_map(|(id, peer)| Step::Lose(id, peer)),
    ]
}

fn take(group: &mut Group, step: &Step) {
    let link = |group: &Group, nth: usize| {
        let busy: Vec<_> = group.links.iter().filter(|(_, queue)| !queue.is_empty()).collect();
        (!busy.is_empty()).then(|| *busy[nth % busy.len()].0)
    };
    match step {
        Step::Tick(id) => group.tick(*id),
        Step::TickAll => {
            let ids: Vec<MemberId> = group.members.keys().copied().collect();
            ids.into_iter().for_each(|id| group.tick(id));
        }
        Step::Deliver(nth) => {
            if let Some(link) = link(group, *nth) {
                group.deliver(link);
            }
        }
        Step::DeliverMany(nth, many) => {
            for more in 0..*many {
                if let Some(link) = link(group, nth.wrapping_add(more)) {
                    group.deliver(link);
                }
            }
        }
        Step::Drop(nth) => {
            if let Some(link) = link(group, *nth) {
                group.links.remove(&link);
            }
        }
        Step::Kill(id) => group.kill(*id),
        Step::Start(id) => {
            if group.members[id].node.is_none() {
                group.start(*id);
            }
        }
        Step::Propose(id) => group.propose(*id),
        Step::Read(id) => group.read(*id),
        Step::Lose(id, peer) => group.lose(*id, *peer),
        Step::Change(id) => group.change(*id),
        Step::Compact(id) => {
            let Some(node) = &mut group.members.get_mut(id).unwrap().node else { return };
            node.compact(node.committed(), Vec::new());
            let (snapshot, from) = (node.snapshot().cloned(), node.snapshot().map_or(1, |one| one.index + 1));
            let entries = node.entries_from(from).to_vec();
            let stored = &mut group.members.get_mut(id).unwrap().stored;
            (stored.snapshot, stored.entries) = (snapshot, entries);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_lost_or_late_or_dies_nothing_chosen_is_lost(
        members in 1..=5_u32,
        (asks_first, connected) in any::<(bool, bool)>(),
        seed: u64,
        steps in vec(step(5), 0..400),
    ) {
        let mut group =
            if connected { Group::connected(members, seed) } else { Group::new(members, asks_first, seed) };
        for one in &steps {
            let named = match one {
                Step::Tick(id) | Step::Kill(id) | Step::Start(id) | Step::Propose(id) | Step::Read(id)
                | Step::Compact(id) | Step::Change(id) => *id,
                Step::Lose(id, peer) => *id.max(peer),
                _ => 1,
            };
            if named <= members {
                take(&mut group, one);
            }
        }
        group.check_logs();
        // Once all are there again and hear each other, somebody leads and gets on.
        for id in 1..=members {
            if group.members[&id].node.is_none() {
                group.start(id);
            }
        }
        group.settle(400);
        if group.leader().is_none() {
            // Without a question before, a member that does not know of the last change outbids the others for a while.
            group.settle(3_000);
        }
        let leader = group.leader().expect("nobody leads although all hear each other");
        let before = group.changes();
        group.propose(leader);
        group.settle(5);
        prop_assert_eq!(group.changes(), before + 1);
        group.check_logs();
    }
}

#[test]
fn a_leader_without_a_majority_steps_down_after_one_to_two_election_timeouts() {
    let mut group = Group::new(3, true, 1);
    group.settle(40);
    let leader = group.leader().unwrap();
    let others: Vec<MemberId> = (1..=3).filter(|id| *id != leader).collect();
    others.iter().for_each(|id| group.kill(*id));
    let role = |group: &Group| group.members[&leader].node.as_ref().unwrap().role();
    let mut ticks = 0;
    while role(&group) == Role::Leader {
        group.tick(leader);
        ticks += 1;
    }
    assert!((10..=20).contains(&ticks), "{ticks} ticks");
}

#[test]
fn the_first_leader_of_a_new_group_is_as_one_that_has_led_for_some_time() {
    let steps_down = |seed| {
        let mut group = Group::new(3, true, seed);
        group.with(1, crate::Node::hurry);
        group.settle(1);
        assert_eq!(group.leader(), Some(1), "it is elected at its first tick");
        (1..).find(|_| {
            group.tick(1);
            group.members[&1].node.as_ref().unwrap().role() != Role::Leader
        })
    };
    let ticks: BTreeSet<_> = (0..40).map(|seed| steps_down(seed).unwrap()).collect();
    assert!(ticks.len() > 5 && ticks.iter().all(|ticks| (1..=20).contains(ticks)), "{ticks:?}");
}

#[test]
fn a_member_that_was_cut_off_deposes_nobody_if_it_asks_first() {
    for (asks_first, is_deposed) in [(true, false), (false, true)] {
        let mut group = Group::new(3, asks_first, 2);
        group.settle(40);
        let leader = group.leader().unwrap();
        let cut = (1..=3).find(|id| *id != leader).unwrap();
        let term = |group: &Group| group.members[&leader].node.as_ref().unwrap().term();
        let before = term(&group);
        // It hears nobody and wants to be elected again and again, while the others go on.
        for _ in 0..60 {
            group.tick(cut);
            group.links.retain(|(from, to), _| *from != cut && *to != cut);
            (1..=3).filter(|id| *id != cut).for_each(|id| group.tick(id));
            while let Some(link) = group
                .links
                .iter()
                .find(|((from, to), queue)| *from != cut && *to != cut && !queue.is_empty())
                .map(|(link, _)| *link)
            {
                group.deliver(link);
            }
            group.links.retain(|(from, to), _| *from != cut && *to != cut);
        }
        group.settle(20);
        assert_eq!(term(&group) > before, is_deposed);
    }
}

#[test]
fn members_come_and_go_one_at_a_time() {
    let mut group = Group::new(4, true, 3);
    group.kill(4);
    group.settle(40);
    let leader = group.leader().unwrap();
    let propose = |group: &mut Group, members: &[MemberId]| {
        let members: BTreeSet<MemberId> = members.iter().copied().collect();
        let mut outcome = Ok(());
        group.with(leader, |node| outcome = node.propose_members(members));
        outcome
    };
    let rest: Vec<MemberId> = (1..=3).collect();
    assert!(propose(&mut group, &[leader]).is_err(), "two at once");
    propose(&mut group, &rest).unwrap();
    assert!(propose(&mut group, &[1, 2, 3, 4]).is_err(), "one is not committed yet");
    group.settle(5);
    // Three are left: two of them are a majority.
    let other = rest.iter().copied().find(|id| *id != leader).unwrap();
    group.kill(other);
    let before = group.changes();
    group.propose(leader);
    group.settle(5);
    assert_eq!(group.changes(), before + 1);
}

#[test]
fn a_leader_that_was_replaced_answers_no_read() {
    let mut group = Group::new(3, true, 4);
    group.settle(40);
    let old = group.leader().unwrap();
    let others: Vec<MemberId> = (1..=3).filter(|id| *id != old).collect();
    // It stands still while the others elect another one, which changes something.
    let is_theirs = |link: &(MemberId, MemberId)| others.contains(&link.0) && others.contains(&link.1);
    for round in 0..60 {
        others.iter().for_each(|id| group.tick(*id));
        if round == 50 {
            let new = group.leader().unwrap();
            assert_ne!(new, old);
            group.propose(new);
        }
        while let Some(link) = group
            .links
            .iter()
            .find(|(link, queue)| is_theirs(link) && !queue.is_empty())
            .map(|(link, _)| *link)
        {
            group.deliver(link);
        }
    }
    assert_eq!(group.members[&old].node.as_ref().unwrap().role(), Role::Leader);
    // The group refuses an answer that has not seen the change.
    group.read(old);
    group.settle(2);
    assert_ne!(group.leader(), Some(old));
}

/// Three members that hold on to a leader by a connection: the group, who leads, and the others.
fn connected() -> (Group, MemberId, Vec<MemberId>) {
    let mut group = Group::connected(3, 5);
    group.settle(20);
    let leader = group.leader().unwrap();
    (group, leader, (1..=3).filter(|id| *id != leader).collect())
}

#[test]
fn a_leader_whose_connections_end_steps_down_when_it_looks_and_after_a_silence_no_later_than_one_look_more() {
    for (ends, least, most) in [(true, 1, 8), (false, 36, 48)] {
        let (mut group, leader, others) = connected();
        others.iter().for_each(|id| group.kill(*id));
        if ends {
            others.iter().for_each(|id| group.lose(leader, *id));
        }
        let role = |group: &Group| group.members[&leader].node.as_ref().unwrap().role();
        let mut ticks = 0;
        while role(&group) == Role::Leader {
            group.tick(leader);
            ticks += 1;
        }
        assert!((least..=most).contains(&ticks), "{ticks} ticks");
    }
}

#[test]
fn followers_whose_connections_end_elect_another_leader_at_once_and_after_a_silence_otherwise() {
    for (ends, least, most) in [(true, 2, 12), (false, 36, 56)] {
        let (mut group, leader, others) = connected();
        group.kill(leader);
        if ends {
            others.iter().for_each(|id| group.lose(*id, leader));
        }
        let mut ticks = 0;
        while group.leader().is_none() {
            group.settle(1);
            ticks += 1;
        }
        assert!((least..=most).contains(&ticks), "{ticks} ticks");
    }
}

#[test]
fn a_member_that_has_lost_its_leader_alone_finds_it_again() {
    let (mut group, leader, others) = connected();
    let term = |group: &Group| group.members[&leader].node.as_ref().unwrap().term();
    let before = term(&group);
    group.lose(others[0], leader);
    assert_eq!(group.members[&others[0]].node.as_ref().unwrap().leader(), None);
    group.settle(4);
    assert_eq!(group.members[&others[0]].node.as_ref().unwrap().leader(), Some(leader));
    assert_eq!((group.leader(), term(&group)), (Some(leader), before));
}
