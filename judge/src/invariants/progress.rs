//! I5: while no more is broken than the design claims to survive, some waiter gets the lock in good time.
//!
//! A *block* of a key is a stretch in which some section waits for it, none holds it, and none gets it. It is judged within each
//! of the run's [stretches](crate::history::Stretch) by itself: in one in which nothing is broken, and in one in which nothing is
//! but a single condition that the design [survives](picklock_model::trace::Condition). So its time counts from the beginning of
//! the block or of the stretch, whichever is later, and only one longer than the design's own bound is a violation: leases must
//! be allowed to run out. While more than that is broken, the clock stands. A client that stands still, is dead or is cut off
//! does not count as one that waits, nor, where it cannot keep its lease alive, as one that holds.
//!
//! A holder has let go when its release begins. A wait behind a holder is no block. A block that is not over at the run's end and not yet
//! longer than the bound is undecided, and so is a run that ends while more is broken than the design survives. Without a lock, a section waits for its change, and making
//! it, or the answer that nothing is left, is the turn. So is a grant that a program got for a caller that had been cancelled.
//! Where a host has lost its power, those who have a connection to it notice that late: a block is judged from when they must have
//! noticed it, and if the run is over before that, it is undecided. Nor is a run judged in which a simulated store refused what the product takes: who gets an error in its place may give up.
//! How long a single waiter waits while others are served is a matter of fairness and is left out on purpose.

use std::collections::BTreeMap;

use picklock_model::ids::{ConnId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Role, What};

use super::blocks::{Edge, Sweep, Turn};
use super::findings::judged;
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use super::orphaned_grants::orphaned_grants;
use super::shared_records;
use crate::history::{History, Section};
use crate::outcome::Outcome;

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "progress",
    number: "I5",
    property: "while no more is broken than the design survives, some waiter gets the lock within its bound",
    promise: Promise::Availability,
    severity: 3,
    evidence: Evidence::Clients,
    recorded: Recorded::Never,
    check,
};

fn check(history: &History<'_>) -> Outcome {
    let stretches = history.stretches();
    let mut edges = edges(history);
    edges.sort_by_key(|edge| (edge.key, edge.event.at, edge.event.id));
    let mut findings = Vec::new();
    let (mut conclusive, mut served, mut open) = (false, false, None);
    for edges in edges.chunk_by(|one, other| one.key == other.key) {
        let mut sweep = Sweep::new(history, edges[0].key);
        let mut stretches = stretches.iter().peekable();
        for edge in edges {
            while let Some(stretch) = stretches.next_if(|stretch| stretch.from <= edge.event.at) {
                sweep.enter(stretch, stretches.peek().is_none());
            }
            sweep.turn(edge);
        }
        while let Some(stretch) = stretches.next() {
            sweep.enter(stretch, stretches.peek().is_none());
        }
        let (waited, got) = sweep.finish(&mut findings, &mut open);
        (conclusive, served) = (conclusive | waited, served | got);
    }
    if findings.is_empty() {
        findings = shared_records::findings(history);
    }
    if !findings.is_empty() {
        return match history.trace.not_modelled().next() {
            Some(name) => Outcome::Undecided(format!("{name} is not modelled: try --servers real")),
            None => judged(history, findings),
        };
    }
    if let Some(why) = open {
        return Outcome::Undecided(why);
    }
    if history.ends_in_the_dark() {
        let why = "more was broken at the end of the run than the design claims to survive";
        return Outcome::Undecided(why.to_owned());
    }
    if !conclusive {
        return Outcome::NotAsked("nobody waited after the last fault".to_owned());
    }
    if let Some(why) = waiting_holder(history) {
        return Outcome::Undecided(why);
    }
    let nobody_came = history.trace.final_client.is_some_and(|final_client| final_client.came.is_none());
    if nobody_came && !served {
        let why = "whoever waited after the last fault waited behind a holder to the end of the run";
        return Outcome::Undecided(why.to_owned());
    }
    Outcome::Holds
}

