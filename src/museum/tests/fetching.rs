//! The fetch of a version by tools that note how they are called.
#![cfg(unix)]

use std::fs;

use super::support::{OF_EACH, Place, replace};
use crate::museum::FetchError;

/// A tool that prints this on standard error and fails if its words have this in them.
fn failing(place: &Place, tool: &str, words: &str, says: &str) {
    let path = place.path(&format!("tools/{tool}"));
    let text = fs::read_to_string(&path).unwrap();
    let case = format!("case \"$*\" in *\"{words}\"*) echo '{says}' >&2; exit 1 ;; esac\n");
    fs::write(&path, format!("{text}{case}")).unwrap();
}

#[test]
fn a_version_is_fetched_once_and_anew_when_its_folder_changes() {
    let place = Place::new();
    let folder = place.folder("redsync-151", "mine");
    let fetched = place.fetch(&folder).unwrap();
    assert!(fetched[0].ends_with("cache/mine/v4.12.0"), "{fetched:?}");
    let names: Vec<_> = fs::read_dir(&fetched[0]).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        ["adapter", "bug.toml", "go.mod", "go.sum", "main.go"]
            .iter()
            .all(|name| names.iter().any(|own| own == name))
    );
    let calls = place.calls();
    place.fetch(&folder).unwrap();
    assert_eq!(place.calls(), calls, "it is there already");
    // The adapter in the directory for packages is not the one of the folder.
    fs::write(fetched[0].join("main.go"), "other").unwrap();
    place.fetch(&folder).unwrap();
    assert!(place.calls().len() > calls.len());
    assert_ne!(fs::read_to_string(fetched[0].join("main.go")).unwrap(), "other");
}

#[test]
fn a_fetch_that_fails_leaves_nothing_behind() {
    let place = Place::new();
    failing(&place, "go", "mod download", "error: no network");
    let error = place.fetch(&place.folder("redsync-151", "mine")).unwrap_err();
    assert_eq!(error.to_string(), "`go mod download` failed: error: no network");
    assert!(!error.is_refusal());
    assert_eq!(fs::read_dir(place.path("cache/mine")).unwrap().count(), 0);
}

#[test]
fn a_checksum_that_a_tool_finds_wrong_is_a_refusal_and_nothing_is_built() {
    for (exhibit, tool, words, says) in [
        (
            "kazoo-649",
            "python3",
            "--require-hashes",
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        ),
        ("redsync-151", "go", "mod download", "verifying x@v1.0.0: checksum mismatch"),
        ("redlock-rs-20", "cargo", "fetch", "error: checksum for `x v1.0.0` changed between lock files"),
    ] {
        let place = Place::new();
        failing(&place, tool, words, says);
        let error = place.fetch(&place.folder(exhibit, "mine")).unwrap_err();
        assert!(matches!(error, FetchError::Mismatch { .. }) && error.is_refusal(), "{error}");
        assert!(!place.calls().contains(" build"), "{}", place.calls());
    }
}

#[test]
fn a_file_of_npm_or_maven_is_compared_before_it_is_used() {
    // The tools of the test make a file that is not the package.
    let place = Place::new();
    let make = |tool: &str, script: &str| {
        let path = place.path(&format!("tools/{tool}"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{script}\n")).unwrap();
    };
    make(
        "npm",
        "for word; do case $word in *@*) name=${word#@}; v=${name##*@}; n=$(echo \"${name%@*}\" | tr / -); echo x > packed/$n-$v.tgz; esac; done",
    );
    make("mvn", "echo x > lib/redisson-3.11.0.jar");
    for (exhibit, step) in [("redis-semaphore-175", "npm ci"), ("redisson-2172", "javac")] {
        let error = place.fetch(&place.folder(exhibit, exhibit)).unwrap_err();
        assert!(matches!(error, FetchError::Checksum { .. }) && error.is_refusal(), "{error}");
        assert!(!place.calls().contains(step), "{}", place.calls());
    }
    make("mvn", "echo x > lib/another-1.0.jar; rm lib/redisson-3.11.0.jar");
    let error = place.fetch(&place.folder("redisson-2172", "more")).unwrap_err();
    assert!(error.to_string().ends_with("another-1.0.jar is not in locked.toml"), "{error}");
}

#[test]
fn a_tool_is_asked_for_nothing_but_what_is_locked_and_runs_no_script() {
    let place = Place::new();
    for exhibit in OF_EACH {
        let _ = place.fetch(&place.folder(exhibit, exhibit));
    }
    let calls = place.calls();
    for words in [
        "python3 -I -m venv venv",
        "python -I -m pip --quiet --disable-pip-version-check --no-input install --no-deps --require-hashes --only-binary=:all: ",
        "npm pack --pack-destination packed --ignore-scripts",
        "go mod download",
        "go build -mod=readonly -o adapter .",
        "maven-dependency-plugin:3.6.1:copy-dependencies",
        "cargo fetch --quiet --locked",
        "cargo build --release --quiet --locked --offline",
    ] {
        assert!(calls.contains(words), "{words} is not in\n{calls}");
    }
}

#[test]
fn a_distribution_of_pypi_without_a_wheel_is_built_by_locked_tools_alone() {
    let place = Place::new();
    let folder = place.folder("kazoo-649", "mine");
    let text = fs::read_to_string(folder.join("locked.toml")).unwrap();
    let line = text.lines().find(|line| line.contains("\"six ")).unwrap();
    replace(&folder, "locked.toml", line, &line.replace("\",", " source\","));
    place.fetch(&folder).unwrap();
    let calls = place.calls();
    let of = |words: &str| calls.lines().position(|line| line.contains(words));
    let (wheels, sources) =
        (of("--only-binary=:all:"), of("--no-deps --require-hashes --no-binary=:all: --no-build-isolation"));
    assert!(wheels.is_some() && wheels < sources, "{calls}");
}
