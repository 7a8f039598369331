//! The page as a browser shows it: nothing goes wrong in it, nothing is wider than it, and the keyboard reaches everything.
//!
//! Skipped with a word where no `chromium` is installed.

use std::path::PathBuf;
use std::time::Duration;

use picklock_reports::html::{Going, Row};
use picklock_reports::manifest::{Manifest, Results, State};
use picklock_reports::{COMPARISONS, Style, html};
use picklock_testing::skip;
use serde_json::{Value, json};

use crate::chromium::Browser;
use crate::fixtures::{campaign, comparison, paused_holder};

/// Where tests/external/axe leaves the rules of axe-core.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/axe/axe.min.js");

/// The pages to look at.
struct Pages {
    /// A comparison.
    report: PathBuf,
    /// One run.
    run: PathBuf,
    /// The runs of a results directory, one of which is under way.
    index: PathBuf,
    /// The run that is.
    under_way: PathBuf,
}

/// A browser, and the pages in files.
fn with_pages(look: impl Fn(&mut Browser, &Pages)) {
    let here = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(&here.path().join("profile")) else {
        return skip("chromium is not installed");
    };
    let format = COMPARISONS.iter().find(|format| format.name == "html").unwrap();
    let page = (format.render)(&comparison(campaign()), &Style::default()).unwrap();
    let (index, under_way) = results_dir();
    let file = |name: &str, text: &str| {
        let file = here.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let pages = Pages {
        report: file("report.html", &page),
        run: file("run.html", &html::run(&paused_holder(), &picklock_campaign::about::About::default())),
        index: file("index.html", &index),
        under_way: file("under-way.html", &under_way),
    };
    look(&mut browser, &pages);
    let errors = browser.errors();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The pages of a results directory: its index, and the run that is under way in it.
fn results_dir() -> (String, String) {
    let row = |folder: &str, manifest: Manifest, is_alive| Row {
        folder: folder.to_owned(),
        at: "2026-11-22 22:30:00".to_owned(),
        kind: "run".to_owned(),
        manifest,
        is_alive,
        has_journal: true,
    };
    let command =
        "picklock run --design single,watchdog,redlock --scenario pause,failover --seeds 10000 --out results";
    let results = Results {
        exit: 1,
        verdict: "violated: 1 of 2 cells".to_owned(),
        failing: vec!["single".to_owned()],
        repros: 3,
        bytes: 1_234_567,
        files: vec!["repro/".to_owned(), "report.html".to_owned()],
    };
    let ended = Manifest { state: State::Ended, results: Some(results), ..Manifest::begun(command, None) };
    let rows = [
        row("2026-11-22T223000Z-run", Manifest::begun(command, Some("2/8".to_owned())), true),
        row("2026-11-21T223000Z-run", ended, false),
    ];
    let now = "2026-11-22 22:31:00";
    let going = Going {
        command,
        shard: Some("2/8"),
        done: 17_094,
        of: Some(46_200),
        reporting: false,
        violating: 1_002,
        cells: vec![("single", "pause", 1_002)],
        elapsed: Duration::from_secs(75),
        now: now.to_owned(),
    };
    (html::index(&rows, now), html::under_way(&going))
}

/// True if something is on the page and has a size.
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
    with_pages(|browser, Pages { report, run, index, under_way }| {
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
                assert!(is_seen(browser, ".box > .d"), "{place}");
                assert_fits(browser, &place);
                for (page, shows) in [(index, ".runs"), (under_way, ".list")] {
                    browser.open(page, width, scheme);
                    assert!(is_seen(browser, shows), "{place}");
                    assert_fits(browser, &format!("{}, {place}", page.display()));
                }
            }
        }
    });
}

/// How far what is selected has to be scrolled sideways, the farthest of all.
fn hidden(browser: &mut Browser, selector: &str) -> Value {
    browser.ask(&format!(
        "Math.max(0, ...[...document.querySelectorAll({selector:?})].map(it => it.scrollWidth - it.clientWidth))"
    ))
}

#[test]
fn a_phone_shows_whole_rows_and_all_hosts_of_a_diagram() {
    with_pages(|browser, Pages { report, run, .. }| {
        browser.open(report, 400, "light");
        assert_eq!(hidden(browser, ".wide:has(.stack)"), json!(0), "the ranking");
        for part in ["d1", "c4"] {
            browser.ask(&format!("location.hash = {part:?}; new Promise(done => setTimeout(done, 100))"));
            assert_eq!(hidden(browser, ".wide:has(.stack)"), json!(0), "{part}");
        }
        browser.open(run, 400, "light");
        assert_eq!(hidden(browser, ".box"), json!(0), "the diagram");
        assert_eq!(browser.ask("document.querySelector('.diagram').classList.contains('tiny')"), json!(true));
        browser.open(run, 1280, "light");
        assert_eq!(
            browser.ask("document.querySelector('.diagram').classList.contains('tiny')"),
            json!(false)
        );
    });
}

#[test]
fn the_keyboard_reaches_every_counterexample_and_walks_its_causes() {
    with_pages(|browser, Pages { report, .. }| {
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
        assert!(first.as_str().unwrap().contains("client-1 asks for stock"), "{first}");
        let mut links = Vec::new();
        for _ in 0..8 {
            browser.press("ArrowRight");
            links.push(browser.ask("document.querySelector('#c4 .now').textContent"));
        }
        links.dedup();
        let said = |words: &str| links.iter().any(|link| link.as_str().unwrap().contains(words));
        assert!(
            said("fault pause") && said("the lease of stock runs out") && said("client-2 holds"),
            "{links:#?}"
        );
    });
}

#[test]
fn a_page_that_is_read_again_can_be_stopped() {
    with_pages(|browser, Pages { under_way, .. }| {
        browser.open(under_way, 1280, "light");
        assert_eq!(browser.ask("document.querySelector('#again').checked"), json!(true));
        browser.ask("document.querySelector('#again').click(); location.reload()");
        browser.wait_for("Page.loadEventFired");
        assert_eq!(browser.ask("document.querySelector('#again').checked"), json!(false));
        browser.ask("document.querySelector('#again').click()");
        assert_eq!(browser.ask("location.hash"), json!(""));
    });
}

#[test]
fn rules_of_accessibility_are_kept_as_far_as_a_program_can_check() {
    let Ok(axe) = std::fs::read_to_string(AXE) else {
        return skip("axe-core is not there: tests/external/axe fetches it");
    };
    with_pages(|browser, Pages { report, run, index, under_way }| {
        for scheme in ["light", "dark"] {
            for (page, part) in
                [(report, ""), (report, "c4"), (report, "d2"), (run, ""), (index, ""), (under_way, "")]
            {
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
