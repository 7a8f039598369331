//! The content of a connection's segments in a few words: the statements of a client with their values, the outcomes of a server
//! with the only row of a result.
//!
//! A prepared statement is named by the client when it is bound, and its text is in an earlier segment; so the reader of a connection
//! keeps the statements, and what each result is made of.

use std::collections::{BTreeMap, VecDeque};

use picklock_sim::store::ConnectionReader;

use super::frontend::{Bind, Message, Opening, Target, opening, take};
use super::types::Type;
use super::wire::Format;

/// The most statements of a connection that are kept, and the most results that it waits for.
const MOST: usize = 1024;

/// The most values of a row that are shown, and the most characters of each.
const VALUES: usize = 4;
const LONGEST: usize = 48;

/// Reads one connection to a server or a pooler.
#[derive(Default)]
pub(crate) struct Conversation {
    statements: BTreeMap<String, Statement>,
    portals: BTreeMap<String, Portal>,
    /// What the server has yet to answer.
    awaited: VecDeque<Awaited>,
    /// The statements whose columns were asked for.
    described: VecDeque<String>,
}

#[derive(Default)]
struct Statement {
    text: String,
    types: Vec<Option<Type>>,
    columns: Vec<Option<Type>>,
}

/// What a portal was bound to: the name of its statement, and the formats of its results.
#[derive(Clone, Default)]
struct Portal {
    statement: String,
    formats: Vec<Format>,
}

type Column = (Option<Type>, Format);

/// A part of a request that the server answers.
enum Awaited {
    /// Statements of a simple query.
    Query,
    /// The result of a portal.
    Result(Portal),
    /// The end of the messages that belong together.
    Sync,
}

impl ConnectionReader for Conversation {
    fn read(&mut self, request: bool, bytes: &[u8]) -> Option<String> {
        if request { self.request(bytes) } else { self.reply(bytes) }
    }
}

