//! The bytes of HTTP/1.1.

use std::str::from_utf8;

use crate::message::{Request, Response};

/// The longest head, in bytes.
const HEAD_MAX: usize = 64 << 10;

/// The longest body, in bytes.
const BODY_MAX: usize = 2 << 20;

/// The bytes are no message of HTTP/1.1, or one that is not read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed HTTP: {0}")]
pub struct Malformed(pub &'static str);

/// A message and how many bytes it has; none if it goes on.
type Read<M> = Result<Option<(M, usize)>, Malformed>;

/// Reads the request at the start of these bytes.
///
/// # Errors
/// When there is none.
pub fn read_request(bytes: &[u8]) -> Read<Request> {
    let Some(head) = head(bytes)? else { return Ok(None) };
    let mut words = head.first.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Malformed("a request line has three words"));
    };
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(Malformed("a method is in capitals"));
    }
    if !target.starts_with('/') {
        return Err(Malformed("a target begins with a slash"));
    }
    let closes = head.closes(version)?;
    let Some((body, end)) = head.body(bytes)? else { return Ok(None) };
    let (method, target) = (method.to_owned(), target.to_owned());
    Ok(Some((Request { method, target, headers: head.rest(), body, closes }, end)))
}

/// Reads the response at the start of these bytes, which is not one to HEAD.
///
/// # Errors
/// When there is none.
pub fn read_response(bytes: &[u8]) -> Read<Response> {
    let Some(head) = head(bytes)? else { return Ok(None) };
    let (version, rest) = head.first.split_once(' ').ok_or(Malformed("a status line has a status"))?;
    let status = rest.split(' ').next().unwrap_or_default();
    let is_status = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    let status = status.parse().ok().filter(|_| is_status).ok_or(Malformed("a status has three digits"))?;
    let closes = head.closes(version)?;
    let is_framed = head.find("content-length").or(head.find("transfer-encoding")).is_some();
    if !is_framed && !matches!(status, 204 | 304) {
        return Err(Malformed("a response has its length"));
    }
    let Some((body, end)) = head.body(bytes)? else { return Ok(None) };
    Ok(Some((Response { status, headers: head.rest(), body, closes }, end)))
}

/// The lines before a body.
struct Head<'a> {
    first: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    /// Where the body begins.
    end: usize,
}

fn head(bytes: &[u8]) -> Result<Option<Head<'_>>, Malformed> {
    let searched = &bytes[..bytes.len().min(HEAD_MAX)];
    let Some(len) = searched.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if bytes.len() < HEAD_MAX { Ok(None) } else { Err(Malformed("the head is too long")) };
    };
    let text = from_utf8(&bytes[..len]).map_err(|_| Malformed("a head is text"))?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':').ok_or(Malformed("a header has a colon"))?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
        // A line that begins with a space goes on from the one before, which is obsolete, and refused here.
        if is_name { Ok((name, value.trim())) } else { Err(Malformed("a header has a name")) }
    });
    let headers = headers.collect::<Result<Vec<_>, Malformed>>()?;
    Ok(Some(Head { first, headers, end: len + 4 }))
}

/// The headers that are about the body and the connection.
const FRAMING: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];

impl<'a> Head<'a> {
    fn find(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    fn rest(&self) -> Vec<(String, String)> {
        let rest = self
            .headers
            .iter()
            .filter(|(name, _)| !FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)));
        rest.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// True if the connection ends after this message.
    fn closes(&self, version: &str) -> Result<bool, Malformed> {
        let option = self.find("connection").unwrap_or_default();
        match version {
            "HTTP/1.1" => Ok(option.eq_ignore_ascii_case("close")),
            "HTTP/1.0" => Ok(!option.eq_ignore_ascii_case("keep-alive")),
            _ => Err(Malformed("the version is 1.1 or 1.0")),
        }
    }

