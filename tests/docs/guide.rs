//! The commands in the guide and the README are run, and their output is compared.
//!
//! Blocks marked `console` are run, and what they show is what is printed: each line, in order; `...` stands for any lines, and
//! so does the end of the block. Commands of blocks marked `sh` are run as far as it takes to know that picklock accepts them with
//! all names, settings and files, and then given no time. What the text mentions has to be understood. All of a page happens in one
//! directory, in its order, so that one command may use what another wrote.
//!
//! `PICKLOCK_BLESS=1 cargo test --test docs guide::what` writes the figures that are printed now into the pages of both languages. Other
//! words than the page's are an error still.
//!
//! The Chinese pages are not run. Those that translate the page of today have the same blocks in the same order and mention no other
//! commands, which is held here; so every command in both languages is run.

use std::path::{Path, PathBuf};

use crate::binary::{Ended, directory, run_in};
use crate::page::{Shown, Step, blocks, missing, renewed, steps};
use crate::translated_from::{Translation, translations};
use crate::translation::{dead_link, strays};

/// Commands of other programs, and why they are not run here.
const OTHERS: [(&str, &str); 2] =
    [("cargo test --workspace", "runs this test"), ("jq -r ", "need not be installed where this is tested")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages = pages_in("docs/guide");
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

fn pages_in(directory: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(root().join(directory)).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|it| it == "md")).collect()
}

/// The result of a page: its commands, by how they were checked.
#[derive(Default)]
struct Tally {
    shown: usize,
    accepted: usize,
    mentioned: usize,
    /// What is shown, and what is printed in its place now.
    renewed: Vec<[String; 2]>,
}

/// Does what a page says. An error is where it is wrong.
fn follow(page: &str) -> Result<Tally, String> {
    let here = directory();
    let experiments = here.path().join("scenarios/experiments");
    std::fs::create_dir_all(&experiments).unwrap();
    for file in std::fs::read_dir(root().join("scenarios/experiments")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), experiments.join(file.file_name())).unwrap();
    }
    let mut tally = Tally::default();
    for step in steps(page)? {
        match step {
            Step::File { name, text } => {
                let file = here.path().join(name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            }
            Step::Shown(shown) => {
                tally.renewed.extend(print(here.path(), &shown)?);
                tally.shown += 1;
            }
            Step::Command(line) => tally.accepted += usize::from(accept(here.path(), &line)?),
            Step::Mention(line) => {
                understand(here.path(), &words(&line)?, &line)?;
                tally.mentioned += 1;
            }
        }
    }
    Ok(tally)
}

/// Runs a command and compares; what is shown and what replaces it, if the page is to be renewed.
fn print(here: &Path, shown: &Shown) -> Result<Option<[String; 2]>, String> {
    let ended = run(here, &words(&shown.command)?);
    let Ended { code, stdout, stderr } = &ended;
    if !matches!(code, Some(0 | 1)) {
        return Err(format!("`{}` ends with {code:?}: {stderr}", shown.command));
    }
    let bless = std::env::var_os("PICKLOCK_BLESS").is_some();
    match missing(shown, stdout) {
        None => Ok(None),
        Some(line) => match renewed(shown, stdout).filter(|_| bless) {
            Some(lines) => {
                let block = |lines: &[String]| format!("$ {}\n{}\n", shown.command, lines.join("\n"));
                Ok(Some([block(&shown.lines), block(&lines)]))
            }
            None => Err(format!(
                "`{}` does not print this line there:\n{line}\nbut\n{stdout}{stderr}",
                shown.command
            )),
        },
    }
}

/// Runs a command for no longer than it takes to know that it is one. False if it is another program's.
fn accept(here: &Path, line: &str) -> Result<bool, String> {
    if OTHERS.iter().any(|(start, _)| line.starts_with(start)) {
        return Ok(false);
    }
    let mut args = words(line)?;
    let has = |args: &[String], option: &str| args.iter().any(|arg| arg == option);
    let into = args.iter().position(|arg| arg.starts_with('>')).map(|at| args.split_off(at).concat());
    match args[0].as_str() {
        // One ends on request only, one fetches packages; pairs come after thousands of runs with one hit, and so does a fault that is kept.
        "serve" | "museum" => return understand(here, &args, line).map(|()| true),
        "explore" if has(&args, "--pairs") || has(&args, "--keep") => {
            return understand(here, &args, line).map(|()| true);
        }
        "run" | "compare" => args.extend(["--budget", "1ns"].map(str::to_owned)),
        "explore" if !has(&args, "--place") => {
            args.extend(["--design", "single", "--fault", "stall"].map(str::to_owned));
        }
        _ => {}
    }
    let ended = run(here, &args);
    if !matches!(ended.code, Some(0 | 1 | 3)) {
        return Err(format!("`{line}` ends with {:?}: {}", ended.code, ended.stderr));
    }
    if let Some(file) = into {
        std::fs::write(here.join(file.trim_start_matches('>')), ended.stdout).unwrap();
    }
    Ok(true)
}