impl Conversation {
    /// The request of a client; none if that cannot be read alone.
    fn request(&mut self, bytes: &[u8]) -> Option<String> {
        let mut input = bytes.to_vec();
        // An opening begins with its length, a message with a letter.
        if bytes.first() == Some(&0) {
            return Some(match opening(&mut input).ok()?? {
                Opening::Encryption => "asks for encryption".to_owned(),
                Opening::Cancel { .. } => "CancelRequest".to_owned(),
                Opening::Startup { .. } => "startup".to_owned(),
            });
        }
        let mut said = Vec::new();
        // A statement that is prepared for later; one that is bound at once is said with its values.
        let mut prepared: Option<String> = None;
        while let Ok(Some(message)) = take(&mut input) {
            match message {
                Message::Query(text) => {
                    self.await_one(Awaited::Query);
                    said.push(text);
                }
                Message::Parse { name, text, types } => {
                    said.extend(prepared.replace(name.clone()).and_then(|name| self.preparation(&name)));
                    if self.statements.len() < MOST {
                        self.statements.insert(name, Statement { text, types, columns: Vec::new() });
                    }
                }
                Message::Bind(bind) => {
                    if prepared.as_ref() == Some(&bind.statement) {
                        prepared = None;
                    }
                    said.extend(self.bound(bind));
                }
                Message::Describe(Target::Statement, name) if self.described.len() < MOST => {
                    self.described.push_back(name);
                }
                Message::Execute { portal, .. } => {
                    let portal = self.portals.get(&portal).cloned().unwrap_or_default();
                    self.await_one(Awaited::Result(portal));
                }
                Message::Sync => self.await_one(Awaited::Sync),
                Message::Terminate => said.push("goodbye".to_owned()),
                _ => {}
            }
        }
        said.extend(prepared.and_then(|name| self.preparation(&name)));
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn await_one(&mut self, awaited: Awaited) {
        if self.awaited.len() < MOST {
            self.awaited.push_back(awaited);
        }
    }

    fn preparation(&self, statement: &str) -> Option<String> {
        self.statements.get(statement).map(|statement| format!("prepares {}", statement.text))
    }

    /// A statement with its values.
    fn bound(&mut self, bind: Bind) -> Option<String> {
        let statement = self.statements.get(&bind.statement)?;
        let values = bind.values.iter().enumerate().filter_map(|(at, bytes)| {
            let ty = statement.types.get(at).copied().flatten();
            shown(bytes.as_deref(), (ty, format_of(&bind.formats, at)))
        });
        let values: Vec<String> = values.collect();
        let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
        let said = format!("{}{with}", statement.text);
        if self.portals.len() < MOST {
            self.portals.insert(bind.portal, Portal { statement: bind.statement, formats: bind.results });
        }
        Some(said)
    }

    /// The answer of a server: tags of completion with the only row of a result, errors, and whether it is ready; none if that cannot be
    /// read alone.
    fn reply(&mut self, bytes: &[u8]) -> Option<String> {
        let mut said = Vec::new();
        let (mut rows, mut columns): (Vec<&[u8]>, Option<Vec<Column>>) = (Vec::new(), None);
        let mut of_statement: Option<Vec<Option<Type>>> = None;
        for message in messages(bytes) {
            let (kind, content) = message?;
            match kind {
                b't' => of_statement = Some(types_of(content)),
                b'T' | b'n' => {
                    let described = if kind == b'T' { fields_of(content) } else { Vec::new() };
                    match of_statement.take() {
                        None => columns = Some(described),
                        Some(types) => {
                            let name = self.described.pop_front().unwrap_or_default();
                            if let Some(statement) = self.statements.get_mut(&name) {
                                statement.types = types;
                                statement.columns = described.into_iter().map(|(ty, _)| ty).collect();
                            }
                        }
                    }
                }
                b'D' => rows.push(content),
                b'C' => {
                    let tag = String::from_utf8_lossy(content.strip_suffix(b"\0")?).into_owned();
                    let known = columns.take().or_else(|| self.columns()).unwrap_or_default();
                    said.push(match rows.as_slice() {
                        [row] => with_row(&tag, row, &known),
                        _ => tag,
                    });
                    rows.clear();
                    self.answered();
                }
                b'I' | b's' => self.answered(),
                b'E' => {
                    let field = |letter: u8| fields(content).find_map(|text| text.strip_prefix(&[letter]));
                    let text = |letter| field(letter).map(|text| String::from_utf8_lossy(text).into_owned());
                    said.push(format!("{} {}: {}", text(b'S')?, text(b'C')?, text(b'M')?));
                    // What follows of these messages is passed over.
                    while self.awaited.front().is_some_and(|one| matches!(one, Awaited::Result(_))) {
                        self.awaited.pop_front();
                    }
                    self.described.clear();
                }
                b'K' => said.push("welcome".to_owned()),
                b'Z' => while let Some(Awaited::Result(_)) = self.awaited.pop_front() {},
                _ => {}
            }
        }
        if said.is_empty() && !rows.is_empty() {
            said.push(format!("{} rows", rows.len()));
        }
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The columns of the result that comes next.
    fn columns(&self) -> Option<Vec<Column>> {
        let Some(Awaited::Result(portal)) = self.awaited.front() else { return None };
        let columns = self.statements.get(&portal.statement)?.columns.iter().enumerate();
        // Columns that nobody has asked for are in these formats all the same.
        let known: Vec<Column> = columns.map(|(at, ty)| (*ty, format_of(&portal.formats, at))).collect();
        let unknown = || (0..VALUES).map(|at| (None, format_of(&portal.formats, at))).collect();
        Some(if known.is_empty() { unknown() } else { known })
    }

    fn answered(&mut self) {
        if matches!(self.awaited.front(), Some(Awaited::Result(_))) {
            self.awaited.pop_front();
        }
    }
}

/// The format of the value at this place, by the formats of a message: none for text, one for all, or one each.
fn format_of(formats: &[Format], at: usize) -> Format {
    match formats {
        [one] => *one,
        several => several.get(at).copied().unwrap_or(Format::Text),
    }
}

/// A tag with the values of the only row.
fn with_row(tag: &str, row: &[u8], columns: &[Column]) -> String {
    let values = values_of(row).unwrap_or_default().into_iter().enumerate();
    let column = |at: usize| columns.get(at).copied().unwrap_or((None, Format::Text));
    let values: Vec<String> =
        values.take(VALUES).filter_map(|(at, bytes)| shown(bytes, column(at))).collect();
    if values.is_empty() { tag.to_owned() } else { format!("{tag}: {}", values.join(", ")) }
}

/// A value as a story shows it; none for one that cannot be shown.
fn shown(bytes: Option<&[u8]>, (ty, format): Column) -> Option<String> {
    let Some(bytes) = bytes else { return Some("null".to_owned()) };
    let text = match (format, ty) {
        (Format::Text, _) => std::str::from_utf8(bytes).ok()?.to_owned(),
        (Format::Binary, Some(ty)) => ty.decode(bytes, format).ok()?.text()?,
        // A type that the server chose for a parameter is in no message.
        (Format::Binary, None) => match bytes {
            [0] => "f".to_owned(),
            [1] => "t".to_owned(),
            [_, _] | [_, _, _, _] | [_, _, _, _, _, _, _, _] if bytes.contains(&0) || bytes[0] == 0xff => {
                number(bytes).to_string()
            }
            bytes => std::str::from_utf8(bytes).ok()?.to_owned(),
        },
    };
    let printable = !text.is_empty() && !text.contains(char::is_control);
    let cut = || match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.clone(),
    };
    printable.then(cut)
}

/// An integer of two, four or eight bytes.
fn number(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| *first >= 0x80);
    bytes.iter().fold(if negative { -1 } else { 0 }, |number, byte| number << 8 | i64::from(*byte))
}

