//! A page in two languages, compared in what is not language: its code, its headings, its commands; and its links.

use std::path::{Path, PathBuf};

use super::page::{Step, steps};

/// A page, taken apart.
struct Parts {
    /// Levels and texts.
    headings: Vec<(usize, String)>,
    /// Whole blocks of code, with their fences.
    blocks: Vec<String>,
    /// The rest.
    prose: String,
}

fn parts(page: &str) -> Parts {
    let mut parts = Parts { headings: Vec::new(), blocks: Vec::new(), prose: String::new() };
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            parts.blocks.push(format!("{line}\n{}", block.join("\n")));
            continue;
        }
        let level = line.len() - line.trim_start_matches('#').len();
        if let Some(text) = line[level..].strip_prefix(' ').filter(|_| level > 0) {
            parts.headings.push((level, text.to_owned()));
        }
        parts.prose.push_str(line);
        parts.prose.push('\n');
    }
    parts
}

/// Where a translation does not follow its page.
pub(crate) fn strays(original: &str, translation: &str) -> Result<(), String> {
    let (of, to) = (parts(original), parts(translation));
    let levels = |parts: &Parts| parts.headings.iter().map(|(level, _)| *level).collect::<Vec<_>>();
    if levels(&of) != levels(&to) {
        return Err(format!("its headings {:?} are not those of {:?}", to.headings, of.headings));
    }
    if let Some((is, was)) = to.blocks.iter().zip(&of.blocks).find(|(is, was)| is != was) {
        return Err(format!("a block is\n{is}\nand was\n{was}"));
    }
    if to.blocks.len() != of.blocks.len() {
        return Err(format!("it has {} blocks of {}", to.blocks.len(), of.blocks.len()));
    }
    let known = mentions(original)?;
    match mentions(translation)?.into_iter().find(|mention| !known.contains(mention)) {
        Some(mention) => Err(format!("only the translation mentions `{mention}`")),
        None => Ok(()),
    }
}

fn mentions(page: &str) -> Result<Vec<String>, String> {
    let mention = |step| if let Step::Mention(line) = step { Some(line) } else { None };
    Ok(steps(page)?.into_iter().filter_map(mention).collect())
}

/// The first link of a page that leads nowhere: to a file that is not there, or to a heading that its page does not have.
pub(crate) fn dead_link(file: &Path) -> Option<String> {
    let page = std::fs::read_to_string(file).expect("a page can be read");
    links(&page).into_iter().find(|link| !leads_somewhere(file, link))
}

fn leads_somewhere(from: &Path, link: &str) -> bool {
    if link.contains("://") {
        return true;
    }
    let (to, anchor) = link.split_once('#').map_or((link, None), |(to, anchor)| (to, Some(anchor)));
    let to = if to.is_empty() { from.to_owned() } else { parent(from).join(to) };
    match anchor {
        None => to.exists(),
        Some(anchor) => {
            std::fs::read_to_string(to).is_ok_and(|page| anchors(&page).iter().any(|it| it == anchor))
        }
    }
}

fn parent(file: &Path) -> PathBuf {
    file.parent().expect("a file lies in a directory").to_owned()
}

/// Where the links of a page lead.
fn links(page: &str) -> Vec<String> {
    // A text in code that looks like a link is none.
    let prose: Vec<String> = parts(page).prose.split('`').step_by(2).map(str::to_owned).collect();
    let prose = prose.concat();
    let ends = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(link, _)| link.to_owned()).collect()
}

/// The names that GitHub gives the headings of a page: letters of any script stay, punctuation goes, a name that was is numbered.
fn anchors(page: &str) -> Vec<String> {
    let mut plain: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for (_, text) in parts(page).headings {
        let kept = text.trim().to_lowercase().replace(' ', "-");
        let name: String =
            kept.chars().filter(|it| it.is_alphanumeric() || matches!(it, '-' | '_')).collect();
        let before = plain.iter().filter(|it| **it == name).count();
        all.push(if before == 0 { name.clone() } else { format!("{name}-{before}") });
        plain.push(name);
    }
    all
}

#[test]
fn headings_have_the_anchors_that_github_makes_of_them() {
    let page = "# A `lock`, held\n```text\n# none\n```\n## 下一步：看门狗 (STW)\n## A lock\n## A lock\n";
    assert_eq!(anchors(page), ["a-lock-held", "下一步看门狗-stw", "a-lock", "a-lock-1"]);
}

#[test]
fn a_link_to_no_file_or_to_no_heading_is_dead() {
    let here = tempfile::tempdir().expect("a directory for the test");
    let file = here.path().join("page.md");
    let dead = |text: &str| {
        std::fs::write(&file, text).expect("a page can be written");
        dead_link(&file)
    };
    assert_eq!(
        dead("# 租约\n[a](page.md) [b](#租约) [`c`](page.md#租约) [d](https://no.where/) `[e](f)`\n"),
        None
    );
    assert_eq!(dead("# 租约\n[a](pages.md)\n").as_deref(), Some("pages.md"));
    assert_eq!(dead("# 租约\n[a](page.md#租)\n").as_deref(), Some("page.md#租"));
}