    /// The body, and where it ends.
    fn body(&self, bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Malformed> {
        if let Some(coding) = self.find("transfer-encoding") {
            // With both, somebody on the way may read another message than we do.
            if !coding.eq_ignore_ascii_case("chunked") || self.find("content-length").is_some() {
                return Err(Malformed("the only coding is chunked, without a length"));
            }
            return chunks(bytes, self.end);
        }
        let len = match self.find("content-length") {
            None => 0,
            Some(text) => number(text, 10)?,
        };
        let end = self.end + len;
        Ok(bytes.get(self.end..end).map(|body| (body.to_vec(), end)))
    }
}

/// A number of digits alone, no larger than a body.
fn number(text: &str, radix: u32) -> Result<usize, Malformed> {
    let is_number = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    let number = usize::from_str_radix(text, radix).ok().filter(|number| is_number && *number <= BODY_MAX);
    number.ok_or(Malformed("a length is a number, and not too long"))
}

/// A body in chunks from here on, and where it ends.
fn chunks(bytes: &[u8], mut at: usize) -> Result<Option<(Vec<u8>, usize)>, Malformed> {
    let mut body = Vec::new();
    loop {
        let Some((line, start)) = line(bytes, at)? else { return Ok(None) };
        let len = number(line.split(';').next().unwrap_or_default().trim(), 16)?;
        at = start;
        if len == 0 {
            break;
        }
        let Some(chunk) = bytes.get(at..at + len + 2) else { return Ok(None) };
        let (chunk, end) = chunk.split_at(len);
        if end != b"\r\n" {
            return Err(Malformed("a chunk ends with a line"));
        }
        body.extend_from_slice(chunk);
        if body.len() > BODY_MAX {
            return Err(Malformed("the body is too long"));
        }
        at += len + 2;
    }
    // Trailers are read and dropped.
    loop {
        let Some((line, start)) = line(bytes, at)? else { return Ok(None) };
        at = start;
        if line.is_empty() {
            return Ok(Some((body, at)));
        }
    }
}

/// The line from here on, and where the next one begins.
fn line(bytes: &[u8], at: usize) -> Result<Option<(&str, usize)>, Malformed> {
    let rest = &bytes[at..bytes.len().min(at + 1_024)];
    let Some(len) = rest.windows(2).position(|window| window == b"\r\n") else {
        return if rest.len() < 1_024 { Ok(None) } else { Err(Malformed("a line is too long")) };
    };
    let line = from_utf8(&rest[..len]).map_err(|_| Malformed("a line is text"))?;
    Ok(Some((line, at + len + 2)))
}

/// The bytes of a request to a host.
pub(crate) fn written_request(request: &Request, host: &str) -> Vec<u8> {
    let mut bytes =
        format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", request.method, request.target).into_bytes();
    let has_body = !request.body.is_empty() || matches!(request.method.as_str(), "PUT" | "POST" | "PATCH");
    put_headers(&mut bytes, &request.headers, has_body.then_some(request.body.len()), request.closes);
    bytes.extend_from_slice(&request.body);
    bytes
}

/// The bytes of a response.
pub(crate) fn written_response(response: &Response) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status)).into_bytes();
    put_headers(&mut bytes, &response.headers, Some(response.body.len()), response.closes);
    bytes.extend_from_slice(&response.body);
    bytes
}

fn put_headers(bytes: &mut Vec<u8>, headers: &[(String, String)], len: Option<usize>, closes: bool) {
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    if let Some(len) = len {
        bytes.extend_from_slice(format!("Content-Length: {len}\r\n").as_bytes());
    }
    if closes {
        bytes.extend_from_slice(b"Connection: close\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Request Entity Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn headers() -> impl Strategy<Value = Vec<(String, String)>> {
        vec(("X-[A-Za-z]{1,8}", "[!-~]{0,12}"), 0..4)
    }

    fn request() -> impl Strategy<Value = Request> {
        ("[A-Z]{1,6}", "/[a-z0-9/?=&%]{0,20}", headers(), vec(any::<u8>(), 0..40), any::<bool>()).prop_map(
            |(method, target, headers, body, closes)| Request { method, target, headers, body, closes },
        )
    }

    fn response() -> impl Strategy<Value = Response> {
        (200..600_u16, headers(), vec(any::<u8>(), 0..40), any::<bool>())
            .prop_map(|(status, headers, body, closes)| Response { status, headers, body, closes })
    }

    proptest! {
        #[test]
        fn a_request_comes_back_and_no_earlier_part_of_it_is_one(request in request(), after in vec(any::<u8>(), 0..9)) {
            let mut bytes = written_request(&request, "node-1:8500");
            let len = bytes.len();
            for part in 0..len {
                prop_assert_eq!(read_request(&bytes[..part]), Ok(None));
            }
            bytes.extend(after);
            prop_assert_eq!(read_request(&bytes), Ok(Some((request, len))));
        }

        #[test]
        fn a_response_comes_back_and_no_earlier_part_of_it_is_one(response in response(), after in vec(any::<u8>(), 0..9)) {
            let mut bytes = written_response(&response);
            let len = bytes.len();
            for part in 0..len {
                prop_assert_eq!(read_response(&bytes[..part]), Ok(None));
            }
            bytes.extend(after);
            prop_assert_eq!(read_response(&bytes), Ok(Some((response, len))));
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
            let _ = (read_request(&bytes), read_response(&bytes));
        }

        #[test]
        fn a_body_in_chunks_is_one(chunks in vec(vec(any::<u8>(), 1..20), 0..6)) {
            let mut bytes = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            for chunk in &chunks {
                bytes.extend(format!("{:x};x=y\r\n", chunk.len()).into_bytes());
                bytes.extend(chunk);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\nTrailer: 1\r\n\r\n");
            for part in 0..bytes.len() {
                prop_assert_eq!(read_request(&bytes[..part]), Ok(None));
            }
            let (request, len) = read_request(&bytes).unwrap().unwrap();
            prop_assert_eq!((request.body, len), (chunks.concat(), bytes.len()));
        }
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        let refused = [
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
        ];
        for text in refused {
            assert!(read_request(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(read_response(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(read_response(b"HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n").is_err());
    }

    #[test]
    fn a_version_says_whether_a_connection_stays() {
        let closes =
            |head: &str| read_request(format!("{head}\r\n\r\n").as_bytes()).unwrap().unwrap().0.closes;
        assert!(!closes("GET / HTTP/1.1"));
        assert!(closes("GET / HTTP/1.1\r\nConnection: close"));
        assert!(closes("GET / HTTP/1.0"));
        assert!(!closes("GET / HTTP/1.0\r\nconnection: Keep-Alive"));
    }
}
