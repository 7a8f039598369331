//! Reading, setting and drawing scenarios.

use std::time::Duration;

use picklock_model::plan::{Plan, ReadyOrder};
use picklock_model::seed::Seed;
use proptest::prelude::*;

use super::*;
use crate::faults::tests::{design, probe};
use crate::testing::STORES;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse("dir/mine.toml", text, STORES)
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn pause() -> Scenario {
    parse("summary = 's'\n[[fault]]\nkind = 'pause'").unwrap()
}

#[test]
fn a_scenario_file_is_read_with_its_defaults() {
    let scenario = parse(
        "summary = 'one'\nttl = '2s'\nlatency = ['1ms', '2ms']\npersistence = 'always'\n\
         [contend]\nclients = 2\nwork = '0.5 x ttl'\n[[fault]]\nkind = 'pause'\ntimes = [1, 2]\n",
    )
    .unwrap();
    assert_eq!((scenario.name(), scenario.summary()), ("mine", "one"));
    let plan = scenario.fault_free_plan(&design(1, false), Seed(1));
    assert_eq!(plan.world.ttl, Duration::from_secs(2));
    assert_eq!(plan.world.wait, Duration::from_secs(20));
    assert_eq!(plan.world.latency.max, Duration::from_millis(2));
    assert_eq!(plan.clients.len(), 2);
    assert!(
        plan.clients.iter().flat_map(|client| &client.sections).all(|s| s.work == Duration::from_secs(1))
    );
    assert_eq!(scenario.faults()[0].args.get(crate::faults::TIMES), (1, 2));
}

#[test]
fn a_scenario_may_ask_that_the_order_of_ready_tasks_is_drawn() {
    let order =
        |text: &str| parse(text).unwrap().fault_free_plan(&design(1, false), Seed(1)).world.ready_order;
    assert_eq!(order("summary = 's'"), ReadyOrder::Woken);
    assert_eq!(order("summary = 's'\nready_order = 'drawn'"), ReadyOrder::Drawn);
    assert!(error("summary = 's'\nready_order = 'random'").contains("`ready_order`"));
}

#[test]
fn mistakes_are_reported_with_line_column_and_remedy() {
    let starts = |text: &str, message: &str| {
        let error = error(text);
        assert!(error.starts_with(&format!("dir/mine.toml:{message}")), "{error}");
    };
    starts("summary = 's'\n[contend]\nclents = 3", "3:1: there is no key `clents` (did you mean `clients`?)");
    starts("summary = 's'\nttl = '-1s'", "2:7: `ttl`: `-1s` is negative");
    starts("summary = 's'\nttl = 10", "2:7: `ttl`: `10` has no unit: write `10ms`");
    starts("summary = 's'\nttl = '3 parsecs'", "2:7: `ttl`: there is no unit `parsecs`");
    starts("summary = 's'\nttl = '2 x ttl'", "2:7: `ttl`: `2 x ttl` is a multiple of ttl");
    starts("summary = 's'\nhorizon = '4h'", "2:11: `horizon`: `4h` is not a span of time from 1ms to 3h");
    starts("summary = 's'\nttl = 1.5", "2:7: `ttl` is a number with a point; write a span of time from 10ms");
    starts("summary = 's'\nlatency = ['2ms', '1ms']", "2:11: `latency`: the range `2ms..1ms` is reversed");
    starts(
        "summary = 's'\n[contend]\nclients = 1001",
        "3:11: `clients`: `1001` is not a whole number from 1 to 1000",
    );
    starts("summary = 's'\n[contend]\nclients = [1, 2]", "3:11: `clients`: `1..2` is not a whole number");
    starts(
        "summary = 's'\nworkload = 'content'",
        "2:12: there is no workload `content` (did you mean `contend`?)",
    );
    starts("summary = 's'\n[[fault]]\nkind = 'puase'", "3:8: there is no fault `puase`");
    starts("summary = 's'\n[[fault]]\ntimes = 1", "2:1: `kind` is missing");
    starts("summary = 's'\nfault = 3", "2:9: `fault` is a whole number; write each as a table, `[[fault]]`");
    starts(
        "summary = 's'\ncontend = 3",
        "2:11: `contend` is a whole number; write it as a table, `[contend]`",
    );
    starts(
        "summary = 's'\nhorizon = '2s'\n[[fault]]\nkind = 'pause'\nfor = '5s'",
        "2:11: `horizon` is 2s, and `pause.for` is at least 5s: the run ends before the fault can; set `horizon` to \
         more than 5s, or `pause.for` to less than 2s",
    );
    starts(
        "summary = 's'\nttl = '300ms'\n[[fault]]\nkind = 'delay'\nby = ['2s', '9s']",
        "5:6: `horizon` is 1500ms, and `delay.by` is at least 2s",
    );
    starts(
        "summary = 's'\n[[fault]]\nkind = 'node-restart'\nrestart_after = '1h'",
        "4:17: `horizon` is 5s, and `node-restart.restart_after` is at least 1h",
    );
    let few =
        "summary = 's'\n[[fault]]\nkind = 'node-restart'\nforgetting = 'minority'\nrestart_after = '1h'";
    assert!(Scenario::parse("few.toml", few, &[]).is_ok(), "a design may survive that");
    starts("ttl = '1s'", "1:1: `summary` is missing: add a line `summary = ...`");
    starts("summary = 's'\n[[fault]]\nkind = \"pau", "3:");
    starts(
        "summary = 's'\nttl = '20s'\n[contend]\nwork = ['1 x ttl', '10s']",
        "4:8: `work`: the range `1 x ttl..10s` is reversed",
    );
    assert!(
        Scenario::parse("my file.toml", "", STORES)
            .unwrap_err()
            .to_string()
            .contains("cannot name a scenario")
    );
}

