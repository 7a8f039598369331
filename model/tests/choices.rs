//! Choices in the file of a plan: absent where there are none, and named once where there are some.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use picklock_model::plan::{Choice, ChoiceKind, Plan, ReadyOrder};

/// A plan as it was written before there were choices.
const OLD: &str = r#"{"seed":1,"network_seed":1,"world":{"ttl_ns":1000000000,"wait_ns":1000000000,"horizon_ns":5000000000,"latency":{"min_ns":200000,"max_ns":1000000},"tcp_timeout_ns":15000000000,"stock":0},"workload":"contend","clients":[],"injections":[]}"#;

#[test]
fn a_plan_without_choices_keeps_its_bytes() {
    let plan: Plan = serde_json::from_str(OLD).unwrap();
    assert_eq!((plan.world.ready_order, plan.choices.len()), (ReadyOrder::Woken, 0));
    assert_eq!(serde_json::to_string(&plan).unwrap(), OLD);
}

#[test]
fn a_plan_with_choices_is_read_as_it_was_written_and_names_each_once() {
    let mut plan: Plan = serde_json::from_str(OLD).unwrap();
    plan.world.ready_order = ReadyOrder::Drawn;
    let choice = |kind, ordinal| Choice { kind, ordinal, chosen: 2 };
    plan.choices =
        vec![choice(ChoiceKind::Poll, 7), choice(ChoiceKind::Wake, 7), choice(ChoiceKind::Poll, 8)];
    let text = serde_json::to_string(&plan).unwrap();
    assert!(text.ends_with(r#"{"kind":"poll","ordinal":8,"chosen":2}]}"#), "{text}");
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    plan.validate().unwrap();
    plan.choices.push(choice(ChoiceKind::Wake, 7));
    assert_eq!(plan.validate().unwrap_err().field, "ordinal");
}
