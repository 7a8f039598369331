//! What each action does to real designs on the event engine, in runs written by hand; and that the faults of the suite,
//! which apply these actions, make a difference.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_campaign::campaign::{Campaign, Silent};
use picklock_campaign::check::{self, Checked};
use picklock_model::plan::{Access, Action, Edge, Injection, Phase, Plan, Settings, Target, When};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Disconnect, Event, What};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

#[path = "support/cells.rs"]
mod cells;
#[path = "support/stage.rs"]
mod stage;

use cells::{Cell, design};
use stage::*;

/// Both clients had their turn and nothing was violated.
fn assert_sound(run: &Checked) {
    assert_eq!(run.violated(), [""; 0], "{:?}", run.violations().map(|(_, found)| found).collect::<Vec<_>>());
    let writes = [written(run, "client-1"), written(run, "client-2")].concat();
    assert_eq!(writes.len(), 2, "both clients write");
}

mod halts {
    use super::*;

    /// Far longer than the lease, and than any time limit that the client has set itself.
    fn paused_before_the_write() -> Plan {
        stage([injection(before_the_write(), first(), Action::Pause { lasts: 3 * LEASE })])
    }

    #[test]
    fn a_paused_holder_writes_over_its_successor_without_a_fence() {
        for naive in ["single", "watchdog", "redlock-naive", "set-px-del"] {
            let run = run(naive, paused_before_the_write());
            assert!(run.violates("mutual-exclusion") && run.violates("effective-exclusion"), "{naive}");
            assert!(took_effect(&run));
            assert!(
                written(&run, "client-1") > written(&run, "client-2"),
                "{naive}: the late write comes last"
            );
        }
    }

    #[test]
    fn a_paused_holder_cannot_write_after_takeover_when_fenced() {
        for fenced in ["single-fenced", "redlock-fenced-quorum"] {
            let run = run(fenced, paused_before_the_write());
            assert!(!run.violates("effective-exclusion") && !run.violates("no-lost-update"), "{fenced}");
            assert_eq!(written(&run, "client-1"), [], "{fenced}");
            assert_eq!(written(&run, "client-2").len(), 1, "{fenced}");
            let refused =
                when(&run, "resource", |what| matches!(what, What::ResourceRefused { .. })).unwrap();
            assert!(refused > at_ms(2_000), "{fenced}");
        }
        // The fence protects the resource; it does not end the belief of a holder that never looks.
        assert!(run("single-fenced", paused_before_the_write()).violates("mutual-exclusion"));
    }

    #[test]
    fn an_honest_holder_has_no_double_belief_but_its_write_is_late_all_the_same() {
        let run = run("redlock", paused_before_the_write());
        assert!(
            !run.violates("mutual-exclusion") && run.violates("effective-exclusion"),
            "{:?}",
            run.violated()
        );
    }

    #[test]
    fn an_honest_holder_that_was_paused_at_work_gives_up() {
        let plan = stage([injection(at(200), first(), Action::Pause { lasts: 2 * LEASE })]);
        let run = run("redlock", plan);
        assert_eq!(run.violated(), [""; 0]);
        assert_eq!(written(&run, "client-1"), []);
        assert!(when(&run, "client-1", |what| matches!(what, What::Aborted { .. })) >= Some(at_ms(2_200)));
    }

    #[test]
    fn nobody_overtakes_a_paused_holder_of_the_oracle() {
        let run = run("oracle", paused_before_the_write());
        assert_sound(&run);
        assert!(granted(&run, "client-2") > Some(at_ms(2_300)));
    }

    #[test]
    fn a_stall_leaves_the_watchdog_running_and_a_pause_does_not() {
        let halted = |action| run("watchdog", stage([injection(at(150), first(), action)]));
        let stalled = halted(Action::Stall { lasts: 3 * LEASE });
        assert_sound(&stalled);
        let renewals = of(&stalled, "node-1").filter(|event| matches!(event.what, What::Extended { .. }));
        assert!(renewals.count() >= 8, "three renewals for each lease");
        assert!(written(&stalled, "client-1")[0] >= at_ms(3_150));
        let paused = halted(Action::Pause { lasts: 3 * LEASE });
        assert!(expired(&paused, "node-1").is_some() && paused.violates("mutual-exclusion"));
    }

    #[test]
    fn a_suspended_host_trusts_a_monotonic_clock_that_stood_still() {
        let plan = || stage([injection(at(200), first(), Action::Suspend { lasts: 2 * LEASE })]);
        assert!(run("redlock", plan()).violates("mutual-exclusion"));
        // The wall clock goes on while the host is suspended.
        assert_eq!(run("redlock{clock=wall}", plan()).violated(), [""; 0]);
    }

