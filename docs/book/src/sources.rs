//! Every link of the pages in the repository leads to a file that is there, and to a heading that it has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::markdown::{Link, anchors, links};

/// Directories in which no page of the project lies.
const NOT_OURS: [&str; 3] = ["target", "node_modules", "picklock-out"];

/// The pages that are checked, by path from the root: those in the root, and all below these directories.
pub fn pages(root: &Path) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    for entry in sorted(root)? {
        if entry.is_file() {
            pages.push(entry);
        }
    }
    for below in ["deploy", "docs", "examples"] {
        walk(&root.join(below), &mut pages)?;
    }
    let named = |path: PathBuf| path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned);
    Ok(pages.into_iter().filter(|path| is(path, "md")).filter_map(named).collect())
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !directory.is_dir() {
        return Ok(());
    }
    for path in sorted(directory)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !path.is_dir() {
            files.push(path);
        } else if !name.starts_with('.') && !NOT_OURS.contains(&name) {
            walk(&path, files)?;
        }
    }
    Ok(())
}

/// The entries of a directory, by name.
pub fn sorted(directory: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    let mut paths = read().with_context(|| format!("failed to read {}", directory.display()))?;
    paths.sort();
    Ok(paths)
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Leads {
    /// Out of the repository.
    Away,
    /// To this path from the root, and there to an anchor.
    To(String, Option<String>),
    /// To a place above the root.
    Nowhere,
}

/// Where a link of a page leads, all by path from the root.
pub fn leads(page: &str, target: &str) -> Leads {
    let scheme =
        target.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|it| it.is_ascii_alphabetic()));
    if scheme || target.starts_with("//") {
        return Leads::Away;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (target, None),
    };
    if path.is_empty() {
        return Leads::To(page.to_owned(), anchor);
    }
    let directory = page.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Leads::Nowhere,
            ".." => {}
            part => parts.push(part),
        }
    }
    Leads::To(parts.join("/"), anchor)
}

/// The mistakes in the links of all pages, a line each.
pub fn broken(root: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for page in pages(root)? {
        let text =
            std::fs::read_to_string(root.join(&page)).with_context(|| format!("failed to read {page}"))?;
        for link in links(&text) {
            if let Some(why) = wrong_with(root, &page, &link, &mut known) {
                wrong.push(format!("{page}:{}: `{}`: {why}", link.line, link.target));
            }
        }
    }
    Ok(wrong)
}

fn wrong_with(
    root: &Path,
    page: &str,
    link: &Link,
    known: &mut BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let (path, anchor) = match leads(page, &link.target) {
        Leads::Away => return None,
        Leads::Nowhere => return Some("leads out of the repository".to_owned()),
        Leads::To(path, anchor) => (path, anchor),
    };
    let file = root.join(&path);
    if !file.exists() {
        return Some(format!("there is no {path}"));
    }
    let anchor = anchor?;
    if !is(&file, "md") {
        return Some("only pages have headings to link to".to_owned());
    }
    if !known.contains_key(&path) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        known.insert(path.clone(), anchors(&text));
    }
    let anchors = &known[&path];
    (!anchors.contains(&anchor)).then(|| {
        let there: Vec<String> = anchors.iter().map(|anchor| format!("#{anchor}")).collect();
        format!("{path} has no heading for it; it has {}", there.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(pages: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in pages {
            let file = root.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        root
    }

    #[test]
    fn a_broken_link_and_a_broken_anchor_are_reported_with_page_line_and_target() {
        let root = repository(&[
            ("README.md", "# A\n\n[good](docs/b.md#some-heading) [bad](docs/c.md)\n"),
            ("docs/b.md", "# B\n\n## Some heading\n\n[above](../README.md#a)\n[bad](#sum-heading)\n"),
            ("docs/target/d.md", "[of a build](nothing.md)\n"),
        ]);
        let expected = [
            "README.md:3: `docs/c.md`: there is no docs/c.md",
            "docs/b.md:6: `#sum-heading`: docs/b.md has no heading for it; it has #b, #some-heading",
        ];
        assert_eq!(broken(root.path()).unwrap(), expected);
    }

    #[test]
    fn a_link_leads_from_its_page() {
        let to = |path: &str, anchor: Option<&str>| Leads::To(path.to_owned(), anchor.map(str::to_owned));
        assert_eq!(leads("docs/guide/a.md", "../b.md#c"), to("docs/b.md", Some("c")));
        assert_eq!(leads("docs/guide/a.md", "#c"), to("docs/guide/a.md", Some("c")));
        assert_eq!(leads("docs/guide/a.md", "../../deploy/"), to("deploy", None));
        assert_eq!(leads("README.md", "../b.md"), Leads::Nowhere);
        assert_eq!(leads("README.md", "https://example.org/a#b"), Leads::Away);
    }
}
