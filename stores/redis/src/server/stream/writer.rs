//! Effects as they stand in a stream: SELECT where the database changes. The replicas' stream and the append-only file
//! have one writer each.

use std::borrow::Cow;

use crate::protocol::resp;
use crate::server::store::Effects;

/// The state of a stream on which the next command depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Writer {
    /// The database that is selected; `None` if the next command has to say.
    pub(crate) selected: Option<usize>,
}

impl Writer {
    /// The effects of a command.
    pub(crate) fn write<'a>(&mut self, effects: &'a Effects) -> Cow<'a, [u8]> {
        if effects.parts.iter().all(|part| self.selected == Some(part.database)) {
            return Cow::Borrowed(&effects.writes);
        }
        let mut out = Vec::with_capacity(effects.writes.len() + SELECT_LEN);
        let mut start = 0;
        for part in &effects.parts {
            if self.selected != Some(part.database) {
                self.selected = Some(part.database);
                resp::request(&mut out, &[b"SELECT", part.database.to_string().as_bytes()]);
            }
            out.extend_from_slice(&effects.writes[start..part.end]);
            start = part.end;
        }
        Cow::Owned(out)
    }
}

/// About how long a SELECT is.
const SELECT_LEN: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::store::Part;

    #[test]
    fn the_stream_says_in_which_database_its_commands_are() {
        let mut writer = Writer::default();
        let mut write = |databases: &[usize]| {
            let mut effects = Effects::default();
            for database in databases {
                resp::request(&mut effects.writes, &[b"a"]);
                effects.parts.push(Part { database: *database, end: effects.writes.len() });
            }
            String::from_utf8(writer.write(&effects).into_owned()).unwrap().replace("\r\n", " ")
        };
        assert_eq!(write(&[0]), "*2 $6 SELECT $1 0 *1 $1 a ");
        assert_eq!(write(&[0, 0]), "*1 $1 a *1 $1 a ");
        assert_eq!(write(&[2, 3]), "*2 $6 SELECT $1 2 *1 $1 a *2 $6 SELECT $1 3 *1 $1 a ");
        assert_eq!(write(&[]), "");
    }
}