    #[test]
    fn nothing_happens_in_a_paused_process_until_it_resumes() {
        let run = run("watchdog", stage([injection(at(200), first(), Action::Pause { lasts: ms(700) })]));
        let stood_still = at_ms(200)..at_ms(900);
        let during: Vec<&Event> =
            of(&run, "client-1").filter(|event| stood_still.contains(&event.at)).collect();
        let passive = |what: &What| {
            matches!(
                what,
                What::Paused { .. }
                    | What::Injected { .. }
                    | What::Delivered { .. }
                    | What::TookEffect { .. }
            )
        };
        assert!(during.iter().all(|event| passive(&event.what)), "{during:?}");
        assert_eq!(when(&run, "client-1", |what| matches!(what, What::Resumed)), Some(stood_still.end));
    }
}

mod crashes {
    use super::*;

    fn crash(restart_after: Option<Duration>, power_loss: bool) -> Action {
        Action::Crash { power_loss, restart_after }
    }

    #[test]
    fn the_lock_of_a_dead_client_is_free_when_its_lease_has_run_out_and_not_earlier() {
        for spelling in ["single", "watchdog", "redlock", "single-fenced"] {
            for power_loss in [false, true] {
                let run = run(spelling, stage([injection(at(200), first(), crash(None, power_loss))]));
                assert_eq!(run.violated(), [""; 0], "{spelling}");
                assert_eq!(written(&run, "client-1"), []);
                let next = granted(&run, "client-2").unwrap();
                assert!((at_ms(1_000)..at_ms(2_000)).contains(&next), "{spelling}: {next}");
            }
        }
    }

    #[test]
    fn a_killed_process_closes_its_connections_and_a_lost_power_does_not() {
        let noticed = |power_loss| {
            let run = run("single", stage([injection(at(200), first(), crash(None, power_loss))]));
            let from_client = |event: &&Event| match event.what {
                What::Disconnected { peer, .. } => run.trace.host_name(peer) == "client-1",
                _ => false,
            };
            of(&run, "node-1").find(from_client).map(|event| event.at)
        };
        assert!((at_ms(200)..at_ms(202)).contains(&noticed(false).unwrap()));
        assert_eq!(noticed(true), None);
    }

    #[test]
    fn a_restarted_client_goes_on_with_its_next_section() {
        let mut plan = stage([injection(at(200), first(), crash(Some(ms(100)), false))]);
        plan.clients[0] = client("client-1", ms(0), ms(300), 2);
        let run = run("single", plan);
        assert_eq!(run.violated(), [""; 0]);
        assert_eq!(when(&run, "client-1", |what| matches!(what, What::Restarted)), Some(at_ms(300)));
        assert_eq!(written(&run, "client-1").len(), 1, "the section that it died in is not taken up again");
    }

    #[test]
    fn a_store_that_restarts_keeps_what_it_wrote_to_disk_and_nothing_else() {
        let restarted = |persistence| {
            let mut plan = stage([injection(at(150), Target::host("node-1"), crash(Some(ms(20)), true))]);
            plan.world.store = Settings::default().with_word("persistence", persistence);
            run("single", plan)
        };
        let forgetful = restarted("none");
        assert!(forgetful.violates("mutual-exclusion"));
        assert!(when(&forgetful, "node-1", |what| matches!(what, What::Lost { .. })).is_some());
        let careful = restarted("always");
        assert!(when(&careful, "node-1", |what| matches!(what, What::Lost { .. })).is_none());
        assert!(granted(&careful, "client-2") > Some(written(&careful, "client-1")[0]));
        assert!(!careful.violates("mutual-exclusion") && !careful.violates("effective-exclusion"));
    }

    #[test]
    fn redlock_does_without_a_minority_of_its_stores_and_not_without_a_majority() {
        let without = |nodes: &[&str]| {
            let dead = Target::Hosts(nodes.iter().map(|name| (*name).to_owned()).collect());
            run("redlock", stage([injection(at(0), dead, crash(None, true))]))
        };
        assert_sound(&without(&["node-2", "node-4"]));
        let too_few = without(&["node-1", "node-2", "node-4"]);
        assert_eq!((granted(&too_few, "client-1"), granted(&too_few, "client-2")), (None, None));
    }

    #[test]
    fn a_replica_takes_over_from_a_dead_primary() {
        let plan = stage([injection(at(50), Target::Leader, crash(None, true))]);
        let run = run("replicated", plan);
        let promoted = when(&run, "replica-1-1", |what| matches!(what, What::BecameLeader)).unwrap();
        assert!(promoted > at_ms(250), "a primary is silent for 200 ms before it is given up");
        assert!(granted(&run, "client-2") > Some(promoted));
        assert_eq!(run.violated(), [""; 0], "the grant had been replicated when the primary died");
    }
}