/// A holder that has held for longer than the bound to the end, while nothing is broken and another client waits for its key: it may wait for
/// itself if it waits for an answer of a store, and may never let go if it is an autonomous program.
fn waiting_holder(history: &History<'_>) -> Option<String> {
    let (end, bound) = (history.trace.end, history.trace.progress_bound);
    let waits = |key, client| {
        let mut of_key = history.sections.iter().filter(|section| section.key == key);
        of_key.any(|section| {
            section.id.client != client && section.asked.is_some() && section.answered.is_none()
        })
    };
    history.sections.iter().find_map(|section| {
        let grant = section.grant.as_ref()?;
        let holds = let_go(section).or(grant.let_go).is_none() && end.since(grant.acquired.at) > bound;
        if !holds || !waits(section.key, section.id.client) {
            return None;
        }
        let client = section.id.client;
        let (name, key) = (history.trace.host_name(client), history.key_name(section.key));
        if let Some((peer, since)) = unanswered_since(history, client)
            && end.since(since) > bound
        {
            let peer = history.trace.host_name(peer);
            return Some(format!("{name} holds `{key}` and waits for {peer} since {since}"));
        }
        // How long a client works that does everything by itself nobody knows.
        let since = grant.acquired.at;
        says_that_it_holds(history, client).then(|| {
            format!("{name} holds `{key}` from {since} to the end of the run, and others wait for it")
        })
    })
}

/// True for a client that reports by itself what it holds, as an autonomous program does.
fn says_that_it_holds(history: &History<'_>, client: HostId) -> bool {
    let says = |event: &&Event| matches!(&event.what, What::Printed { line, aside: false } if line.starts_with("holds "));
    history.trace.events.iter().filter(|event| event.host == client).any(|event| says(&event))
}

/// The server that a client has sent something to and had no answer from, and since when.
fn unanswered_since(history: &History<'_>, client: HostId) -> Option<(HostId, TrueTime)> {
    let mut open: BTreeMap<ConnId, (HostId, TrueTime)> = BTreeMap::new();
    for event in history.trace.events.iter().filter(|event| event.host == client) {
        let Some(conn) = event.conn else { continue };
        match event.what {
            What::Sent { peer, .. }
                if history.trace.role(peer).is_some_and(|role| role != Role::Resource) =>
            {
                open.entry(conn).or_insert((peer, event.at));
            }
            What::Delivered { .. } | What::Disconnected { .. } => {
                open.remove(&conn);
            }
            _ => {}
        }
    }
    open.into_values().min_by_key(|(_, since)| *since)
}

fn edges<'t>(history: &History<'t>) -> Vec<Edge<'t>> {
    let mut edges = Vec::with_capacity(history.sections.len() * 3);
    for section in &history.sections {
        let client = section.id.client;
        let mut edge = |event, turn| edges.push(Edge { key: section.key, client, event, turn });
        if let Some(asked) = section.asked {
            edge(asked, Turn::Waits);
        }
        if let Some(grant) = &section.grant {
            edge(grant.acquired, Turn::Gets { waited: section.asked.is_some() });
            if let Some(event) = let_go(section).or(grant.let_go) {
                edge(event, Turn::LetsGo);
            }
        } else if let (Some(_), Some(event)) = (section.asked, section.answered) {
            // Without a lock, a change made is a turn had, and so is the answer that nothing is left to take.
            if matches!(event.what, What::WriteAcknowledged { .. } | What::WriteRefused { .. }) {
                edge(event, Turn::Gets { waited: true });
                edge(event, Turn::LetsGo);
            } else {
                edge(event, Turn::GivesUp);
            }
        }
    }
    for (event, section) in orphaned_grants(history) {
        let edge = |turn| Edge { key: section.key, client: section.id.client, event, turn };
        edges.extend([edge(Turn::Gets { waited: false }), edge(Turn::LetsGo)]);
    }
    edges
}

