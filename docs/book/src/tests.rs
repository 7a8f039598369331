//! Books are made of a repository in small.

use std::path::Path;

use crate::make::make;
use crate::shelf::Shelf;
use crate::{built, sources};

const PAGES: [(&str, &str); 8] = [
    ("Cargo.toml", "repository = \"https://example.org/it\"\n"),
    ("deploy/README.md", "# Deploy\n"),
    (
        "docs/guide/README.md",
        "# Guide\n\n## First\n\n| page | says |\n| --- | --- |\n| [a.md](a.md) | all |\n\n[facts](../facts.md#some-facts) [decided](../decisions)\n",
    ),
    (
        "docs/guide/a.md",
        "# A [b]\n\n[up](README.md) [deploy](../../deploy/README.md) [deploy](../../deploy)\n",
    ),
    ("docs/facts.md", "# Facts\n\n## Some facts\n\n[a](guide/a.md)\n\n![plot](pictures/p.svg)\n"),
    ("docs/pictures/p.svg", "<svg/>"),
    ("docs/decisions/0001-so.md", "# 1. So\n\n[guide](../guide)\n"),
    ("docs/schemas/x.json", "{}"),
];

const CHINESE: [(&str, &str); 2] = [
    ("docs/zh/guide/README.md", "# 指南\n\n| 页 |\n| --- |\n| [a.md](a.md) |\n"),
    ("docs/zh/guide/a.md", "# 甲\n\n[facts](../../facts.md#some-facts) [out](../../../deploy/README.md)\n"),
];

fn write(root: &Path, pages: &[(&str, &str)]) {
    for (path, text) in pages {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

fn made(root: &Path) -> (Shelf, Vec<String>) {
    assert_eq!(sources::broken(root).unwrap(), [""; 0]);
    let shelf = Shelf::of(root).unwrap();
    make(root, &shelf, &root.join("target/book")).unwrap();
    (shelf, built::broken(&root.join("target/book")).unwrap().0)
}

#[test]
fn what_links_to_each_other_in_the_repository_does_so_in_the_books() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &PAGES);
    let book = |page: &str| std::fs::read_to_string(root.path().join("target/book").join(page)).unwrap();

    let (shelf, wrong) = made(root.path());
    assert_eq!(wrong, [""; 0]);
    assert_eq!(shelf.editions.len(), 1);
    let page = book("en/a.html");
    assert!(page.contains("href=\"https://example.org/it/blob/HEAD/deploy/README.md\""), "{page}");
    assert!(page.contains("href=\"https://example.org/it/tree/HEAD/deploy\""), "{page}");
    assert!(!page.contains("中文"), "there is no other book: {page}");
    assert!(book("en/index.html").contains("href=\"reference/facts.html#some-facts\""));
    assert!(book("en/toc.html").contains("First"));
    assert!(book("en/index.html").contains("<a href=\"a.html\">A b</a>"), "{}", book("en/index.html"));

    write(root.path(), &CHINESE);
    let (shelf, wrong) = made(root.path());
    assert_eq!(wrong, [""; 0]);
    assert_eq!(shelf.editions.len(), 2);
    assert!(book("en/a.html").contains("href=\"../zh/a.html\">中文"));
    assert!(book("zh/a.html").contains("href=\"../en/a.html\">English"));
    assert!(book("zh/a.html").contains("href=\"../en/reference/facts.html#some-facts\""));
    assert!(book("en/reference/facts.html").contains("href=\"../../zh/index.html\">中文"));
}

#[test]
fn a_page_that_no_table_names_is_an_error_and_so_is_one_without_a_title() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &PAGES);
    write(root.path(), &[("docs/guide/b.md", "# B\n")]);
    let error = Shelf::of(root.path()).unwrap_err().to_string();
    assert!(error.starts_with("docs/guide/README.md: no table names docs/guide/b.md"), "{error}");
    write(root.path(), &[("docs/guide/a.md", "A\n")]);
    let error = format!("{:#}", Shelf::of(root.path()).unwrap_err());
    assert_eq!(
        error,
        "docs/guide/README.md:7: `a.md`: docs/guide/a.md: it has no title; a page of the book begins with `# What it is called`"
    );
}
