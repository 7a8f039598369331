//! Damaged, hostile and nonsensical input: refused with exit code 2 and a message that names place and remedy.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::path::Path;
use std::time::Duration;

use picklock_campaign::check;
use picklock_campaign::tell;
use picklock_model::repro::ReproFile;
use picklock_model::seed::Seed;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;
use proptest::prelude::*;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

#[path = "support/binary.rs"]
mod binary;
#[path = "support/cells.rs"]
mod cells;

use binary::{Ended, directory, run_in};
use cells::{Cell, design};

/// More than a message should need.
const MESSAGE_MAX: usize = 2_000;

/// Exit code 2, nothing printed, and one message that says all of this.
fn assert_refused(what: &str, ended: &Ended, says: &[&str]) {
    let Ended { code, stdout, stderr } = ended;
    assert_eq!((*code, stdout.as_str()), (Some(2), ""), "{what}: {stderr}");
    assert!(stderr.len() < MESSAGE_MAX, "{what}: a message of {} bytes", stderr.len());
    for part in says {
        assert!(stderr.contains(part), "{what}: nothing is said of `{part}`: {stderr}");
    }
}

/// A name that fits into a message of a failed assertion.
fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}

mod scenario_files {
    use super::*;

    /// Every way in which a file is given to the binary refuses it.
    fn assert_file_refused(within: &Path, file: &str, says: &[&str]) {
        for args in [
            &["run", "--design", "single", "--seeds", "2", "--scenario", file][..],
            &["compare", "--design", "single", "--seeds", "2", "--scenario", file],
            &["replay", "single", file, "1"],
        ] {
            assert_refused(&format!("{args:?}"), &run_in(within, args), says);
        }
    }

    #[test]
    fn a_file_that_is_not_a_scenario_is_refused_with_line_column_and_remedy() {
        let here = directory();
        let deep = format!("summary = {}", "[".repeat(100_000));
        let dotted = format!("{} = 1", vec!["a"; 20_000].join("."));
        let long = format!("summary = '{}'", "x".repeat(5_000));
        let many = format!("summary = 's'\n{}", "[[fault]]\nkind = 'pause'\n".repeat(2_000));
        for (text, says) in [
            ("", &["1:1", "`summary` is missing: add a line `summary = ...`"][..]),
            ("summary = 's'\n[[fault]]\nkind = \"pau", &["3:", "not valid TOML"]),
            (
                "summary = 's'\n[[fault]]\nkind = 'pau'",
                &["3:8", "there is no fault `pau`", "known: ", "pause"],
            ),
            ("summary = 's'\n[contend]\nclents = 3", &["3:1", "no key `clents`", "did you mean `clients`?"]),
            ("summary = 's'\nttl = '-5s'", &["2:7", "`ttl`: `-5s` is negative"]),
            ("summary = 's'\nttl = -5", &["2:7", "`ttl`"]),
            ("summary = 's'\nttl = nan", &["2:7", "`ttl` is a number with a point; write a span of time"]),
            ("summary = 's'\nttl = '99999999999999999999s'", &["2:7", "`ttl`"]),
            ("summary = 's'\nttl = '0s'", &["2:7", "from 10ms to 5m"]),
            ("summary = 's'\nhorizon = '8760h'", &["2:11", "from 1ms to 1h"]),
            (
                "summary = 's'\n[contend]\nclients = 99999999999999999999",
                &["3:11", "a whole number from 1 to 1000"],
            ),
            ("summary = 's'\n[contend]\nclients = inf", &["3:11", "a whole number from 1 to 1000"]),
            ("summary = 's'\n[contend]\nsections = 1e9", &["3:12", "a whole number from 1 to 1000"]),
            ("summary = 's'\nsummary = 't'", &["2:1", "not valid TOML"]),
            ("summary = 's'\nworkload = 'steal'", &["2:12", "there is no workload `steal`", "contend"]),
            ("summary = 's'\n[[fault]]\nkind = 'pause'\ntimes = [3, 1]", &["4:9", "reversed"]),
            (&deep, &["not valid TOML"]),
            (&dotted, &["1:", "not valid TOML"]),
            (&long, &["1:11", "shorten it"]),
            (&many, &["too many", "at most"]),
        ] {
            std::fs::write(here.path().join("mine.toml"), text).unwrap();
            let says = [&["mine.toml"], says].concat();
            assert_file_refused(here.path(), "mine.toml", &says);
        }
    }