/// When the holder no longer wanted what it had, whatever became of its release.
fn let_go<'t>(section: &Section<'t>) -> Option<&'t Event> {
    let ends = |event: &&&Event| {
        matches!(event.what, What::Aborted { .. } | What::Releasing { .. } | What::Released { .. })
    };
    section.steps.iter().find(ends).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_model::ids::EventId;
    use picklock_model::trace::{Belief, Content};
    use picklock_model::trace::{Broken, Condition, FinalClient, Halt};
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    #[test]
    fn a_waiter_served_within_the_bound_holds() {
        let trace = Script::new().at(0).waits(A1).at(100).acquires(A1).at(500).released(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_free_lock_that_nobody_gets_for_longer_than_the_bound_is_blocked() {
        let trace = Script::new().at(0).waits(A1).at(101).acquires(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(101));
        assert_eq!(found.grants, [A1]);
        assert_eq!(cited(&trace, &found), ["0 client-1 waiting", "101 client-1 acquired"]);
        let text = "blocked: for 101 ms nobody got `stock` although none held it, from 0.000000s until 0.101000s; \
                    client-1 (section 1) waited all that time; the design's bound is 100 ms";
        assert_eq!(found.text, text);
    }

    #[test]
    fn a_block_is_judged_from_when_a_silence_is_noticed() {
        let blocked = |silent_ms: u64| {
            let script = Script::new().at(0).waits(A1).at(5).creates(A1, NODE_1).at(20).loses_power(CLIENT_1);
            let mut trace = script.at(30).waits(B1).at(400).gives_up(B1).trace();
            trace.silent_client = Duration::from_millis(silent_ms);
            judge(&INVARIANT, &trace)
        };
        assert!(matches!(blocked(0), Outcome::Violated(_)));
        assert!(matches!(blocked(279), Outcome::Violated(_)));
        let Outcome::Undecided(why) = blocked(280) else { panic!("it is judged too early") };
        let expected = "blocked until the server notices the silent session: 0.28 s at most (client-1 lost its power at \
                        0.020000s); `--set decide=1s` decides it";
        assert_eq!(why, expected);
    }

    #[test]
    fn a_grant_as_soon_as_a_silence_is_noticed_is_in_time() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(20).loses_power(CLIENT_1).at(30).waits(B1);
        let mut trace = script.at(430).acquires(B1).at(440).released(B1).trace();
        trace.silent_client = Duration::from_millis(400);
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        trace.silent_client = Duration::from_millis(300);
        assert!(matches!(judge(&INVARIANT, &trace), Outcome::Violated(_)));
    }

    #[test]
    fn a_silence_that_begins_after_a_block_excuses_nothing() {
        let script = Script::new().at(0).waits(A1).at(150).acquires(A1).at(200).loses_power(CLIENT_2);
        let mut trace = script.trace();
        trace.silent_client = Duration::from_secs(60);
        assert_eq!(findings(&INVARIANT, &trace).len(), 1);
    }

    #[test]
    fn what_stands_in_the_way_is_cited_with_whoever_left_it() {
        let script = Script::new().at(0).waits(A1).at(5).creates(A1, NODE_1).at(20).crashes(CLIENT_1);
        let trace = script.at(30).waits(B1).at(400).gives_up(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [B1]);
        assert!(
            cited(&trace, &found).contains(&"5 node-1 created".to_owned()),
            "{:?}",
            cited(&trace, &found)
        );
        let left = "in the way: the record on node-1, created at 0.005000s for client-1 (section 1), \
                    which died asking for it at 0.020000s";
        assert!(found.text.ends_with(left), "{}", found.text);
    }

    #[test]
    fn a_lock_that_a_program_got_for_a_cancelled_caller_was_a_turn() {
        let cancelled = |answer: &str| {
            let script =
                Script::new().at(0).waits(B1).waits(A1).asked(A1, "acquire stock 10000").at(5).gives_up(A1);
            script.at(90).prints(A1, answer).at(180).acquires(B1).trace()
        };
        assert_eq!(judge(&INVARIANT, &cancelled("granted")), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &cancelled("refused")).width, wide(180));
    }

    #[test]
    fn a_lock_that_a_program_got_for_a_cancelled_caller_and_nobody_after_is_a_deadlock() {
        let script =
            Script::new().at(0).waits(B1).waits(A1).asked(A1, "acquire stock 10000").at(5).gives_up(A1);
        let trace = script.at(90).prints(A1, "granted owner=a").at(300).gives_up(B1).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(210));
    }

    #[test]
    fn nobody_is_blocked_by_a_store_that_is_not_modelled_whole() {
        let name = "XADD".to_owned();
        let script = Script::new().at(0).waits(A1).at(9).event(NODE_1, None, What::NotModelled { name });
        let why = Outcome::Undecided("XADD is not modelled: try --servers real".to_owned());
        assert_eq!(judge(&INVARIANT, &script.at(101).acquires(A1).trace()), why);
    }

    #[test]
    fn a_wait_behind_a_holder_is_no_block() {
        let trace = Script::new().held(A1, 0, 800).at(10).waits(B1).at(850).acquires(B1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_block_begins_when_the_release_begins() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(100).releasing(A1).at(300).released(A1);
        let trace = script.at(10).waits(B1).at(450).acquires(B1).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(350));
    }

    #[test]
    fn a_block_begins_with_the_holders_crash() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(300).crashes(CLIENT_1).at(10).waits(B1);
        let trace = script.at(450).gives_up(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!((found.width, found.grants.as_slice()), (wide(150), [B1].as_slice()));
    }

    #[test]
    fn somebody_elses_grant_ends_the_block() {
        let script = Script::new().at(0).waits(A1).waits(B1).at(90).acquires(B1).at(95).released(B1);
        assert_eq!(judge(&INVARIANT, &script.at(190).acquires(A1).trace()), Outcome::Holds);
    }

    #[test]
    fn only_the_part_after_the_last_fault_counts() {
        let script = || Script::new().at(0).breaks(Broken::Late, Some(400)).waits(A1);
        assert_eq!(judge(&INVARIANT, &script().at(500).acquires(A1).trace()), Outcome::Holds);
        let trace = script().at(501).acquires(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(101));
        assert_eq!(cited(&trace, &found)[1], "400 resource healed");
    }

    #[test]
    fn between_two_faults_nothing_is_broken_either() {
        let script = Script::new().at(0).waits(A1).at(10).breaks(Broken::Late, Some(20));
        let trace = script.at(121).breaks(Broken::Late, Some(130)).at(140).acquires(A1).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(101));
    }

    #[test]
    fn a_message_that_is_late_before_anybody_says_so_stops_the_clock() {
        let mut trace =
            Script::new().at(0).breaks(Broken::Late, Some(400)).waits(A1).at(450).acquires(A1).trace();
        trace.outages[0].from = at(50);
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    /// B waits from the beginning, and a store is dead from 100 ms to the end.
    fn without_a_store() -> Script {
        Script::new().at(0).waits(B1).at(100).breaks(Broken::Dead(NODE_1), None)
    }

    #[test]
    fn a_minority_that_is_down_is_no_excuse_for_a_design_that_survives_it() {
        let survives = || without_a_store().surviving(Condition::MinorityDown);
        let found = finding(&INVARIANT, &survives().at(201).acquires(B1).trace());
        assert_eq!(found.width, wide(101));
        let end = "the design's bound is 100 ms, also while fewer than half of the stores are dead or cannot be reached, \
                   which it claims to survive";
        assert!(found.text.ends_with(end), "{}", found.text);
        assert_eq!(judge(&INVARIANT, &survives().at(200).acquires(B1).trace()), Outcome::Holds);
        let mut slower = survives().at(201).acquires(B1).trace();
        slower.detour = Duration::from_millis(1);
        assert_eq!(judge(&INVARIANT, &slower), Outcome::Holds);
    }

    #[test]
    fn a_primary_that_is_dead_for_good_is_no_excuse_where_a_replica_is_there() {
        let survives = || without_a_store().surviving(Condition::PrimaryDown);
        let found = finding(&INVARIANT, &survives().trace());
        assert!(found.text.contains("while a server of a replicated store is down"), "{}", found.text);
        assert_eq!(judge(&INVARIANT, &survives().at(200).acquires(B1).trace()), Outcome::Holds);
        let cut = Script::new().at(0).waits(B1).at(100).breaks(Broken::Link(NODE_1, NODE_2), None);
        assert!(is_unknown(&INVARIANT, &cut.surviving(Condition::PrimaryDown).trace()));
    }

    #[test]
    fn who_hears_that_nothing_is_left_has_had_its_turn() {
        let asks = |script: Script, nth: u32| {
            let (at, grant) = (u64::from(nth) * 12, section(0, nth + 1));
            script.at(at).waits(grant).at(at + 9).refused(grant)
        };
        let script = (0..12).fold(Script::new().believing(Belief::None), asks);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
    }

    #[test]
    fn what_is_still_broken_at_the_end_is_not_over() {
        assert!(is_unknown(&INVARIANT, &without_a_store().trace()));
        assert!(is_unknown(&INVARIANT, &without_a_store().at(110).acquires(B1).trace()));
        let other = without_a_store().surviving(Condition::HolderPaused);
        assert!(is_unknown(&INVARIANT, &other.trace()), "survived is something else");
    }

    #[test]
    fn two_conditions_at_once_are_more_than_one() {
        let script = without_a_store().surviving(Condition::MinorityDown).surviving(Condition::WaiterPaused);
        let paused = script.at(150).breaks(Broken::Halted(CLIENT_1, Halt::Pause), Some(900));
        assert_eq!(judge(&INVARIANT, &paused.at(950).acquires(B1).trace()), Outcome::Holds);
    }

    /// A holds from the beginning, B waits, and A is hit from 50 ms to 400.
    fn a_hit_holder(what: Broken, gets: u64) -> Script {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(10).waits(B1);
        let script =
            script.at(gets).acquires(B1).at(gets + 1).released(B1).at(450).releasing(A1).released(A1);
        script.at(50).breaks(what, Some(400))
    }

    #[test]
    fn a_paused_holder_is_in_the_way_if_the_design_survives_it() {
        let paused = |gets| a_hit_holder(Broken::Halted(CLIENT_1, Halt::Pause), gets);
        let survives = |gets| paused(gets).surviving(Condition::HolderPaused).trace();
        let found = finding(&INVARIANT, &survives(151));
        assert_eq!((found.width, found.grants.as_slice()), (wide(101), [B1].as_slice()));
        assert!(found.text.ends_with(", and client-1 stood still meanwhile, which it claims to survive"));
        assert_eq!(judge(&INVARIANT, &survives(150)), Outcome::Holds);
        let other = paused(390).surviving(Condition::WaiterPaused).surviving(Condition::HolderDead);
        assert!(
            !matches!(judge(&INVARIANT, &other.trace()), Outcome::Violated(_)),
            "it held, and did not wait"
        );
        assert!(
            !matches!(judge(&INVARIANT, &paused(390).trace()), Outcome::Violated(_)),
            "nothing was claimed"
        );
    }

    #[test]
    fn a_holder_whose_section_alone_stands_still_holds() {
        let stalled = a_hit_holder(Broken::Halted(CLIENT_1, Halt::Stall), 390);
        assert_eq!(judge(&INVARIANT, &stalled.surviving(Condition::HolderPaused).trace()), Outcome::Holds);
    }

    #[test]
    fn a_client_that_is_cut_off_does_not_wait() {
        let script = Script::new().surviving(Condition::ClientCut).at(10).waits(A1);
        let cut = script.at(50).breaks(Broken::Link(CLIENT_1, NODE_1), Some(400)).at(420).acquires(A1);
        assert_eq!(judge(&INVARIANT, &cut.trace()), Outcome::Holds);
    }

    #[test]
    fn waiters_that_take_the_lock_from_each_other_are_a_livelock() {
        let taken = |script: Script, grant, from| {
            script.at(from).creates(grant, NODE_1).at(from + 35).deletes(grant, NODE_1)
        };
        let mut script = Script::new().at(0).waits(A1).waits(B1);
        for (grant, from) in [(A1, 1), (B1, 40), (A1, 80), (B1, 120)] {
            script = taken(script, grant, from);
        }
        let found = finding(&INVARIANT, &script.at(170).gives_up(A1).gives_up(B1).trace());
        assert!(found.text.starts_with("livelock: for 170 ms nobody got `stock`"), "{}", found.text);
        assert!(
            found.text.ends_with("in the way: what requests of client-1 and client-2 left"),
            "{}",
            found.text
        );
    }

    #[test]
    fn what_a_failed_try_left_stands_beside_what_the_waiter_trips_over() {
        let script =
            Script::new().quorum(2).at(0).waits(B1).creates(B1, NODE_1).at(10).gives_up(B1).waits(A1);
        let script = script.at(11).creates(A1, NODE_2).at(60).expires(NODE_1).creates(A1, NODE_3);
        let trace = script.at(70).deletes(A1, NODE_2).at(80).creates(A1, NODE_1).at(150).gives_up(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert!(
            found.text.ends_with("in the way: what requests of client-1 and client-2 left"),
            "{}",
            found.text
        );
        assert!(
            cited(&trace, &found).contains(&"0 node-1 created".to_owned()),
            "{:?}",
            cited(&trace, &found)
        );
    }

    #[test]
    fn a_wait_that_the_end_of_the_run_cuts_short_is_undecided_and_a_long_one_is_found() {
        let why = "nobody held `stock` from 0.900000s until the end of the run at 1.000000s, and client-1 (section 1) waited for it: the \
                   design's bound is 100 ms, and `--set decide=SPAN` lets the run go on for longer";
        let short = Script::new().at(900).waits(A1).trace();
        assert_eq!(judge(&INVARIANT, &short), Outcome::Undecided(why.to_owned()));
        let behind = Script::new().held(B1, 0, 1_000).at(900).waits(A1).trace();
        assert_eq!(judge(&INVARIANT, &behind), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &Script::new().at(899).waits(A1).trace()).width, wide(101));
    }

    #[test]
    fn waiters_that_take_turns_do_not_hide_a_deadlock() {
        let turns = |gap: u64| {
            let script = Script::new().at(0).waits(A1).at(60).gives_up(A1).at(60 + gap).waits(B1);
            script.at(120).gives_up(B1).trace()
        };
        assert_eq!(finding(&INVARIANT, &turns(9)).width, wide(120));
        assert_eq!(judge(&INVARIANT, &turns(10)), Outcome::Holds);
    }

    #[test]
    fn the_silence_after_the_last_waiter_does_not_count() {
        let script = Script::new().at(0).waits(A1).at(60).gives_up(A1).at(700).waits(B1).at(760).acquires(B1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
        assert_eq!(
            judge(&INVARIANT, &Script::new().at(0).waits(A1).at(60).gives_up(A1).trace()),
            Outcome::Holds
        );
    }

    #[test]
    fn the_one_that_waited_longest_speaks_for_all() {
        let script = Script::new().at(0).waits(A1).at(1).waits(B1).at(50).gives_up(A1).at(200).gives_up(B1);
        assert_eq!(finding(&INVARIANT, &script.trace()).grants, [B1]);
    }

    #[test]
    fn waits_behind_a_holder_alone_decide_nothing_unless_a_fresh_client_could_ask() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(10).breaks(Broken::Late, Some(20));
        let mut trace = script.at(30).waits(B1).trace();
        trace.final_client = Some(FinalClient { host: CLIENT_2, came: None });
        assert!(matches!(judge(&INVARIANT, &trace), Outcome::Undecided(_)));
        trace.final_client = Some(FinalClient { host: CLIENT_2, came: Some(at(60)) });
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        let mut served = Script::new().held(A1, 5, 50).trace();
        served.final_client = Some(FinalClient { host: CLIENT_2, came: None });
        assert_eq!(judge(&INVARIANT, &served), Outcome::Holds);
    }

    #[test]
    fn an_autonomous_holder_that_holds_to_the_end_may_never_let_go() {
        let held = |line: &str| {
            let script = Script::new().at(0).waits(A1).prints(A1, line).acquires(A1).at(10).waits(B1);
            judge(&INVARIANT, &script.trace())
        };
        let why = "client-1 holds `stock` from 0.000000s to the end of the run, and others wait for it";
        assert_eq!(held("holds stock"), Outcome::Undecided(why.to_owned()));
        assert_eq!(held("granted"), Outcome::Holds);
    }

    #[test]
    fn a_holder_that_waits_for_an_answer_to_the_end_may_wait_for_itself() {
        let sent = What::Sent { peer: NODE_1, segment: 0, bytes: 9, content: Content::default() };
        let script = Script::new().at(0).waits(A1).acquires(A1).at(10).waits(B1);
        let mut trace = script.at(20).event(CLIENT_1, Some(A1), sent).trace();
        trace.events.last_mut().unwrap().conn = Some(ConnId(1));
        let why = "client-1 holds `stock` and waits for node-1 since 0.020000s";
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Undecided(why.to_owned()));
        let mut answered = trace.clone();
        let (id, at) = (EventId(answered.events.len() as u32), at(30));
        let answer = What::Delivered { peer: NODE_1, segment: 0 };
        let event =
            Event { at, id, host: CLIENT_1, cause: None, conn: Some(ConnId(1)), grant: None, what: answer };
        answered.events.push(event);
        assert_eq!(judge(&INVARIANT, &answered), Outcome::Holds);
    }

    #[test]
    fn keys_are_judged_apart() {
        let script = Script::new().at(0).waits(A1).at(60).acquires(A1).at(70).released(A1);
        let trace = script.on("other").at(0).waits(B1).at(130).gives_up(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!((found.width, found.grants.as_slice()), (wide(130), [B1].as_slice()));
    }

    #[test]
    fn nobody_waiting_after_the_last_fault_says_nothing() {
        assert!(is_unknown(&INVARIANT, &Script::new().at(5).reads(A1, 0).trace()));
        assert!(is_unknown(&INVARIANT, &Script::new().held(A1, 0, 50).at(60).heals().trace()));
        let trace = Script::new().at(0).waits(A1).at(70).crashes(CLIENT_1).trace();
        assert!(is_unknown(&INVARIANT, &trace));
    }

    proptest! {
        #[test]
        fn a_deadlock_is_a_stretch_of_waiting_without_a_holder_longer_than_the_bound(
            sections in prop::collection::vec((0..500_u64, 0..200_u64, any::<bool>(), 0..200_u64), 1..6),
            healed in 0..400_u64,
        ) {
            let mut script = Script::new().at(0).breaks(Broken::Late, Some(healed));
            for ((asked, wait, granted, hold), client) in sections.iter().zip(0..) {
                let grant = section(client, 1);
                script = script.at(*asked).waits(grant).at(asked + wait);
                script = match granted {
                    true => script.acquires(grant).at(asked + wait + hold).released(grant),
                    false => script.gives_up(grant),
                };
            }
            // Millisecond by millisecond: how long it has been blocked, forgiving pauses of less than 10 ms.
            let (mut since, mut idle, mut longest) = (None, 0, 0);
            for now in 0..=1_000_u64 {
                let gets = sections.iter().any(|(asked, wait, granted, _)| *granted && asked + wait == now);
                let waits = sections.iter().any(|(asked, wait, _, _)| (*asked..asked + wait).contains(&now));
                let holds = sections
                    .iter()
                    .any(|(asked, wait, granted, hold)| *granted && (asked + wait..asked + wait + hold).contains(&now));
                if gets || holds || idle >= 10 {
                    (since, idle) = (None, 0);
                }
                // A block from the healing on is measured by itself: as soon as somebody waits then, or later.
                if now == healed {
                    let leaves = sections.iter().any(|(asked, wait, _, _)| *wait > 0 && asked + wait == now);
                    since = (leaves && !gets && !holds).then_some(now);
                    idle = 0;
                }
                if waits && !holds {
                    let start = *since.get_or_insert(now);
                    idle = 0;
                    longest = longest.max(now + 1 - start.max(healed).min(now + 1));
                } else {
                    idle += u64::from(since.is_some());
                }
            }
            let waits = sections.iter().any(|(asked, wait, _, _)| asked + wait > healed);
            prop_assume!(waits);
            prop_assert_eq!(!findings(&INVARIANT, &script.trace()).is_empty(), longest > 100);
        }
    }
}