mod network {
    use super::*;

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
        let crash =
            |when| injection(at(when), first(), Action::Crash { power_loss: true, restart_after: None });
        assert!(took_effect(&run("single", stage([delay(ms(5))]))));
        assert!(took_effect(&run("single", stage([delay(ms(5)), crash(100)]))));
        assert!(!took_effect(&run("single", stage([delay(ms(5)), crash(7_900)]))), "the run is over by then");
    }
}

mod clocks {
    use super::*;

    fn step(by: i64) -> Action {
        Action::StepClock { by_ns: by * 1_000_000 }
    }

    /// How long a record of a client that dies at work lasts, in milliseconds, under such an act upon the store's clock
    /// so many milliseconds after its creation.
    fn lease_under(action: Action, after: u64) -> u64 {
        let dies = injection(at(100), first(), Action::Crash { power_loss: true, restart_after: None });
        let calm = run("single", stage([dies.clone()]));
        let created = when(&calm, "node-1", |what| matches!(what, What::Created { .. }));
        let created = created.expect("the first client finds the lock free");
        let acted = When::At { at_ns: created + ms(after) };
        let run = run("single", stage([dies, injection(acted, Target::host("node-1"), action)]));
        assert_eq!(run.violated(), [""; 0]);
        let expired = expired(&run, "node-1").expect("nobody deletes the record");
        expired.as_millis() - created.as_millis()
    }

    #[test]
    fn a_store_counts_leases_on_its_wall_clock() {
        for (by, lasts) in [(0, 1_000), (300, 700), (5_000, 150), (-700, 1_700)] {
            // A record that has run out is dropped when the other client next asks for it.
            let seen = lease_under(step(by), 150);
            assert!((lasts..lasts + 60).contains(&seen), "stepped by {by} ms: {seen} ms");
        }
    }

    #[test]
    fn a_fast_clock_makes_short_work() {
        let work = |ppm| {
            let run = run("oracle", stage([injection(at(0), first(), Action::SetDrift { ppm })]));
            written(&run, "client-1")[0].since(granted(&run, "client-1").unwrap())
        };
        // Three hundred milliseconds, one part in a hundred faster or slower, and the same latencies.
        let exact = work(0);
        assert!((ms(2)..ms(4)).contains(&(exact - work(10_000))), "{:?} {exact:?}", work(10_000));
        assert!((ms(2)..ms(4)).contains(&(work(-10_000) - exact)), "{:?} {exact:?}", work(-10_000));
    }

    #[test]
    fn a_step_of_as_many_stores_as_two_majorities_share_makes_two_holders() {
        let stepped = |nodes: u32| {
            let hosts = Target::Hosts((1..=nodes).map(|node| format!("node-{node}")).collect());
            let mut plan = stage([injection(at(150), hosts, step(2_000))]);
            // A holder that works for most of its lease.
            plan.clients[0] = client("client-1", ms(0), ms(800), 1);
            run("redlock", plan).violates("mutual-exclusion")
        };
        // All five stores were asked and gave their vote, so three of them must give it again.
        assert!(!stepped(2));
        assert!(stepped(3));
    }

    #[test]
    fn the_step_of_a_clients_clock_matters_only_to_who_keeps_deadlines_on_it() {
        let mut plan = stage([injection(at(200), first(), step(-3_000))]);
        plan.clients[0] = client("client-1", ms(0), ms(1_500), 1);
        assert!(!run("redlock", plan.clone()).violates("mutual-exclusion"));
        assert!(run("redlock{clock=wall}", plan).violates("mutual-exclusion"));
    }
}

mod effects {
    use super::*;

    #[test]
    fn an_action_that_finds_nothing_to_change_does_not_bite() {
        let pause = Action::Pause { lasts: LEASE };
        let cut = |to| Action::Cut { to, both: true, lasts: ms(100) };
        for (what, action) in [
            ("a pause after the end of all work", injection(at(5_000), first(), pause.clone())),
            ("a pause of nobody", injection(at(5_000), Target::Holder, pause.clone())),
            (
                "a pause of a host that is not there",
                injection(at(100), Target::host("client-9"), pause.clone()),
            ),
            (
                "a pause at a point that never comes",
                injection(point(Phase::Write, Access::Write, "node-1", Edge::Before), first(), pause),
            ),
            ("a cut that nothing is sent into", injection(at(3_000), first(), cut(Target::host("resource")))),
            ("a cut between clients", injection(at(100), first(), cut(Target::host("client-2")))),
            (
                "a crash of a client that is done",
                injection(at(3_000), first(), Action::Crash { power_loss: true, restart_after: None }),
            ),
            (
                "a step of the clock of a store without records",
                injection(at(3_000), Target::host("node-1"), Action::StepClock { by_ns: 1 << 40 }),
            ),
        ] {
            let run = run("single", stage([action]));
            assert!(!took_effect(&run), "{what} took effect");
            assert_sound(&run);
        }
    }

