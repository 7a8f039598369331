//! Every link of the built books leads to a file that is there, and to an anchor that it has.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};

use crate::sources::{Leads, leads, sorted};

/// The anchors and links of a page of HTML.
#[derive(Debug, Default)]
struct Page {
    anchors: BTreeSet<String>,
    /// Each link with its line.
    links: Vec<(u64, String)>,
}

struct Reader(RefCell<Page>);

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(Tag { kind: TagKind::StartTag, attrs, name, .. }) = token {
            let mut page = self.0.borrow_mut();
            for attribute in attrs {
                match &*attribute.name.local {
                    "id" | "name" => _ = page.anchors.insert(attribute.value.to_string()),
                    "href" | "src" => page.links.push((line, attribute.value.to_string())),
                    _ => {}
                }
            }
            match &*name {
                "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
                "style" => return TokenSinkResult::RawData(RawKind::Rawtext),
                _ => {}
            }
        }
        TokenSinkResult::Continue
    }
}

fn read(html: &str) -> Page {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Reader(RefCell::default()), Default::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// The mistakes in the links of all pages below a directory, a line each; and the number of links.
///
/// # Errors
/// Where a file cannot be read.
pub fn broken(out: &Path) -> Result<(Vec<String>, usize)> {
    let mut files = BTreeSet::new();
    walk(out, "", &mut files)?;
    let mut pages = BTreeMap::new();
    for file in files.iter().filter(|file| file.ends_with(".html")) {
        let html =
            std::fs::read_to_string(out.join(file)).with_context(|| format!("failed to read {file}"))?;
        pages.insert(file.clone(), read(&html));
    }
    let (mut wrong, mut links) = (Vec::new(), 0);
    for (file, page) in &pages {
        links += page.links.len();
        for (line, target) in &page.links {
            if let Some(why) = wrong_with(out, file, target, &files, &pages) {
                wrong.push(format!("{}:{line}: `{target}`: {why}", out.join(file).display()));
            }
        }
    }
    Ok((wrong, links))
}

fn wrong_with(
    out: &Path,
    file: &str,
    target: &str,
    files: &BTreeSet<String>,
    pages: &BTreeMap<String, Page>,
) -> Option<String> {
    let (path, anchor) = match leads(file, target) {
        Leads::Away => return None,
        // Beside the books, in the repository.
        Leads::Nowhere => {
            let directory = out.join(file).parent()?.join(target);
            return (!directory.exists()).then(|| "there is no such file".to_owned());
        }
        Leads::To(path, anchor) => (path, anchor),
    };
    let Some(path) =
        [path.clone(), format!("{path}/index.html")].into_iter().find(|path| files.contains(path))
    else {
        return Some(format!("there is no {path}"));
    };
    let anchor = percent_decoded(&anchor?);
    let page = pages.get(&path)?;
    (!anchor.is_empty() && !page.anchors.contains(&anchor)).then(|| format!("{path} has no `{anchor}` in it"))
}

/// A fragment as it is meant: browsers look up both.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let hex = || u8::from_str_radix(std::str::from_utf8(others.get(..2)?).ok()?, 16).ok();
        match (first, hex()) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn walk(directory: &Path, name: &str, files: &mut BTreeSet<String>) -> Result<()> {
    for path in sorted(directory)? {
        let leaf = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = if name.is_empty() { leaf } else { format!("{name}/{leaf}") };
        if path.is_dir() {
            walk(&path, &name, files)?;
        } else {
            files.insert(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_link_and_a_broken_anchor_are_reported_with_page_line_and_target() {
        let out = tempfile::tempdir().unwrap();
        let write = |name: &str, html: &str| {
            let file = out.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, html).unwrap();
        };
        write(
            "en/a.html",
            "<h1 id=\"a\">A</h1>\n<a href=\"../zh/b.html#%E9%94%81\">good</a>\n<a href=\"b.html\">bad</a>",
        );
        write(
            "zh/b.html",
            "<!-- <a href=no.html> -->\n<h1 id=\"锁\"></h1><a href=\"../en/a.html#b\">bad</a><img src='a.svg'>",
        );
        let (wrong, links) = broken(out.path()).unwrap();
        let at = |file: &str| out.path().join(file).display().to_string();
        let expected = [
            format!("{}:3: `b.html`: there is no en/b.html", at("en/a.html")),
            format!("{}:2: `../en/a.html#b`: en/a.html has no `b` in it", at("zh/b.html")),
            format!("{}:2: `a.svg`: there is no zh/a.svg", at("zh/b.html")),
        ];
        assert_eq!(wrong, expected);
        assert_eq!(links, 4);
    }
}
