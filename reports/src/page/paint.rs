//! Colour as a property of the page, not of the process: nothing here looks at the terminal or at `NO_COLOR`.
//!
//! Text is measured and padded before it is painted, since escape codes have no width. Only basic colours are used, which every
//! terminal theme chooses for itself. The red is the bright one: many themes have a dark red that is unreadable on black.

use anstyle::{AnsiColor, Style as Ansi};

use super::layout::{paragraph, printable};

/// How wide a page is and whether it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if escape codes of colours may appear.
    pub colour: bool,
    /// The width of the page in columns. Lines that are meant to be copied (commands, paths) are never broken; all
    /// others keep to it, down to [`Style::NARROWEST`].
    pub width: usize,
}

impl Style {
    /// The narrowest page that is laid out; a narrower one is treated as this.
    pub const NARROWEST: usize = 40;

    /// The width to lay out for.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(Style::NARROWEST)
    }

    /// The text in this ink; unchanged without colour or without text.
    pub(crate) fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.colour || ink == Ink::Plain || text.trim().is_empty() {
            return text.to_owned();
        }
        let ansi = ink.ansi();
        format!("{ansi}{text}{ansi:#}")
    }
}

impl Default for Style {
    /// Without colour, 110 columns wide.
    fn default() -> Style {
        Style { colour: false, width: 110 }
    }
}

/// The meaning of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Ordinary text.
    Plain,
    /// A heading.
    Head,
    /// Of little weight.
    Dim,
    /// It holds, or is as expected.
    Good,
    /// It is violated, or not as expected.
    Bad,
    /// A violation that was expected; a fault; something to look at.
    Warn,
    /// The first of the clashing grants; commands.
    First,
    /// The second of the clashing grants.
    Second,
    /// The store lost or dropped something.
    Loss,
}

impl Ink {
    fn ansi(self) -> Ansi {
        let colour = |colour: AnsiColor| Ansi::new().fg_color(Some(colour.into()));
        match self {
            Ink::Plain => Ansi::new(),
            Ink::Head => Ansi::new().bold(),
            Ink::Dim => Ansi::new().dimmed(),
            Ink::Good => colour(AnsiColor::Green),
            Ink::Bad => colour(AnsiColor::BrightRed).bold(),
            Ink::Warn => colour(AnsiColor::Yellow),
            Ink::First => colour(AnsiColor::Cyan),
            Ink::Second => colour(AnsiColor::Magenta),
            Ink::Loss => colour(AnsiColor::BrightRed),
        }
    }
}

/// Adds a paragraph in an ink, however it is broken into lines.
pub(crate) fn inked(page: &mut String, ink: Ink, text: &str, indent: usize, style: &Style) {
    for line in paragraph(&printable(text), indent, style.columns()).lines() {
        page.push_str(&style.paint(ink, line));
        page.push('\n');
    }
}
