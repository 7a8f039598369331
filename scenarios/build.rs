//! Lists the built-in scenario files, those of the suite, of the bugs and of the experiments, so that adding one takes
//! nothing but the file; and faults and workloads from the lines that declare their modules, so that adding
//! one takes the file and that line.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    list("suite")?;
    list("bugs")?;
    list("experiments")?;
    declared("faults", "&{}::FAULT")?;
    declared("workloads", "&{}::WORKLOAD")
}

/// Writes the names and texts of a directory's scenario files as a list.
fn list(directory: &str) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={directory}");
    let from = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(directory);
    let mut names = Vec::new();
    for entry in fs::read_dir(&from)? {
        let name = entry?.file_name().into_string().map_err(|name| format!("{name:?} is not a text"))?;
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    // A directory has no order of its own, and two builds of one source must not differ.
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        writeln!(list, "    ({name:?}, include_str!({:?})),", from.join(&name))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{directory}.rs")), list)?;
    Ok(())
}

/// Writes what the modules between the two markers of a directory's `mod.rs` hold as a list, in the order in which they
/// are declared.
fn declared(directory: &str, item: &str) -> Result<(), Box<dyn Error>> {
    let file = format!("src/{directory}/mod.rs");
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(&file))?;
    let after = text.split_once("// The list begins").and_then(|(_, rest)| rest.split_once('\n'));
    let (lines, _) = after
        .and_then(|(_, rest)| rest.split_once("// The list ends"))
        .ok_or_else(|| format!("{file}: the modules of the list stand between its beginning and its end"))?;
    let mut list = String::from("&[\n");
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let declaration =
            ["mod ", "pub mod ", "pub(crate) mod "].iter().find_map(|way| line.strip_prefix(way));
        let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let module = declaration.and_then(|rest| rest.strip_suffix(';')).filter(plain);
        let module =
            module.ok_or_else(|| format!("{file}: in the list stands `mod name;` and not `{line}`"))?;
        writeln!(list, "    {},", item.replace("{}", module))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{directory}.rs")), list)?;
    Ok(())
}
