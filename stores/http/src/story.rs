//! A message in the words of a story.

use crate::codec::{read_request, read_response};

/// The longest part of a body that a story shows, in characters.
const SHOWN: usize = 200;

/// A segment to a server (`request`), or one from it, in the words of a story. None if it is no whole message.
#[must_use]
pub fn describe(request: bool, bytes: &[u8]) -> Option<String> {
    let (line, body) = if request {
        let (request, _) = read_request(bytes).ok()??;
        (format!("{} {}", request.method, request.target), request.body)
    } else {
        let (response, _) = read_response(bytes).ok()??;
        (response.status.to_string(), response.body)
    };
    let body = String::from_utf8_lossy(&body);
    let body = body.trim();
    if body.is_empty() {
        return Some(line);
    }
    let shown: String = body.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let rest = if body.chars().count() > SHOWN { ".." } else { "" };
    Some(format!("{line} {shown}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Request;

    #[test]
    fn a_story_shows_the_line_and_the_body() {
        let bytes = crate::codec::written_request(&Request::new("PUT", "/v1/kv/k").body("value"), "node-1");
        assert_eq!(describe(true, &bytes).as_deref(), Some("PUT /v1/kv/k value"));
        assert_eq!(describe(true, &bytes[..20]), None);
    }
}
