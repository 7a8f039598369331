//! Requests and replies of the JSON gateway, as a story shows them: keys and values are in base64 there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Names of fields that hold bytes.
const BYTES: [&str; 3] = ["\"key\":", "\"value\":", "\"range_end\":"];

/// A request to `/v3/...`, with its body, or the body alone where a library sends it by itself: the answer belongs to what was
/// sent last. `None` for what is none, such as messages between members.
pub(crate) fn describe_request(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.starts_with('{') {
        return Some(readable(text.trim()));
    }
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut words = head.lines().next()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    if !path.starts_with("/v3") || body.is_empty() || !words.next()?.starts_with("HTTP/1") {
        return None;
    }
    Some(format!("{method} {path} {}", readable(body.trim())).trim_end().to_owned())
}

/// A reply in JSON: its status unless all went well, and its body without the header that each has.
pub(crate) fn describe_reply(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let (version, status) = head.lines().next()?.split_once(' ')?;
    if !version.starts_with("HTTP/1") || !body.trim_start().starts_with('{') {
        return None;
    }
    let body = readable(without_header(body.trim()).as_str());
    Some(if status == "200 OK" { body } else { format!("{status} {body}") })
}

/// Without who answered at which revision.
fn without_header(body: &str) -> String {
    let Some((before, rest)) = body.split_once(r#""header":{"#) else { return body.to_owned() };
    let Some((_, after)) = rest.split_once('}') else { return body.to_owned() };
    format!("{before}{}", after.strip_prefix(',').unwrap_or(after))
}

/// With the bytes of its fields as text where they are some.
fn readable(body: &str) -> String {
    let mut shown = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((at, name)) = BYTES.iter().filter_map(|name| Some((rest.find(name)?, name))).min() {
        let (before, after) = rest.split_at(at + name.len());
        shown.push_str(before);
        rest = after;
        let Some(quoted) = after.trim_start().strip_prefix('"') else { continue };
        let Some((value, behind)) = quoted.split_once('"') else { continue };
        let bytes = STANDARD.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = bytes.filter(|text| !text.chars().any(char::is_control)) else { continue };
        shown.push_str(&format!("{text:?}"));
        rest = behind;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_is_described_with_its_keys_as_text() {
        let body = r#"{"compare": [{"target": "CREATE", "key": "bG9jazox", "create_revision": "0"}]}"#;
        let request = format!("POST /v3/kv/txn HTTP/1.1\r\nHost: node-1:2379\r\n\r\n{body}");
        let described =
            r#"POST /v3/kv/txn {"compare": [{"target": "CREATE", "key":"lock:1", "create_revision": "0"}]}"#;
        assert_eq!(describe_request(request.as_bytes()).unwrap(), described);
        assert_eq!(describe_request(b"POST /raft HTTP/1.1\r\n\r\n\x08\x01"), None);
        assert_eq!(describe_request(b"POST /v3/kv/txn HTTP/1.1\r\nContent-Length: 9\r\n\r\n"), None);
        assert_eq!(describe_request(br#"{"key": "bG9jazox"}"#).unwrap(), r#"{"key":"lock:1"}"#);
        assert_eq!(describe_request(b"\xff"), None);
    }

    #[test]
    fn a_reply_is_described_without_its_header() {
        let body = r#"{"header":{"cluster_id":"7","revision":"3"},"ID":"9","TTL":"2"}"#;
        let reply = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 60\r\n\r\n{body}");
        assert_eq!(describe_reply(reply("200 OK").as_bytes()).unwrap(), r#"{"ID":"9","TTL":"2"}"#);
        assert_eq!(
            describe_reply(reply("404 Not Found").as_bytes()).unwrap(),
            r#"404 Not Found {"ID":"9","TTL":"2"}"#
        );
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(head in ".*", body in ".*", bytes: Vec<u8>) {
            let text = format!("{head}\r\n\r\n{{\"key\":\"{body}");
            for bytes in [text.as_bytes(), &bytes] {
                let _ = (describe_request(bytes), describe_reply(bytes));
            }
        }
    }
}
