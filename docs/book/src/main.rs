//! Makes a book of the guide, one for each language that there is, and checks all links.
//!
//! `cargo run` in this directory looks at every link of the pages in the repository, makes the books in `target/book/en` and
//! `target/book/zh`, and looks at every link of what was made. Nothing is asked of the network: links that lead away are left alone.

mod built;
mod make;
mod markdown;
mod shelf;
mod sources;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            wrong.iter().for_each(|line| eprintln!("{line}"));
            eprintln!(
                "{} broken",
                if wrong.len() == 1 { "1 link is".to_owned() } else { format!("{} links are", wrong.len()) }
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Makes and checks; what is wrong, a line each.
fn run(args: Vec<String>) -> Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().context("failed to find the repository")?;
    let out = match args.as_slice() {
        [] => root.join("target/book"),
        [out] if !out.starts_with('-') => std::path::absolute(PathBuf::from(out))?,
        _ => bail!("one argument at most: the directory for the books, by default target/book"),
    };
    let wrong = sources::broken(&root)?;
    if !wrong.is_empty() {
        return Ok(wrong);
    }
    let shelf = shelf::Shelf::of(&root)?;
    make::make(&root, &shelf, &out)?;
    let (wrong, links) = built::broken(&out)?;
    for edition in &shelf.editions {
        println!("{}", out.join(edition.name).join("index.html").display());
    }
    println!("{} pages, {links} links", shelf.pages.len());
    Ok(wrong)
}
