//! The reader of a file of lines, of either form.

use std::io::{BufRead, Read as _};

use super::fields::Fields;
use super::line::Line;
use super::malformed::Malformed;
use super::recording::Recording;
use super::{edn, json};

/// A line is not longer than this: 64 KiB.
pub const LINE_MAX: u64 = 64 << 10;

/// A history does not have more lines than this.
pub const LINES_MAX: u64 = 20_000_000;

/// Reads a history: JSON lines, or EDN as Jepsen writes it; the first line shows which. Empty lines are passed over.
///
/// # Errors
/// At the first line that is none, or that cannot follow those before it.
pub fn read(mut from: impl BufRead) -> Result<Recording, Malformed> {
    let mut recording = Recording::default();
    let mut form = None;
    let (mut number, mut text) = (0, Vec::new());
    loop {
        text.clear();
        number += 1;
        let read = from.by_ref().take(LINE_MAX + 1).read_until(b'\n', &mut text);
        if read.map_err(|error| Malformed::new(format!("it cannot be read: {error}")).at(number))? == 0 {
            break;
        }
        if text.len() as u64 > LINE_MAX {
            let message =
                format!("it is longer than {LINE_MAX} bytes: a line holds one object, with short texts");
            return Err(Malformed::new(message).at(number));
        }
        if number > LINES_MAX {
            let message = format!(
                "there are more than {LINES_MAX} lines: judge each key's lines in a file of their own"
            );
            return Err(Malformed::new(message).at(number));
        }
        let line = std::str::from_utf8(&text)
            .map_err(|_| Malformed::new("it is not UTF-8: write JSON lines or EDN as UTF-8").at(number))?;
        let line = line.trim();
        if !is_blank(line, form) {
            let form = *form.get_or_insert_with(|| Form::of(line));
            form.take(line, &mut recording, number).map_err(|error| error.at(number))?;
        }
    }
    if recording.lines == 0 {
        return Err(Malformed::new("the file holds no line: see docs/guide/judge.md for what a history is"));
    }
    recording.finish()?;
    Ok(recording)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Edn,
}

/// Jepsen may write all lines as one vector.
fn is_blank(line: &str, form: Option<Form>) -> bool {
    line.is_empty() || (form != Some(Form::Json) && (line.starts_with(';') || line == "[" || line == "]"))
}

impl Form {
    fn of(line: &str) -> Form {
        let inside = line.trim_start_matches('[').trim_start().strip_prefix('{').map(str::trim_start);
        let is_edn = line.starts_with('#') || inside.is_some_and(|inside| inside.starts_with(':'));
        if is_edn { Form::Edn } else { Form::Json }
    }

    fn take(self, text: &str, recording: &mut Recording, number: u64) -> Result<(), Malformed> {
        let fields: Option<Fields<'_>> = match self {
            Form::Json => Some(json::fields(text)?),
            Form::Edn => {
                let begun = text.strip_prefix('[').unwrap_or(text);
                edn::fields(if begun.ends_with("}]") { &begun[..begun.len() - 1] } else { begun })?
            }
        };
        match fields {
            Some(fields) => recording.take(&Line::of(fields)?, number),
            None => Ok(()),
        }
    }
}
