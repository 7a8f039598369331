//! Pages of a results directory: the index over its runs, and the page of one run, while it goes on and afterwards.
//!
//! They lead to files beside them, by relative addresses: a results directory can be moved, sent and served as it is.

use std::time::Duration;

use maud::{Markup, PreEscaped, html};

use super::frame;
use crate::manifest::{Manifest, Results, State};
use crate::page::layout::printable;
use crate::page::numbers::{percent, plural};

const STYLE: &str = include_str!("results_dir.css");
const SCRIPT: &str = include_str!("results_dir.js");
/// The element in the head of an index that distinguishes it from pages that others wrote.
pub const INDEX_MARK: &str = r#"<meta name="picklock" content="store">"#;
/// After how many seconds a page that changes is read again.
const AGAIN: u32 = 5;
/// So many designs are named.
const NAMED: usize = 4;

/// A run of a results directory.
pub struct Row {
    /// Its folder.
    pub folder: String,
    /// When it was begun, as people read it.
    pub at: String,
    /// Which command it was.
    pub kind: String,
    /// Its manifest.
    pub manifest: Manifest,
    /// True if a process is at work on it.
    pub is_alive: bool,
    /// True if its folder has a journal.
    pub has_journal: bool,
}

/// The progress of a run.
pub struct Going<'a> {
    /// The command that makes its results again.
    pub command: &'a str,
    /// Which part of the runs it makes.
    pub shard: Option<&'a str>,
    /// The runs that are done; while violations are reported, those that have been reported.
    pub done: u64,
    /// How many there are to be, if that is known.
    pub of: Option<u64>,
    /// True if the runs are done and violations are being reported.
    pub reporting: bool,
    /// The runs that violated something.
    pub violating: u64,
    /// The same by design and scenario, the most first.
    pub cells: Vec<(&'a str, &'a str, u64)>,
    /// For how long it has gone on.
    pub elapsed: Duration,
    /// When this was written, as people read it.
    pub now: String,
}

/// The index over the runs of a results directory, which come newest first. `now` is when it is written.
#[must_use]
pub fn index(rows: &[Row], now: &str) -> String {
    let changes = rows.iter().any(|row| row.is_alive && row.manifest.state == State::Begun);
    let title = format!("{} {}", rows.len(), plural(rows.len() as u64, "run"));
    let body = html! {
        header.top {
            p.kicker { "picklock" }
            h1 { (title) }
            p.lead { "The newest first. Times are UTC." }
        }
        main {
            table.runs {
                thead { tr {
                    th scope="col" { "started" }
                    th scope="col" { "command" }
                    th scope="col" { "result" }
                    th.num scope="col" { "size" }
                    th scope="col" { "files" }
                } }
                tbody { @for row in rows { (line(row)) } }
            }
        }
        footer { p { "Written " (now) "." @if changes { (again()) } } }
    };
    frame::plain(&format!("picklock: {title}"), &head(changes, true), &body)
}

/// The page of a run that goes on. It is read again every few seconds.
#[must_use]
pub fn under_way(going: &Going<'_>) -> String {
    let verdict = progress(going);
    let share = going.of.map(|runs| going.done.min(runs) as f64 / runs.max(1) as f64);
    let body = html! {
        header.top {
            p.kicker { "picklock · under way" @if let Some(shard) = going.shard { " · shard " (printable(shard)) } }
            h1 { (verdict) }
            (command(going.command))
        }
        main {
            div.going {
                @if let Some(share) = share {
                    progress max="1000" value=(format!("{:.0}", share * 1000.0)) aria-label="How much is done" {}
                }
                span.dim { "after " (time(going.elapsed)) ", as of " (going.now) "." (again()) }
            }
            @if !going.cells.is_empty() {
                h2 { "Violations so far" }
                table.list {
                    thead { tr { th scope="col" { "design" } th scope="col" { "scenario" } th.num scope="col" { "runs" } } }
                    tbody { @for (design, scenario, runs) in &going.cells {
                        tr { th scope="row" { (printable(design)) } td { (printable(scenario)) } td.num { (runs) } }
                    } }
                }
                p.dim { "The report at the end shows which of them are expected, and how they came about." }
            }
            p { a href="../index.html" { "All runs" } }
        }
    };
    frame::plain(&format!("picklock: {verdict}"), &head(true, false), &body)
}

