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
    let (mut rest, mut said, mut rows) = (bytes, Vec::new(), 0);
    while let Some((kind, after)) = rest.split_first() {
        let len = u32::from_be_bytes(*after.first_chunk()?) as usize;
        let (content, next) = (after.get(4..len)?, after.get(len..)?);
        match kind {
            b'D' => rows += 1,
            b'C' => said.push(String::from_utf8_lossy(content.strip_suffix(b"\0")?).into_owned()),
            b'E' => {
                let field = |letter: u8| {
                    content.split(|byte| *byte == 0).find_map(|text| text.strip_prefix(&[letter]))
                };
                let text = |letter| field(letter).map(|text| String::from_utf8_lossy(text).into_owned());
                said.push(format!("{} {}: {}", text(b'S')?, text(b'C')?, text(b'M')?));
            }
            b'K' => said.push("welcome".to_owned()),
            _ => {}
        }
        rest = next;
    }
    if said.is_empty() && rows > 0 {
        said.push(format!("{rows} rows"));
    }
    (!said.is_empty()).then(|| said.join(", "))
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
    }
}
