//! The content of a segment in a few words: the statements of a client, the outcomes of a server.

use super::frontend::{Message, Opening, opening, take};

/// The request of a client; none if that cannot be read alone.
pub(crate) fn describe_request(bytes: &[u8]) -> Option<String> {
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
    while let Ok(Some(message)) = take(&mut input) {
        match message {
            Message::Query(text) | Message::Parse { text, .. } => said.push(text),
            Message::Bind(bind) => {
                let value = |value: &Option<Vec<u8>>| match value {
                    Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    None => "null".to_owned(),
                };
                let printable = |text: &String| !text.is_empty() && !text.contains(char::is_control);
                let values: Vec<String> = bind.values.iter().map(value).filter(printable).collect();
                if !values.is_empty() {
                    said.push(format!("with {}", values.join(", ")));
                }
            }
            Message::Terminate => said.push("goodbye".to_owned()),
            _ => {}
        }
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// The answer of a server: tags of completion, errors, and whether it is ready; none if that cannot be read alone.
pub(crate) fn describe_replies(bytes: &[u8]) -> Option<String> {
    let (mut said, mut rows) = (Vec::new(), 0);
    for message in messages(bytes) {
        let (kind, content) = message?;
        match kind {
            b'D' => rows += 1,
            b'C' => said.push(String::from_utf8_lossy(content.strip_suffix(b"\0")?).into_owned()),
            b'E' => {
                let field = |letter: u8| fields(content).find_map(|text| text.strip_prefix(&[letter]));
                let text = |letter| field(letter).map(|text| String::from_utf8_lossy(text).into_owned());
                said.push(format!("{} {}: {}", text(b'S')?, text(b'C')?, text(b'M')?));
            }
            b'K' => said.push("welcome".to_owned()),
            _ => {}
        }
    }
    if said.is_empty() && rows > 0 {
        said.push(format!("{rows} rows"));
    }
    (!said.is_empty()).then(|| said.join(", "))
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
    use crate::protocol::{Replies, SqlError};

    #[test]
    fn a_segment_is_described_in_a_few_words() {
        assert_eq!(describe_request(b"Q\0\0\0\x0bCOMMIT\0").as_deref(), Some("COMMIT"));
        assert_eq!(describe_request(b"\0\0\0\x10\0\x03\0\0user\0p\0\0").as_deref(), Some("startup"));
        assert_eq!(describe_request(b"Q\0\0\0\x0bCOM"), None);
        let mut replies = Replies::default();
        replies.complete("COMMIT");
        replies.error(&SqlError::new("55P03", "too late"));
        replies.ready(b'I');
        assert_eq!(describe_replies(&replies.0).as_deref(), Some("COMMIT, ERROR 55P03: too late"));
        assert_eq!(describe_replies(&replies.0[1..]), None);
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
