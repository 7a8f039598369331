//! Histories of locks: what a run exports is judged as the run was, a broken file is refused, and what clocks cannot decide is unknown.

use std::path::Path;

use picklock_campaign::check::Checked;
use picklock_campaign::counterexamples;
use picklock_judge::invariants;
use picklock_judge::recorded::{Judgement, Verdict, judge, read};
use picklock_reports::{Style, run};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;
use proptest::prelude::*;

use crate::binary::{Ended, directory, run_in};
use crate::cells::{Cell, design};

/// The invariants that are judged in a history.
const JUDGED: [&str; 4] = ["mutual-exclusion", "token-order", "ownership", "no-lost-update"];

fn exported(cell: &Cell, run: &Checked, format: &str) -> String {
    let story = counterexamples::story(&cell.design, cell.scenario.name(), run, String::new());
    (run::find(format).unwrap().render)(&story, &Style::default()).unwrap()
}

fn judged(history: &str) -> Judgement {
    judge(read(history.as_bytes()).unwrap_or_else(|fault| panic!("{fault}\n{history}")), None).unwrap()
}

fn violated(judgement: &Judgement) -> Vec<String> {
    let verdicts = judgement.verdicts.iter();
    let violated = verdicts.filter(|(.., verdict)| matches!(verdict, Verdict::Violated { .. }));
    violated.map(|(_, name, _)| (*name).to_owned()).collect()
}

/// Those of them that a run violates, by number.
fn of_run(run: &Checked) -> Vec<String> {
    let all = invariants::ALL.iter().filter(|invariant| JUDGED.contains(&invariant.name));
    all.filter(|invariant| run.violates(invariant.name)).map(|invariant| invariant.name.to_owned()).collect()
}

#[test]
fn what_a_run_exports_is_judged_as_the_run_was() {
    let designs = [
        "no-lock",
        "oracle",
        "setnx-expire",
        "set-px-del",
        "single",
        "timer-renew",
        "reentrant",
        "replicated",
        "redlock",
        "redlock-fenced",
        "redlock-fenced-quorum",
        "single-fenced",
        "single-fenced{store=replicated}",
        "optimistic",
        "row-lock",
        "queue",
        "permits",
        "fair",
        "unique-index",
        "segmented",
        "read-write",
    ];
    let (mut cells, mut broken) = (0, 0);
    for spelling in designs {
        let Ok(of_name) = picklock_impls::design(spelling) else { continue };
        for scenario in suite::builtin(&picklock_stores::params()) {
            let Some(cell) = Cell::of(&of_name, scenario) else { continue };
            for seed in 0..3 {
                let run = cell.run(Engine::Event, seed);
                let what = format!("{} {} {seed}", cell.name, cell.scenario.name());
                let [json, edn] = ["history", "edn"].map(|format| judged(&exported(&cell, &run, format)));
                assert_eq!(violated(&json), of_run(&run), "{what}: {json:#?}");
                assert_eq!(violated(&edn), of_run(&run), "{what} as EDN");
                cells += 1;
                broken += usize::from(json.is_violated());
            }
        }
    }
    assert!(cells > 500 && broken > 100, "{cells} runs, {broken} of them broken");
}

#[test]
fn a_run_exports_the_same_bytes_twice() {
    let scenario =
        suite::builtin(&picklock_stores::params()).into_iter().find(|it| it.name() == "pause").unwrap();
    let cell = Cell::of(&design("single-fenced"), scenario).unwrap();
    for format in run::ALL {
        let [one, other] = [0, 1].map(|_| exported(&cell, &cell.run(Engine::Event, 4), format.name));
        assert_eq!(one, other, "{}", format.name);
        assert!(!one.is_empty());
    }
}