    #[test]
    fn a_file_that_is_no_text_or_no_file_is_refused() {
        let here = directory();
        for (name, bytes, says) in [
            ("binary.toml", &[0xff, 0xfe, 0x00][..], "UTF-8"),
            ("latin.toml", b"summary = 'caf\xe9'", "UTF-8"),
            ("zero.toml", b"summary = 's'\0", "zero.toml:1:"),
            ("large.toml", &[b'#'; 3 << 20], "bytes are too many"),
            ("my file.toml", b"summary = 's'", "cannot name a scenario"),
        ] {
            std::fs::write(here.path().join(name), bytes).unwrap();
            assert_file_refused(here.path(), name, &[name, says]);
        }
        std::fs::create_dir(here.path().join("folder.toml")).unwrap();
        assert_file_refused(here.path(), "folder.toml", &["folder.toml", "cannot be read"]);
        assert_file_refused(here.path(), "none.toml", &["none.toml", "cannot be read"]);
    }

    #[test]
    fn a_suite_is_refused_if_it_is_empty_or_one_of_its_files_is_wrong() {
        let here = directory();
        let with_suite = |suite: &str| run_in(here.path(), &["run", "--design", "single", "--suite", suite]);
        assert_refused("missing", &with_suite("nowhere"), &["nowhere", "cannot be read"]);
        std::fs::create_dir(here.path().join("suite")).unwrap();
        assert_refused("empty", &with_suite("suite"), &["suite", "no scenario file (*.toml)"]);
        std::fs::write(here.path().join("suite/good.toml"), "summary = 'good'").unwrap();
        assert_refused("a file", &with_suite("suite/good.toml"), &["good.toml", "cannot be read"]);
        std::fs::write(here.path().join("suite/bad.toml"), "summary = 'bad'\nttl = 1").unwrap();
        assert_refused("bad file", &with_suite("suite"), &["bad.toml:2:7", "no unit", "write `1ms`"]);
    }

    #[test]
    fn an_expectation_file_is_refused_with_its_place() {
        let here = directory();
        let args =
            ["run", "--design", "single", "--scenario", "calm", "--seeds", "2", "--expect", "mine.toml"];
        for (text, says) in [
            ("[single.pause]\nviolated = ['progress']", &["1:9", "`within` is missing"][..]),
            ("[single.pause]\nmay.mutual-exclusoin = 3", &["2:5", "did you mean `mutual-exclusion`?"]),
            ("[single.pause]\nmay.progress = ''", &["2:16", "a seed that violates it"]),
            ("[single]\nhold = ['calm']", &["2:8", "hold"]),
            ("[single", &["1:", "not valid TOML"]),
        ] {
            std::fs::write(here.path().join("mine.toml"), text).unwrap();
            assert_refused(text, &run_in(here.path(), &args), &[&["mine.toml"], says].concat());
        }
        std::fs::write(here.path().join("mine.toml"), [0xff]).unwrap();
        assert_refused("no text", &run_in(here.path(), &args), &["mine.toml", "UTF-8"]);
    }
}

mod arguments {
    use super::*;

