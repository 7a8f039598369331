//! Messages that are cut off, delayed or lost, and connections that are reset.

use std::time::Duration;

use picklock_campaign::check::Checked;
use picklock_model::plan::{Access, Action, Edge, Injection, Phase, Target};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Disconnect, What};
use picklock_sim::engine::Engine;

use super::assert_sound;
use crate::stage::*;

fn cut(both: bool, lasts: Duration, from: &str, to: &str) -> Injection {
    injection(before_the_write(), Target::host(from), Action::Cut { to: Target::host(to), both, lasts })
}

/// When the resource applied the write of client-1, and when that client learned of it.
fn write_and_answer(run: &Checked) -> (TrueTime, TrueTime) {
    let answered = when(run, "client-1", |what| matches!(what, What::WriteAcknowledged { .. }));
    (written(run, "client-1")[0], answered.expect("the client learns what became of its write"))
}

#[test]
fn a_cut_holds_what_is_sent_into_it_until_it_heals() {
    let lasts = ms(600);
    let calm = run("oracle", stage([]));
    let (written, answered) = write_and_answer(&calm);
    let (soon, late) = (written + ms(2), written + lasts - ms(2));

    let (request, answer) =
        write_and_answer(&run("oracle", stage([cut(false, lasts, "client-1", "resource")])));
    assert!(request > late && answer > late, "the request waits: {request} {answer}");
    let (request, answer) =
        write_and_answer(&run("oracle", stage([cut(false, lasts, "resource", "client-1")])));
    assert!(request < soon && answer > late, "the answer waits: {request} {answer}");
    let (request, answer) =
        write_and_answer(&run("oracle", stage([cut(true, lasts, "client-1", "resource")])));
    assert!(request > late && answer > late);
    let elsewhere = run("oracle", stage([cut(true, lasts, "client-2", "resource")]));
    assert_eq!(write_and_answer(&elsewhere), (written, answered), "other links are not touched");
}

#[test]
fn a_write_that_was_held_in_the_net_lands_on_the_next_holder_unless_fenced() {
    let plan = || stage([cut(true, ms(1_500), "client-1", "resource")]);
    assert!(run("single", plan()).violates("effective-exclusion"));
    assert!(run("redlock", plan()).violates("effective-exclusion"));
    assert!(!run("single-fenced", plan()).violates("effective-exclusion"));
    assert!(!run("redlock-fenced-quorum", plan()).violates("effective-exclusion"));
}

#[test]
fn a_cut_between_client_and_stores_delays_the_lock_and_breaks_nothing() {
    let nodes = Target::Hosts((1..=5).map(|node| format!("node-{node}")).collect());
    let action = Action::Cut { to: nodes, both: true, lasts: ms(700) };
    for spelling in ["single", "redlock", "watchdog"] {
        let run = run(spelling, stage([injection(at(0), Target::host("client-2"), action.clone())]));
        assert_sound(&run);
        assert!(granted(&run, "client-2") > Some(at_ms(700)), "{spelling}");
        assert!(took_effect(&run), "{spelling}");
    }
}

#[test]
fn a_delay_hits_so_many_messages_and_no_more() {
    let delayed = |messages| {
        let to = Target::host("resource");
        let action = Action::Delay { to, by: ms(500), lasts: ms(5_000), messages };
        run("oracle", stage([injection(at(0), first(), action)]))
    };
    let calm = written(&run("oracle", stage([])), "client-1")[0];
    // The connection is opened, then the register is read, then it is written.
    let none = written(&delayed(Some(0)), "client-1")[0];
    let one = written(&delayed(Some(1)), "client-1")[0];
    let all = written(&delayed(None), "client-1")[0];
    assert_eq!(none, calm);
    assert!((calm + ms(490)..calm + ms(510)).contains(&one), "{calm} {one}");
    assert!(all > one + ms(490), "{one} {all}");
}

#[test]
fn a_lost_reply_hides_a_request_that_was_carried_out() {
    let asks = point(Phase::Acquire, Access::Write, "node-1", Edge::Before);
    let action = Action::LoseReply { from: Target::host("node-1") };
    let run = run("single", stage([injection(asks, first(), action)]));
    assert_sound(&run);
    assert!(took_effect(&run));
    let created = of(&run, "node-1").filter(|event| matches!(event.what, What::Created { .. }));
    assert_eq!(created.count(), 3, "the first one is taken back: its client never heard of it");
}

#[test]
fn dropped_connections_are_reset_at_both_ends_and_opened_again() {
    let action = Action::DropConnections { to: Target::host("node-1") };
    let run = run("single", stage([injection(at(150), first(), action)]));
    assert_sound(&run);
    let reset = |host: &str, by: &str| {
        let is = |what: &What| match what {
            What::Disconnected { peer, why: Disconnect::Reset } => run.trace.host_name(*peer) == by,
            _ => false,
        };
        when(&run, host, is)
    };
    assert!(reset("client-1", "node-1").is_some() && reset("node-1", "client-1").is_some());
    assert_eq!(reset("client-2", "node-1"), None);
}

#[test]
fn a_holder_whose_connection_went_releases_over_another() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let action = Action::DropConnections { to: Target::host("node-1") };
        let run = run_on(engine, "single", stage([injection(at(150), first(), action)]));
        let released = when(&run, "node-1", |what| matches!(what, What::Deleted { .. })).unwrap();
        assert!((at_ms(300)..at_ms(320)).contains(&released), "{engine}: {released}");
    }
}

#[test]
fn a_fault_of_two_parts_has_bitten_only_if_both_have() {
    let delay = |by| {
        let action = Action::Delay { to: Target::host("node-1"), by, lasts: ms(50), messages: None };
        injection(at(0), first(), action)
    };
    let crash = |when| injection(at(when), first(), Action::Crash { power_loss: true, restart_after: None });
    assert!(took_effect(&run("single", stage([delay(ms(5))]))));
    assert!(took_effect(&run("single", stage([delay(ms(5)), crash(100)]))));
    assert!(!took_effect(&run("single", stage([delay(ms(5)), crash(7_900)]))), "the run is over by then");
}
