//! The output on a terminal: as wide as it is, on one screen, and with colours there alone.
//!
//! The terminal is a real pseudo-terminal, that of `script` (util-linux), whose size `stty` sets.

use std::process::Command;

use crate::binary::{directory, end, picklock, run_in};

/// The output on a terminal of so many columns.
fn on_a_terminal(columns: usize, environment: &str, args: &str) -> String {
    let here = directory();
    // It goes to the same terminal otherwise, where the progress bar overwrites itself.
    let binary = picklock(here.path()).get_program().to_string_lossy().into_owned();
    let line = format!("stty cols {columns} rows 50 && {environment} '{binary}' {args} 2>/dev/null");
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    script.current_dir(here.path()).stdin(std::process::Stdio::null());
    script.env_remove("COLUMNS").env_remove("NO_COLOR").env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
    let ended = end(script);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    ended.stdout.replace("\r\n", "\n")
}

const ESCAPE: char = '\u{1b}';

/// The text without what colours it.
fn plain(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

fn widest(page: &str) -> usize {
    page.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn the_whole_suite_fits_a_terminal_of_80_and_one_of_132_columns() {
    for columns in [80, 132] {
        let page = on_a_terminal(columns, "", "run --seeds 1");
        assert!(page.contains(ESCAPE), "no colours on a terminal:\n{page}");
        let page = plain(&page);
        assert!(page.lines().count() <= 80, "{} lines:\n{page}", page.lines().count());
        assert!(widest(&page) <= columns, "{} of {columns} columns:\n{page}", widest(&page));
        // Where there is room for it, scenarios stand above their columns by name.
        assert!(columns < 132 || page.contains(" ┐  ┌ "), "{page}");
        assert!(
            page.starts_with("of ") && page.contains("\nas expected in ") && page.contains("\nnext: "),
            "{page}"
        );
    }
}

#[test]
fn a_wider_terminal_is_made_use_of() {
    let designs = "--design single,watchdog,redlock,single-fenced --scenario pause,stall --seeds 20";
    let pages = [80, 120].map(|columns| plain(&on_a_terminal(columns, "", &format!("compare {designs}"))));
    for (page, columns) in pages.iter().zip([80, 120]) {
        assert!(page.lines().count() <= 50, "{} lines:\n{page}", page.lines().count());
        assert!(widest(&page.lines().skip(1).collect::<Vec<_>>().join("\n")) <= columns, "{page}");
    }
    assert!(pages[1].lines().count() < pages[0].lines().count(), "{}\n{}", pages[0], pages[1]);
}

#[test]
fn no_color_a_dumb_terminal_and_a_pipe_get_no_colours() {
    let run = "run --design single --scenario pause --seeds 20";
    assert!(on_a_terminal(80, "", run).contains(ESCAPE));
    for environment in ["NO_COLOR=1", "TERM=dumb"] {
        let page = on_a_terminal(80, environment, run);
        assert!(!page.contains(ESCAPE), "{environment}:\n{page}");
    }
    assert!(!on_a_terminal(80, "", &format!("{run} --color never")).contains(ESCAPE));
    let piped = run_in(directory().path(), &run.split(' ').collect::<Vec<_>>()).stdout;
    assert!(!piped.contains(ESCAPE), "{piped}");
}