#[test]
fn a_file_that_is_too_large_or_no_text_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    std::fs::write(&path, vec![b'#'; 3 << 20]).unwrap();
    assert!(Scenario::load(&path, STORES).unwrap_err().to_string().contains("bytes are too many"));
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(Scenario::load(&path, STORES).unwrap_err().to_string().contains("UTF-8"));
    assert!(
        Scenario::load(&dir.path().join("none.toml"), STORES)
            .unwrap_err()
            .to_string()
            .contains("cannot be read")
    );
    assert!(error(&format!("summary = {}", "[".repeat(100_000))).contains("not valid TOML"));
}

#[test]
fn a_bare_name_sets_every_place_and_a_group_narrows_it() {
    let mut scenario = parse("summary = 's'\n[[fault]]\nkind = 'pause'\n[[fault]]\nkind = 'stall'").unwrap();
    let spans = |scenario: &Scenario| -> Vec<String> {
        let all = scenario.settable().into_iter();
        all.filter(|it| it.param.name == "for").map(|it| it.value.to_string()).collect()
    };
    scenario.set("for=1s..2s").unwrap();
    assert_eq!(spans(&scenario), ["1s..2s", "1s..2s"]);
    scenario.set("stall.for = 1.5 x ttl").unwrap();
    assert_eq!(spans(&scenario), ["1s..2s", "1.5 x ttl"]);
    scenario.set_all(&["contend.clients=5", "world.ttl=2s"]).unwrap();
    let plan = scenario.fault_free_plan(&design(1, false), Seed(1));
    assert_eq!((plan.clients.len(), plan.world.ttl), (5, Duration::from_secs(2)));
}

#[test]
fn a_wrong_setting_is_reported_and_changes_nothing() {
    let mut scenario = pause();
    let mut error = |setting: &str| scenario.set(setting).unwrap_err().to_string();
    let unknown = error("held=4");
    assert!(unknown.contains("there is no parameter `held`") && unknown.contains("pause.for"), "{unknown}");
    assert!(error("stall.for=1s").contains("there is no parameter `stall.for`"));
    assert!(error("thinks=4ms").contains("did you mean `think`"));
    assert!(
        error("clients=0")
            .contains("`--set clients=0` on scenario `mine`: `clients`: `0` is not a whole number")
    );
    assert!(error("ttl").contains("name=value"));
    assert!(error("ttl=1h").contains("from 10ms to 5m"));
    assert!(error("for=2s..1s").contains("reversed"));
    assert_eq!(
        scenario.fault_free_plan(&design(1, false), Seed(1)),
        pause().fault_free_plan(&design(1, false), Seed(1))
    );
}

#[test]
fn settings_are_checked_together() {
    let mut scenario = parse("summary = 's'\n[contend]\nwork = ['0.5 x ttl', '1s']").unwrap();
    assert!(scenario.set("ttl=3s").is_err());
    scenario.set_all(&["ttl=3s", "work=1s..2s"]).unwrap();
}

