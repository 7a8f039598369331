//! A request and a response.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// What stands for itself in a path or a query, besides letters and digits.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'+')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its method, in capitals.
    pub method: String,
    /// Its target as it is sent: the path, and the query after a question mark.
    pub target: String,
    /// Its headers other than those about the body and the connection, in order.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
    /// True if the connection is to be closed after the response.
    pub closes: bool,
}

/// A response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers other than those about the body and the connection, in order.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
    /// True if the connection is closed after it.
    pub closes: bool,
}

impl Request {
    /// A request without headers and body. The path is escaped here.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Request {
        let target = utf8_percent_encode(path, ESCAPED).to_string();
        Request { method: method.to_owned(), target, ..Request::default() }
    }

    /// The same with one more parameter of the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Request {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        self.target.extend(utf8_percent_encode(name, ESCAPED));
        if !value.is_empty() {
            self.target.push('=');
            self.target.extend(utf8_percent_encode(value, ESCAPED));
        }
        self
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self
    }

    /// The path as it is meant.
    #[must_use]
    pub fn path(&self) -> String {
        decoded(self.target.split('?').next().unwrap_or_default())
    }

    /// A parameter of the query: the first of its name, empty if it has no value.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| {
            let (found, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(found) == name).then(|| decoded(&value.replace('+', " ")))
        })
    }
}

impl Response {
    /// A response with a text.
    #[must_use]
    pub fn text(status: u16, text: impl Into<String>) -> Response {
        Response { status, body: text.into().into_bytes(), ..Response::default() }
    }

    /// A response with a body in JSON.
    #[must_use]
    pub fn json(status: u16, json: impl Into<String>) -> Response {
        Response::text(status, json).header("Content-Type", "application/json")
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Response {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The value of a header, by its name in whatever letters.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_query_are_escaped_and_read_back() {
        let request = Request::new("PUT", "/v1/kv/a b/ü?").with("acquire", "1&2").with("consistent", "");
        assert_eq!(request.target, "/v1/kv/a%20b/%C3%BC%3F?acquire=1%262&consistent");
        assert_eq!(request.path(), "/v1/kv/a b/ü?");
        assert_eq!(request.query("acquire").as_deref(), Some("1&2"));
        assert_eq!(request.query("consistent").as_deref(), Some(""));
        assert_eq!(request.query("flags"), None);
    }
}
