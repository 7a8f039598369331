//! The messages of etcd in the words of a story: what a request is about, and what came of it.
//!
//! Leases are in hexadecimal digits, as the keys of etcd's own locks have them. `key*` stands for all keys with that prefix.

use std::fmt::{self, Display, Formatter};

use prost::Message;

use crate::messages::{
    Answered, Asked, CampaignResponse, Compare, CompareResult, Compared, DeleteRangeRequest,
    DeleteRangeResponse, Done, EventKind, Header, KeyValue, LeaderKey, LeaderRequest, LeaderResponse,
    LeaseGrantRequest, LeaseRequest, LeaseResponse, LockResponse, NamedRequest, PutRequest, RangeRequest,
    RangeResponse, RequestOp, ResponseOp, SortOrder, SortTarget, TxnRequest, TxnResponse, UnlockRequest,
    WatchEvent, WatchRequest, WatchResponse, Watching,
};

/// So many characters of a key, a value or an error are shown.
const LONG: usize = 64;

/// So many bytes of a value that is no text are shown: they distinguish owners.
const FEW: usize = 4;

/// So many keys, events or operations of one message are shown.
const MANY: usize = 4;

/// The content of a request, if its method is one that is known.
pub(super) fn request(method: &str, bytes: &[u8]) -> Option<String> {
    match method {
        "KV/Range" => say::<RangeRequest>(bytes),
        "KV/Put" => say::<PutRequest>(bytes),
        "KV/DeleteRange" => say::<DeleteRangeRequest>(bytes),
        "KV/Txn" => say::<TxnRequest>(bytes),
        "Watch/Watch" => say::<WatchRequest>(bytes),
        "Lease/LeaseGrant" => say::<LeaseGrantRequest>(bytes),
        "Lease/LeaseRevoke" | "Lease/LeaseKeepAlive" | "Lease/LeaseTimeToLive" => say::<LeaseRequest>(bytes),
        "v3lockpb.Lock/Lock"
        | "v3electionpb.Election/Campaign"
        | "v3electionpb.Election/Leader"
        | "v3electionpb.Election/Observe" => say::<NamedRequest>(bytes),
        "v3lockpb.Lock/Unlock" => say::<UnlockRequest>(bytes),
        "v3electionpb.Election/Proclaim" | "v3electionpb.Election/Resign" => say::<LeaderRequest>(bytes),
        _ => None,
    }
}

/// The content of a reply, if its method is one that is known.
pub(super) fn reply(method: &str, bytes: &[u8]) -> Option<String> {
    match method {
        "KV/Range" => say::<RangeResponse>(bytes),
        "KV/DeleteRange" => say::<DeleteRangeResponse>(bytes),
        "KV/Txn" => say::<TxnResponse>(bytes),
        "Watch/Watch" => say::<WatchResponse>(bytes),
        "Lease/LeaseGrant" | "Lease/LeaseKeepAlive" | "Lease/LeaseTimeToLive" => say::<LeaseResponse>(bytes),
        "v3lockpb.Lock/Lock" => say::<LockResponse>(bytes),
        "v3electionpb.Election/Campaign" => say::<CampaignResponse>(bytes),
        "v3electionpb.Election/Leader" | "v3electionpb.Election/Observe" => say::<LeaderResponse>(bytes),
        "KV/Put"
        | "Lease/LeaseRevoke"
        | "v3lockpb.Lock/Unlock"
        | "v3electionpb.Election/Proclaim"
        | "v3electionpb.Election/Resign" => say::<Done>(bytes),
        _ => None,
    }
}

fn say<M: Message + Default + Display>(bytes: &[u8]) -> Option<String> {
    M::decode(bytes).ok().map(|message| message.to_string())
}

/// Bytes as text, with characters that cannot be shown spelled out, and cut where they are long.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::new();
    for (nth, character) in text.chars().enumerate() {
        if nth == LONG {
            return shown + "..";
        }
        match character {
            character if character.is_control() => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

/// A key or a value: as text if it is some, else the first of its bytes in hexadecimal digits.
fn data(bytes: &[u8]) -> String {
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control));
    if is_text {
        return text(bytes);
    }
    let digits: String = bytes.iter().take(FEW).map(|byte| format!("{byte:02x}")).collect();
    format!("x{digits}{}", if bytes.len() > FEW { ".." } else { "" })
}

