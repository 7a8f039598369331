//! Repro files that are damaged, made up, or of plans that no machine could run.

use picklock_campaign::{check, counterexamples};
use picklock_model::plan::{Choice, ChoiceKind};
use picklock_model::repro::{FORMAT, ReproFile};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;
use proptest::prelude::*;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::{assert_refused, clipped};
use crate::binary::{Ended, directory, run_in};
use crate::cells::{Cell, design};

/// A repro file as a campaign writes it, of the smallest run there is.
fn small() -> ReproFile {
    let scenario =
        Scenario::parse("small.toml", "summary = 'small'\n[contend]\nclients = 2\nsections = 1", &[])
            .expect("this is a scenario");
    let cell = Cell::of(&design("no-lock"), scenario).expect("clients contend under any design");
    let run = cell.run(Engine::Event, 1);
    counterexamples::repro(&cell.design, cell.scenario.name(), Engine::Event, &run)
}

/// JSON with the checksum that makes it a repro file's text: what a hostile hand would write.
fn sealed(json: &str) -> String {
    let body = format!("{},", json.trim_end().strip_suffix('}').unwrap_or(json).trim_end());
    format!("{body}\n  \"checksum\": \"{:032x}\"\n}}\n", xxh3_128(body.as_bytes()))
}

/// The repro file with one part replaced, sealed again.
fn with(repro: &ReproFile, pointer: &str, value: Value) -> String {
    let mut json = serde_json::to_value(repro).expect("a repro file goes into JSON");
    *json.pointer_mut(pointer).unwrap_or_else(|| panic!("a repro file has no {pointer}")) = value;
    sealed(&format!("{json:#}"))
}

fn replay(text: impl AsRef<[u8]>) -> Ended {
    let here = directory();
    std::fs::write(here.path().join("run.json"), text).expect("the machine has room for a file");
    run_in(here.path(), &["replay", "run.json"])
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let repro = small();
    let text = repro.to_text();
    assert_eq!(ReproFile::from_text(&text).unwrap(), repro);
    for at in 0..text.len() {
        for place in 0..8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << place;
            // Bytes that are no text are refused before they are looked at.
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            assert!(ReproFile::from_text(&flipped).is_err(), "byte {at}, bit {place}");
        }
    }
}

#[test]
fn no_cut_no_gap_and_no_addition_goes_unnoticed() {
    let text = small().to_text();
    for at in 0..text.len() {
        assert!(ReproFile::from_text(&text[..at]).is_err(), "cut at {at}");
        assert!(ReproFile::from_text(&text[at + 1..]).is_err(), "begun at {}", at + 1);
        let gap = [&text[..at], &text[at + 1..]].concat();
        let doubled = [&text[..=at], &text[at..]].concat();
        // One of two equal neighbours can be left out or doubled in either place: still another text.
        assert!(ReproFile::from_text(&gap).is_err(), "without byte {at}");
        assert!(ReproFile::from_text(&doubled).is_err(), "with byte {at} twice");
    }
    assert!(ReproFile::from_text(&[&*text, " "].concat()).is_err());
    assert!(ReproFile::from_text(&[&*text, &*text].concat()).is_err());
}

