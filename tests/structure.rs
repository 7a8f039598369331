//! The shape of the house, read from the sources: which crate may use which, and that no files and no folders use each other
//! in a ring.
//!
//! An arrow goes from a file to the file that defines a name which it mentions by a path (`use` or inline). What a
//! module only passes on (`pub use`) is looked up where it is defined. Methods are not seen, and tests are left out.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Which crates of the workspace each may use, as docs/architecture.md draws it.
const MAY_USE: [(&str, &[&str]); 19] = [
    ("model", &[]),
    ("judge", &["model"]),
    ("sim", &["model"]),
    ("stores/consul", &["http", "model", "sim"]),
    ("stores/etcd", &["model", "raft", "sim"]),
    ("stores/http", &["sim"]),
    ("stores/kubernetes", &["etcd", "http", "model", "sim"]),
    ("stores/postgres", &["model", "sim"]),
    ("stores/redis", &["model", "sim"]),
    ("stores/zookeeper", &["model", "raft", "sim"]),
    ("stores/raft", &["model", "sim"]),
    ("stores", &["consul", "etcd", "kubernetes", "model", "postgres", "redis", "sim", "zookeeper"]),
    ("impls", &["consul", "etcd", "http", "kubernetes", "model", "postgres", "redis", "sim", "zookeeper"]),
    ("scenarios", &["model", "sim"]),
    ("campaign", &["judge", "model", "scenarios", "sim"]),
    ("supervisor", &[]),
    ("programs", &["model", "sim", "stores", "supervisor"]),
    ("reports", &["campaign", "judge", "model"]),
    ("testing", &[]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn crates_use_each_other_as_drawn() {
    for (krate, allowed) in MAY_USE {
        let manifest = std::fs::read_to_string(root().join(krate).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
        let used = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        let used = used.filter_map(|name| name.strip_prefix("picklock-"));
        // Tests of every crate may skip themselves.
        let used: BTreeSet<&str> = used.filter(|name| *name != "testing").collect();
        assert_eq!(
            used,
            BTreeSet::from_iter(allowed.iter().copied()),
            "{krate} uses other crates than it may"
        );
    }
}

#[test]
fn every_crate_names_each_crate_that_it_declares() {
    for (krate, allowed) in MAY_USE {
        let sources = Sources::of(krate).texts;
        for other in allowed {
            let name = format!("picklock_{other}");
            let named = sources.values().any(|text| text.contains(&name));
            assert!(named, "{krate}/Cargo.toml declares picklock-{other}, and no source of {krate} names it");
        }
    }
}

#[test]
fn no_files_use_each_other_in_a_ring() {
    for krate in MAY_USE.iter().map(|(krate, _)| *krate).chain(["."]) {
        let rings = rings(&Sources::of(krate).arrows());
        assert!(rings.is_empty(), "{krate}: {rings:#?}");
    }
}

#[test]
fn a_kind_of_store_is_named_on_one_line_outside_its_folder() {
    // Designs and their clients are written for their stores, and Kubernetes stands on etcd.
    let kinds = ["consul", "etcd", "kubernetes", "postgres", "redis", "zookeeper"];
    for kind in kinds {
        let mut named = 0;
        for krate in MAY_USE.iter().map(|(krate, _)| *krate).chain(["."]) {
            if krate == "impls" || (kind == "etcd" && krate == "stores/kubernetes") {
                continue;
            }
            let texts = Sources::of(krate).texts;
            named +=
                texts.values().map(|text| text.matches(&format!("picklock_{kind}::")).count()).sum::<usize>();
        }
        // Redis and Redis Cluster are two kinds of one crate.
        assert_eq!(named, if kind == "redis" { 2 } else { 1 }, "{kind}");
    }
}

#[test]
fn no_lock_and_no_store_drives_its_host() {
    let crates = MAY_USE.iter().map(|(krate, _)| *krate);
    for krate in crates.filter(|krate| *krate == "impls" || krate.starts_with("stores/")) {
        for (file, text) in Sources::of(krate).texts {
            assert!(
                !text.contains("HostDriver"),
                "{krate}/src/{file} does what only the driver of a program may do"
            );
        }
    }
}

/// Lists written by hand: the folders in which each file declares one item, the type of the items, and the file with the list.
const LISTS: [(&[&str], &str, &str); 6] = [
    (&["impls/src/bugs"], "Family", "impls/src/bugs/mod.rs"),
    (
        &[
            "impls/src/consul",
            "impls/src/control",
            "impls/src/etcd",
            "impls/src/kubernetes",
            "impls/src/lockless",
            "impls/src/postgres",
            "impls/src/redis",
            "impls/src/redlock",
            "impls/src/zookeeper",
        ],
        "Family",
        "impls/src/catalogue.rs",
    ),
    (&["judge/src/invariants"], "Invariant", "judge/src/invariants/mod.rs"),
    (&["scenarios/src/faults"], "Fault", "scenarios/src/faults/mod.rs"),
    (&["scenarios/src/workloads"], "Workload", "scenarios/src/workloads/mod.rs"),
    (&["reports/src/run"], "Format", "reports/src/run/mod.rs"),
];

#[test]
fn no_file_is_missing_from_its_list() {
    for (folders, of, list) in LISTS {
        let item = of.to_uppercase();
        let text = std::fs::read_to_string(root().join(list)).unwrap();
        let listed = text.split_once("ALL: ").expect("the file has a list").1;
        for folder in folders {
            for entry in std::fs::read_dir(root().join(folder)).unwrap() {
                let path = entry.unwrap().path();
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let name = path.file_stem().unwrap().to_str().unwrap();
                if text.contains(&format!(" {item}: {of}")) {
                    assert!(listed.contains(&format!("{name}::{item}")), "{} is in no list", path.display());
                }
            }
        }
    }
}

/// The names of the items of a type that the files of a folder declare, in quotation marks.
fn declared(folder: &str, beginning: &str) -> Vec<String> {
    let files = std::fs::read_dir(root().join(folder)).unwrap();
    let names = files.filter_map(|entry| {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        let declared = text.split_once(beginning)?.1;
        Some(format!("\"{}\"", declared.split('"').nth(1)?))
    });
    names.collect()
}

/// A declaration carries its facts: code that must know something of a fault, an invariant or a store kind asks a field of it.
#[test]
fn no_code_asks_a_fault_an_invariant_or_a_store_kind_by_its_name() {
    let mut names = declared("judge/src/invariants", "INVARIANT: Invariant = Invariant {");
    assert_eq!(names.len(), 11);
    names.extend(declared("scenarios/src/faults", "FAULT: Fault = Fault {"));
    assert!(names.len() > 30, "{names:?}");
    for store in ["consul", "etcd", "kubernetes", "postgres", "redis", "zookeeper"] {
        names.extend(declared(&format!("stores/{store}/src"), "KIND: StoreKind"));
    }
    assert!(names.contains(&"\"redis\"".to_owned()) && names.contains(&"\"etcd\"".to_owned()), "{names:?}");
    names.extend(["FAULT.name".to_owned(), "INVARIANT.name".to_owned()]);
    // Declarations, the faults to which a parameter ties another one, and code about names of another kind: experiments ask about named
    // invariants and faults, a registry has packages, and the doors of `picklock serve` are written for their stores.
    let exempt = ["invariants/", "faults/", "experiments/", "museum/registry/", "cli/serve/"];
    for krate in ["model", "sim", "judge", "scenarios", "campaign", "programs", "reports", "."] {
        let asks = |file: &str| exempt.iter().all(|folder| !file.starts_with(folder));
        for (file, text) in Sources::of(krate).texts.into_iter().filter(|(file, _)| asks(file)) {
            // A scenario may be called like its fault.
            for line in text.lines().filter(|line| !line.contains("scenario")) {
                let found: Vec<&String> = names.iter().filter(|name| line.contains(name.as_str())).collect();
                assert!(found.is_empty(), "{krate}/src/{file}: {found:?} in {line}");
            }
        }
    }
}

/// How deep folders are compared: the rooms of a crate, those within them, and once more.
const DEPTH: usize = 3;

#[test]
fn no_folders_use_each_other_in_a_ring() {
    for krate in MAY_USE.iter().map(|(krate, _)| *krate).chain(["."]) {
        let of_files = Sources::of(krate).arrows();
        for depth in 1..=DEPTH {
            let rings = rings(&between_folders(&of_files, depth));
            assert!(rings.is_empty(), "{krate}, at depth {depth}: {rings:#?}");
        }
    }
}

/// The arrows between the folders at this depth. A file above it stands for itself.
fn between_folders(of_files: &Arrows, depth: usize) -> Arrows {
    let room = |file: &String| module(file).into_iter().take(depth).collect::<Vec<_>>().join("/");
    let mut arrows = Arrows::new();
    for (from, to) in of_files {
        let from = room(from);
        let others = to.iter().map(room).filter(|to| *to != from);
        arrows.entry(from.clone()).or_default().extend(others);
    }
    arrows
}

#[test]
fn sim_names_no_store() {
    for file in Sources::of("sim").texts.into_keys() {
        // Its documentation names none either.
        let lower = std::fs::read_to_string(root().join("sim/src").join(&file)).unwrap().to_lowercase();
        for name in ["redis", "sentinel", "postgres", "etcd", "zookeeper", "consul", "kubernetes"] {
            assert!(!lower.contains(name), "sim/src/{file} names {name}");
        }
    }
}

/// The files of a crate without their tests and comments, by path under `src`.
struct Sources {
    texts: BTreeMap<String, String>,
    /// The file of each module, by its path from the crate's root.
    modules: BTreeMap<Vec<String>, String>,
    /// The re-exports of a module: by module and name, the path of the item. `*` stands for everything.
    passed_on: BTreeMap<(Vec<String>, String), Vec<Vec<String>>>,
}

impl Sources {
    fn of(krate: &str) -> Sources {
        let source = root().join(krate).join("src");
        let mut texts = BTreeMap::new();
        read(&source, &source, &mut texts);
        let modules = texts.keys().map(|file| (module(file), file.clone())).collect();
        let mut sources = Sources { texts, modules, passed_on: BTreeMap::new() };
        for (file, text) in &sources.texts {
            for (path, passed_on) in uses(text) {
                let path = sources.absolute(file, &path);
                if passed_on
                    && let (Some(path), Some(name)) =
                        (path.clone(), path.and_then(|path| path.last().cloned()))
                {
                    sources.passed_on.entry((module(file), name)).or_default().push(path);
                }
            }
        }
        sources
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (file, text) in &self.texts {
            let named = uses(text).into_iter().filter(|(_, passed_on)| !passed_on).map(|(path, _)| path);
            let to = arrows.entry(file.clone()).or_default();
            for path in named.chain(inline(text)) {
                let target = self.absolute(file, &path).and_then(|path| self.file_of(&path, 0));
                to.extend(target.filter(|target| target != file));
            }
        }
        arrows
    }

    /// A path from the crate's root; `None` if it leads out of the crate.
    fn absolute(&self, file: &str, path: &[String]) -> Option<Vec<String>> {
        let mut here = module(file);
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (here, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    here.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                let mut below = here.clone();
                below.push(child.to_owned());
                self.modules.get(&below)?;
            }
        }
        Some(here.into_iter().chain(rest.iter().cloned()).collect())
    }

    /// The file that defines what a path names.
    fn file_of(&self, path: &[String], depth: u32) -> Option<String> {
        let known = (0..=path.len()).rev().find(|len| self.modules.contains_key(&path[..*len]))?;
        let here = path[..known].to_vec();
        let file = self.modules[&here].clone();
        let Some(name) = path.get(known).filter(|_| depth < 8) else { return Some(file) };
        if defines(&self.texts[&file], name) {
            return Some(file);
        }
        if let Some(targets) = self.passed_on.get(&(here.clone(), name.clone())) {
            return self.file_of(&targets[0], depth + 1);
        }
        for target in self.passed_on.get(&(here, "*".to_owned())).into_iter().flatten() {
            let mut below = target[..target.len() - 1].to_vec();
            below.push(name.clone());
            let found = self.file_of(&below, depth + 1);
            if let Some(found) = found.filter(|found| defines(&self.texts[found], name)) {
                return Some(found);
            }
        }
        Some(file)
    }
}

fn defines(text: &str, name: &str) -> bool {
    let kinds = ["struct", "enum", "fn", "trait", "type", "const", "static", "union", "macro_rules!"];
    kinds.iter().any(|kind| {
        let words = format!("{kind} {name}");
        text.match_indices(&words).any(|(at, _)| {
            // The static of `&'static Name` is a lifetime.
            !text[..at].ends_with('\'') && !text[at + words.len()..].starts_with(is_word)
        })
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn read(folder: &Path, source: &Path, texts: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap();
        if path.is_dir() && name != "tests" {
            read(&path, source, texts);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && name != "tests"
            && name != "testing"
        {
            let file = path.strip_prefix(source).unwrap().to_str().unwrap().to_owned();
            texts.insert(file, code(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A file without its comments, and without the items that only tests have.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("#[cfg(test)]") || line.trim_start().starts_with("#[cfg(all(test,") {
            skip_item(line, &mut lines);
        } else {
            code.push_str(line.split("//").next().unwrap());
            code.push('\n');
        }
    }
    code
}

/// Skips the item below an attribute: it ends with its first line, or with a brace as far to the right as the attribute.
fn skip_item<'a>(attribute: &str, lines: &mut impl Iterator<Item = &'a str>) {
    let indent = attribute.len() - attribute.trim_start().len();
    for (at, line) in lines.enumerate() {
        let is_of_this_depth = line.len() - line.trim_start().len() == indent;
        let ends = if at == 0 { line.ends_with([';', ',', '}']) } else { line.trim_start().starts_with('}') };
        if is_of_this_depth && ends {
            return;
        }
    }
}

/// The module path of a file: `world/mod.rs` and `world.rs` are both `world`.
fn module(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").unwrap();
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The paths of all `use` items, and whether the file passes them on.
fn uses(text: &str) -> Vec<(Vec<String>, bool)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rsplit('\n').next().unwrap().trim();
        if !(line.is_empty() || line == "pub" || line.starts_with("pub(") && line.ends_with(')')) {
            continue;
        }
        let tree = text[at + 4..].split(';').next().unwrap().replace(char::is_whitespace, " ");
        let mut paths = Vec::new();
        expand(&[], &tree, &mut paths);
        found.extend(paths.into_iter().map(|path| (path, !line.is_empty())));
    }
    found
}

/// Takes a use tree apart: `a::{b, c::{d, e}}` is `a::b`, `a::c::d`, `a::c::e`.
fn expand(before: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (head, branches) = match tree.split_once('{') {
        Some((head, rest)) => (head, Some(rest.rsplit_once('}').map_or(rest, |(inner, _)| inner))),
        None => (tree, None),
    };
    let head = head.split(" as ").next().unwrap();
    let segments =
        head.split("::").map(str::trim).filter(|segment| !segment.is_empty() && *segment != "self");
    let path: Vec<String> = before.iter().cloned().chain(segments.map(str::to_owned)).collect();
    let Some(branches) = branches else {
        paths.push(path);
        return;
    };
    let (mut depth, mut from) = (0, 0);
    for (at, c) in branches.char_indices().chain([(branches.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !branches[from..at].trim().is_empty() {
                    expand(&path, &branches[from..at], paths);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// Paths that stand in the code itself: from the crate's root, from a parent, or into a child module.
fn inline(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let children: Vec<&str> =
        (text.lines()).filter_map(|line| line.trim().strip_suffix(';')?.split("mod ").nth(1)).collect();
    let mut word = None;
    for (at, c) in text.char_indices() {
        if is_word(c) {
            word.get_or_insert(at);
            continue;
        }
        let Some(from) = word.take() else { continue };
        let first = &text[from..at];
        let begins =
            !text[..from].ends_with("::") && !text[..from].ends_with("use ") && text[at..].starts_with("::");
        if begins && (["crate", "super"].contains(&first) || children.contains(&first)) {
            let path = text[from..].split(|c: char| !is_word(c) && c != ':').next().unwrap();
            found.push(path.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect());
        }
    }
    found
}

/// Every set of nodes that lead to each other.
fn rings(arrows: &Arrows) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let (mut seen, mut rest) = (BTreeSet::new(), vec![from]);
        while let Some(next) = rest.pop() {
            rest.extend(arrows.get(next).into_iter().flatten().filter(|to| seen.insert((*to).clone())));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        arrows.keys().map(|node| (node, reach(node))).collect();
    let mut rings: BTreeSet<Vec<String>> = BTreeSet::new();
    for (node, to) in &reached {
        let ring: Vec<String> = to
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(*node)))
            .cloned()
            .collect();
        if !ring.is_empty() {
            rings.insert(ring);
        }
    }
    rings.into_iter().collect()
}

#[test]
fn rings_are_found() {
    let arrows = |pairs: &[(&str, &str)]| {
        let mut arrows = Arrows::new();
        for (from, to) in pairs {
            arrows.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        rings(&arrows)
    };
    assert!(arrows(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    assert_eq!(arrows(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]), [["b", "c"]]);
    assert_eq!(uses("pub(crate) use a::{b as c, d::{self, e}};\nuse super::f;").len(), 4);
}

#[test]
fn rings_of_folders_are_found() {
    let arrow = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let of_files = Arrows::from([
        arrow("a/b/one.rs", "a/c.rs"),
        arrow("a/c.rs", "a/d.rs"),
        arrow("a/d.rs", "a/b/two.rs"),
    ]);
    assert!(rings(&of_files).is_empty());
    assert!(rings(&between_folders(&of_files, 1)).is_empty());
    assert_eq!(rings(&between_folders(&of_files, 2)), [["a/b", "a/c", "a/d"]]);
    assert!(rings(&between_folders(&of_files, 3)).is_empty());
}

#[test]
fn items_of_tests_are_left_out() {
    let text = "mod a;\n#[cfg(test)]\nmod b;\nuse self::a::X; // and more\n#[cfg(test)]\nmod tests {\n    use c;\n}\nfn d() {}\n";
    assert_eq!(code(text), "mod a;\nuse self::a::X; \nfn d() {}\n");
}
