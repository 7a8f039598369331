//! Lists the built-in scenario files, those of the suite, of the bugs and of the experiments, so that adding one takes
//! nothing but the file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    list("suite")?;
    list("bugs")?;
    list("experiments")
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
