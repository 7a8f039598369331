//! Clocks that step and clocks that drift.

use picklock_model::plan::{Action, Target, When};
use picklock_model::trace::What;

use crate::stage::*;

fn step(by: i64) -> Action {
    Action::StepClock { by_ns: by * 1_000_000 }
}

/// How long a record of a client that dies at work lasts, in milliseconds, under such an action on the store's clock
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