    #[test]
    fn a_design_that_cannot_be_spelled_so_is_refused_and_the_right_spelling_shown() {
        let here = directory();
        let long = "x".repeat(100_000);
        for (spelled, says) in [
            ("singel", &["no design `singel`", "did you mean `single`?", "picklock list designs"][..]),
            ("redlock{node=5}", &["redlock", "no parameter `node`", "nodes, belief, clock"]),
            ("redlock{nodes=0}", &["`nodes` cannot be `0`", "a whole number from 1 to 15"]),
            ("redlock{nodes=-3}", &["`nodes` cannot be `-3`"]),
            ("redlock{nodes=NaN}", &["`nodes` cannot be `NaN`"]),
            ("redlock{nodes=99999999999999999999}", &["from 1 to 15"]),
            ("redlock{belief=blind}", &["`belief` cannot be `blind`", "naive, trusting, honest"]),
            ("redlock{nodes=3,nodes=5}", &["`nodes` is given twice"]),
            ("redlock{nodes=3", &["not spelled `name` or `name{parameter=value,...}`"]),
            ("redlock{nodes}", &["not spelled"]),
            ("redlock{{nodes=3}}", &["not spelled"]),
            ("{nodes=3}", &["not spelled"]),
            ("", &["not spelled"]),
            ("single,,redlock", &["not spelled"]),
            (&long, &["no design `xxx"]),
        ] {
            let ran =
                run_in(here.path(), &["run", "--design", spelled, "--scenario", "calm", "--seeds", "2"]);
            assert_refused(&clipped(spelled), &ran, says);
            if !spelled.contains(",,") {
                let replayed = run_in(here.path(), &["replay", spelled, "calm", "1"]);
                assert_refused(&clipped(spelled), &replayed, says);
            }
        }
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_refused() {
        let here = directory();
        let long = format!("ttl={}", "9".repeat(100_000));
        for (setting, says) in [
            ("ttl", &["--set ttl", "name=value"][..]),
            ("", &["name=value"]),
            ("=", &["no parameter ``"]),
            ("ttl=", &["`ttl`"]),
            ("ttl=-1s", &["`-1s` is negative"]),
            ("ttl=2", &["`2` has no unit", "`2s`"]),
            ("ttl=1h", &["from 10ms to 5m"]),
            ("ttl=1 x ttl", &["a multiple of ttl"]),
            ("ttl=NaN", &["`NaN` is not a span of time"]),
            ("ttl=1e3s", &["no unit"]),
            ("latency=2ms..1ms", &["reversed"]),
            ("clients=0", &["a whole number from 1 to 1000"]),
            ("clients=NaN", &["a whole number from 1 to 1000"]),
            ("clients=99999999999999999999", &["a whole number from 1 to 1000"]),
            ("thinks=3ms", &["did you mean `think`?"]),
            ("stall.for=1s", &["no parameter `stall.for`", "pause.for"]),
            ("pause.pause.for=1s", &["no parameter"]),
            ("store=cloud", &["one of single, replicated"]),
            (&long, &["`ttl`"]),
        ] {
            let args = ["run", "--design", "single", "--scenario", "pause", "--seeds", "2", "--set", setting];
            let what = format!("--set {}", clipped(setting));
            assert_refused(&what, &run_in(here.path(), &args), says);
            let args = ["replay", "single", "pause", "1", "--set", setting];
            assert_refused(&what, &run_in(here.path(), &args), says);
        }
    }

    #[test]
    fn seeds_that_are_none_are_refused() {
        let here = directory();
        for seeds in [
            "5..2",
            "5..5",
            "0",
            "",
            "..",
            "1..",
            "..5",
            "1...5",
            "1..=5",
            "-1",
            "-5..5",
            "1.5",
            "NaN",
            "inf",
            "1e3",
            "0x10",
            "18446744073709551616",
            "1,2",
            "５",
            " 5",
        ] {
            let args = ["run", "--design", "single", "--scenario", "calm", &format!("--seeds={seeds}")];
            assert_refused(seeds, &run_in(here.path(), &args), &["--seeds"]);
        }
        for seed in ["", "NaN", "1.5", "18446744073709551616", "0..5"] {
            let ended = run_in(here.path(), &["replay", "single", "calm", seed]);
            assert_refused(seed, &ended, &["is not a seed", "a whole number from 0 to 18446744073709551615"]);
        }
    }

    #[test]
    fn other_nonsense_is_refused() {
        let here = directory();
        std::fs::write(here.path().join("file"), "in the way").unwrap();
        let run = ["run", "--design", "single", "--scenario", "long-work", "--seeds", "2", "--no-confirm"];
        for (more, says) in [
            (
                &["--scenario", "paus"][..],
                &["no scenario `paus`", "did you mean `pause`?", "list scenarios"][..],
            ),
            (&["--scenario", ""], &["no scenario ``"]),
            (&["--format", "jsn"], &["no format `jsn`", "did you mean `json`?"]),
            (&["--format", "text,junit"], &["--out"]),
            (&["--out", "file"], &["file"]),
            (&["--out", "file/below"], &["file/below"]),
            (&["--engine", "stm"], &["no engine `stm`", "event and turmoil"]),
            (&["--budget", "soon"], &["--budget", "is not a span of time"]),
            (&["--budget=-1s"], &["--budget", "negative"]),
            (&["--jobs", "0"], &["--jobs"]),
            (&["--jobs", "-1"], &["-1"]),
        ] {
            let ended = run_in(here.path(), &[&run, more].concat());
            let Ended { code, stderr, .. } = &ended;
            assert_eq!(*code, Some(2), "{more:?}: {stderr}");
            says.iter().for_each(|part| assert!(stderr.contains(part), "{more:?}: {stderr}"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_argument_that_is_no_text_is_refused() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        let here = directory();
        let nonsense = OsStr::from_bytes(b"\xff\xfe");
        for before in [&["run", "--design"][..], &["run", "--set"], &["run", "--seeds"], &["replay"]] {
            let mut command = binary::picklock(here.path());
            command.args(before).arg(nonsense);
            assert_refused(&format!("{before:?}"), &binary::end(command), &[]);
        }
    }
}

mod repros {
    use super::*;

    /// A repro file as a campaign writes it, of the smallest run there is.
    fn small() -> ReproFile {
        let scenario =
            Scenario::parse("small.toml", "summary = 'small'\n[contend]\nclients = 2\nsections = 1", &[])
                .expect("this is a scenario");
        let cell = Cell::of(&design("no-lock"), scenario).expect("clients contend under any design");
        let run = cell.run(Engine::Event, 1);
        tell::repro(&cell.design, cell.scenario.name(), Engine::Event, &run)
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
        std::fs::write(here.path().join("kept.json"), text).expect("the machine has room for a file");
        run_in(here.path(), &["replay", "kept.json"])
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let repro = small();
        let text = repro.to_text();
        assert_eq!(ReproFile::from_text(&text).unwrap(), repro);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                // What is no text is refused before it is looked at.
                let Ok(flipped) = String::from_utf8(bytes) else { continue };
                assert!(ReproFile::from_text(&flipped).is_err(), "byte {at}, bit {bit}");
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
            let says = ["kept.json", "write it anew with `picklock run --out DIR`"];
            assert_refused(&format!("byte {at} flipped"), &replay(bytes), &says);
            assert_refused(&format!("cut at {at}"), &replay(&text[..at]), &says);
        }
        assert_refused("edited", &replay(text.replace("no-lock", "oracle")), &["damaged or edited"]);
        assert_refused("no text", &replay([0xff, 0xfe, 0x00]), &["kept.json", "UTF-8"]);
        assert_refused("a million lines", &replay("\n".repeat(1 << 20)), &["kept.json", "not a repro"]);
        assert_refused(
            "large",
            &replay(vec![b' '; (16 << 20) + 1]),
            &["kept.json", "bytes are too many", "at most"],
        );
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let here = directory();
        std::fs::create_dir(here.path().join("folder")).unwrap();
        assert_refused(
            "a folder",
            &run_in(here.path(), &["replay", "folder"]),
            &["folder", "cannot be read"],
        );
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
            assert_refused(what, &replay(sealed(&text)), &["kept.json", "line", "column"]);
        }
    }

    #[test]
    fn a_plan_that_no_machine_could_run_is_refused() {
        let repro = small();
        let year = 31_536_000_000_000_000_u64;
        let client = |at: usize| json!({ "name": format!("client-{at}"), "sections": [] });
        let section = json!({ "ordinal": 1, "key": "k", "think_ns": 0, "work_ns": 0 });
        let injection = json!({
            "fault": "pause", "when": { "at": { "at_ns": 0 } }, "target": "holder", "action": { "pause": { "lasts_ns": 1 } },
        });
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
        ] {
            let field = pointer.rsplit('/').find(|part| *part != "latency").unwrap_or_default();
            let says = [
                "kept.json",
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
            let says = ["kept.json", "its plan cannot be run", "must be", field];
            assert_refused(field, &replay(with_store(&repro, store)), &says);
        }
        let shapeless = with_store(&repro, json!({ "down_after_ns": "soon" }));
        assert_refused("a span in words", &replay(shapeless), &["kept.json", "down_after_ns"]);
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
    fn clients_must_have_names_that_tell_hosts_apart() {
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
            ("/repro", json!(4), "use the picklock that wrote it or a later one"),
            ("/design", json!("no-luck"), "did you mean `no-lock`?"),
            ("/design", json!("redlock{nodes=99}"), "from 1 to 15"),
            ("/engine", json!("steam"), "there are event and turmoil"),
            ("/plan/workload", json!("steal"), "there is no workload `steal`"),
        ] {
            assert_refused(pointer, &replay(with(&repro, pointer, value)), &["kept.json", says]);
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
                std::fs::write(here.path().join("kept.json"), with(&repro, pointer, value.clone())).unwrap();
                let ended = run_in(here.path(), &["replay", "kept.json", "--engine", engine]);
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
}

/// Scenarios with a bit of everything that the form knows.
const SCENARIOS: [&str; 3] = [
    "summary = 'one client stops'\nttl = '500ms'\nlatency = ['200us', '2ms']\nhorizon = '3s'\n[contend]\nclients = 3\nkeys = 2\n\
     work = ['20ms', '0.5 x ttl']\n[[fault]]\nkind = 'pause'\ntimes = [1, 3]\nfor = ['0.5 x ttl', '2 x ttl']\n",
    "summary = 'servers die'\nstore = 'replicated'\ndown_after = '0.1 x ttl'\n[contend]\nsections = 2\n[[fault]]\nkind = 'failover'\n\
     how = 'crash'\nafter = '5ms'\n[[fault]]\nkind = 'delay'\nby = '1 x ttl'\nway = 'reply'\nlinks = 'lock'\n",
    "summary = 'clocks and nets'\npersistence = 'always'\n[[fault]]\nkind = 'clock-step'\nstepped = 'quorum'\nby = '1.5 x ttl'\n\
     [[fault]]\nkind = 'partition'\nservers = 'all'\nway = 'out'\nfor = '300ms'\n[[fault]]\nkind = 'clock-drift'\nppm = 400\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_scenario_is_refused_or_run(
        which in 0..SCENARIOS.len(), at: prop::sample::Index, cut in 0..6_usize,
        put in "[0-9a-z .'=\\[\\]-]{0,4}", seed: u64,
    ) {
        let text = SCENARIOS[which];
        let from = at.index(text.len());
        let damaged = [&text[..from], &put, &text[(from + cut).min(text.len())..]].concat();
        if let Ok(scenario) = Scenario::parse("damaged.toml", &damaged, &picklock_stores::params()) {
            // Bounds of time are not what is tested here: an hour of simulated time takes its while.
            let plan = scenario.fault_free_plan(&design("single"), Seed(seed));
            prop_assume!(plan.world.horizon <= Duration::from_secs(60));
            if let Some(cell) = Cell::of(&design("single"), scenario) {
                cell.run(Engine::Event, seed);
            }
        }
    }

    #[test]
    fn any_arguments_end_without_a_panic(words in prop::collection::vec("(--)?[a-z]{0,8}[={}.,0-9-]{0,4}", 0..4)) {
        // Parsing alone, so that no campaign is started by chance.
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = run_in(directory().path(), &[&["replay"], &words[..]].concat());
        prop_assert!(matches!(ended.code, Some(0..=2)), "{words:?}: {:?} {}", ended.code, ended.stderr);
    }
}
