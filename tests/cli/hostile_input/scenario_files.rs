//! Scenario files, suites and expectation files that are wrong.

use std::path::Path;

use super::assert_refused;
use crate::binary::{directory, run_in};

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
        ("summary = 's'\n[[fault]]\nkind = 'pau'", &["3:8", "there is no fault `pau`", "known: ", "pause"]),
        ("summary = 's'\n[contend]\nclents = 3", &["3:1", "no key `clents`", "did you mean `clients`?"]),
        ("summary = 's'\nttl = '-5s'", &["2:7", "`ttl`: `-5s` is negative"]),
        ("summary = 's'\nttl = -5", &["2:7", "`ttl`"]),
        ("summary = 's'\nttl = nan", &["2:7", "`ttl` is a number with a point; write a span of time"]),
        ("summary = 's'\nttl = '99999999999999999999s'", &["2:7", "`ttl`"]),
        ("summary = 's'\nttl = '0s'", &["2:7", "from 10ms to 5m"]),
        ("summary = 's'\nhorizon = '8760h'", &["2:11", "from 1ms to 3h"]),
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
    let args = ["run", "--design", "single", "--scenario", "calm", "--seeds", "2", "--expect", "mine.toml"];
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
