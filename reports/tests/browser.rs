//! The page as a browser shows it: nothing goes wrong in it, nothing is wider than it, and the keyboard reaches everything.
//!
//! Skipped with a word where no `chromium` is installed.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::path::{Path, PathBuf};

use picklock_reports::{Style, compare, html};
use serde_json::{Value, json};

mod chromium;
#[allow(dead_code, reason = "shared with the other tests, which use more of it")]
mod fixtures;

use chromium::Browser;

/// Where tests/external/axe leaves the rules of axe-core.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/axe/axe.min.js");

/// A browser and the pages to look at: a comparison, and one run.
fn with_pages(look: impl Fn(&mut Browser, &Path, &Path)) {
    let here = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(&here.path().join("profile")) else {
        eprintln!("skipped: there is no `chromium` to open the page with");
        return;
    };
    let format = compare::find("html").unwrap();
    let page = (format.render)(&fixtures::comparison(fixtures::campaign()), &Style::default()).unwrap();
    let pages = [("report.html", page), ("run.html", html::run(&fixtures::paused_holder()))];
    let [report, run] = pages.map(|(name, text)| -> PathBuf {
        let file = here.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    });
    look(&mut browser, &report, &run);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Whether something is on the page and has a size.
fn is_seen(browser: &mut Browser, selector: &str) -> bool {
    let seen = format!(
        "(() => {{ const it = document.querySelector({selector:?})?.getBoundingClientRect(); return !!it && it.width > 50 && it.height > 20; }})()"
    );
    browser.ask(&seen) == Value::Bool(true)
}

fn assert_fits(browser: &mut Browser, place: &str) {
    let over = browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(over, json!(0), "the page is wider than the window: {place}");
}

#[test]
fn nothing_is_wider_than_the_window_and_nothing_goes_wrong() {
    with_pages(|browser, report, run| {
        for width in [1280, 400] {
            for scheme in ["light", "dark"] {
                let place = format!("{width} pixels, {scheme}");
                browser.open(report, width, scheme);
                assert!(is_seen(browser, ".matrix"), "{place}");
                assert!(is_seen(browser, ".rank") && is_seen(browser, ".plot"), "{place}");
                assert!(!is_seen(browser, ".box"), "a part is shown that nobody asked for: {place}");
                assert_fits(browser, &place);
                browser.ask("new Promise(done => { addEventListener('hashchange', () => requestAnimationFrame(done), { once: true }); location.hash = 'c4'; })");
                assert!(is_seen(browser, "#c4 .box .d .both"), "{place}");
                assert!(!is_seen(browser, ".matrix"), "{place}");
                assert_fits(browser, &place);
                browser.open(run, width, scheme);
                assert!(is_seen(browser, ".box .d"), "{place}");
                assert_fits(browser, &place);
            }
        }
    });
}

#[test]
fn the_keyboard_reaches_every_counterexample_and_walks_its_causes() {
    with_pages(|browser, report, _| {
        browser.open(report, 1280, "light");
        let mut left: Vec<String> = (browser
            .ask("[...document.querySelectorAll('.matrix td.h a, .matrix td.x a')].map(a => a.hash)"))
        .as_array()
        .unwrap()
        .iter()
        .map(|hash| hash.as_str().unwrap().to_owned())
        .collect();
        assert_eq!(left.len(), 3);
        for _ in 0..200 {
            browser.press("Tab");
            let reached = browser.ask("document.activeElement.hash || ''");
            left.retain(|hash| reached != json!(hash));
            if left.is_empty() {
                break;
            }
        }
        assert_eq!(left, [""; 0], "not reached");
        browser.ask("document.querySelector('a[href=\"#c4\"]').focus()");
        browser.press("Enter");
        browser.ask("new Promise(done => setTimeout(done, 50))");
        assert_eq!(browser.ask("document.activeElement.id"), json!("c4h"));
        for _ in 0..40 {
            browser.press("Tab");
            if browser.ask("document.activeElement.className") == json!("box") {
                break;
            }
        }
        browser.press("ArrowDown");
        let first = browser.ask("document.querySelector('#c4 .now').textContent");
        assert!(first.as_str().unwrap().contains("client-1 asks for `stock`"), "{first}");
        let mut links = Vec::new();
        for _ in 0..8 {
            browser.press("ArrowRight");
            links.push(browser.ask("document.querySelector('#c4 .now').textContent"));
        }
        links.dedup();
        let said = |words: &str| links.iter().any(|link| link.as_str().unwrap().contains(words));
        assert!(
            said("fault pause") && said("the lease of `stock` runs out") && said("client-2 holds"),
            "{links:#?}"
        );
    });
}

#[test]
fn rules_of_accessibility_are_kept_as_far_as_a_program_can_tell() {
    let Ok(axe) = std::fs::read_to_string(AXE) else {
        eprintln!("skipped: tests/external/axe has not fetched axe-core");
        return;
    };
    with_pages(|browser, report, run| {
        for scheme in ["light", "dark"] {
            for (page, part) in [(report, ""), (report, "c4"), (report, "d2"), (run, "")] {
                browser.open(page, 1280, scheme);
                browser.ask(&format!("location.hash = {part:?}; new Promise(done => setTimeout(done, 50))"));
                browser.ask(&format!("{axe}; true"));
                let found = browser.ask(
                    "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.map(it => \
                     `${it.id}: ${it.help}: ${it.nodes.slice(0, 3).map(node => node.html).join(' ')}`))",
                );
                assert_eq!(found, json!([]), "{} #{part} in {scheme}", page.display());
            }
        }
    });
}
