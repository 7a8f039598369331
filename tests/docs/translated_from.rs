//! The English text that a Chinese page translates: its last line names the page as Git does, by the hash of its contents.
//!
//! A page with the hash of today is current, and held to its English page. Any other one is stale: it is listed with its age and fails
//! nothing, because whoever changes an English page need not know Chinese. `git diff HASH HEAD:PAGE` shows what is to be translated.
//!
//! `PICKLOCK_TRANSLATED="faults.md replay.md" cargo test --test docs translated_from` writes the hash of today into these pages, and
//! `all` into every one.

use std::path::{Path, PathBuf};
use std::process::Command;

const BEFORE: &str = "<!-- translated-from: ";
const AFTER: &str = " -->";

/// A page and its translation.
pub(crate) struct Translation {
    pub(crate) page: PathBuf,
    pub(crate) chinese: PathBuf,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page that has a translation, or should have one.
pub(crate) fn translations() -> Vec<Translation> {
    let mut pages: Vec<(PathBuf, PathBuf)> = vec![
        ("README.md".into(), "README.zh.md".into()),
        ("docs/glossary.md".into(), "docs/zh/glossary.md".into()),
    ];
    for entry in std::fs::read_dir(root().join("docs/guide")).unwrap() {
        let name = PathBuf::from(entry.unwrap().file_name());
        if name.extension().is_some_and(|it| it == "md") {
            pages.push((Path::new("docs/guide").join(&name), Path::new("docs/zh/guide").join(&name)));
        }
    }
    pages.sort();
    let rooted = |(page, chinese): (PathBuf, PathBuf)| Translation {
        page: root().join(page),
        chinese: root().join(chinese),
    };
    pages.into_iter().map(rooted).collect()
}

impl Translation {
    pub(crate) fn is_current(&self) -> bool {
        let text = std::fs::read_to_string(&self.chinese).unwrap_or_default();
        hash(&self.page).is_some_and(|hash| named(&text) == Some(&hash))
    }

    /// Writes the hash of today.
    pub(crate) fn stamp(&self) {
        let text = std::fs::read_to_string(&self.chinese).unwrap();
        std::fs::write(&self.chinese, stamped(&text, &hash(&self.page).unwrap())).unwrap();
    }

    /// A line about a page that is stale, with its age where the history of the repository has it.
    fn lag(&self) -> String {
        let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
        let (page, chinese) = (name(&self.page), name(&self.chinese));
        let Ok(text) = std::fs::read_to_string(&self.chinese) else {
            return format!("{chinese}: not translated yet");
        };
        let Some(hash) = named(&text) else { return format!("{chinese}: it names no English text") };
        let age = age(&page, hash).unwrap_or_else(|| "of an unknown age".to_owned());
        format!("{chinese}: {age}: git diff {hash} HEAD:{page}")
    }
}

/// How far the page has changed since it was this text.
fn age(page: &str, hash: &str) -> Option<String> {
    let find = format!("--find-object={hash}");
    let changed = git(&["log", "-1", "--format=%H %ct", &find, "--", page])?;
    let (commit, then) = changed.split_once(' ')?;
    let is_in_it = git(&["rev-parse", &format!("{commit}:{page}")]).as_deref() == Some(hash);
    if is_in_it {
        return Some("stale since a change that is not committed".to_owned());
    }
    let now: u64 = git(&["log", "-1", "--format=%ct"])?.parse().ok()?;
    let days = now.saturating_sub(then.parse().ok()?) / 86_400;
    let more: u64 = git(&["rev-list", "--count", &format!("{commit}..HEAD"), "--", page])?.parse().ok()?;
    Some(format!("stale for {days} days and {} commits", more + 1))
}

fn hash(file: &Path) -> Option<String> {
    git(&["hash-object", "--no-filters", file.to_str()?])
}

/// The output of Git, if it succeeds and says anything.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(root()).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !said.is_empty()).then_some(said)
}

/// The hash that a page names.
fn named(text: &str) -> Option<&str> {
    text.trim_end().lines().last()?.strip_prefix(BEFORE)?.strip_suffix(AFTER)
}

fn stamped(text: &str, hash: &str) -> String {
    let text = match named(text) {
        Some(_) => text.trim_end().rsplit_once('\n').map_or("", |(before, _)| before),
        None => text,
    };
    format!("{}\n\n{BEFORE}{hash}{AFTER}\n", text.trim_end())
}

#[test]
fn stale_pages_are_listed_and_fail_nothing() {
    let wanted = std::env::var("PICKLOCK_TRANSLATED").unwrap_or_default();
    let is_wanted = |it: &Translation| {
        let name = it.chinese.file_name().unwrap().to_str().unwrap();
        wanted == "all" || wanted.split_whitespace().any(|wanted| wanted == name)
    };
    translations().iter().filter(|it| is_wanted(it)).for_each(Translation::stamp);
    for stale in translations().iter().filter(|it| !it.is_current()) {
        println!("{}", stale.lag());
    }
}

#[test]
fn a_page_names_its_english_text_in_its_last_line() {
    let page = "# 锁\n\n正文\n";
    assert_eq!(named(page), None);
    let once = stamped(page, "aa");
    assert_eq!(once, "# 锁\n\n正文\n\n<!-- translated-from: aa -->\n");
    assert_eq!(named(&once), Some("aa"));
    assert_eq!(stamped(&once, "bb"), stamped(page, "bb"));
}

#[test]
fn a_text_that_a_page_never_was_has_no_age() {
    assert_eq!(age("README.md", "0123456789012345678901234567890123456789"), None);
}