/// Two holders on two machines: the first from 1 s to 5 s, the second from `from` to 9 s.
fn two(from: u64, uncertainty: u64) -> String {
    let mut history = String::new();
    for host in ["web-1", "web-2"] {
        let line = format!(r#"{{"host":"{host}","type":"info","f":"host","uncertainty_ns":{uncertainty}}}"#);
        history += &(line + "\n");
    }
    for (time, host, kind, f) in [
        (500, "web-1", "invoke", "acquire"),
        (1_000, "web-1", "ok", "acquire"),
        (5_000, "web-1", "invoke", "release"),
        (5_001, "web-1", "ok", "release"),
        (600, "web-2", "invoke", "acquire"),
        (from, "web-2", "ok", "acquire"),
        (9_000, "web-2", "invoke", "release"),
    ] {
        let time = 1_700_000_000_000_000_000_u64 + time * 1_000_000;
        let line = format!(
            r#"{{"time_ns":{time},"host":"{host}","process":7,"type":"{kind}","f":"{f}","key":"stock"}}"#
        );
        history += &(line + "\n");
    }
    history
}

fn of_exclusion(history: &str) -> Verdict {
    judged(history).of("mutual-exclusion").unwrap().clone()
}

#[test]
fn clocks_decide_as_far_as_they_may_be_off() {
    const MS: u64 = 1_000_000;
    assert_eq!(of_exclusion(&two(5_000, 0)), Verdict::Holds, "spans are half-open");
    assert_eq!(of_exclusion(&two(5_100, 50 * MS)), Verdict::Holds);
    assert!(matches!(of_exclusion(&two(5_099, 50 * MS)), Verdict::Inconclusive { .. }));
    assert!(matches!(of_exclusion(&two(4_901, 50 * MS)), Verdict::Inconclusive { .. }));
    let Verdict::Violated { count: 1, breaches } = of_exclusion(&two(4_500, 50 * MS)) else {
        panic!("half a second is more than two clocks can hide")
    };
    assert_eq!(breaches[0].width.unwrap().as_millis(), 400, "{breaches:?}");
    assert_eq!(breaches[0].lines, [4, 5, 8, 9]);
}

#[test]
fn a_holder_of_which_nothing_more_is_said_may_have_died() {
    let history: String = two(6_000, 0)
        .lines()
        .filter(|line| !line.contains("release"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(matches!(of_exclusion(&history), Verdict::Inconclusive { .. }));
    let time = 1_700_000_007_000_000_000_u64;
    let holds =
        format!(r#"{{"time_ns":{time},"host":"web-1","process":7,"type":"info","f":"hold","key":"stock"}}"#);
    assert!(
        matches!(of_exclusion(&format!("{history}{holds}\n")), Verdict::Inconclusive { .. }),
        "web-2 may have died at once"
    );
    let both = format!("{history}{holds}\n{}\n", holds.replace("web-1", "web-2"));
    assert!(matches!(of_exclusion(&both), Verdict::Violated { .. }));
    let dies = holds.replace("hold", "crash").replace(r#","key":"stock""#, "");
    assert!(
        matches!(of_exclusion(&format!("{history}{dies}\n")), Verdict::Inconclusive { .. }),
        "it died after the other began"
    );
}

/// Exit code 2, nothing printed, and one message that says all of this.
fn assert_refused(within: &Path, text: &[u8], says: &[&str]) {
    std::fs::write(within.join("it.jsonl"), text).unwrap();
    let Ended { code, stdout, stderr } = run_in(within, &["judge", "it.jsonl"]);
    let shown: String = String::from_utf8_lossy(text).chars().take(200).collect();
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{shown}: {stderr}");
    assert!(stderr.len() < 1_000 && stderr.contains("it.jsonl:"), "{shown}: {stderr}");
    for part in says {
        assert!(stderr.contains(part), "{shown}: nothing is said of `{part}`: {stderr}");
    }
}

#[test]
fn a_broken_history_is_refused_with_file_line_field_and_remedy() {
    let here = directory();
    let line = |time: u64, kind: &str, f: &str| {
        format!(r#"{{"time_ns":{time},"host":"a","process":1,"type":"{kind}","f":"{f}","key":"k"}}"#) + "\n"
    };
    let asks = line(5, "invoke", "acquire");
    let with = |before: &str, after: &str| asks.replace(before, after);
    let deep = with("\"k\"", &format!("{}{}", "[".repeat(9_000), "]".repeat(9_000)));
    let long = with("\"k\"", &format!("\"{}\"", "x".repeat(70_000)));
    let cases: Vec<(String, &[&str])> = vec![
        (String::new(), &["the file holds no line"]),
        ("{".to_owned(), &["it.jsonl:1:", "column", "flat object"]),
        (format!("{asks}[1]\n"), &["it.jsonl:2:", "flat object"]),
        (with("\"key\"", "\"kay\""), &["it.jsonl:1: `kay`", "did you mean `key`?"]),
        (with(",\"key\":\"k\"", ""), &["`key`", "it is missing: `acquire` needs it"]),
        (with("\"host\":\"a\",", ""), &["`host`", "it is missing: add"]),
        (with("\"time_ns\":5,", ""), &["`time_ns`", "it is missing: add"]),
        (with("5", "-5"), &["`time_ns`", "-5 is not a whole number of nanoseconds"]),
        (with("5", "5.5"), &["`time_ns`", "a number with a point"]),
        (with("5", "99999999999999999999"), &["`time_ns`"]),
        (with("5", "\"5\""), &["`time_ns`", "\"5\" is not"]),
        (with("acquire", "aquire"), &["`f`", "did you mean `acquire`?"]),
        (with("\"invoke\"", "\"done\""), &["`type`", "one of invoke, ok, fail, info"]),
        (with("\"k\"", "{\"a\":1}"), &["`key`", "an object is not a text"]),
        (with("\"key\"", "\"host\":\"b\",\"key\""), &["`host`", "twice"]),
        (with("\"key\"", "\"value\":1,\"key\""), &["`value`", "`acquire` has no such field"]),
        (with("\"key\"", "\"shared\":true,\"key\""), &["`shared`", "\"sharing\":true"]),
        (asks.clone() + &line(4, "ok", "acquire"), &["it.jsonl:2: `time_ns`", "it goes back: 4 after 5"]),
        (line(4, "ok", "acquire"), &["`type`", "nothing ends here", "\"invoke\""]),
        (asks.clone() + &line(6, "ok", "release"), &["it.jsonl:2: `type`", "nothing ends here"]),
        (asks.clone() + &asks, &["it.jsonl:2: `process`", "of line 1 has not ended"]),
        (line(4, "ok", "lose"), &["`type`", "states a fact: write \"info\""]),
        (asks.clone() + "{\"history\":1}\n", &["it.jsonl:2: `history`", "first line only"]),
        ("{\"history\":2}\n".to_owned(), &["`history`", "reads form 1"]),
        ("{\"history\":1,\"holders\":0}\n".to_owned(), &["`holders`", "write 1"]),
        (
            asks.clone() + &asks.replace("\"a\"", "\"b\""),
            &["`uncertainty_ns`", "the clock of `a`", "--uncertainty"],
        ),
        (
            asks.clone() + &line(6, "info", "created").replace(",\"process\":1", ""),
            &["it.jsonl:2: `f`", "`a` says `created` and is a client", "different hosts"],
        ),
        (
            r#"{"time_ns":6,"host":"s","type":"info","f":"created","key":"k","grant":"g"}"#.to_owned(),
            &["it.jsonl:1: `grant`", "no process acquired"],
        ),
        (deep, &["it.jsonl:1: `key`", "a list is not a text"]),
        (long, &["it.jsonl:1:", "longer than 65536 bytes"]),
        ("{:time 1, :type :invoke, :f".to_owned(), &["it.jsonl:1: column", "EDN", "no end"]),
        (format!("{{:error {}}}", "[".repeat(9_000)), &["it.jsonl:1: column", "nested too deeply"]),
        ("{:time 1, :process 0, :type :ok, :f :acquire}".to_owned(), &["`type`", "nothing ends here"]),
    ];
    for (text, says) in &cases {
        assert_refused(here.path(), text.as_bytes(), says);
    }
    assert_refused(here.path(), b"{\"host\":\"caf\xe9\"}", &["it.jsonl:1:", "UTF-8"]);
    let none = run_in(here.path(), &["judge", "none.jsonl"]);
    assert!(none.code == Some(2) && none.stderr.contains("none.jsonl: cannot be read"), "{}", none.stderr);
}

#[test]
fn a_violation_is_shown_as_a_short_story_and_the_exit_code_says_what_came_out() {
    let here = directory();
    let judge = |history: &str, more: &[&str]| {
        std::fs::write(here.path().join("it.jsonl"), history).unwrap();
        run_in(here.path(), &[&["judge", "it.jsonl"], more].concat())
    };
    let broken = judge(&two(4_500, 5_000_000), &[]);
    assert_eq!(broken.code, Some(1));
    for part in [
        "I1 mutual-exclusion: violated 1 time",
        "web-1 (process 7) held it",
        "2023-11-14T22:13:21.000000Z",
        "both at once for at least 490.000 ms",
        "(lines 4, 5, 8, 9)",
    ] {
        let said = broken.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(part), "{part}: {}", broken.stdout);
    }
    let clean = judge(&two(5_500, 5_000_000), &[]);
    assert_eq!(clean.code, Some(0), "{}", clean.stdout);
    assert_eq!(judge(&two(5_001, 5_000_000), &[]).code, Some(3));
    let bare: String = two(5_001, 0).lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(judge(&bare, &["--uncertainty", "2ms"]).code, Some(3));
    assert_eq!(judge(&bare, &["--uncertainty", "100us"]).code, Some(0));
    let json = judge(&two(4_500, 5_000_000), &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["verdicts"][0]["breaches"][0]["width_ns"], 490_000_000);
}

#[test]
fn a_history_of_jepsens_is_read_as_it_is() {
    let history = "\
[{:index 0, :time 10, :type :invoke, :process 0, :f :acquire, :value nil}
{:index 1, :time 20, :type :ok, :process 0, :f :acquire, :value nil}
{:index 2, :time 25, :type :info, :process :nemesis, :f :start, :value [:isolated #{\"n1\"}]}
{:index 3, :time 30, :type :invoke, :process 1, :f :acquire, :value nil}
{:index 4, :time 40, :type :ok, :process 1, :f :acquire, :value nil}
{:index 5, :time 50, :type :invoke, :process 0, :f :release, :value nil}
{:index 6, :time 60, :type :info, :process 0, :f :release, :value nil, :error [:timeout \"n1\"]}
{:index 7, :time 70, :type :invoke, :process 1, :f :release, :value nil}]";
    let judgement = judged(history);
    assert_eq!(violated(&judgement), ["mutual-exclusion"]);
    let Some(Verdict::Violated { breaches, .. }) = judgement.of("mutual-exclusion") else { panic!() };
    assert_eq!(breaches[0].width.unwrap().as_nanos(), 10);
}

/// A span in which a process held: its host, the process, and both ends.
type Held = (usize, usize, i64, i64);

/// Lines of spans that follow each other in each of two processes on each of three hosts.
fn recorded(spans: &[Held], off: [i64; 3]) -> String {
    let mut history = String::new();
    for (host, off) in off.iter().enumerate() {
        history += &format!(r#"{{"host":"h{host}","type":"info","f":"host","uncertainty_ns":{off}}}"#);
        history.push('\n');
        let mut lines = Vec::new();
        for (_, process, from, until) in spans.iter().filter(|span| span.0 == host) {
            for (at, kind, f) in [
                (from, "invoke", "acquire"),
                (from, "ok", "acquire"),
                (until, "invoke", "release"),
                (until, "ok", "release"),
            ] {
                let line = format!(
                    r#"{{"time_ns":{at},"host":"h{host}","process":{process},"type":"{kind}","f":"{f}","key":"k"}}"#
                );
                lines.push((*at, line));
            }
        }
        lines.sort_by_key(|(at, _)| *at);
        lines.iter().for_each(|(_, line)| history += &format!("{line}\n"));
    }
    history
}

/// True if any two of different processes surely, or perhaps, held at once: every pair by the definition.
fn by_definition(spans: &[Held], off: [i64; 3], sign: i64, counts: impl Fn(&Held) -> bool) -> bool {
    let pair = |one: &Held, other: &Held| {
        if one.0 == other.0 {
            return one.1 != other.1 && one.2 < other.3 && other.2 < one.3;
        }
        let off = sign * (off[one.0] + off[other.0]);
        one.2 + off < other.3 && other.2 + off < one.3
    };
    let counted: Vec<&Held> = spans.iter().filter(|span| counts(span)).collect();
    counted.iter().enumerate().any(|(at, one)| counted[at + 1..].iter().any(|other| pair(one, other)))
}

proptest! {
    #[test]
    fn every_pair_is_judged_by_the_definition(
        steps in prop::collection::vec(prop::collection::vec((0..30_i64, 0..10_i64), 0..4), 6),
        off in [0..6_i64, 0..6_i64, 0..6_i64],
    ) {
        let mut spans: Vec<Held> = Vec::new();
        for (nth, steps) in steps.iter().enumerate() {
            let mut at = 1_000;
            for (gap, length) in steps {
                spans.push((nth / 2, nth % 2, at + gap, at + gap + length));
                at += gap + length;
            }
        }
        let judgement = judge(read(recorded(&spans, off).as_bytes()).unwrap(), None).unwrap();
        let sure = by_definition(&spans, off, 1, |span| span.2 < span.3);
        let perhaps = by_definition(&spans, off, -1, |span| span.2 < span.3 || off[span.0] > 0);
        let as_defined = match (judgement.of("mutual-exclusion").unwrap(), spans.len()) {
            (Verdict::NotApplicable(_), granted) => granted == 0,
            (Verdict::Violated { .. }, _) => sure,
            (Verdict::Inconclusive { perhaps: reported, .. }, granted) => !sure && (perhaps || granted == 1) && perhaps != reported.is_empty(),
            (Verdict::Holds, _) => !sure && !perhaps,
        };
        prop_assert!(as_defined, "{judgement:#?}\n{spans:?}\n{off:?}");
    }

    #[test]
    fn whatever_a_file_holds_it_is_judged_or_refused(
        lines in prop::collection::vec((0..30_u64, 0..3_u8, 0..2_u8, 0..4_usize, 0..20_usize, 0..3_u8), 0..40),
        garbage in "\\PC{0,80}",
    ) {
        let kinds = ["invoke", "ok", "fail", "info"];
        let ops = [
            "acquire", "release", "change", "lose", "hold", "crash", "restart", "created", "extended", "deleted",
            "expired", "lost", "promoted", "demoted", "read", "written", "taken", "refused", "restored", "host",
        ];
        let mut history = String::new();
        let mut at = 0;
        for (ahead, host, process, kind, op, grant) in lines {
            at += ahead;
            let fields = match ops[op] {
                "acquire" | "release" | "change" => {
                    let kind = kinds[kind];
                    format!(r#""process":{process},"type":"{kind}","key":"k","grant":"g{grant}""#)
                }
                "lose" | "hold" => format!(r#""process":{process},"type":"info","key":"k""#),
                "read" | "written" => format!(r#""type":"info","key":"k","value":{at},"grant":"g{grant}""#),
                "restored" => format!(r#""type":"info","key":"k","value":{at}"#),
                "taken" => r#""type":"info","key":"k","amount":1,"left":0,"taken":true"#.to_owned(),
                "refused" => format!(r#""type":"info","key":"k","token":{at}"#),
                "crash" | "restart" | "promoted" | "demoted" | "host" => r#""type":"info""#.to_owned(),
                _ => format!(r#""type":"info","key":"k","grant":"g{grant}""#),
            };
            // Of the lines that do not fit to those before them, none is kept: the rest is judged.
            let line = format!(r#"{{"time_ns":{at},"host":"{}{host}","f":"{}",{fields}}}"#, if op < 6 { "c" } else { "s" }, ops[op]);
            let longer = format!("{history}{line}\n");
            if read(longer.as_bytes()).is_ok() {
                history = longer;
            }
        }
        if !history.is_empty() {
            let _ = judge(read(history.as_bytes()).unwrap(), Some(std::time::Duration::from_nanos(3)));
        }
        let refused = read(garbage.as_bytes()).is_err();
        prop_assert!(refused || garbage.contains(':'), "{garbage}");
    }
}
