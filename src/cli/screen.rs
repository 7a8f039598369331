//! The terminal: how wide it is, whether it takes colours, and printing that survives a closed pipe.

use std::io::{self, IsTerminal as _, Write as _};

use picklock_reports::Style;
use picklock_reports::page::layout::printable;

use super::args::{Colour, ColourOptions};
use super::exit::Failure;

/// The width of a page that goes to a file.
const PAGE: usize = 110;
/// The width of a page that goes to a pipe, whose reader is most often a terminal or a log.
const PIPE: usize = 80;

/// The style of what is printed on standard output.
pub(crate) fn style(colours: ColourOptions) -> Style {
    Style { colour: colour(colours.color, io::stdout().is_terminal()), width: columns() }
}

/// How wide standard output is: as `COLUMNS` says, or else as the terminal is.
pub(crate) fn columns() -> usize {
    let terminal = io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let size = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(|| if terminal { size() } else { None }).unwrap_or(PIPE)
}

/// The style of what is written to files.
pub(crate) fn file_style() -> Style {
    Style { colour: false, width: PAGE }
}

/// See <https://no-color.org>: any value of `NO_COLOR` but the empty one turns colours off.
fn colour(asked: Colour, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal && !dumb && !set("NO_COLOR"),
    }
}

/// Prints to standard output. A reader that has gone (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // A device that is full is the caller's to mend.
            Err(Failure::Input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints an error. It may hold what a program or a file says, and the terminal obeys none of it.
pub(crate) fn complain(message: &str) {
    let lines: Vec<_> = message.lines().map(printable).collect();
    let _ = writeln!(io::stderr().lock(), "picklock: {}", lines.join("\n"));
}
