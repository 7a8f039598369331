//! The calls of one connection of gRPC: which method a stream is of, and its messages, which data carry with five bytes before each.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::frames::{Content, Part};
use super::words;

/// The longest message that is kept until its end is there. A longer one is shown by its length.
const LONGEST: usize = 1 << 20;

/// So many calls are kept. A client that has more of them open loses the oldest.
const MOST_CALLS: usize = 1024;

/// A byte that says whether a message is compressed, and its length in four bytes.
const PREFIX: usize = 5;

/// The calls that are not over.
#[derive(Default)]
pub(super) struct Calls {
    open: BTreeMap<u32, Call>,
}

struct Call {
    /// The method, such as `KV/Txn`.
    method: String,
    requests: Messages,
    replies: Messages,
}

/// The messages of one direction of a call.
#[derive(Default)]
struct Messages {
    begun: Vec<u8>,
    /// So much of a long message is still to come.
    to_skip: usize,
}

enum Message {
    Plain(Vec<u8>),
    /// A compressed or a long one, by its length.
    Opaque(usize),
}

impl Calls {
    /// The messages that end with this part of a stream, in words.
    pub(super) fn read(&mut self, request: bool, part: Part) -> Vec<String> {
        match part.content {
            Content::Fields(fields) if request => {
                self.open(part.stream, &fields);
                Vec::new()
            }
            Content::Fields(fields) => {
                let failed = self.open.get(&part.stream).and_then(|call| failure(&call.method, &fields));
                self.close(part.stream, part.is_last);
                failed.into_iter().collect()
            }
            Content::Data(data) => {
                let said = self.open.get_mut(&part.stream).map(|call| call.read(request, &data));
                self.close(part.stream, part.is_last && !request);
                said.unwrap_or_default()
            }
            Content::Reset => {
                let call = self.open.remove(&part.stream);
                let by = if request { "is cancelled" } else { "is reset" };
                call.map(|call| format!("{} {by}", call.method)).into_iter().collect()
            }
        }
    }

    fn open(&mut self, stream: u32, fields: &[(String, String)]) {
        let Some(path) = value(fields, ":path") else { return };
        let method = path.strip_prefix('/').unwrap_or(path);
        let method = method.strip_prefix("etcdserverpb.").unwrap_or(method);
        let method = words::text(method.as_bytes());
        let call = Call { method, requests: Messages::default(), replies: Messages::default() };
        self.open.insert(stream, call);
        if self.open.len() > MOST_CALLS {
            self.open.pop_first();
        }
    }

    /// A call is over when its server has sent all, whatever its client still sends.
    fn close(&mut self, stream: u32, is_over: bool) {
        if is_over {
            self.open.remove(&stream);
        }
    }
}

impl Call {
    fn read(&mut self, request: bool, data: &[u8]) -> Vec<String> {
        let messages = if request { self.requests.read(data) } else { self.replies.read(data) };
        messages.into_iter().map(|message| self.say(request, &message)).collect()
    }

    fn say(&self, request: bool, message: &Message) -> String {
        let (words, len) = match message {
            Message::Plain(bytes) if request => (words::request(&self.method, bytes), bytes.len()),
            Message::Plain(bytes) => (words::reply(&self.method, bytes), bytes.len()),
            Message::Opaque(len) => (None, *len),
        };
        let words = words.unwrap_or_else(|| format!("({len} bytes)"));
        // A reply needs no service: its request has named it.
        let short = self.method.rsplit('/').next().filter(|_| !request);
        format!("{} {words}", short.unwrap_or(&self.method))
    }
}

impl Messages {
    fn read(&mut self, data: &[u8]) -> Vec<Message> {
        let skipped = self.to_skip.min(data.len());
        self.to_skip -= skipped;
        self.begun.extend_from_slice(&data[skipped..]);
        let mut messages = Vec::new();
        while let Some((prefix, rest)) = self.begun.split_first_chunk::<PREFIX>() {
            let [compressed, length @ ..] = *prefix;
            let len = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            if len > LONGEST {
                self.to_skip = len - rest.len().min(len);
                self.begun.drain(..PREFIX + rest.len().min(len));
                messages.push(Message::Opaque(len));
                continue;
            }
            let Some(content) = rest.get(..len) else { break };
            messages.push(match compressed {
                0 => Message::Plain(content.to_vec()),
                _ => Message::Opaque(len),
            });
            self.begun.drain(..PREFIX + len);
        }
        messages
    }
}

/// The words for a call that its server ends with an error.
fn failure(method: &str, fields: &[(String, String)]) -> Option<String> {
    let status = value(fields, "grpc-status").filter(|status| *status != "0")?;
    let message = percent_decode_str(value(fields, "grpc-message").unwrap_or_default()).collect::<Vec<u8>>();
    Some(format!("{method} fails: {} (status {status})", words::text(&message)))
}

fn value<'f>(fields: &'f [(String, String)], name: &str) -> Option<&'f str> {
    fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
