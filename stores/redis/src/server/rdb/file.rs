//! A whole snapshot: header, auxiliary fields, databases, checksum.

use super::input::Input;
use super::{CHECKSUM, RdbError, VERSION, output, value};
use crate::protocol::resp;
use crate::server::store::Value;

pub(super) const FUNCTION: u8 = 245;
const FUNCTION_PRERELEASE: u8 = 246;
const MODULE_AUX: u8 = 247;
const IDLE: u8 = 248;
const FREQUENCY: u8 = 249;
const AUX: u8 = 250;
const SIZES: u8 = 251;
const EXPIRES_MS: u8 = 252;
const EXPIRES: u8 = 253;
const DATABASE: u8 = 254;
const END: u8 = 255;

/// How much a header and its auxiliary fields take, and an entry besides its key and value.
const HEADER_LEN: usize = 256;

/// The auxiliary field before a key that says whether store events report it. Servers other than this one ignore
/// fields that they do not know.
const RECORD: &[u8] = b"picklock-record";

/// The facts of a snapshot about itself and about the replication stream that it is a moment of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aux {
    /// When it was made, in seconds of the Unix epoch.
    pub(crate) ctime: i64,
    /// The database that the stream had selected last, the identifier of the history, and the offset in it.
    pub(crate) stream: Option<StreamAt>,
    /// True for the base of an append-only file.
    pub(crate) aof_base: bool,
}

/// A moment of a replication stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamAt {
    /// The database that is selected in it; `None` when nothing was sent so far.
    pub(crate) db: Option<u32>,
    /// The identifier of the history.
    pub(crate) id: Vec<u8>,
    /// The offset in the history.
    pub(crate) offset: u64,
}

/// An entry to be saved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved<'a> {
    /// The key.
    pub(crate) key: &'a [u8],
    /// The value.
    pub(crate) value: &'a Value,
    /// When it ends, in milliseconds of the Unix epoch.
    pub(crate) expires: Option<i64>,
    /// True if store events report it.
    pub(crate) record: bool,
}

/// An entry that was loaded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loaded {
    /// The number of its database.
    pub(crate) db: u32,
    /// The key.
    pub(crate) key: Vec<u8>,
    /// The value.
    pub(crate) value: Value,
    /// When it ends, in milliseconds of the Unix epoch.
    pub(crate) expires: Option<i64>,
    /// True if store events report it.
    pub(crate) record: bool,
}