#[test]
fn a_head_start_lets_the_first_client_ask_alone() {
    let scenario = parse("summary = 's'\n[contend]\nhead_start = '300ms'\nfirst_work = '700ms'").unwrap();
    for seed in 0..20 {
        let clients = scenario.fault_free_plan(&design(1, false), Seed(seed)).clients;
        let first = &clients[0].sections[0];
        assert_eq!((first.think, first.work), (Duration::ZERO, Duration::from_millis(700)));
        assert!(clients[1..].iter().all(|client| client.sections[0].think >= Duration::from_millis(300)));
    }
}

#[test]
fn a_replicated_scenario_puts_a_single_store_on_a_replicated_one() {
    let scenario = parse("summary = 's'\nstore = 'replicated'").unwrap();
    assert!(scenario.adapt(&design(1, false)).unwrap().topology.replicated);
    assert!(scenario.adapt(&design(0, false)).is_err());
}

proptest! {
    #[test]
    fn a_plan_is_a_function_of_scenario_design_seed_and_probe(seed: u64, stores in 0..6_u32, replicated: bool) {
        let design = design(stores, replicated);
        for scenario in crate::suite::builtin(STORES) {
            let Ok(design) = scenario.adapt(&design) else { continue };
            let calm = scenario.fault_free_plan(&design, Seed(seed));
            let probe = probe(&design, &calm);
            let plan = scenario.plan(&design, Seed(seed), Some(&probe));
            prop_assert_eq!(&plan, &scenario.clone().plan(&design, Seed(seed), Some(&probe)));
            let mut without_background = plan.clients.clone();
            without_background.iter_mut().for_each(|client| client.background.clear());
            prop_assert_eq!(&without_background, &calm.clients);
            let json = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(plan, serde_json::from_str::<Plan>(&json).unwrap());
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(summary = 's'\n)?\\PC{0,80}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_setting_makes_a_scenario_panic(name in "(pause\\.)?(for|times|ttl|clients|wait|[a-z.]{0,8})", value in "\\PC{0,20}") {
        let mut scenario = pause();
        let _ = scenario.set(&format!("{name}={value}"));
        let _ = scenario.plan(&design(1, false), Seed(1), None);
    }
}

#[test]
fn a_run_must_be_long_enough_for_its_faults_whoever_sets_them() {
    let text = "summary = 's'\nhorizon = '4 x ttl'\n[[fault]]\nkind = 'pause'\nfor = ['1 x ttl', '2 x ttl']\n\
                [[fault]]\nkind = 'failover'\nfor = '1h'\nhow = 'crash'";
    let mut scenario = Scenario::parse("mine.toml", text, &[]).unwrap();
    let refused = scenario.set("horizon=1 x ttl").unwrap_err().to_string();
    assert_eq!(
        refused,
        "`--set horizon=1 x ttl` on scenario `mine`: `horizon` is 1s, and `pause.for` is at least 1s: the run ends \
         before the fault can; set `horizon` to more than 1s, or `pause.for` to less than 1s"
    );
    assert!(scenario.set("how=split").unwrap_err().to_string().contains("`failover.for` is at least 1h"));
    scenario.set("horizon=1001ms").unwrap();
    // A multiple of the lease grows with it, and so does the horizon if it is one.
    assert!(scenario.set("ttl=2s").is_err());
    scenario.set_all(&["ttl=2s", "horizon=3 x ttl"]).unwrap();
    scenario.set_all(&["pause.times=0", "horizon=1ms"]).unwrap();
    assert!(scenario.set("pause.times=0..1").is_err());
}

#[test]
fn faults_that_need_no_point_can_be_kept_without_the_others() {
    let text = "summary = 's'\n[[fault]]\nkind = 'pause'\n[[fault]]\nkind = 'clock-drift'\nsize = 'exact'\nppm = 7\n\
                hosts = 1\nwho = 'clients'\n[[fault]]\nkind = 'clock-drift'\nhosts = 2\nwho = 'clients'\n";
    let scenario = parse(text).unwrap();
    let kept = scenario.keeping(&["clock-drift".to_owned()]).unwrap();
    let design = design(1, false);
    let (all, some) = (scenario.plan(&design, Seed(1), None), kept.plan(&design, Seed(1), None));
    assert_eq!(some.injections, all.injections);
    assert_eq!(some.injections.len(), 2);
    let refused = |name: &str| scenario.keeping(&[name.to_owned()]).unwrap_err();
    assert_eq!(refused("stall"), "it has no fault `stall`");
    assert!(refused("pause").starts_with("`pause` hits a point"));
}