/// A key, or the keys from it to the end of a range.
fn keys(key: &[u8], end: &[u8]) -> String {
    match end {
        [] => data(key),
        [0] if key == [0] => "all keys".to_owned(),
        [0] => format!("{}.. and all behind it", data(key)),
        end if is_prefix(key, end) => format!("{}*", data(key)),
        end => format!("{} to {}", data(key), data(end)),
    }
}

/// True if a range is that of all keys with this prefix: it ends where the last byte is one higher.
fn is_prefix(key: &[u8], end: &[u8]) -> bool {
    let (Some((key_last, key)), Some((end_last, end))) = (key.split_last(), end.split_last()) else {
        return false;
    };
    key == end && key_last.checked_add(1) == Some(*end_last)
}

/// The first of some, and how many more there are.
fn list<T: Display>(all: &[T]) -> String {
    let mut shown: Vec<String> = all.iter().take(MANY).map(ToString::to_string).collect();
    if all.len() > MANY {
        shown.push(format!("{} more", all.len() - MANY));
    }
    shown.join(", ")
}

fn lease(to: &mut Formatter<'_>, id: i64) -> fmt::Result {
    if id == 0 { Ok(()) } else { write!(to, " lease={id:x}") }
}

/// Writes a number that is given.
fn number(to: &mut Formatter<'_>, name: &str, value: i64) -> fmt::Result {
    if value == 0 { Ok(()) } else { write!(to, " {name}={value}") }
}

fn revision(to: &mut Formatter<'_>, header: Option<&Header>) -> fmt::Result {
    number(to, "rev", header.map_or(0, |header| header.revision))
}

impl Display for RangeRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", keys(&self.key, &self.range_end))?;
        match self.sort_order() {
            SortOrder::None => {}
            SortOrder::Ascend => write!(to, " first={}", self.sort_target())?,
            SortOrder::Descend => write!(to, " last={}", self.sort_target())?,
        }
        number(to, "limit", self.limit)?;
        number(to, "rev", self.revision)?;
        number(to, "max_create", self.max_create_revision)?;
        if self.serializable { to.write_str(" serializable") } else { Ok(()) }
    }
}

impl Display for SortTarget {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            SortTarget::Key => "key",
            SortTarget::Version => "version",
            SortTarget::Create => "create",
            SortTarget::Mod => "mod",
            SortTarget::Value => "value",
        })
    }
}

impl RangeResponse {
    /// The keys that were found; how many there are, if there are more of them.
    fn found(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let shown = if self.kvs.is_empty() { "no keys".to_owned() } else { list(&self.kvs) };
        to.write_str(&shown)?;
        let is_more = usize::try_from(self.count).is_ok_and(|count| count > self.kvs.len());
        if is_more { number(to, "count", self.count) } else { Ok(()) }
    }
}

impl Display for RangeResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.found(to)?;
        revision(to, self.header.as_ref())
    }
}

impl Display for KeyValue {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", data(&self.key))?;
        if !self.value.is_empty() {
            write!(to, "={}", data(&self.value))?;
        }
        number(to, "create", self.create_revision)
    }
}

impl Display for PutRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", data(&self.key))?;
        if !self.value.is_empty() {
            write!(to, "={}", data(&self.value))?;
        }
        lease(to, self.lease)
    }
}

impl Display for DeleteRangeRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", keys(&self.key, &self.range_end))
    }
}

impl Display for DeleteRangeResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "deleted={}", self.deleted)?;
        revision(to, self.header.as_ref())
    }
}

impl Display for Done {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str("ok")?;
        revision(to, self.header.as_ref())
    }
}

impl Display for Compare {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let (what, value) = match &self.compared {
            Some(Compared::Version(number)) => ("version", number.to_string()),
            Some(Compared::Create(number)) => ("create", number.to_string()),
            Some(Compared::Mod(number)) => ("mod", number.to_string()),
            Some(Compared::Value(bytes)) => ("value", data(bytes)),
            Some(Compared::Lease(id)) => ("lease", format!("{id:x}")),
            None => ("key", "0".to_owned()),
        };
        let compared = match self.result() {
            CompareResult::Equal => "=",
            CompareResult::Greater => ">",
            CompareResult::Less => "<",
            CompareResult::NotEqual => "!=",
        };
        write!(to, "{what}({}){compared}{value}", keys(&self.key, &self.range_end))
    }
}