/// Has the arguments read, and nothing done; but what takes a moment is done: one run of a seed is.
fn understand(here: &Path, args: &[String], line: &str) -> Result<(), String> {
    let of_a_seed = args.get(3).is_some_and(|seed| seed.parse::<u64>().is_ok());
    let quick = matches!(args[0].as_str(), "help" | "list") || (args[0] == "replay" && of_a_seed);
    let help = if quick { None } else { Some("--help".to_owned()) };
    let ended = run(here, &args.iter().cloned().chain(help).collect::<Vec<_>>());
    match ended.code {
        Some(0) => Ok(()),
        Some(1) if quick => Ok(()),
        _ => Err(format!("`{line}` is not understood: {}", ended.stderr)),
    }
}

fn run(here: &Path, args: &[String]) -> Ended {
    run_in(here, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The arguments of a line that runs picklock.
fn words(line: &str) -> Result<Vec<String>, String> {
    let line = line.strip_prefix("cargo run --release --").or(line.strip_prefix("picklock "));
    let words = line.and_then(shlex::split).filter(|words| !words.is_empty());
    words.ok_or_else(|| format!("only picklock is run here: {line:?}"))
}

#[test]
fn what_the_guide_says_of_the_command_line_is_so() {
    let mut all = Tally::default();
    let translations = translations();
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let tally = follow(&page).unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        all.shown += tally.shown;
        all.accepted += tally.accepted;
        all.mentioned += tally.mentioned;
        if tally.renewed.is_empty() {
            continue;
        }
        let translation = translations.iter().find(|it| it.page == path).unwrap();
        let was_current = translation.is_current();
        for page in [&path, &translation.chinese].into_iter().filter(|page| page.exists()) {
            let text = std::fs::read_to_string(page).unwrap();
            let renewed = tally.renewed.iter().fold(text, |text, [from, to]| text.replace(from, to));
            std::fs::write(page, renewed).unwrap();
        }
        // The figures are renewed in both, so a page that was current still is.
        if was_current {
            translation.stamp();
        }
    }
    let Tally { shown, accepted, mentioned, .. } = all;
    assert!(shown >= 17 && accepted >= 17 && mentioned >= 25, "found {shown}, {accepted}, {mentioned}");
}

/// The pages that are current. The others are listed by `translated_from`.
fn current() -> impl Iterator<Item = Translation> {
    translations().into_iter().filter(Translation::is_current)
}

#[test]
fn a_current_page_in_chinese_has_the_same_code_headings_and_commands() {
    for Translation { page, chinese } in current().filter(|it| !it.page.ends_with("glossary.md")) {
        let [page, text] = [&page, &chinese].map(|page| std::fs::read_to_string(page).unwrap());
        strays(&page, &text).unwrap_or_else(|wrong| panic!("{}: {wrong}", chinese.display()));
    }
}

#[test]
fn every_link_in_both_languages_leads_to_a_file_and_a_heading_that_are_there() {
    for path in pages().into_iter().chain(current().map(|it| it.chinese)) {
        assert_eq!(dead_link(&path), None, "{}", path.display());
    }
}

#[test]
fn a_translation_in_which_code_a_heading_or_a_command_was_edited_is_refused() {
    let page = "# Lock\n\nSee `picklock list`.\n\n```sh\npicklock run\n```\n\n## Next\n\n```text\nok\n```\n";
    let chinese =
        "# 锁\n\n见 `picklock list`。\n\n```sh\npicklock run\n```\n\n## 下一步\n\n```text\nok\n```\n";
    assert_eq!(strays(page, chinese), Ok(()));
    for (stands, edited) in [
        ("picklock run", "picklock rum"),
        ("```sh", "```text"),
        ("## 下一步", "### 下一步"),
        ("`picklock list`", "`picklock lists`"),
        ("\n```text\nok\n```\n", ""),
    ] {
        assert!(strays(page, &chinese.replace(stands, edited)).is_err(), "{stands}");
    }
}

#[test]
fn the_code_of_the_pages_on_own_locks_and_stores_stands_in_the_examples() {
    for (page, files) in [
        ("own-lock.md", ["own-lock/src/lease.rs", "own-lock/tests/bad_night.rs"].as_slice()),
        ("own-store.md", &["own-store/src/store.rs", "own-store/src/lock.rs", "own-store/tests/suite.rs"]),
    ] {
        let page = std::fs::read_to_string(root().join("docs/guide").join(page)).unwrap();
        let read = |file: &&str| std::fs::read_to_string(root().join("examples").join(file)).unwrap();
        let files: Vec<String> = files.iter().map(read).collect();
        let code = blocks(&page, "rust");
        assert!(!code.is_empty());
        for code in code {
            assert!(files.iter().any(|file| stands_in(&code, file)), "in no example:\n{}", code.join("\n"));
            let edited: Vec<String> = code.iter().map(|line| format!("{line};")).collect();
            assert!(!files.iter().any(|file| stands_in(&edited, file)));
        }
    }
}

/// True if these lines are lines of a file, one after the other, there all indented by as much or not at all.
fn stands_in(code: &[String], file: &str) -> bool {
    let lines: Vec<&str> = file.lines().collect();
    let same = |window: &[&str]| {
        let indent = &window[0][..window[0].len() - window[0].trim_start().len()];
        let line = |(file, page): (&&str, &String)| {
            file.strip_prefix(indent) == Some(page) || (file.is_empty() && page.is_empty())
        };
        window.iter().zip(code).all(line)
    };
    lines.windows(code.len()).any(same)
}

/// A part of a page by its heading.
fn part(page: &str, heading: &str) -> String {
    let page = std::fs::read_to_string(root().join(page)).unwrap();
    let part = page.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
    part.to_owned()
}

#[test]
fn a_page_in_which_a_command_or_a_digest_was_edited_is_refused() {
    for (page, heading, stands, edited) in [
        ("docs/guide/replay.md", "Replay it", "digest: e35db5b7bea0b2", "digest: e35db5b7bea0b3"),
        (
            "docs/guide/replay.md",
            "Replay it",
            "$ picklock replay single pause 4",
            "$ picklock replay single pause 5",
        ),
        ("docs/guide/explore.md", "Pairs", "--held 4 --pairs", "--hold 4 --pairs"),
        ("docs/guide/choosing.md", "Ask your own question", "contend.work=2s..8s", "contend.werk=2s..8s"),
        (
            "docs/guide/scenarios.md",
            "From outside",
            "`picklock list scenarios pause`",
            "`picklock list scenarios pauze`",
        ),
        (
            "docs/guide/serve.md",
            "Faults",
            "Each is one fault action",
            "    picklock serve\n\nEach is one fault action",
        ),
    ] {
        let part = part(page, heading);
        assert_eq!(follow(&part).err(), None, "{page}, {heading}");
        assert!(part.contains(stands), "{page}, {heading}: {stands}");
        assert!(follow(&part.replace(stands, edited)).is_err(), "{page}, {heading}: {edited}");
    }
}

#[test]
fn what_is_left_out_of_a_block_is_skipped_and_what_stands_there_is_compared() {
    let page = "```console\n$ picklock list\na\n...\nc\n```\n```text\nrun\n```\n";
    let all = steps(page).unwrap();
    let [Step::Shown(shown)] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(missing(shown, "a\nb\nc\nd\n"), None);
    assert_eq!(missing(shown, "a\nb\n"), Some("c"));
    assert_eq!(missing(shown, "b\na\nc\n"), Some("a"));
}

#[test]
fn the_example_repository_installs_what_there_is_and_its_ci_runs_what_its_page_says() {
    let example = root().join("examples/own-lock-python");
    let text = |file: &str| std::fs::read_to_string(example.join(file)).unwrap();
    let (page, ci) = (text("README.md"), text(".github/workflows/picklock.yml"));
    for start in ["cargo install ", "picklock run "] {
        let line = page.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(ci.contains(&format!("- run: {line}\n")), "the CI does not say: {line}");
        assert!(
            start.starts_with("picklock") || line.contains(" --git https://"),
            "it is on no registry: {line}"
        );
    }
    assert!(ci.contains("late-release"), "{ci}");
}

#[test]
fn a_page_is_renewed_in_its_figures_and_not_in_its_words() {
    let shown = |lines: &[&str]| Shown {
        command: "picklock run".to_owned(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    let printed = "found in 4 of 10\n\n  calm    0\n  pause  12\n12 runs\n";
    let page = shown(&["found in 3 of 9", "...", "  pause   7", "9 runs", "..."]);
    let lines = ["found in 4 of 10", "...", "  pause  12", "12 runs", "..."];
    assert_eq!(renewed(&page, printed), Some(shown(&lines).lines));
    assert_eq!(renewed(&shown(&["...", "  stall   7"]), printed), None);
    assert_eq!(missing(&shown(&lines), printed), None);
}
