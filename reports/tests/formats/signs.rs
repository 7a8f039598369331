//! The sign of a cell is the same wherever it is shown, and so is what it means.

use picklock_campaign::summary::{Cell, Expected, SCHEMA, Summary, Violation};
use picklock_reports::formats::brief;
use picklock_reports::{Style, find};

/// Every kind of cell: its scenario, what its runs violated, and its sign.
const KINDS: [(&str, &[&str], &str); 7] = [
    ("harmed", &["mutual-exclusion", "no-lost-update", "progress"], "✗"),
    ("blocked", &["mutual-exclusion", "progress"], "⊘"),
    ("violated", &["mutual-exclusion"], "~"),
    ("clean", &[], "·"),
    ("vacuous", &[], "?"),
    ("too-few", &[], "?"),
    ("skipped", &[], "-"),
];

/// The meaning of each sign.
const MEANINGS: [&str; 7] = [
    "✗ data harmed",
    "⊘ nobody could acquire in time",
    "~ another invariant violated",
    "· none found",
    "? inconclusive",
    "- does not apply",
    "! not as expected",
];

/// A design whose cells are as expected, and one of which none is that can be otherwise.
const DESIGNS: [(&str, bool); 2] = [("one", true), ("two", false)];

fn cell(design: &str, met: bool, (scenario, violated, _): (&str, &[&str], &str)) -> Cell {
    let violation = |name: &&str| ((*name).to_owned(), Violation { runs: 9, ..Violation::default() });
    let mut cell = Cell {
        design: design.into(),
        scenario: scenario.into(),
        runs: 100,
        hit_lock: 100,
        violations: violated.iter().map(violation).collect(),
        expected: Some(Expected::default()),
        met: Some(met),
        ..Cell::default()
    };
    match scenario {
        "vacuous" => (cell.unknown, cell.hit_lock) = (100, 0),
        "too-few" => cell.hit_lock = 1,
        "skipped" => {
            let skipped = Some("it does not apply".to_owned());
            cell = Cell { runs: 0, hit_lock: 0, skipped, expected: None, met: None, ..cell };
        }
        _ => {}
    }
    cell
}

fn summary() -> Summary {
    let cells = DESIGNS.iter().flat_map(|(design, met)| KINDS.map(|kind| cell(design, *met, kind)));
    Summary { schema: SCHEMA, command: "picklock run".into(), cells: cells.collect(), ..Summary::default() }
}

fn render(name: &str) -> String {
    (find(name).unwrap().render)(&summary(), &Style::default()).unwrap()
}

fn screen() -> String {
    brief::page(&summary(), &Style::default(), None)
}

/// The signs of a design, with `!` where a cell is not as expected.
fn expected(met: bool) -> Vec<String> {
    let sign = |(scenario, _, sign): (&str, _, &str)| {
        format!("{sign}{}", if met || scenario == "skipped" { "" } else { "!" })
    };
    KINDS.map(sign).to_vec()
}

/// Of a matrix in columns: the line that begins with the design and has a sign for each scenario.
fn in_columns(page: &str, design: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines = page.lines().map(words).filter(|words| words.first().is_some_and(|word| word == design));
    lines.map(|words| words[1..].to_vec()).find(|signs| signs.len() == KINDS.len()).unwrap()
}

/// Of the lines of the cells below it: the first word of each line after the one that names the design.
fn in_lines(page: &str, design: &str) -> Vec<String> {
    let mut lines = page.lines().skip_while(|line| *line != design).skip(1);
    KINDS
        .map(|(scenario, ..)| {
            let line = lines.find(|line| line.split_whitespace().nth(1) == Some(scenario)).unwrap();
            line.split_whitespace().next().unwrap().to_owned()
        })
        .to_vec()
}

fn in_markdown(page: &str, design: &str) -> Vec<String> {
    let row = page.lines().find_map(|line| line.strip_prefix(&format!("| `{design}` |"))).unwrap();
    let cells = row.trim_end_matches('|').split('|');
    cells.map(|cell| cell.split_whitespace().next().unwrap().to_owned()).collect()
}

fn in_html(page: &str, design: &str) -> Vec<String> {
    let matrix = page.split_once("<table class=\"matrix\"").unwrap().1.split_once("</table>").unwrap().0;
    let row = matrix.split("<tr>").find(|row| row.contains(&format!("</span>{design}</a>"))).unwrap();
    let sign = |cell: &str| text_in(cell.split_once('>').unwrap().1).split(' ').next().unwrap().to_owned();
    row.split("<td").skip(1).map(sign).collect()
}

/// A square refers to the drawing of its kind, which has the sign.
fn in_the_picture(page: &str, design: &str) -> Vec<String> {
    let line = page.split_once(&format!(">{design}</text>")).unwrap().1.split_once("</g>").unwrap().0;
    let sign = |id: &str| {
        let drawn = page.split_once(&format!("id=\"{id}\"")).unwrap().1;
        let text = drawn.split_once("<text").unwrap().1.split_once('>').unwrap().1;
        text.split_once('<').unwrap().0.to_owned()
    };
    line.split("href=\"#").skip(1).map(|used| sign(used.split_once('"').unwrap().0)).collect()
}

/// The expectation of a cell stands in a column of its own.
fn in_the_table(page: &str, design: &str) -> Vec<String> {
    let records: Vec<Vec<&str>> = page.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| records[0].iter().position(|known| *known == name).unwrap();
    let (met, sign) = (column("met"), column("sign"));
    let of_design = records.iter().filter(|record| record[0] == design);
    of_design.map(|it| format!("{}{}", it[sign], if it[met] == "false" { "!" } else { "" })).collect()
}

/// The text between tags, each of which is a space.
fn text_in(markup: &str) -> String {
    let mut text = String::new();
    for part in markup.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_cell_has_the_same_sign_on_every_page() {
    let text = render("text");
    let (markdown, html) = (render("markdown"), render("html"));
    let (picture, table) = (render("svg"), render("csv"));
    for (design, met) in DESIGNS {
        let expected = expected(met);
        for (page, signs) in [
            ("the screen", in_columns(&screen(), design)),
            ("--verbose", in_columns(&text, design)),
            ("the cells of --verbose", in_lines(&text, design)),
            ("Markdown", in_markdown(&markdown, design)),
            ("HTML", in_html(&html, design)),
            ("the picture", in_the_picture(&picture, design)),
            ("CSV", in_the_table(&table, design)),
        ] {
            assert_eq!(signs, expected, "{design} in {page}");
        }
    }
}

#[test]
fn every_page_says_what_its_signs_mean_in_the_same_words() {
    for (page, text) in [
        ("the screen", screen()),
        ("--verbose", render("text")),
        ("Markdown", render("markdown").replace('`', "")),
        ("HTML", text_in(&render("html"))),
        ("the picture", text_in(&render("svg"))),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for meaning in MEANINGS {
            assert!(text.contains(meaning), "{page} does not say `{meaning}`: {text}");
        }
    }
}