/// Writes a snapshot of databases, each with its number.
pub(crate) fn encode<'a, I>(aux: &Aux, databases: impl IntoIterator<Item = (u32, I)>) -> Vec<u8>
where
    I: ExactSizeIterator<Item = Saved<'a>> + Clone,
{
    let mut out = Vec::with_capacity(HEADER_LEN);
    out.extend_from_slice(format!("REDIS{VERSION:04}").as_bytes());
    header(&mut out, aux);
    for (number, entries) in databases {
        if entries.len() == 0 {
            continue;
        }
        out.push(DATABASE);
        output::length(&mut out, number as usize);
        out.push(SIZES);
        output::length(&mut out, entries.len());
        output::length(&mut out, entries.clone().filter(|entry| entry.expires.is_some()).count());
        for entry in entries {
            save(&mut out, entry);
        }
    }
    out.push(END);
    let checksum = CHECKSUM.checksum(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

fn header(out: &mut Vec<u8>, aux: &Aux) {
    let mut field = |name: &[u8], text: &[u8]| {
        out.push(AUX);
        output::string(out, name);
        output::string(out, text);
    };
    field(b"redis-ver", b"7.0.15");
    field(b"redis-bits", b"64");
    field(b"ctime", aux.ctime.to_string().as_bytes());
    if let Some(stream) = &aux.stream {
        let db = stream.db.map_or_else(|| "-1".to_owned(), |db| db.to_string());
        field(b"repl-stream-db", db.as_bytes());
        field(b"repl-id", &stream.id);
        field(b"repl-offset", stream.offset.to_string().as_bytes());
    }
    field(b"aof-base", if aux.aof_base { b"1" } else { b"0" });
}

fn save(out: &mut Vec<u8>, entry: Saved<'_>) {
    if entry.record != is_record(entry.value, entry.expires) {
        out.push(AUX);
        output::string(out, RECORD);
        output::string(out, if entry.record { b"1" } else { b"0" });
    }
    if let Some(when) = entry.expires {
        out.push(EXPIRES_MS);
        out.extend_from_slice(&when.to_le_bytes());
    }
    out.push(value::kind_of(entry.value));
    output::string(out, entry.key);
    value::encode(out, entry.value);
}

/// True if an entry is taken for a lock's when the snapshot does not say: a string with an expiry, or a hash.
fn is_record(value: &Value, expires: Option<i64>) -> bool {
    match value {
        Value::String(_) => expires.is_some(),
        Value::Hash(_) => true,
        Value::List(_) | Value::Set(_) | Value::SortedSet(_) => false,
    }
}

/// The content of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Content {
    /// The facts about itself.
    pub(crate) aux: Aux,
    /// Its entries in their order.
    pub(crate) entries: Vec<Loaded>,
}

/// Reads a snapshot.
pub(crate) fn decode(bytes: &[u8]) -> Result<Content, RdbError> {
    let mut input = Input::new(bytes);
    let version = version(&mut input)?;
    let mut aux = Aux::default();
    let mut stream = StreamAt { db: None, id: Vec::new(), offset: 0 };
    let mut entries = Vec::new();
    let mut db = 0;
    let mut expires = None;
    let mut record = None;
    loop {
        match input.byte()? {
            END => break,
            DATABASE => {
                db = u32::try_from(input.length()?)
                    .map_err(|_| RdbError::Corrupt("invalid database number"))?;
            }
            SIZES => {
                input.length()?;
                input.length()?;
            }
            EXPIRES_MS => expires = Some(input.signed(8)?),
            EXPIRES => expires = Some(input.signed(4)? * 1000),
            IDLE => drop(input.length()?),
            FREQUENCY => drop(input.byte()?),
            FUNCTION | FUNCTION_PRERELEASE => return Err(RdbError::Unsupported("functions")),
            MODULE_AUX => return Err(RdbError::Unsupported("data of modules")),
            AUX => {
                let (name, text) = (input.string()?, input.string()?);
                match name.as_slice() {
                    b"ctime" => aux.ctime = resp::integer(&text).unwrap_or(0),
                    b"repl-stream-db" => stream.db = number(&text).and_then(|db| u32::try_from(db).ok()),
                    b"repl-id" => stream.id = text,
                    b"repl-offset" => stream.offset = number(&text).unwrap_or(0),
                    b"aof-base" => aux.aof_base = text == b"1",
                    RECORD => record = Some(text == b"1"),
                    _ => {}
                }
            }
            kind => {
                let key = input.string()?;
                let (expires, record) = (expires.take(), record.take());
                if let Some(value) = value::decode(kind, &mut input)? {
                    let record = record.unwrap_or_else(|| is_record(&value, expires));
                    entries.push(Loaded { db, key, value, expires, record });
                }
            }
        }
    }
    let covered = bytes.len() - input.len();
    if version >= 5 {
        let checksum = u64::from_le_bytes(input.array()?);
        if checksum != 0 && checksum != CHECKSUM.checksum(&bytes[..covered]) {
            return Err(RdbError::Checksum);
        }
    }
    aux.stream = (!stream.id.is_empty()).then_some(stream);
    Ok(Content { aux, entries })
}

fn version(input: &mut Input<'_>) -> Result<u32, RdbError> {
    let signature: [u8; 9] = input.array()?;
    let digits = signature.strip_prefix(b"REDIS").ok_or(RdbError::Signature)?;
    let version = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    match version.unwrap_or(0) {
        version if (1..=u32::from(VERSION)).contains(&version) => Ok(version),
        version => Err(RdbError::Version(version)),
    }
}

fn number(text: &[u8]) -> Option<u64> {
    resp::integer(text).and_then(|number| u64::try_from(number).ok())
}
