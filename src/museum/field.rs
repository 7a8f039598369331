//! A field of a file of a museum folder, as errors name it: file, line, field, value, remedy.

use std::fmt;

/// The characters of a value that an error shows at most.
const SHOWN_MAX: usize = 80;

/// A field whose value is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file.
    pub file: String,
    /// Its line, where it is known.
    pub line: Option<usize>,
    /// The field, as in `affected.version`.
    pub field: String,
    /// Its value, in printable characters.
    pub value: String,
    /// What to write instead.
    pub remedy: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refused { file, line, field, value, remedy } = self;
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(f, "{file}{line}: `{field}` is `{value}`: {remedy}")
    }
}

/// A file that is checked.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) folder: &'a str,
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// A field of the file that is refused. The line is that of the value, or of the last name of the field.
    pub(super) fn refuse(&self, field: &str, value: &str, remedy: impl Into<String>) -> Refused {
        let name = field.rsplit('.').next().unwrap_or(field);
        let first = |is_it: &dyn Fn(&str) -> bool| self.text.lines().position(is_it).map(|at| at + 1);
        let line = first(&|line| !value.is_empty() && line.contains(name) && line.contains(value))
            .or_else(|| first(&|line| !value.is_empty() && line.contains(value)))
            .or_else(|| first(&|line| line.trim_start().starts_with(name)));
        Refused {
            file: format!("{}/{}", self.folder, self.name),
            line,
            field: shown(field),
            value: shown(value),
            remedy: remedy.into(),
        }
    }
}

/// A value in printable characters, cut where it is long.
pub(super) fn shown(value: &str) -> String {
    let escaped: String = value.chars().take(SHOWN_MAX).flat_map(escape).collect();
    let more = if value.chars().nth(SHOWN_MAX).is_some() { ".." } else { "" };
    format!("{escaped}{more}")
}

fn escape(character: char) -> impl Iterator<Item = char> {
    let plain = matches!(character, '"' | '\'' | '\\').then_some(character);
    let escaped = plain.is_none().then(|| character.escape_debug());
    plain.into_iter().chain(escaped.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_line_field_value_and_remedy() {
        let text = "library = \"x\"\naffected = { version = \"../..\", checksum = \"\" }\n";
        let source = Source { folder: "my-bug", name: "bug.toml", text };
        let refused = source.refuse("affected.version", "../..", "write an exact version");
        assert_eq!(
            refused.to_string(),
            "my-bug/bug.toml:2: `affected.version` is `../..`: write an exact version"
        );
        assert_eq!(source.refuse("library", "a\nb\x1b", "x").value, "a\\nb\\u{1b}");
        assert_eq!(source.refuse("library", &"a".repeat(200), "x").value, format!("{}..", "a".repeat(80)));
    }
}