impl Display for RequestOp {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match &self.asked {
            Some(Asked::Range(asked)) => write!(to, "Range {asked}"),
            Some(Asked::Put(asked)) => write!(to, "Put {asked}"),
            Some(Asked::DeleteRange(asked)) => write!(to, "DeleteRange {asked}"),
            Some(Asked::Txn(asked)) => write!(to, "Txn ({asked})"),
            None => to.write_str("nothing"),
        }
    }
}

impl Display for TxnRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let otherwise = list(&self.failure);
        if !self.compare.is_empty() {
            write!(to, "if {} then ", list(&self.compare))?;
        }
        write!(to, "{}", if self.success.is_empty() { "nothing".to_owned() } else { list(&self.success) })?;
        if otherwise.is_empty() { Ok(()) } else { write!(to, " else {otherwise}") }
    }
}

/// One answer of those to a transaction: they share a revision.
impl Display for ResponseOp {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match &self.answered {
            Some(Answered::Range(answered)) => {
                to.write_str("Range ")?;
                answered.found(to)
            }
            Some(Answered::Put(_)) => to.write_str("Put"),
            Some(Answered::DeleteRange(answered)) => write!(to, "DeleteRange deleted={}", answered.deleted),
            Some(Answered::Txn(answered)) => write!(to, "Txn ({answered})"),
            None => to.write_str("nothing"),
        }
    }
}

impl Display for TxnResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "succeeded={}", self.succeeded)?;
        revision(to, self.header.as_ref())?;
        if self.responses.is_empty() { Ok(()) } else { write!(to, ": {}", list(&self.responses)) }
    }
}

impl Display for WatchRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match &self.watching {
            Some(Watching::Create(create)) => {
                write!(to, "{}", keys(&create.key, &create.range_end))?;
                number(to, "rev", create.start_revision)
            }
            Some(Watching::Cancel(cancel)) => write!(to, "cancel {}", cancel.watch_id),
            Some(Watching::Progress(_)) => to.write_str("progress"),
            None => to.write_str("nothing"),
        }
    }
}

impl Display for WatchResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.watch_id)?;
        match (self.canceled, self.created) {
            (true, _) if self.cancel_reason.is_empty() => to.write_str(" is cancelled")?,
            (true, _) => write!(to, " is cancelled: {}", text(self.cancel_reason.as_bytes()))?,
            (_, true) => to.write_str(" is created")?,
            _ if self.events.is_empty() => to.write_str(" has no event")?,
            _ => write!(to, ": {}", list(&self.events))?,
        }
        revision(to, self.header.as_ref())
    }
}

impl Display for WatchEvent {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let key = self.kv.as_ref().map(|kv| data(&kv.key)).unwrap_or_default();
        match self.kind() {
            EventKind::Put => write!(to, "Put {key}"),
            EventKind::Delete => write!(to, "Delete {key}"),
        }
    }
}

impl Display for LeaseGrantRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "ttl={}s", self.ttl)?;
        lease(to, self.id)
    }
}

impl Display for LeaseResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "lease={:x} ttl={}s", self.id, self.ttl)
    }
}

impl Display for LeaseRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "lease={:x}", self.id)
    }
}

impl Display for NamedRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", data(&self.name))?;
        lease(to, self.lease)
    }
}

impl Display for LockResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", data(&self.key))?;
        revision(to, self.header.as_ref())
    }
}

impl Display for UnlockRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", data(&self.key))
    }
}

impl Display for LeaderKey {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}", data(&self.key))?;
        number(to, "create", self.rev)
    }
}

impl Display for LeaderRequest {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.leader.as_ref().map_or(Ok(()), |leader| write!(to, "{leader}"))
    }
}

impl Display for CampaignResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.leader.as_ref().map_or(Ok(()), |leader| write!(to, "{leader}"))?;
        revision(to, self.header.as_ref())
    }
}

impl Display for LeaderResponse {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.kv.as_ref().map_or(Ok(()), |kv| write!(to, "{kv}"))?;
        revision(to, self.header.as_ref())
    }
}
