//! The page and the drawing, as far as that can be told without a browser.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::Arc;

use picklock_reports::{Style, compare, diagram, find, html};
use picklock_scenarios::story::Story;
use picklock_scenarios::summary::{Summary, Violation};
use picklock_sim::trace::What;

#[allow(dead_code, reason = "shared with the other tests, which use more of it")]
mod fixtures;

use fixtures::{campaign, comparison, paused_holder, suite};

fn page(summary: Summary) -> String {
    (compare::find("html").unwrap().render)(&comparison(summary), &Style::default()).unwrap()
}

/// What lies between two words, without them.
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
fn the_matrix_as_a_picture_has_a_square_for_each_cell_and_says_what_is_in_it() {
    let summary = suite();
    let picture = (find("svg").unwrap().render)(&summary, &Style::default()).unwrap();
    for cell in &summary.cells {
        let said = format!("<title>{} under {}: ", cell.design, cell.scenario);
        assert_eq!(picture.matches(&said).count(), 1, "{said}");
    }
    let few = campaign();
    let picture = (find("svg").unwrap().render)(&few, &Style::default()).unwrap();
    let style = between(&picture, "<style>", "</style>");
    insta::assert_snapshot!(picture.replace(style, "").replace("><", ">\n<"));
}

#[test]
fn story_of_a_paused_holder_as_a_page() {
    let page = html::run(&paused_holder());
    let words = between(&page, "<main>", "</main>");
    // The drawing is above.
    let (before, drawings) = words.split_once("<svg").unwrap();
    let (_, after) = drawings.rsplit_once("</svg>").unwrap();
    insta::assert_snapshot!(format!("{before}{after}").replace("><", ">\n<"));
}

#[test]
fn a_page_is_the_same_bytes_twice() {
    assert_eq!(page(campaign()), page(campaign()));
    assert_eq!(page(large()), page(large()));
    assert_eq!(html::run(&paused_holder()), html::run(&paused_holder()));
}

#[test]
fn a_page_loads_nothing_and_refers_only_to_itself() {
    let summary = campaign();
    let of_run = (find("html").unwrap().render)(&summary, &Style::default()).unwrap();
    for page in [page(summary), of_run, html::run(&paused_holder())] {
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
    for page in [page(summary), html::run(&story), diagram::file(&story)] {
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
    *sent = picklock_sim::time::TrueTime(sent.0 - 90_000_000);
    assert!(diagram::file(&story).contains("class=\"m one late\""));
    assert!(matches!(story.trace.events[6].what, What::Delivered { .. }), "the answer's arrival");
    story.trace.events.remove(6);
    assert!(diagram::file(&story).contains("class=\"m one lost\""));
}