    #[test]
    fn the_holder_is_who_holds_the_lock_when_the_action_is_applied() {
        let paused = |millis: u64| {
            let run = run(
                "single",
                stage([injection(at(millis), Target::Holder, Action::Pause { lasts: ms(100) })]),
            );
            let is = |client: &str| when(&run, client, |what| matches!(what, What::Paused { .. })).is_some();
            (is("client-1"), is("client-2"))
        };
        assert_eq!(paused(150), (true, false));
        let second = granted(&run("single", stage([])), "client-2").unwrap();
        assert_eq!(paused(second.as_millis() + 10), (false, true));
    }

    #[test]
    fn a_run_is_the_calm_run_until_its_first_action_is_applied() {
        for scenario in suite::builtin(&picklock_stores::params()) {
            for spelling in ["single", "redlock{nodes=3}", "single-fenced{store=replicated}", "watchdog"] {
                let Some(cell) = Cell::of(&design(spelling), scenario.clone()) else { continue };
                let faulty = cell.run(Engine::Event, 11);
                let calm = cell.scenario.fault_free_plan(&cell.design, Seed(11));
                let calm = check::check(Engine::Event, &cell.design, calm).unwrap();
                let events = &faulty.trace.events;
                let applied = events.iter().position(|event| matches!(event.what, What::Injected { .. }));
                let until = applied.unwrap_or(events.len());
                // Where there are faults, who is done stays as a rival: it has not finished, and its connections stay open.
                let told = |events: &[Event]| -> Vec<_> {
                    let told = events
                        .iter()
                        .filter(|event| !matches!(event.what, What::Finished | What::Disconnected { .. }));
                    told.map(|event| (event.at, event.host, event.conn, event.grant, event.what.clone()))
                        .collect()
                };
                let (before, calm) = (told(&events[..until]), told(&calm.trace.events));
                let differs = before.iter().zip(&calm).position(|(one, other)| one != other);
                let at = differs.map(|at| (&before[at], &calm[at]));
                assert_eq!(at, None, "{spelling} under {}", scenario.name());
            }
        }
    }

    #[test]
    fn every_fault_of_the_suite_bites_in_a_fair_share_of_runs() {
        let designs = ["single", "redlock"].map(design).into();
        let campaign = Campaign {
            jobs: NonZero::new(2).unwrap(),
            ..Campaign::new(designs, suite::builtin(&picklock_stores::params()), 0..60)
        };
        let summary = campaign.run(&AtomicBool::new(false), &Silent).unwrap();
        for cell in summary.cells.iter().filter(|cell| cell.skipped.is_none()) {
            let scenario = suite::builtin(&picklock_stores::params())
                .into_iter()
                .find(|scenario| scenario.name() == cell.scenario)
                .unwrap();
            let single_store = cell.design == "single";
            // A scenario with one fault is there to show it; one with many draws some of them for each run.
            let share = if scenario.faults().len() == 1 { cell.runs / 3 } else { 1 };
            for entry in scenario.faults() {
                // The storm leaves every design on the stores that it has: nothing fails over there.
                if entry.fault.name == "failover" && cell.scenario == "storm" {
                    continue;
                }
                let runs_with_effect = cell.took_effect.get(entry.fault.name).copied().unwrap_or(0);
                let what = format!(
                    "{} took effect in {runs_with_effect} of {} runs of {} under {}",
                    entry.fault.name, cell.runs, cell.design, cell.scenario
                );
                assert!(runs_with_effect >= share.max(1), "{what}");
            }
            assert!(single_store || cell.unknown < cell.runs, "{} under {}", cell.design, cell.scenario);
            assert!(
                cell.unknown <= cell.runs / 2,
                "{} of {} runs of {} under {} tell nothing",
                cell.unknown,
                cell.runs,
                cell.design,
                cell.scenario
            );
        }
    }
}

#[test]
fn the_stage_alone_is_sound_for_every_design_but_the_one_without_a_lock() {
    for family in picklock_impls::families() {
        for engine in [Engine::Event, Engine::TURMOIL] {
            let run = run_on(engine, family.name, stage([]));
            if family.name == "no-lock" {
                assert!(run.violates("mutual-exclusion"));
            } else {
                assert_sound(&run);
            }
        }
    }
}
