//! What the guide and the README show is what the program prints: every block marked `console` is run and compared.
//!
//! In such a block a line that begins with `$ ` is a command, and what follows is of its output: each line as it is printed, in
//! order; `...` stands for any lines, and so does the end of the block. The blocks of a page are run one after the other in a
//! directory of their own, so that one may use what another wrote. A digest that has changed is caught here.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::path::{Path, PathBuf};

#[path = "support/binary.rs"]
mod binary;

use binary::{directory, run_in};

/// A command and what a page shows of its output.
#[derive(Debug, PartialEq)]
struct Shown {
    command: String,
    lines: Vec<String>,
}

fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut within = false;
    for line in page.lines() {
        if line.starts_with("```") {
            within = line == "```console";
        } else if let (true, Some(command)) = (within, line.strip_prefix("$ ")) {
            all.push(Shown { command: command.to_owned(), lines: Vec::new() });
        } else if let (true, Some(last)) = (within, all.last_mut()) {
            last.lines.push(line.trim_end().to_owned());
        }
    }
    all
}

/// The first line that was not printed where the page shows it.
fn missing<'a>(shown: &'a Shown, printed: &str) -> Option<&'a str> {
    let mut printed = printed.lines().map(str::trim_end);
    let mut anywhere = false;
    for line in shown.lines.iter().map(String::as_str) {
        let found = match line {
            "..." => {
                anywhere = true;
                continue;
            }
            line if anywhere => printed.any(|other| other == line),
            line => printed.next() == Some(line),
        };
        if !found {
            return Some(line);
        }
        anywhere = false;
    }
    None
}

/// The words of a command line without quotes or variables.
fn words(command: &str) -> Vec<&str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(words.first(), Some(&"picklock"), "only picklock is run here: {command}");
    words[1..].to_vec()
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_dir(root.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        guide.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

#[test]
fn every_command_of_the_guide_prints_what_the_guide_shows() {
    let mut run = 0;
    for page in pages() {
        let here = directory();
        for shown in shown(&std::fs::read_to_string(&page).unwrap()) {
            let ended = run_in(here.path(), &words(&shown.command));
            assert!(matches!(ended.code, Some(0 | 1)), "{}: {}", shown.command, ended.stderr);
            let wrong = missing(&shown, &ended.stdout);
            assert_eq!(
                wrong,
                None,
                "{}: `{}` does not print this line there, but\n{}{}",
                page.display(),
                shown.command,
                ended.stdout,
                ended.stderr
            );
            run += 1;
        }
    }
    assert!(run >= 6, "only {run} commands were found");
}

#[test]
fn what_is_left_out_of_a_block_is_skipped_and_what_stands_there_is_compared() {
    let page = "```console\n$ picklock list\na\n...\nc\n```\n```\n$ picklock run\n```\n";
    let all = shown(page);
    assert_eq!(all.len(), 1);
    assert_eq!(missing(&all[0], "a\nb\nc\nd\n"), None);
    assert_eq!(missing(&all[0], "a\nb\n"), Some("c"));
    assert_eq!(missing(&all[0], "b\na\nc\n"), Some("a"));
}
