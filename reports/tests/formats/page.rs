//! The page and the drawing, as far as they can be checked without a browser.

use std::sync::Arc;

use picklock_campaign::about::{About, AboutFault, AboutScenario};
use picklock_campaign::story::Story;
use picklock_campaign::summary::{Summary, Violation};
use picklock_model::trace::What;
use picklock_reports::{COMPARISONS, Style, diagram, find, html};
use picklock_testing::skip;

use crate::fixtures::{campaign, comparison, paused_holder, suite};

fn page(summary: Summary) -> String {
    (COMPARISONS.iter().find(|format| format.name == "html").unwrap().render)(
        &comparison(summary),
        &Style::default(),
    )
    .unwrap()
}

/// The text between two words, without them.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// As many designs and scenarios as anybody will compare, each cell with a counterexample of its own.
fn large() -> Summary {
    let mut summary = suite();
    let cells = std::mem::take(&mut summary.cells);
    let story = paused_holder();
    for nth in 0..1_200 {
        let mut cell = cells[nth % cells.len()].clone();
        cell.design = format!("design-{}", nth / 30);
        cell.scenario = format!("scenario-{}", nth % 30);
        let story = Some(Arc::new(Story { design: cell.design.clone(), ..story.clone() }));
        let violation = Violation { runs: 1 + nth as u64, story, ..Violation::default() };
        cell.violations.insert("mutual-exclusion".into(), violation);
        summary.cells.push(cell);
    }
    summary
}

#[test]
fn drawing_of_a_paused_holder() {
    let drawing = diagram::file(&paused_holder());
    let style = between(&drawing, "<style>", "</style>");
    // An element a line: what changes is seen.
    insta::assert_snapshot!(drawing.replace(style, "").replace("><", ">\n<"));
}

#[test]
fn the_matrix_as_a_picture_has_a_square_for_each_cell() {
    let summary = suite();
    let picture = (find("svg").unwrap().render)(&summary, &Style::default()).unwrap();
    assert_eq!(picture.matches("<use href=").count(), summary.cells.len());
    let few = campaign();
    let picture = (find("svg").unwrap().render)(&few, &Style::default()).unwrap();
    let style = between(&picture, "<style>", "</style>");
    insta::assert_snapshot!(picture.replace(style, "").replace("><", ">\n<"));
}

#[test]
fn the_picture_of_a_matrix_of_more_than_a_thousand_cells_is_a_small_file() {
    let mut summary = large();
    // Every share of runs, so that every kind of square is drawn.
    for (nth, cell) in summary.cells.iter_mut().enumerate() {
        cell.violations.values_mut().for_each(|violation| violation.runs = nth as u64 % (cell.runs + 1));
    }
    let picture = (find("svg").unwrap().render)(&summary, &Style::default()).unwrap();
    assert!(picture.len() < 60_000, "{} bytes", picture.len());
}

/// Every drawing that is a file of its own, with its name.
fn drawings() -> Vec<(&'static str, String)> {
    let picture = |summary: &Summary| (find("svg").unwrap().render)(summary, &Style::default()).unwrap();
    let mut blocked = campaign();
    for cell in &mut blocked.cells {
        let progress = cell.violations.remove("no-lost-update").unwrap_or_default();
        cell.violations.insert("progress".into(), progress);
    }
    vec![
        ("a run", diagram::file(&paused_holder())),
        ("a small matrix", picture(&campaign())),
        ("outages", picture(&blocked)),
        ("the suite", picture(&suite())),
    ]
}

/// The drawing as a program has it that drops style sheets.
fn bare(drawing: &str) -> String {
    let (before, style) = drawing.split_once("<style>").unwrap();
    format!("{before}{}", style.split_once("</style>").unwrap().1)
}

