//! The place of each page of the repository in the books.
//!
//! The guide of a language is its book, in the order of the tables in the guide's `README.md`. The other pages and data in `docs/`,
//! which are written once, stand in the English book alone, and the others link to them there.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::markdown::{self, contents};
use crate::sources::{Leads, leads, sorted};

/// A book: the guide in one language.
#[derive(Debug, PartialEq, Eq)]
pub struct Edition {
    /// Its name in paths, which is the tag of its language.
    pub name: &'static str,
    /// The name of the language in that language.
    pub language: &'static str,
    /// The directory of its guide, from the root.
    pub guide: &'static str,
}

/// The books that can be, the first with everything.
pub const EDITIONS: [Edition; 2] = [
    Edition { name: "en", language: "English", guide: "docs/guide" },
    Edition { name: "zh", language: "中文", guide: "docs/zh/guide" },
];

/// Where a page or a file stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its book.
    pub edition: &'static str,
    /// Its path there, of a page with `.md` at its end.
    pub path: String,
}

/// A heading of a book's table of contents, and the pages below it by path from the root.
pub type Part = (String, Vec<String>);

/// The books, and what stands where in them.
#[derive(Debug, Default)]
pub struct Shelf {
    /// The books that there are.
    pub editions: Vec<&'static Edition>,
    /// By path from the root.
    pub places: BTreeMap<String, Place>,
    /// The text of the pages, by path from the root; those that list a directory are made here.
    pub pages: BTreeMap<String, String>,
    /// The parts of each book.
    pub parts: BTreeMap<&'static str, Vec<Part>>,
}

impl Shelf {
    /// Finds the books of a repository.
    ///
    /// # Errors
    /// Where a guide names a page that is not there, leaves one out, or has one without a title.
    pub fn of(root: &Path) -> Result<Shelf> {
        let mut shelf = Shelf::default();
        for edition in &EDITIONS {
            if root.join(edition.guide).join("README.md").is_file() {
                shelf.editions.push(edition);
                shelf.guide(root, edition)?;
            }
        }
        let Some(first) = shelf.editions.first().copied() else {
            bail!("there is no {}/README.md below {}", EDITIONS[0].guide, root.display());
        };
        shelf.reference(root, first)?;
        Ok(shelf)
    }

    fn guide(&mut self, root: &Path, edition: &'static Edition) -> Result<()> {
        let readme = format!("{}/README.md", edition.guide);
        self.page(root, edition, &readme, "index.md".to_owned())?;
        let beginning = Place { edition: edition.name, path: "index.md".to_owned() };
        self.places.insert(edition.guide.to_owned(), beginning);
        let mut parts: Vec<Part> = Vec::new();
        for entry in contents(&self.pages[&readme]) {
            let Leads::To(path, None) = leads(&readme, &entry.target) else { continue };
            let Some(name) = path.strip_prefix(edition.guide).and_then(|name| name.strip_prefix('/')) else {
                continue;
            };
            if self.pages.contains_key(&path) {
                bail!("{readme}:{}: `{}` is named twice", entry.line, entry.target);
            }
            self.page(root, edition, &path, name.to_owned())
                .with_context(|| format!("{readme}:{}: `{}`", entry.line, entry.target))?;
            match parts.last_mut() {
                Some((part, pages)) if *part == entry.part => pages.push(path),
                _ => parts.push((entry.part, vec![path])),
            }
        }
        for path in sorted(&root.join(edition.guide))? {
            let path = from(root, &path);
            if path.ends_with(".md") && !self.pages.contains_key(&path) {
                bail!(
                    "{readme}: no table names {path} in its first column; without that it has no place in the book"
                );
            }
        }
        self.parts.insert(edition.name, parts);
        Ok(())
    }

