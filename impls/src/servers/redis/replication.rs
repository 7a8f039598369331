//! Asynchronous replication: the full copy, and the replica's side of the effect stream.
//!
//! The primary sends what its commands did, with absolute times, as Redis does since 7.0: `SET key value PXAT ms`, `DEL`
//! for a deletion, `UNLINK` for an expiry. The effects of one command are one segment, so that those of a
//! script arrive together without MULTI and EXEC. A full copy has the form of an append-only file, not of an RDB file.
//!
//! Left out on purpose: partial resynchronisation (every new link begins with a full copy), the replication identifier,
//! diskless loading, pings of the primary.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_sim::host::Origin;
use picklock_sim::stream::{ReadHalf, Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::journal;
use super::node::Node;
use super::resp::{self, Protocol, Reply, Requests};
use super::serve::Server;
use super::{PORT, PORT_TEXT};

/// How long a replica waits before it tries again to reach its primary.
const RECONNECT_AFTER: Duration = Duration::from_millis(100);

/// How often a replica acknowledges on an idle link. That is also how it finds out that its primary is gone.
const IDLE_ACK: Duration = Duration::from_secs(1);

/// Appends what a replica's PSYNC is answered with: where the stream begins, and everything before it.
pub(super) fn full_copy(node: &Node, reply: &mut Vec<u8>) {
    let identifier = "0".repeat(40);
    Reply::Status(format!("FULLRESYNC {identifier} {}", node.offset()).into()).encode(Protocol::Two, reply);
    Reply::Bulk(node.snapshot()).encode(Protocol::Two, reply);
}

/// Keeps a node in step with its primary, whenever it has one.
pub(super) async fn follow(server: Arc<Server>) {
    loop {
        let primary = server.shared().node.primary().map(str::to_owned);
        let Some(primary) = primary else {
            server.role_changed.notified().await;
            continue;
        };
        tokio::select! {
            biased;
            () = server.role_changed.notified() => {}
            () = keep_link(&server, &primary) => {}
        }
    }
}

/// Links to a primary, then waits a while after the link has broken.
async fn keep_link(server: &Server, primary: &str) {
    if let Ok(stream) = server.host.connect(primary, PORT).await {
        // A broken link is no news: the next one begins with a full copy.
        let _ = replicate(server, stream).await;
        server.shared().node.linked = false;
    }
    server.host.sleep(RECONNECT_AFTER).await;
}

async fn replicate(server: &Server, stream: Stream) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let mut out = Vec::new();
    resp::request(&mut out, &[b"REPLCONF", b"listening-port", PORT_TEXT]);
    resp::request(&mut out, &[b"PSYNC", b"?", b"-1"]);
    write.write_all(&out).await?;

    let mut requests = synchronise(server, &mut read).await?;
    let mut origin = read.origin();
    loop {
        while let Some(request) = requests.take().map_err(io::Error::other)? {
            let now = server.host.wall();
            let mut shared = server.shared();
            let effects = shared.node.apply(now, &request);
            server.publish(&mut shared, origin, effects);
        }
        out.clear();
        let offset = server.shared().node.offset().to_string();
        resp::request(&mut out, &[b"REPLCONF", b"ACK", offset.as_bytes()]);
        write.answer_to(origin);
        write.write_all(&out).await?;
        origin = match server.host.timeout(IDLE_ACK, read.read_buf(requests.room())).await {
            Ok(len) => {
                if len? == 0 {
                    return Ok(());
                }
                read.origin()
            }
            Err(_) => Origin::default(),
        };
    }
}

/// Takes over the primary's full copy; what follows it is the effect stream.
async fn synchronise(server: &Server, read: &mut ReadHalf) -> io::Result<Requests> {
    let mut bytes = Vec::with_capacity(4 * 1024);
    let (offset, snapshot, end) = loop {
        if let Some(copy) = parse_full_copy(&bytes)? {
            break copy;
        }
        bytes.reserve(4 * 1024);
        if read.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let copy = journal::load(&snapshot, server.host.wall());
    let mut shared = server.shared();
    let effects = shared.resync(copy, offset);
    server.journal.replace(&snapshot);
    server.publish(&mut shared, read.origin(), effects);
    let mut requests = Requests::default();
    requests.room().extend_from_slice(&bytes[end..]);
    Ok(requests)
}

/// Reads the answers to REPLCONF and PSYNC: the offset, the copy, and where they end; `None` when more has to come.
fn parse_full_copy(bytes: &[u8]) -> io::Result<Option<(u64, Vec<u8>, usize)>> {
    let mut at = 0;
    let mut next = || -> io::Result<Option<Reply>> {
        let Some((reply, len)) = Reply::decode(&bytes[at..]).map_err(io::Error::other)? else {
            return Ok(None);
        };
        at += len;
        Ok(Some(reply))
    };
    let (Some(_), Some(begin), Some(copy)) = (next()?, next()?, next()?) else { return Ok(None) };
    let offset = match &begin {
        Reply::Status(text) => text.strip_prefix("FULLRESYNC ").and_then(|text| text.split(' ').nth(1)),
        _ => None,
    };
    match (offset.and_then(|offset| offset.parse().ok()), copy) {
        (Some(offset), Reply::Bulk(snapshot)) => Ok(Some((offset, snapshot, at))),
        _ => Err(io::Error::other("the primary did not answer with a full copy")),
    }
}
