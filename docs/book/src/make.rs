//! Makes the books: each page is written with links as they are in the book, and mdBook does the rest.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;

use crate::markdown::{Relinked, relinked, title};
use crate::shelf::{Edition, Place, Shelf};
use crate::sources::{Leads, leads};

/// Where what is not in the books can be read.
#[derive(Clone, Debug)]
pub enum Outside {
    /// In a repository on the web.
    Web(String),
    /// In the repository's root, which lies at this path from where the books are.
    Beside(String),
}

impl Outside {
    /// As the manifest in the root names its repository; else beside the books, if they are made within the root.
    #[must_use]
    pub fn of(root: &Path, out: &Path) -> Outside {
        let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
        let named = manifest.lines().find_map(|line| line.strip_prefix("repository = \"")?.strip_suffix('"'));
        match (named, out.strip_prefix(root)) {
            (Some(url), _) => Outside::Web(url.trim_end_matches('/').to_owned()),
            (None, Ok(below)) => Outside::Beside("../".repeat(below.components().count())),
            (None, Err(_)) => Outside::Beside(format!("{}/", root.display())),
        }
    }

    fn link(&self, root: &Path, from: &Place, path: &str) -> String {
        match self {
            Outside::Web(url) if root.join(path).is_dir() => format!("{url}/tree/HEAD/{path}"),
            Outside::Web(url) => format!("{url}/blob/HEAD/{path}"),
            Outside::Beside(up) => format!("{}../{up}{path}", above(&from.path)),
        }
    }
}

/// Makes all books of a shelf below a directory.
///
/// # Errors
/// Where files cannot be written, or mdBook refuses a page.
pub fn make(root: &Path, shelf: &Shelf, out: &Path) -> Result<()> {
    let outside = Outside::of(root, out);
    for edition in &shelf.editions {
        let stage = out.join(format!(".{}", edition.name));
        clear(&stage)?;
        clear(&out.join(edition.name))?;
        write(root, shelf, edition, &outside, &stage.join("src"))?;
        let config: Config = config(shelf, edition, &out.join(edition.name)).parse()?;
        write_to(&stage.join("edition.css"), EDITION_CSS)?;
        let book = MDBook::load_with_config(&stage, config)?;
        book.build().with_context(|| format!("failed to make the book of {}", edition.guide))?;
        clear(&stage)?;
    }
    Ok(())
}

fn clear(directory: &Path) -> Result<()> {
    if directory.exists() {
        std::fs::remove_dir_all(directory)
            .with_context(|| format!("failed to remove {}", directory.display()))?;
    }
    Ok(())
}

/// Writes the files of a book that mdBook reads.
fn write(root: &Path, shelf: &Shelf, edition: &Edition, outside: &Outside, src: &Path) -> Result<()> {
    write_to(&src.join("SUMMARY.md"), &summary(shelf, edition))?;
    for (path, place) in shelf.places.iter().filter(|(_, place)| place.edition == edition.name) {
        let file = src.join(&place.path);
        match shelf.pages.get(path) {
            Some(page) => write_to(&file, &chapter(root, shelf, path, place, page, outside))?,
            None if root.join(path).is_file() => write_to(&file, &std::fs::read(root.join(path))?)?,
            None => {}
        }
    }
    Ok(())
}

fn write_to(file: &PathBuf, text: &(impl AsRef<[u8]> + ?Sized)) -> Result<()> {
    let written = || {
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        std::fs::write(file, text)
    };
    written().with_context(|| format!("failed to write {}", file.display()))
}

/// A page as it stands in the book.
fn chapter(root: &Path, shelf: &Shelf, path: &str, place: &Place, page: &str, outside: &Outside) -> String {
    let text = relinked(page, |link| match leads(path, &link.target) {
        Leads::To(to, anchor) if to != path => {
            let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
            let there = match shelf.places.get(&to) {
                Some(there) => between(place, there),
                None => outside.link(root, place, &to),
            };
            let called =
                shelf.pages.get(&to).and_then(|page| title(page)).map(|title| title.replace(['[', ']'], ""));
            Some(Relinked { target: there + &anchor, called })
        }
        _ => None,
    });
    let others = shelf.editions.iter().filter(|other| other.name != place.edition);
    let link = |other: &&'static Edition| {
        let there = html(&between(place, &shelf.same(place, other)));
        let (name, language) = (other.name, other.language);
        format!(
            "<a class=\"edition\" lang=\"{name}\" hreflang=\"{name}\" href=\"{there}\">{language}</a>\n\n"
        )
    };
    others.map(link).collect::<String>() + &text
}

/// The way from a page to a place. Within a book mdBook itself makes pages of what ends with `.md`.
fn between(from: &Place, to: &Place) -> String {
    if from.edition == to.edition {
        return format!("{}{}", above(&from.path), to.path);
    }
    html(&format!("{}../{}/{}", above(&from.path), to.edition, to.path))
}

/// The way from a page to the beginning of its book.
fn above(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

fn html(path: &str) -> String {
    path.strip_suffix(".md").map_or_else(|| path.to_owned(), |page| format!("{page}.html"))
}

/// The table of contents as mdBook reads it.
fn summary(shelf: &Shelf, edition: &Edition) -> String {
    let line = |path: &String, depth: usize| {
        let said = shelf.pages.get(path).and_then(|page| title(page)).unwrap_or_default();
        let place = &shelf.places[path].path;
        format!("{}- [{}]({place})\n", "  ".repeat(depth), said.replace(['[', ']'], ""))
    };
    let readme = format!("{}/README.md", edition.guide);
    let first = line(&readme, 0);
    let mut summary = format!("# Summary\n\n{}\n", first.trim_start_matches("- "));
    for (part, pages) in shelf.parts.get(edition.name).into_iter().flatten() {
        // A page that lists a directory stands above those in it.
        let lists = pages.first().is_some_and(|page| !page.ends_with(".md"));
        if !part.is_empty() && !lists {
            summary.push_str(&format!("# {part}\n\n"));
        }
        for (nth, page) in pages.iter().enumerate() {
            summary.push_str(&line(page, usize::from(lists && nth > 0)));
        }
        summary.push('\n');
    }
    summary
}

fn config(shelf: &Shelf, edition: &Edition, out: &Path) -> String {
    let readme = format!("{}/README.md", edition.guide);
    let name = shelf.pages.get(&readme).and_then(|page| title(page)).unwrap_or_default();
    // English words alone are found by the search that mdBook has.
    let search = edition.name == "en";
    format!(
        "[book]\ntitle = {:?}\nlanguage = {:?}\n\
         [build]\nbuild-dir = {:?}\ncreate-missing = false\nuse-default-preprocessors = false\n\
         [output.html]\nsmart-punctuation = false\ndefinition-lists = false\nadmonitions = false\n\
         hash-files = false\ninput-404 = \"\"\nadditional-css = [\"edition.css\"]\nno-section-label = true\n\
         playground = {{ runnable = false, copy-js = false }}\nprint = {{ enable = false }}\n\
         search = {{ enable = {search} }}\nfold = {{ enable = true, level = 0 }}\n",
        format!("picklock: {name}"),
        edition.name,
        out.display().to_string(),
    )
}

/// Of the link to the other book, and of pictures, which bring their own ground.
const EDITION_CSS: &str = ".content a.edition { float: right; }\n.content img { border-radius: 6px; }\n";