/// The types and formats of a description of rows.
fn fields_of(content: &[u8]) -> Vec<Column> {
    let mut rest = content.get(2..).unwrap_or_default();
    let mut columns = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0)
        && let Some(field) = rest.get(end + 1..end + 19)
    {
        let oid = u32::from_be_bytes([field[6], field[7], field[8], field[9]]);
        let format = if field[17] == 1 { Format::Binary } else { Format::Text };
        columns.push((Type::of_oid(oid).ok().flatten(), format));
        rest = &rest[end + 19..];
    }
    columns
}

/// The types of a statement's parameters.
fn types_of(content: &[u8]) -> Vec<Option<Type>> {
    let oids = content.get(2..).unwrap_or_default().chunks_exact(4);
    oids.map(|oid| Type::of_oid(u32::from_be_bytes([oid[0], oid[1], oid[2], oid[3]])).ok().flatten())
        .collect()
}

/// The values of a row; none where the bytes are no whole row.
fn values_of(row: &[u8]) -> Option<Vec<Option<&[u8]>>> {
    let mut rest = row.get(2..)?;
    let mut values = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk() {
        let len = i32::from_be_bytes(*len);
        let len = usize::try_from(len);
        values.push(len.ok().map(|len| after.get(..len)).unwrap_or(Some(&[])).filter(|_| len.is_ok()));
        rest = after.get(len.unwrap_or(0)..)?;
    }
    Some(values)
}

/// How many bytes of an answer name the place in the server's source: the fields F, L and R of errors and notices.
pub(crate) fn of_itself(bytes: &[u8]) -> u32 {
    let of_message = |(kind, content): (u8, &[u8])| match kind {
        b'E' | b'N' => {
            let named = fields(content).filter(|text| matches!(text.first(), Some(b'F' | b'L' | b'R')));
            named.map(|text| text.len() as u32 + 1).sum()
        }
        _ => 0,
    };
    messages(bytes).map_while(|message| message).map(of_message).sum()
}

/// The fields of an error or a notice, each with its letter.
fn fields(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == 0)
}

