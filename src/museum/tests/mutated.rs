//! A thousand hostile folders: nothing outside the directory for packages changes, and no tool is given a word of a hostile text.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, mknodat};
use toml::{Table, Value};

use super::support::{OF_EACH, Place};
use crate::museum::FetchError;

/// Texts that lead elsewhere in some tool, in some file, or in a path.
const HOSTILE: &[&str] = &[
    "",
    ".",
    "..",
    "../..",
    "../../around/kept",
    "/",
    "/etc/passwd",
    "AROUND/kept",
    "~/x",
    "npm:victim@1.0.0",
    "npm:..",
    "file:../../around",
    "file:///etc",
    "git+https://example.org/victim.git",
    "git://example.org/victim#main",
    "https://example.org/victim.tgz",
    "victim @ file:///tmp/victim",
    "user/repository",
    "latest",
    "^1.0.0",
    "*",
    "==1.0",
    ">=0",
    "1.0.0 || 2.0.0",
    "[1.0,)",
    "LATEST",
    "1.0-SNAPSHOT",
    "${env.HOME}",
    "$(touch AROUND/made)",
    "`touch AROUND/made`",
    "; touch AROUND/made",
    "--index-url=https://example.org",
    "--x",
    "-e",
    "-rAROUND/one",
    "@AROUND/one",
    "a\nb",
    "1.0.0\nreplace a => /b",
    "1.0.0\"\n[patch.crates-io]\nx = \"",
    "a\0b",
    "a\"b",
    "a'b",
    "a\\b",
    "</version><systemPath>/x</systemPath>",
    "\u{1b}[2J",
    "\u{202e}",
    "missing",
    "sha512-",
    "h1:",
    "{ version = \"1.0.0\", path = \"/x\" }",
    "{ version = \"1.0.0\", git = \"https://example.org\" }",
    "{ version = \"1.0.0\" }\n[patch]",
];

/// Fields of `bug.toml` that name something to fetch, to run or to read.
const FIELDS: &[&[&str]] = &[
    &["package"],
    &["affected", "version"],
    &["affected", "checksum"],
    &["fixed", "version"],
    &["fixed", "checksum"],
    &["run", "command"],
    &["run", "scenario"],
    &["control", "command"],
    &["library"],
    &["registry"],
];

/// Numbers by splitmix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A hostile text; `AROUND` is a directory in which nothing may change.
fn hostile(numbers: &mut Numbers, place: &Place) -> String {
    match numbers.below(20) {
        0 => "a".repeat(5000),
        1 => "../".repeat(2000),
        _ => numbers.one(HOSTILE).replace("AROUND", &place.path("around").display().to_string()),
    }
}

/// A file that is not yet a planted one.
fn table_of(file: &Path) -> Option<Table> {
    let about = fs::symlink_metadata(file).ok().filter(|about| about.is_file() && about.len() < 1 << 20);
    about.and_then(|_| fs::read_to_string(file).ok()?.parse().ok())
}

/// Changes a string of `bug.toml`.
fn change_field(folder: &Path, path: &[&str], text: &str) {
    let file = folder.join("bug.toml");
    let Some(mut table) = table_of(&file) else { return };
    let mut at = &mut table;
    let (last, parents) = path.split_last().unwrap();
    for name in parents {
        let next = at.entry((*name).to_owned()).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = next else { return };
        at = next;
    }
    at.insert((*last).to_owned(), Value::String(text.to_owned()));
    fs::write(file, table.to_string()).unwrap();
}

/// Changes a word of a line of `locked.toml`.
fn change_locked(folder: &Path, numbers: &mut Numbers, text: &str) {
    let file = folder.join("locked.toml");
    let Some(mut table) = table_of(&file) else { return };
    let Some(Value::Array(versions)) = table.get_mut("locked") else { return };
    let Some(Value::Table(version)) = versions.first_mut() else { return };
    let Some(Value::Array(packages)) = version.get_mut("packages") else { return };
    let at = numbers.below(packages.len().max(1));
    let Some(Value::String(line)) = packages.get_mut(at) else { return };
    let mut words: Vec<&str> = line.split(' ').collect();
    let at = numbers.below(words.len() + 1);
    if at < words.len() {
        words[at] = text
    } else {
        words.push(text)
    }
    *line = words.join(" ");
    fs::write(file, table.to_string()).unwrap();
}

/// Plants a link or a special file in the folder.
fn plant_in_folder(folder: &Path, numbers: &mut Numbers, place: &Place) {
    let name =
        numbers.one(&["lock.py", "bug.toml", "locked.toml", "notes.txt", "Cargo.toml", "build.rs", ".npmrc"]);
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    match numbers.below(4) {
        0 => symlink(place.path("around/one"), path).unwrap(),
        1 => symlink("/dev/zero", path).unwrap(),
        2 => mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap(),
        _ => fs::write(path, vec![b'x'; 2 << 20]).unwrap(),
    }
}

/// Plants a link in the directory for packages, unless there is one.
fn plant_in_cache(numbers: &mut Numbers, place: &Place, name: &str) {
    if place.path("cache").exists() {
        return;
    }
    let of_the_bug = place.path("cache").join(name);
    let version = numbers.one(&["v4.12.0", "5.3.0", "2.8.0", "3.11.0", "2.0.0"]);
    let link = match numbers.below(3) {
        0 => of_the_bug,
        1 => of_the_bug.join(version),
        _ => of_the_bug.join(version).join(numbers.one(&["bug.toml", "adapter", "venv", "lib"])),
    };
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(place.path(numbers.one(&["around/kept", "around/kept/deep", "around/one"])), link).unwrap();
}

#[test]
fn a_thousand_hostile_folders_reach_nothing_outside_the_directory_for_packages() {
    let place = Place::new();
    let mut numbers = Numbers(1);
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for round in 0..1000 {
        let _ = fs::remove_dir_all(place.path("cache"));
        let name = format!("bug-{round}");
        let exhibit = numbers.one(&OF_EACH);
        let folder = place.folder(exhibit, &name);
        for _ in 0..=numbers.below(2) {
            let text = hostile(&mut numbers, &place);
            match numbers.below(14) {
                0..5 => change_field(&folder, numbers.one(FIELDS), &text),
                5 => change_field(&folder, &["with", &text], "1.0.0"),
                6 => change_field(&folder, &["with", "other"], &text),
                7 | 8 => change_locked(&folder, &mut numbers, &text),
                9 => plant_in_folder(&folder, &mut numbers, &place),
                10..13 => plant_in_cache(&mut numbers, &place, &name),
                _ => {
                    let _ = fs::remove_file(folder.join("locked.toml"));
                }
            }
        }
        let around = place.around();
        let end = match place.fetch(&folder) {
            Ok(_) => "fetched",
            Err(FetchError::Bug(_)) => "refused by its description",
            Err(error) if error.is_refusal() => "refused by what lies there",
            Err(_) => "missing",
        };
        *ends.entry(end).or_default() += 1;
        assert_eq!(place.around(), around, "round {round}: {end}");
        assert!(!place.path("around/made").exists(), "round {round}");
        fs::remove_dir_all(&folder).unwrap();
    }
    let calls = place.calls();
    for sign in ["..", "victim", "example.org", "/etc", "around", "LATEST", "${", "--x", "patch"] {
        assert!(!calls.contains(sign), "a tool was called with {sign}");
    }
    // Folders that are harmless after all are fetched, so the tools were really reached.
    for end in ["fetched", "refused by its description", "refused by what lies there"] {
        assert!(ends.get(end).is_some_and(|count| *count >= 20), "{ends:?}");
    }
}
