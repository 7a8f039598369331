//! Lists the scenario files of the built-in suite, so that adding one takes nothing but the file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=suite");
    let suite = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("suite");
    let mut names = Vec::new();
    for entry in fs::read_dir(&suite)? {
        let name = entry?.file_name().into_string().map_err(|name| format!("{name:?} is not a text"))?;
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    // A directory has no order of its own, and two builds of one source must not differ.
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        writeln!(list, "    ({name:?}, include_str!({:?})),", suite.join(&name))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("suite.rs"), list)?;
    Ok(())
}