#[test]
fn no_colour_of_a_drawing_depends_on_a_variable_or_on_a_style_sheet() {
    for (name, drawing) in drawings() {
        let mut open: Vec<&str> = Vec::new();
        let bare = bare(&drawing);
        assert!(!bare.contains("var("), "{name}");
        for tag in bare.split('<').skip(1).map(|rest| rest.split_once('>').unwrap().0) {
            if tag.starts_with('/') {
                open.pop();
                continue;
            }
            open.push(tag);
            let kind = tag.split(' ').next().unwrap();
            if ["rect", "path", "circle", "line", "text"].contains(&kind) {
                let is_inked = |tag: &&str| tag.contains(" fill=\"") || tag.contains(" stroke=\"");
                assert!(open.iter().any(is_inked), "{name}: black by default: {tag}");
            }
        }
        let sheet = between(&drawing, "<style>", "</style>");
        for rule in sheet.split('}').filter(|rule| rule.contains(": var(") && !rule.contains("@media")) {
            for declaration in rule.split(['{', ';']).filter(|it| it.contains(": var(")) {
                let property = declaration.split(':').next().unwrap().trim();
                assert!(rule.contains(&format!("{property}: #")), "{name}: no literal before{declaration}");
            }
        }
    }
}

/// The colours of a PNG of eight bits, as librsvg writes it: its rows inflated, and each filter undone.
fn pixels(png: &[u8]) -> Vec<[u8; 3]> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap()) as usize;
    let (mut header, mut packed, mut rest) = (&[][..], Vec::new(), &png[8..]);
    while !rest.is_empty() {
        let data = &rest[8..8 + number(&rest[..4])];
        match &rest[4..8] {
            b"IHDR" => header = data,
            b"IDAT" => packed.extend_from_slice(data),
            _ => {}
        }
        rest = &rest[12 + data.len()..];
    }
    // A picture without opacity is written without that channel.
    let each = if header[9] == 2 { 3 } else { 4 };
    assert!(header[8] == 8 && [2, 6].contains(&header[9]) && header[12] == 0, "{header:?}");
    let row = number(&header[..4]) * each;
    let lines = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).unwrap();
    let mut pixels: Vec<u8> = Vec::new();
    for line in lines.chunks_exact(row + 1) {
        let start = pixels.len();
        for (nth, byte) in line[1..].iter().enumerate() {
            let before = |back: usize| back.checked_sub(1).map_or(0, |at| i32::from(pixels[at]));
            let beside = if nth < each { 0 } else { before(start + nth + 1 - each) };
            let above = if start == 0 { 0 } else { before(start + nth + 1 - row) };
            let corner = if start == 0 || nth < each { 0 } else { before(start + nth + 1 - each - row) };
            let guess = match line[0] {
                0 => 0,
                1 => beside,
                2 => above,
                3 => (beside + above) / 2,
                _ => {
                    let sum = beside + above - corner;
                    let nearest = [beside, above, corner].into_iter().min_by_key(|it| (sum - it).abs());
                    nearest.unwrap()
                }
            };
            pixels.push(byte.wrapping_add(guess as u8));
        }
    }
    pixels.chunks_exact(each).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// The share of pixels that are nearly black, as librsvg draws it; `None` where it is not installed.
fn blackness(drawing: &str) -> Option<f64> {
    let here = tempfile::tempdir().unwrap();
    let file = here.path().join("drawing.svg");
    std::fs::write(&file, drawing).unwrap();
    let drawn = std::process::Command::new("rsvg-convert").arg(&file).output().ok()?;
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let pixels = pixels(&drawn.stdout);
    let black = pixels.iter().filter(|pixel| pixel.iter().all(|part| *part < 24)).count();
    Some(black as f64 / pixels.len() as f64)
}

#[test]
fn librsvg_draws_in_colours_with_the_style_sheet_and_without_it() {
    for (name, drawing) in drawings() {
        for drawing in [bare(&drawing), drawing] {
            match blackness(&drawing) {
                None => skip("rsvg-convert is not installed"),
                Some(share) => assert!(share < 0.1, "{name}: {share:.2} of it is black"),
            }
        }
    }
}

#[test]
fn story_of_a_paused_holder_as_a_page() {
    let page = html::run(&paused_holder(), &About::default());
    let words = between(&page, "<main>", "</main>");
    // The drawing is above.
    let (before, drawings) = words.split_once("<svg").unwrap();
    let (_, after) = drawings.rsplit_once("</svg>").unwrap();
    insta::assert_snapshot!(format!("{before}{after}").replace("><", ">\n<"));
}

