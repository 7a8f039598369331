//! The description of a folder: what is refused before anything on disk is touched.

use std::borrow::Cow;

use crate::museum::{Exhibit, named};

/// The error of an exhibit whose description has another text in place of one.
fn refused(exhibit: &str, from: &str, to: &str) -> String {
    let mut exhibit = named(exhibit).unwrap().clone();
    assert!(exhibit.text.contains(from), "{from}");
    exhibit.text = Cow::Owned(exhibit.text.replacen(from, to, 1));
    error_of(&exhibit)
}

fn error_of(exhibit: &Exhibit) -> String {
    let checked = exhibit.bug().and_then(|bug| exhibit.check_locked(&bug));
    checked.expect_err("it is refused").to_string()
}

#[test]
fn a_version_that_is_a_path_is_refused_with_its_line_and_the_remedy() {
    let error = refused("redis-semaphore-175", "version = \"5.3.0\"", "version = \"/some/folder\"");
    assert_eq!(
        error,
        "museum/redis-semaphore-175/bug.toml:8: `affected.version` is `/some/folder`: write an exact version of npm, for example \
         `1.2.3`; a path, an address, a tag or a range is none"
    );
}

#[test]
fn names_versions_and_pins_are_those_of_the_registry() {
    for (exhibit, from, to, field) in [
        ("redis-semaphore-175", "package = \"redis-semaphore\"", "package = \"../victim\"", "`package`"),
        ("redis-semaphore-175", "package = \"redis-semaphore\"", "package = \"--prefix\"", "`package`"),
        ("redis-semaphore-175", "version = \"5.3.1\"", "version = \"npm:victim@1.0.0\"", "`fixed.version`"),
        ("kazoo-649", "package = \"kazoo\"", "package = \"-rrequirements.txt\"", "`package`"),
        ("redsync-151", "\"v1.9.2\"", "\"v1.9.2\\nreplace a => /b\"", "`with.github.com/gomodule/redigo`"),
        ("redsync-151", "\"github.com/gomodule/redigo\" =", "\"x\\nreplace\" =", "`with`"),
        ("redisson-2172", "org.redisson:redisson", "a:b</artifactId><x>", "`package`"),
        ("rslock-extend", "version = \\\"=1.47.1\\\"", "version = \\\"1\\\"", "`with.tokio`"),
        (
            "rslock-extend",
            "version = \\\"=1.47.1\\\"",
            "version = \\\"1.47.1\\\", path = \\\"/x\\\"",
            "unknown field `path`",
        ),
        (
            "rslock-extend",
            "version = \\\"=1.47.1\\\"",
            "version = \\\"1.47.1\\\", git = \\\"https://x\\\"",
            "unknown field `git`",
        ),
        ("rslock-extend", "[\\\"macros\\\"", "[\\\"a b\\\"", "a feature has letters"),
    ] {
        let error = refused(exhibit, from, to);
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn an_absent_checksum_or_one_of_another_form_is_refused() {
    for (exhibit, checksum) in [
        ("kazoo-649", "2dc46de17efc02e0ef42a9d92f3bbabce6204bbcc0792a1d9211344d0b8a03b8"),
        ("redsync-151", "h1:o9Vl8kRzVn82yaWdKDqKig/atDwvaM8exiTbvWRx4eg="),
        ("redlock-rs-20", "ce310b27b5923ad1cd21b0e007fba6b6a9926f773099d867fb0477cc188b8aa2"),
    ] {
        for none in ["", "missing", "sha512-x", "h1:x", "ab"] {
            let error = refused(exhibit, checksum, none);
            assert!(error.contains("`affected.checksum`"), "{error}");
        }
    }
    let error = refused("redlock-rs-20", ", checksum = \"ce", ", chcksum = \"ce");
    assert!(error.contains("unknown field `chcksum`"), "{error}");
}

#[test]
fn commands_and_scenarios_stay_in_the_folder() {
    let command = "command = \"{dir}/venv/bin/python {dir}/lock.py\"";
    for other in ["/bin/sh", "{dir}/../x", "cat ~/x", "node /etc/passwd", "", "'"] {
        let error = refused("kazoo-649", command, &format!("command = \"{other}\""));
        assert!(error.contains("`run.command` is"), "{error}");
    }
    for other in ["../waiting.toml", "/etc/passwd", "a/b.toml", "-x", ""] {
        let error = refused("etcd-16221", "scenario = \"waiting.toml\"", &format!("scenario = \"{other}\""));
        assert!(error.contains("`run.scenario` is"), "{error}");
    }
}

#[test]
fn a_text_for_the_terminal_has_no_control_characters() {
    let error = refused("kazoo-649", "library = \"kazoo\"", "library = \"kazoo\\u001b[2J\"");
    assert!(error.contains("`library` is `kazoo\\u{1b}[2J`"), "{error}");
}

#[test]
fn names_of_files_that_a_tool_reads_as_its_settings_are_refused() {
    let exhibit = named("redlock-rs-20").unwrap();
    for name in [
        "build.rs",
        "Cargo.toml",
        "RUST-TOOLCHAIN.toml",
        "npm-shrinkwrap.json",
        "-x",
        ".npmrc",
        "a b",
        "../x",
        "@x",
        "",
    ] {
        let mut other = exhibit.clone();
        other.files.to_mut().push((Cow::Owned(name.to_owned()), "".into()));
        let error = error_of(&other);
        assert!(error.contains("is no name for a file of a museum folder"), "{error}");
    }
    for name in ["..", "/x", "a/b", "", "-x", ".x"] {
        let other = Exhibit { name: Cow::Owned(name.to_owned()), ..exhibit.clone() };
        assert!(error_of(&other).contains("is no name of a museum folder"), "{name}");
    }
}

#[test]
fn packages_are_locked_at_the_versions_of_the_description() {
    let exhibit = named("redsync-151").unwrap();
    let unlocked = Exhibit { locked: None, ..exhibit.clone() };
    assert_eq!(
        error_of(&unlocked),
        "museum/redsync-151: there is no locked.toml: write it with `picklock museum museum/redsync-151 --lock`"
    );
    let stale = |from: &str, to: &str| {
        let text = exhibit.locked.as_ref().unwrap();
        assert!(text.contains(from), "{from}");
        error_of(&Exhibit { locked: Some(Cow::Owned(text.replace(from, to))), ..exhibit.clone() })
    };
    for (from, to, says) in [
        ("version = \"v4.12.1\"", "version = \"v4.12.9\"", "version v4.12.1 is not in the file"),
        ("h1:o9Vl8k", "h1:o9Vl8l", "the checksum of bug.toml"),
        ("redigo v1.9.2 h1", "redigo v1.9.3 h1", "github.com/gomodule/redigo v1.9.2 is not in the file"),
        ("errwrap v1.1.0 h1:", "errwrap v1.1.0 h2:", "write the hash of `go.sum`"),
        ("errwrap v1.1.0 h1", "errwrap /etc h1", "write an exact version"),
        ("hashicorp/errwrap v1.1.0 h1", "../errwrap v1.1.0 h1", "write a package name"),
        ("go = \"1.17\"", "go = \"1.17\\nreplace a => /b\"", "write a version of the language Go"),
        (" v4.12.0 h1", " v4.12.0", "a package is `NAME VERSION CHECKSUM`"),
    ] {
        let error = stale(from, to);
        assert!(error.contains(says), "{error}");
    }
}