/// The page of a run that has come to its end, or was interrupted: its result, and its files.
#[must_use]
pub fn ended(manifest: &Manifest) -> String {
    let verdict = words(manifest, false);
    let body = html! {
        header.top {
            p.kicker { "picklock" @if let Some(shard) = &manifest.shard { " · shard " (printable(shard)) } }
            h1 { (printable(&verdict)) }
            @if let Some(failing) = failing(manifest) { p.lead { (printable(&failing)) } }
            (command(&manifest.command))
        }
        main {
            ul.plain { @for file in files(manifest) { li { a href=(address(file)) { (printable(file)) } } } }
            p { a href="../index.html" { "All runs" } }
        }
    };
    frame::plain(&format!("picklock: {verdict}"), &head(false, false), &body)
}

fn head(changes: bool, is_index: bool) -> Markup {
    html! {
        @if changes { noscript { meta http-equiv="refresh" content=(AGAIN); } }
        style { (PreEscaped(STYLE)) }
        @if is_index { (PreEscaped(INDEX_MARK)) }
    }
}

/// Lets its reader stop that the page is read again: who reads it aloud would never come to its end.
fn again() -> Markup {
    html! {
        " " label { input #again type="checkbox" checked data-seconds=(AGAIN); " Read again every " (AGAIN) " seconds" }
        script { (PreEscaped(SCRIPT)) }
    }
}

fn command(line: &str) -> Markup {
    html! { div.cmd { code { (printable(line)) } } }
}

fn line(row: &Row) -> Markup {
    let Row { folder, at, kind, manifest, is_alive, has_journal } = row;
    let folder = address(folder);
    let class = match manifest.results.as_ref().map(|results| results.exit) {
        _ if manifest.state != State::Ended => "warn",
        Some(0) => "good",
        Some(1) => "bad",
        _ => "warn",
    };
    html! {
        tr {
            td.at { a href={ (folder) "/index.html" } { (printable(at)) } }
            td {
                (printable(kind)) @if let Some(shard) = &manifest.shard { " " (printable(shard)) }
                br; code { (printable(&manifest.command)) }
            }
            td class=(class) {
                (printable(&words(manifest, *is_alive)))
                @if let Some(failing) = failing(manifest) { br; span.dim { (printable(&failing)) } }
            }
            td.num { @if let Some(results) = &manifest.results { (size(results.bytes)) } }
            td.files {
                @for file in files(manifest) {
                    a href={ (folder) "/" (address(file)) } {
                        (printable(file))
                        @if let Some(results) = manifest.results.as_ref().filter(|_| file == "repro/") { " (" (results.repros) ")" }
                    }
                    " "
                }
                @if *has_journal { a href={ (folder) "/journal.jsonl" } { "journal.jsonl" } }
            }
        }
    }
}

/// The result of a run, in a line.
fn words(manifest: &Manifest, is_alive: bool) -> String {
    let verdict = manifest.results.as_ref().map(|results| results.verdict.clone()).unwrap_or_default();
    match (manifest.state, is_alive) {
        (State::Ended, _) => verdict,
        (State::Interrupted, _) => format!("{verdict}; --resume continues it"),
        (State::Begun, true) => "under way when this was written: its page says how far it is".to_owned(),
        (State::Begun, false) => "not finished: it was killed; --resume continues it".to_owned(),
    }
}

/// Which designs fail, as far as there is room.
fn failing(manifest: &Manifest) -> Option<String> {
    let Results { failing, .. } = manifest.results.as_ref()?;
    let named = failing.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match failing.len() {
        0 => None,
        all if all > NAMED => Some(format!("failing: {named} and {} more", all - NAMED)),
        _ => Some(format!("failing: {named}")),
    }
}

/// The files that are there to be looked at.
fn files(manifest: &Manifest) -> impl Iterator<Item = &str> {
    manifest.results.iter().flat_map(|results| results.files.iter().map(String::as_str))
}

fn progress(going: &Going<'_>) -> String {
    let Going { done, of, reporting, violating, .. } = *going;
    let share = of.map(|runs| {
        let share = done.min(runs) as f64 / runs.max(1) as f64;
        // Below one in a hundred a digit more shows that something moves.
        let share = if share < 0.01 { percent(share) } else { format!("{:.0}%", (share * 100.0).floor()) };
        format!("{share} of {}", grouped(runs))
    });
    if reporting {
        let share = share.unwrap_or_else(|| grouped(done));
        return format!("Under way: the runs are done, {share} violations reported");
    }
    let share = share.unwrap_or_else(|| grouped(done));
    format!("Under way: {share} runs, {} with a violation so far", grouped(violating))
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A name as it stands in an address.
fn address(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: State, results: Option<Results>, is_alive: bool) -> Row {
        Row {
            folder: "2026-11-22T223000Z-run".to_owned(),
            at: "2026-11-22 22:30:00".to_owned(),
            kind: "run".to_owned(),
            manifest: Manifest {
                state,
                results,
                ..Manifest::begun("picklock run --design '<b>\u{7}'", None)
            },
            is_alive,
            has_journal: true,
        }
    }

    fn results() -> Results {
        Results {
            exit: 1,
            verdict: "violated: 1 of 2 cells".to_owned(),
            failing: ["a", "b", "c", "d", "e<i>"].map(str::to_owned).to_vec(),
            repros: 3,
            bytes: 1_234_567,
            files: vec!["repro/".to_owned(), "report.html".to_owned(), "a\" onclick=\"x".to_owned()],
        }
    }

    #[test]
    fn an_index_escapes_what_it_is_given_and_leads_to_the_files_that_there_are() {
        let page = index(&[row(State::Ended, Some(results()), false)], "2026-11-22 22:31:00");
        assert!(page.contains(INDEX_MARK) && !page.contains("http-equiv=\"refresh\""), "{page}");
        for there in [
            "href=\"2026-11-22T223000Z-run/report.html\"",
            "href=\"2026-11-22T223000Z-run/repro/\">repro/ (3)<",
            "href=\"2026-11-22T223000Z-run/a%22%20onclick%3D%22x\"",
            "a, b, c, d and 1 more",
            "1.2 MB",
            "--design '&lt;b&gt;",
        ] {
            assert!(page.contains(there), "{there}: {page}");
        }
        for loads in [" src=", "@import", "http:", "https:", "<link", "url(", "<script"] {
            assert!(!page.contains(loads), "{loads}: {page}");
        }
        assert!(!page.contains("<b>") && !page.chars().any(|c| c.is_control() && c != '\n'), "{page}");
    }

    #[test]
    fn an_index_is_read_again_while_something_is_under_way_and_says_what_was_killed() {
        let page = index(&[row(State::Begun, None, true)], "");
        assert!(page.contains("http-equiv=\"refresh\"") && page.contains("under way"), "{page}");
        let page = index(&[row(State::Begun, None, false)], "");
        assert!(!page.contains("http-equiv=\"refresh\"") && page.contains("it was killed"), "{page}");
        let page = index(&[row(State::Interrupted, Some(results()), false)], "");
        assert!(page.contains("violated: 1 of 2 cells; --resume continues it"), "{page}");
    }

    #[test]
    fn a_run_that_goes_on_says_how_far_it_is() {
        let going = Going {
            command: "picklock run",
            shard: Some("2/8"),
            done: 17_094,
            of: Some(46_200),
            reporting: false,
            violating: 1_002,
            cells: vec![("sin<gle", "pause", 1_002)],
            elapsed: Duration::from_secs(75),
            now: "2026-11-22 22:31:00".to_owned(),
        };
        let page = under_way(&going);
        for there in [
            "Under way: 37% of 46,200 runs, 1,002 with a violation so far",
            "shard 2/8",
            "value=\"370\"",
            "after 1 min 15 s, as of 2026-11-22 22:31:00",
            "sin&lt;gle",
        ] {
            assert!(page.contains(there), "{there}: {page}");
        }
        let page = under_way(&Going { reporting: true, done: 3, of: Some(9), ..going });
        assert!(page.contains("the runs are done, 33% of 9 violations reported"), "{page}");
    }

    #[test]
    fn the_page_of_a_run_that_ended_shows_no_date_and_leads_to_its_files() {
        let page = ended(&row(State::Ended, Some(results()), false).manifest);
        assert!(page.contains("<h1>violated: 1 of 2 cells</h1>"), "{page}");
        assert!(page.contains("href=\"report.html\"") && !page.contains("2026"), "{page}");
    }

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 999, 1_001, 2_500_000].map(size), ["0 B", "999 B", "2 kB", "2.5 MB"]);
        assert_eq!([9, 61, 7_322].map(|s| time(Duration::from_secs(s))), ["9 s", "1 min 1 s", "2 h 2 min"]);
    }
}