#[test]
fn a_page_says_what_its_names_mean_and_who_made_it() {
    let mut summary = campaign();
    summary.about = About {
        version: "7.8.9".into(),
        designs: [("single".to_owned(), "SET NX PX with a unique value".to_owned())].into(),
        stores: [("single".to_owned(), "redis".to_owned())].into(),
        scenarios: [("pause".to_owned(), scenario())].into(),
        libraries: vec![("redis-py Lock".to_owned(), "single".to_owned())],
    };
    let about = summary.about.clone();
    for page in [page(summary), html::run(&paused_holder(), &about)] {
        for said in [
            "SET NX PX with a unique value.",
            "Implemented by: redis-py Lock.",
            "A client stops.",
            "he lease is 1s",
            "Fault: pause (a process stops), 0 to 2 times, for 0.5 x ttl..2 x ttl (500ms..2s).",
            "Made by picklock 7.8.9.",
        ] {
            assert!(page.contains(said), "{said}");
        }
    }
    let unknown = html::run(&paused_holder(), &About::default());
    assert!(unknown.contains("The lease is 1s."), "what the plan says");
}

fn scenario() -> AboutScenario {
    let extent = ["0 to 2 times", "for 0.5 x ttl..2 x ttl (500ms..2s)"].map(str::to_owned).to_vec();
    let fault = AboutFault { name: "pause".into(), doc: "a process stops".into(), extent };
    AboutScenario {
        summary: "a client stops".into(),
        lease: std::time::Duration::from_secs(1),
        faults: vec![fault],
    }
}

#[test]
fn a_page_is_the_same_bytes_twice() {
    assert_eq!(page(campaign()), page(campaign()));
    assert_eq!(page(large()), page(large()));
    assert_eq!(
        html::run(&paused_holder(), &About::default()),
        html::run(&paused_holder(), &About::default())
    );
}

#[test]
fn a_page_loads_nothing_and_refers_only_to_itself() {
    let summary = campaign();
    let of_run = (find("html").unwrap().render)(&summary, &Style::default()).unwrap();
    for page in [page(summary), of_run, html::run(&paused_holder(), &About::default())] {
        for loads in [" src=", "@import", "http:", "https:", "<link", "url(h", "fetch("] {
            assert!(!page.contains(loads), "{loads}");
        }
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(ids.len(), once.len(), "an id is given twice");
        for link in page.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(ids.contains(&link.trim_start_matches('#')), "{link} leads nowhere");
        }
    }
}

#[test]
fn names_are_text_and_never_markup() {
    let mut summary = campaign();
    for cell in &mut summary.cells {
        cell.design = format!("<b>{}</b>", cell.design);
        cell.scenario = format!("\"{}&", cell.scenario);
    }
    let mut story = paused_holder();
    story.trace.hosts[0].name = "<script>".into();
    for page in [page(summary), html::run(&story, &About::default()), diagram::file(&story)] {
        assert!(!page.contains("<b>single"), "{page}");
        assert_eq!(page.matches("<script>").count(), usize::from(page.starts_with("<!")), "{page}");
    }
}

#[test]
fn a_page_of_forty_designs_under_thirty_scenarios_stays_below_five_megabytes() {
    let page = page(large());
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(page.contains("<script type=\"text/plain\" id=\"pack0\">"));
    assert!(!self::page(campaign()).contains("text/plain"));
}

#[test]
fn a_message_that_is_late_or_lost_looks_so() {
    let mut story = paused_holder();
    assert!(!diagram::file(&story).contains(" late\""));
    let sent = &mut story.trace.events[2].at;
    *sent = picklock_model::time::TrueTime(sent.0 - 90_000_000);
    assert!(diagram::file(&story).contains("class=\"m one late\""));
    assert!(matches!(story.trace.events[6].what, What::Delivered { .. }), "the answer's arrival");
    story.trace.events.remove(6);
    assert!(diagram::file(&story).contains("class=\"m one lost\""));
}