    /// Adds the files that are not of a guide: pages and data in `docs/`, and a page for each directory: its
    /// `README.md`, or a list of what it has.
    fn reference(&mut self, root: &Path, edition: &'static Edition) -> Result<()> {
        let mut pages = Vec::new();
        for path in files(root, "docs")? {
            self.file(root, edition, &path, path.replacen("docs/", "reference/", 1), &mut pages)?;
        }
        for path in files(root, "docs/pictures")? {
            self.stands(edition, &path, path.replacen("docs/", "", 1))?;
        }
        let mut parts = vec![("Reference".to_owned(), pages)];
        for (name, title) in [("decisions", "Decisions"), ("schemas", "JSON Schemas")] {
            let directory = format!("docs/{name}");
            let readme = format!("{directory}/README.md");
            if root.join(&readme).is_file() {
                let mut pages = Vec::new();
                self.file(root, edition, &readme, format!("{name}/index.md"), &mut pages)?;
                self.places.insert(directory.clone(), self.places[&readme].clone());
                for path in files(root, &directory)?.into_iter().filter(|path| *path != readme) {
                    self.file(root, edition, &path, path.replacen("docs/", "", 1), &mut pages)?;
                }
                parts.push((title.to_owned(), pages));
                continue;
            }
            let (mut pages, mut list) = (vec![directory.clone()], format!("# {title}\n\n"));
            for path in files(root, &directory)? {
                self.file(root, edition, &path, path.replacen("docs/", "", 1), &mut pages)?;
                let said = self.pages.get(&path).and_then(|page| markdown::title(page));
                let leaf = path.replacen("docs/", "", 1);
                let said = said.as_deref().unwrap_or(leaf.trim_start_matches(name).trim_start_matches('/'));
                list.push_str(&format!("- [{said}]({leaf})\n"));
            }
            if root.join(&directory).is_dir() {
                self.pages.insert(directory.clone(), list);
                self.stands(edition, &directory, format!("{name}/index.md"))?;
                parts.push((title.to_owned(), pages));
            }
        }
        self.parts.entry(edition.name).or_default().extend(parts);
        Ok(())
    }

    /// A file that stands in a book: a page, or one that is copied as it is.
    fn file(
        &mut self,
        root: &Path,
        edition: &'static Edition,
        path: &str,
        place: String,
        pages: &mut Vec<String>,
    ) -> Result<()> {
        if path.ends_with(".md") {
            pages.push(path.to_owned());
            return self.page(root, edition, path, place);
        }
        self.stands(edition, path, place)
    }

    fn page(&mut self, root: &Path, edition: &'static Edition, path: &str, place: String) -> Result<()> {
        let text =
            std::fs::read_to_string(root.join(path)).with_context(|| format!("failed to read {path}"))?;
        if markdown::title(&text).is_none() {
            bail!("{path}: it has no title; a page of the book begins with `# What it is called`");
        }
        self.pages.insert(path.to_owned(), text);
        self.stands(edition, path, place)
    }

    fn stands(&mut self, edition: &'static Edition, path: &str, place: String) -> Result<()> {
        let place = Place { edition: edition.name, path: place };
        if let Some((other, _)) = self.places.iter().find(|(_, other)| **other == place) {
            bail!("{path} and {other} would both be {} of the book", place.path);
        }
        self.places.insert(path.to_owned(), place);
        Ok(())
    }

    /// The page in another book that says the same, or where that book begins.
    #[must_use]
    pub fn same(&self, place: &Place, edition: &'static Edition) -> Place {
        let same = Place { edition: edition.name, path: place.path.clone() };
        let there = self.places.values().any(|place| *place == same);
        if there { same } else { Place { path: "index.md".to_owned(), ..same } }
    }
}

/// The files of a directory by path from the root; none if there is no such directory.
fn files(root: &Path, directory: &str) -> Result<Vec<String>> {
    let path = root.join(directory);
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    Ok(sorted(&path)?.iter().filter(|path| path.is_file()).map(|path| from(root, path)).collect())
}

fn from(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