/// The kinds and contents of messages; none, and then no more, where the bytes are no whole message.
fn messages(bytes: &[u8]) -> impl Iterator<Item = Option<(u8, &[u8])>> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let (kind, after) = rest?.split_first()?;
        let message = after.first_chunk().and_then(|len| {
            let len = u32::from_be_bytes(*len) as usize;
            Some((after.get(4..len)?, after.get(len..)?))
        });
        rest = message.map(|(_, next)| next);
        Some(message.map(|(content, _)| (*kind, content)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Replies, SqlError, Value, frame_of};

    fn ask(conversation: &mut Conversation, bytes: &[u8]) -> Option<String> {
        conversation.read(true, bytes)
    }

    fn parse(name: &str, text: &str) -> Vec<u8> {
        frame_of(b'P', &[name.as_bytes(), b"\0", text.as_bytes(), b"\0\0\0"])
    }

    /// A bind of one binary value, whose results are binary too, with its execution.
    fn bind(statement: &str, value: &[u8]) -> Vec<u8> {
        let len = (value.len() as u32).to_be_bytes();
        let parts = [b"\0", statement.as_bytes(), b"\0\0\x01\0\x01\0\x01", &len, value, b"\0\x01\0\x01"];
        let bind = frame_of(b'B', &parts);
        [bind, frame_of(b'E', &[b"\0", &[0; 4]]), frame_of(b'S', &[])].concat()
    }

    #[test]
    fn a_segment_is_described_in_a_few_words() {
        let mut read = Conversation::default();
        assert_eq!(ask(&mut read, b"Q\0\0\0\x0bCOMMIT\0").as_deref(), Some("COMMIT"));
        assert_eq!(ask(&mut read, b"\0\0\0\x10\0\x03\0\0user\0p\0\0").as_deref(), Some("startup"));
        assert_eq!(ask(&mut read, b"Q\0\0\0\x0bCOM"), None);
        let mut replies = Replies::default();
        replies.complete("COMMIT");
        replies.error(&SqlError::new("55P03", "too late"));
        replies.ready(b'I');
        assert_eq!(read.reply(&replies.0).as_deref(), Some("COMMIT, ERROR 55P03: too late"));
        assert_eq!(read.reply(&replies.0[1..]), None);
    }

    #[test]
    fn the_only_row_of_a_result_is_shown() {
        let mut read = Conversation::default();
        let columns = [("won".to_owned(), Type::Bool)];
        let answer = |rows: &[bool]| {
            let mut replies = Replies::default();
            replies.columns(&columns, |_| Format::Text);
            rows.iter().for_each(|row| replies.row(&[Value::Bool(*row)], &columns, |_| Format::Text));
            replies.complete(&format!("SELECT {}", rows.len()));
            replies.0
        };
        assert_eq!(read.reply(&answer(&[true])).as_deref(), Some("SELECT 1: t"));
        assert_eq!(read.reply(&answer(&[true, false])).as_deref(), Some("SELECT 2"));
        assert_eq!(read.reply(&answer(&[])).as_deref(), Some("SELECT 0"));
    }

    #[test]
    fn a_prepared_statement_is_shown_with_its_values_and_its_answer() {
        let mut read = Conversation::default();
        let text = "SELECT pg_try_advisory_lock($1)";
        let asked = [parse("s1", text), frame_of(b'D', &[b"Ss1\0"]), frame_of(b'S', &[])].concat();
        assert_eq!(ask(&mut read, &asked).unwrap(), format!("prepares {text}"));
        let columns = [("won".to_owned(), Type::Bool)];
        let mut described = Replies(frame_of(b't', &[b"\0\x01\0\0\0\x14"]));
        described.columns(&columns, |_| Format::Text);
        described.ready(b'I');
        assert_eq!(read.reply(&described.0), None);
        for (won, answer) in [(true, "SELECT 1: t"), (false, "SELECT 1: f")] {
            assert_eq!(ask(&mut read, &bind("s1", &7_i64.to_be_bytes())).unwrap(), format!("{text} with 7"));
            let mut replies = Replies::default();
            replies.row(&[Value::Bool(won)], &columns, |_| Format::Binary);
            replies.complete("SELECT 1");
            replies.ready(b'I');
            assert_eq!(read.reply(&replies.0).as_deref(), Some(answer));
        }
        // Prepared, described and bound at once, it is said once.
        let at_once =
            [parse("", text), frame_of(b'D', &[b"S\0"]), bind("", &(-7_i64).to_be_bytes())].concat();
        assert_eq!(ask(&mut read, &at_once).unwrap(), format!("{text} with -7"));
        let mut replies = Replies(frame_of(b't', &[b"\0\x01\0\0\0\x14"]));
        replies.columns(&columns, |_| Format::Text);
        replies.row(&[Value::Bool(false)], &columns, |_| Format::Binary);
        replies.complete("SELECT 1");
        replies.ready(b'I');
        assert_eq!(read.reply(&replies.0).as_deref(), Some("SELECT 1: f"));
    }

    #[test]
    fn the_place_in_the_source_is_counted_in_errors_and_notices_alone() {
        let message = |kind: u8, content: &[u8]| {
            [&[kind][..], &(content.len() as u32 + 4).to_be_bytes(), content].concat()
        };
        let fields = b"SNOTICE\0C42P07\0Mrelation is there\0Fparse_utilcmd.c\0L209\0RtransformCreateStmt\0\0";
        let named = ("Fparse_utilcmd.c".len() + "L209".len() + "RtransformCreateStmt".len() + 3) as u32;
        assert_eq!(of_itself(&message(b'N', fields)), named);
        assert_eq!(
            of_itself(&[message(b'E', fields), message(b'C', b"FETCH\0"), message(b'N', fields)].concat()),
            2 * named
        );
        assert_eq!(of_itself(&message(b'C', b"L\0")), 0);
        let mut replies = Replies::default();
        replies.error(&SqlError::new("55P03", "too late"));
        assert_eq!(of_itself(&replies.0), 0);
    }
}
