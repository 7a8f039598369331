//! The links of a page of Markdown, and the anchors to which others can link.
//!
//! Anchors of headings are made as GitHub makes them, since that is where the pages are read as they are; those of the book are
//! looked up in what was built.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

/// A link or a picture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads, as written.
    pub target: String,
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// Where in the page the target is written; `None` where it is not between the link's own parentheses.
    written: Option<Range<usize>>,
    /// Where in the page it is called by nothing but the path of its target.
    called: Option<Range<usize>>,
}

/// A chapter as a table of contents names it: the heading above, and the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The heading of the second level under which it stands.
    pub part: String,
    /// Where it leads, as written.
    pub target: String,
    /// Its line.
    pub line: usize,
}

fn parser(page: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(page, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).into_offset_iter()
}

/// All links and pictures of a page, in order.
pub fn links(page: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (event, range) in parser(page) {
        let Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) =
            event
        else {
            continue;
        };
        let (target, begins) = (dest_url.into_string(), range.start);
        // The target stands after the text, so the last place that is written like it is the target itself.
        let inline = link_type == LinkType::Inline && !target.is_empty();
        let at = if inline { page[range.clone()].rfind(&target).map(|at| range.start + at) } else { None };
        let written = at.map(|at| at..at + target.len());
        let path = target.split('#').next().unwrap_or_default();
        let text = begins + 1..begins + 1 + path.len();
        let by_path = written.is_some()
            && page[range]
                .strip_prefix('[')
                .is_some_and(|rest| rest.strip_prefix(path).is_some_and(|rest| rest.starts_with("](")));
        let called = by_path.then_some(text);
        links.push(Link { target, line: line(page, begins), written, called });
    }
    links
}

fn line(page: &str, at: usize) -> usize {
    1 + page[..at].matches('\n').count()
}

/// A link with its new target.
#[derive(Debug, Default)]
pub struct Relinked {
    /// The target.
    pub target: String,
    /// Its new text, if its text was its path.
    pub called: Option<String>,
}

/// The page with other targets; `None` leaves one as it is.
pub fn relinked(page: &str, other: impl Fn(&Link) -> Option<Relinked>) -> String {
    let mut places: Vec<(Range<usize>, String)> = Vec::new();
    for link in links(page) {
        if let (Some(written), Some(other)) = (link.written.clone(), other(&link)) {
            places.push((written, other.target));
            places.extend(link.called.zip(other.called));
        }
    }
    // A picture within a link is found after the link, and its target stands before the link's.
    places.sort_by_key(|(range, _)| range.start);
    let (mut text, mut done) = (String::with_capacity(page.len()), 0);
    for (range, target) in places {
        text.push_str(&page[done..range.start]);
        text.push_str(&target);
        done = range.end;
    }
    text + &page[done..]
}

/// The headings of a page: how deep, and what they say.
fn headings(page: &str) -> Vec<(HeadingLevel, String)> {
    let mut found = Vec::new();
    let mut open: Option<(HeadingLevel, String)> = None;
    for (event, _) in parser(page) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { level, .. }), _) => open = Some((level, String::new())),
            (Event::Text(text) | Event::Code(text), Some((_, said))) => said.push_str(&text),
            (Event::End(TagEnd::Heading(_)), _) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

/// The title of a page: its first heading of the first level.
pub fn title(page: &str) -> Option<String> {
    headings(page).into_iter().find(|(level, _)| *level == HeadingLevel::H1).map(|(_, said)| said)
}

/// The anchors of a page's headings.
pub fn anchors(page: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let anchor = |(_, said): (HeadingLevel, String)| {
        let kept = |letter: char| match letter {
            ' ' => Some('-'),
            _ if letter.is_alphanumeric() || matches!(letter, '-' | '_') => Some(letter),
            _ => None,
        };
        let anchor: String = said.trim().to_lowercase().chars().filter_map(kept).collect();
        let times = seen.entry(anchor.clone()).or_default();
        *times += 1;
        if *times == 1 { anchor } else { format!("{anchor}-{}", *times - 1) }
    };
    headings(page).into_iter().map(anchor).collect()
}

/// The table of contents that a page is: each link in the first column of a table.
pub fn contents(page: &str) -> Vec<Entry> {
    let (mut entries, mut part, mut heading, mut column) = (Vec::new(), String::new(), false, None);
    for (event, range) in parser(page) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                part.clear();
                heading = true;
            }
            Event::End(TagEnd::Heading(_)) => heading = false,
            Event::Text(text) | Event::Code(text) if heading => part.push_str(&text),
            Event::Start(Tag::TableRow | Tag::TableHead) => column = Some(0),
            Event::End(TagEnd::TableRow | TagEnd::TableHead) => column = None,
            Event::End(TagEnd::TableCell) => column = column.map(|column| column + 1),
            Event::Start(Tag::Link { dest_url, .. }) if column == Some(0) => {
                let (target, line) = (dest_url.into_string(), line(page, range.start));
                entries.push(Entry { part: part.clone(), target, line });
            }
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_with_their_lines_and_not_in_code() {
        let page = "# A\n\n[b](b.md), `[c](c.md)`\n[![d](d.svg)](e.md#f)\n\n```\n[g](g.md)\n```\n";
        let found: Vec<(usize, String)> =
            links(page).into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(3, "b.md"), (4, "e.md#f"), (4, "d.svg")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn targets_are_exchanged_and_names_that_are_paths() {
        let page = "[a b](b.md) `b.md` [![d](b.md)](b.md \"b\") [b.md](b.md#c)\n[x](x.md)\n";
        let text = relinked(page, |link| {
            let other = || Relinked { target: "other".to_owned(), called: Some("B".to_owned()) };
            link.target.starts_with("b.md").then(other)
        });
        assert_eq!(text, "[a b](other) `b.md` [![d](other)](other \"b\") [B](other)\n[x](x.md)\n");
    }

    #[test]
    fn anchors_are_made_as_github_makes_them() {
        let page = "# Took effect, and `hit` the lock?\n## Same\n## Same\n## 选择锁：怎么选\n";
        assert_eq!(anchors(page), ["took-effect-and-hit-the-lock", "same", "same-1", "选择锁怎么选"]);
    }

    #[test]
    fn contents_are_the_links_in_the_first_column_under_their_headings() {
        let page = "# Guide\n\nSee [a](a.md).\n\n## One\n\n| page | says |\n| --- | --- |\n| [b](b.md) | [x](x.md) |\n";
        let expected = Entry { part: "One".to_owned(), target: "b.md".to_owned(), line: 9 };
        assert_eq!(contents(page), [expected]);
    }
}
