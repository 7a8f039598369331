//! The messages of a server.

use super::error::{Severity, SqlError};
use super::types::Type;
use super::value::Value;
use super::wire::Format;

/// Messages to a client, one after another.
#[derive(Debug, Default)]
pub(crate) struct Replies(pub(crate) Vec<u8>);

impl Replies {
    /// A message of this kind, whose content `fill` appends.
    fn message(&mut self, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) {
        self.0.push(kind);
        let at = self.0.len();
        self.0.extend([0; 4]);
        fill(&mut self.0);
        let len = u32::try_from(self.0.len() - at).unwrap_or(u32::MAX);
        self.0[at..at + 4].copy_from_slice(&len.to_be_bytes());
    }

    pub(crate) fn authentication_ok(&mut self) {
        self.message(b'R', |out| out.extend([0; 4]));
    }

    /// The server knows no later minor version than 0, and none of these options.
    pub(crate) fn negotiate_version(&mut self) {
        self.message(b'v', |out| out.extend([0; 8]));
    }

    pub(crate) fn parameter(&mut self, name: &str, value: &str) {
        self.message(b'S', |out| {
            text(out, name);
            text(out, value);
        });
    }

    pub(crate) fn backend_key(&mut self, pid: i32, secret: i32) {
        self.message(b'K', |out| {
            out.extend(pid.to_be_bytes());
            out.extend(secret.to_be_bytes());
        });
    }

    /// Ready for the next query; `status` is I (idle), T (in a transaction) or E (in one that failed).
    pub(crate) fn ready(&mut self, status: u8) {
        self.message(b'Z', |out| out.push(status));
    }

    pub(crate) fn complete(&mut self, tag: &str) {
        self.message(b'C', |out| text(out, tag));
    }

    /// A message on a channel.
    pub(crate) fn notification(&mut self, pid: i32, channel: &str, payload: &str) {
        self.message(b'A', |out| {
            out.extend(pid.to_be_bytes());
            text(out, channel);
            text(out, payload);
        });
    }

    pub(crate) fn empty_query(&mut self) {
        self.message(b'I', |_| {});
    }

    pub(crate) fn parse_complete(&mut self) {
        self.message(b'1', |_| {});
    }

    pub(crate) fn bind_complete(&mut self) {
        self.message(b'2', |_| {});
    }

    pub(crate) fn close_complete(&mut self) {
        self.message(b'3', |_| {});
    }

    pub(crate) fn no_data(&mut self) {
        self.message(b'n', |_| {});
    }

    pub(crate) fn suspended(&mut self) {
        self.message(b's', |_| {});
    }

    pub(crate) fn parameter_types(&mut self, types: &[Type]) {
        self.message(b't', |out| {
            out.extend(count(types.len()));
            for ty in types {
                out.extend(ty.oid().to_be_bytes());
            }
        });
    }

    /// The columns of rows to come. They are described as results of expressions: nobody asks a column for its table.
    pub(crate) fn columns(&mut self, columns: &[(String, Type)], format: impl Fn(usize) -> Format) {
        self.message(b'T', |out| {
            out.extend(count(columns.len()));
            for (at, (name, ty)) in columns.iter().enumerate() {
                text(out, name);
                out.extend([0; 6]);
                out.extend(ty.oid().to_be_bytes());
                out.extend(ty.size().to_be_bytes());
                out.extend(ty.modifier().to_be_bytes());
                out.extend(i16::from(format(at) == Format::Binary).to_be_bytes());
            }
        });
    }

    pub(crate) fn row(
        &mut self,
        row: &[Value],
        columns: &[(String, Type)],
        format: impl Fn(usize) -> Format,
    ) {
        self.message(b'D', |out| {
            out.extend(count(row.len()));
            for (at, (value, (_, ty))) in row.iter().zip(columns).enumerate() {
                match value.encode(*ty, format(at)) {
                    Some(bytes) => {
                        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
                        out.extend(bytes);
                    }
                    None => out.extend((-1_i32).to_be_bytes()),
                }
            }
        });
    }

    /// An error or a notice.
    pub(crate) fn error(&mut self, error: &SqlError) {
        let mild = matches!(error.severity, Severity::Notice | Severity::Warning);
        let kind = if mild { b'N' } else { b'E' };
        let position = error.position.map(|at| at.to_string());
        self.message(kind, |out| {
            let severity = error.severity.word();
            let fields = [(b'S', severity), (b'V', severity), (b'C', error.code), (b'M', &error.message)];
            let more = [(b'D', error.detail.as_deref()), (b'H', error.hint), (b'P', position.as_deref())];
            let more = more.into_iter().filter_map(|(field, value)| Some((field, value?)));
            for (field, value) in fields.into_iter().chain(more) {
                out.push(field);
                text(out, value);
            }
            out.push(0);
        });
    }
}

fn count(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}