#[test]
fn a_damaged_file_is_refused_with_its_name_and_a_remedy() {
    let text = small().to_text();
    assert_eq!(replay(&text).code, Some(1));
    for at in [0, 1, text.len() / 3, text.len() / 2, text.len() - 60, text.len() - 3] {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let says = ["run.json", "write it anew with `picklock run --out DIR`"];
        assert_refused(&format!("byte {at} flipped"), &replay(bytes), &says);
        assert_refused(&format!("cut at {at}"), &replay(&text[..at]), &says);
    }
    assert_refused("edited", &replay(text.replace("no-lock", "oracle")), &["damaged or edited"]);
    assert_refused("no text", &replay([0xff, 0xfe, 0x00]), &["run.json", "UTF-8"]);
    assert_refused("a million lines", &replay("\n".repeat(1 << 20)), &["run.json", "not a repro"]);
    assert_refused(
        "large",
        &replay(vec![b' '; (16 << 20) + 1]),
        &["run.json", "bytes are too many", "at most"],
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let here = directory();
    std::fs::create_dir(here.path().join("folder")).unwrap();
    assert_refused("a folder", &run_in(here.path(), &["replay", "folder"]), &["folder", "cannot be read"]);
    assert_refused(
        "nothing",
        &run_in(here.path(), &["replay", "nothing.json"]),
        &["nothing.json", "cannot be read"],
    );
}

#[test]
fn json_that_is_no_repro_is_refused_whatever_its_checksum() {
    assert_eq!(sealed(&serde_json::to_string_pretty(&small()).unwrap()), small().to_text());
    let nested = |open: &str, close: &str| {
        format!("{{\n  \"plan\": {}{}\n}}", open.repeat(200_000), close.repeat(200_000))
    };
    let json = serde_json::to_string_pretty(&small()).unwrap();
    let renamed = |from: &str, to: &str| {
        assert!(json.contains(from), "{from}");
        json.replacen(from, to, 1)
    };
    for (what, text) in [
        ("deeply nested lists", nested("[", "]")),
        ("deeply nested objects", nested("{\"plan\":", "}")),
        ("deep and never closed", format!("{{\n  \"plan\": {}\n}}", "[".repeat(200_000))),
        ("an empty object", "{}".to_owned()),
        ("a list", "[]".to_owned()),
        ("nothing", String::new()),
        ("a field of no meaning", renamed("\"design\"", "\"mood\": 1, \"design\"")),
        ("a field twice", renamed("\"design\"", "\"design\": \"single\", \"design\"")),
        ("a number beyond all bounds", renamed("\"ttl_ns\": 1000000000", "\"ttl_ns\": 1e999")),
        ("a number with a point", renamed("\"ttl_ns\": 1000000000", "\"ttl_ns\": 1.5")),
        ("a negative span", renamed("\"ttl_ns\": 1000000000", "\"ttl_ns\": -1")),
        ("no number", renamed("\"ttl_ns\": 1000000000", "\"ttl_ns\": NaN")),
        ("a lone surrogate", renamed("\"no-lock\"", "\"\\ud800\"")),
        ("a digest of other digits", renamed("\"digest\": \"", "\"digest\": \"xyz")),
    ] {
        assert_refused(what, &replay(sealed(&text)), &["run.json", "line", "column"]);
    }
}

#[test]
fn a_plan_that_no_machine_could_run_is_refused() {
    let mut repro = small();
    repro.plan.choices = vec![Choice { kind: ChoiceKind::Poll, ordinal: 0, chosen: 1 }];
    let year = 31_536_000_000_000_000_u64;
    let client = |at: usize| json!({ "name": format!("client-{at}"), "sections": [] });
    let section = json!({ "ordinal": 1, "key": "k", "think_ns": 0, "work_ns": 0 });
    let injection = json!({
        "fault": "pause", "when": { "at": { "at_ns": 0 } }, "target": "holder", "action": { "pause": { "lasts_ns": 1 } },
    });
    let choice = json!({ "kind": "poll", "ordinal": 0, "chosen": 1 });
    let twice = with(&repro, "/plan/choices", json!([choice, choice]));
    assert_refused(
        "a choice that is made twice",
        &replay(twice),
        &["run.json", "its plan cannot be run", "`ordinal`"],
    );
    for (pointer, value) in [
        ("/plan/world/ttl_ns", json!(0)),
        ("/plan/world/ttl_ns", json!(u64::MAX)),
        ("/plan/world/wait_ns", json!(u64::MAX)),
        ("/plan/world/horizon_ns", json!(year)),
        ("/plan/world/horizon_ns", json!(0)),
        ("/plan/world/latency/min_ns", json!(0)),
        ("/plan/world/latency", json!({ "min_ns": 2_000_000, "max_ns": 1_000_000 })),
        ("/plan/world/latency/max_ns", json!(year)),
        ("/plan/world/tcp_timeout_ns", json!(0)),
        ("/plan/clients", (0..1_001).map(client).collect()),
        ("/plan/clients/0/sections", vec![section; 10_001].into()),
        ("/plan/clients/0/sections/0/work_ns", json!(u64::MAX)),
        ("/plan/clients/0/sections/0/think_ns", json!(year)),
        ("/plan/injections", vec![injection; 10_001].into()),
        ("/plan/choices", vec![choice.clone(); 100_001].into()),
    ] {
        let field = pointer.rsplit('/').find(|part| *part != "latency").unwrap_or_default();
        let says = [
            "run.json",
            "its plan cannot be run",
            "must be",
            if pointer.contains("latency") { "latency" } else { field },
        ];
        assert_refused(pointer, &replay(with(&repro, pointer, value)), &says);
    }
    let million: Value = (0..1_000_000).map(client).collect();
    assert_refused("a million clients", &replay(with(&repro, "/plan/clients", million)), &["too many"]);
}

#[test]
fn stores_are_asked_for_what_their_kind_takes() {
    let repro = ReproFile { design: "single".to_owned(), ..small() };
    for (store, field) in [
        (json!({ "down_after_ns": 31_536_000_000_000_000_u64 }), "store.down_after"),
        (json!({ "replicas": 4_294_967_295_u32 }), "store.replicas"),
        (json!({ "replicas": "many" }), "store.replicas"),
        (json!({ "persistence": "forever" }), "store.persistence"),
        (json!({ "persistence": 1 }), "store.persistence"),
        (json!({ "down_after": "5s" }), "store.down_after"),
    ] {
        let says = ["run.json", "its plan cannot be run", "must be", field];
        assert_refused(field, &replay(with_store(&repro, store)), &says);
    }
    let shapeless = with_store(&repro, json!({ "down_after_ns": "soon" }));
    assert_refused("a span in words", &replay(shapeless), &["run.json", "down_after_ns"]);
}

/// The repro file with these parameters of its stores.
fn with_store(repro: &ReproFile, store: Value) -> String {
    let mut json = serde_json::to_value(repro).unwrap();
    json["plan"]["world"]["store"] = store;
    sealed(&serde_json::to_string_pretty(&json).unwrap())
}

#[test]
fn actions_that_reach_beyond_all_time_are_refused() {
    let repro = small();
    let span = u64::MAX;
    let hosts = json!({ "hosts": ["client-1", "resource"] });
    let now = json!({ "at": { "at_ns": 100_000_000 } });
    let point = |after: u64| {
        let work = json!({ "host": "client-1", "section": 1, "phase": "work", "access": "enter", "nth": 0, "edge": "before" });
        json!({ "point": { "point": work, "after_ns": after } })
    };
    let pause = json!({ "pause": { "lasts_ns": 1 } });
    for (when, action) in [
        (&now, json!({ "pause": { "lasts_ns": span } })),
        (&now, json!({ "suspend": { "lasts_ns": span } })),
        (&now, json!({ "stall": { "lasts_ns": span } })),
        (&now, json!({ "crash": { "power_loss": true, "restart_after_ns": span } })),
        (&now, json!({ "cut": { "to": hosts, "both": true, "lasts_ns": span } })),
        (&now, json!({ "set-drift": { "ppm": i64::MIN } })),
        (&now, json!({ "delay": { "to": hosts, "by_ns": span, "lasts_ns": 1 } })),
        (&now, json!({ "delay": { "to": hosts, "by_ns": 1, "lasts_ns": span } })),
        (&json!({ "at": { "at_ns": span } }), pause.clone()),
        (&point(span), pause),
    ] {
        let injection = json!([{ "fault": "x", "when": when, "target": hosts, "action": action }]);
        let text = with(&repro, "/plan/injections", injection);
        let refused = ReproFile::from_text(&text);
        assert!(refused.is_err_and(|error| error.to_string().contains("must be")), "{when} {action}");
    }
}

#[test]
fn clients_must_have_names_that_distinguish_hosts() {
    let repro = small();
    let long = "x".repeat(100_000);
    for name in [
        "",
        "client-2",
        "resource",
        "node-1",
        "192.168.0.1",
        "two words",
        "line\nbreak",
        "\u{1b}[31mred",
        &long,
    ] {
        let text = with(&repro, "/plan/clients/0/name", json!(name));
        let refused = ReproFile::from_text(&text);
        assert!(refused.is_err_and(|error| error.to_string().contains("must be")), "{}", clipped(name));
    }
}

#[test]
fn a_repro_of_something_that_is_not_there_is_refused_by_name() {
    let repro = small();
    for (pointer, value, says) in [
        ("/repro", json!(FORMAT + 1), "use the picklock that wrote it or a later one"),
        ("/design", json!("no-luck"), "did you mean `no-lock`?"),
        ("/design", json!("redlock{nodes=99}"), "from 1 to 15"),
        ("/engine", json!("steam"), "there are event and turmoil"),
        ("/plan/workload", json!("steal"), "there is no workload `steal`"),
    ] {
        assert_refused(pointer, &replay(with(&repro, pointer, value)), &["run.json", says]);
    }
}

#[test]
fn a_strange_plan_that_can_be_run_is_run() {
    let repro = small();
    let hosts = json!({ "hosts": ["nobody", "resource", "client-1", "client-1", ""] });
    let strange = |action: Value| json!([{ "fault": "x", "when": { "at": { "at_ns": 0 } }, "target": hosts, "action": action }]);
    for (pointer, value) in [
        ("/plan/clients", json!([])),
        ("/plan/clients/0/sections", json!([])),
        ("/plan/clients/0/sections/0/ordinal", json!(u32::MAX)),
        ("/plan/clients/0/sections/0/key", json!("\0\r\n{}")),
        ("/plan/world/stock", json!(i64::MIN)),
        ("/plan/world/latency/max_ns", json!(3_600_000_000_000_u64)),
        ("/plan/world/wait_ns", json!(0)),
        ("/plan/injections", strange(json!({ "step-clock": { "by_ns": i64::MIN } }))),
        ("/plan/injections", strange(json!({ "set-drift": { "ppm": 500_000 } }))),
        ("/plan/injections", strange(json!({ "suspend": { "lasts_ns": 3_600_000_000_000_u64 } }))),
        ("/plan/injections", strange(json!({ "crash": { "power_loss": true, "restart_after_ns": 0 } }))),
        ("/plan/injections", strange(json!({ "cut": { "to": hosts, "both": true, "lasts_ns": 0 } }))),
        ("/plan/injections", strange(json!({ "lose-reply": { "from": hosts } }))),
        ("/violations", json!(["no such invariant"])),
        ("/picklock", json!("999.0.0")),
    ] {
        for engine in ["event", "turmoil"] {
            let here = directory();
            std::fs::write(here.path().join("run.json"), with(&repro, pointer, value.clone())).unwrap();
            let ended = run_in(here.path(), &["replay", "run.json", "--engine", engine]);
            assert!(matches!(ended.code, Some(0 | 1)), "{pointer} on {engine}: {}", ended.stderr);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_the_reader_of_repros_panic(at: prop::sample::Index, cut in 0..40_usize, put in "\\PC{0,12}") {
        let text = small().to_text();
        let from = at.index(text.len());
        let damaged = [&text[..from], &put, &text[(from + cut).min(text.len())..]].concat();
        prop_assert!(damaged == text || ReproFile::from_text(&damaged).is_err());
        // The same damage by someone who knows how to make a checksum.
        let _ = ReproFile::from_text(&sealed(&damaged));
    }

    #[test]
    fn a_plan_with_any_one_number_changed_is_refused_or_run(at: prop::sample::Index, number in number()) {
        let repro = small();
        let mut json = serde_json::to_value(&repro).unwrap();
        let mut numbers = Vec::new();
        collect_numbers(json.pointer_mut("/plan").unwrap(), &mut numbers);
        *numbers.swap_remove(at.index(numbers.len())) = number;
        if let Ok(repro) = ReproFile::from_text(&sealed(&serde_json::to_string_pretty(&json).unwrap())) {
            let run = check::check(Engine::Event, &design("single"), repro.plan);
            prop_assert!(run.is_ok(), "{:?}", run.err());
        }
    }
}

/// Numbers at which arithmetic breaks, and others.
fn number() -> impl Strategy<Value = Value> {
    let edges = prop::sample::select(vec![
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(1_u64 << 63),
        json!(3_600_000_000_000_u64),
        json!(0.5),
        json!(1e300),
    ]);
    prop_oneof![
        edges,
        any::<u64>().prop_map(|number| json!(number)),
        (0..10_000_000_000_u64).prop_map(|number| json!(number))
    ]
}

fn collect_numbers<'a>(json: &'a mut Value, into: &mut Vec<&'a mut Value>) {
    match json {
        Value::Number(_) => into.push(json),
        Value::Array(items) => items.iter_mut().for_each(|item| collect_numbers(item, into)),
        Value::Object(fields) => fields.values_mut().for_each(|value| collect_numbers(value, into)),
        _ => {}
    }
}
