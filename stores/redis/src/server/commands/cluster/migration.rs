//! CLUSTER MIGRATION, and CLUSTER SYNCSLOTS, by which the two nodes of a migration talk (Redis 8.4 `cluster_asm.c`).

use super::args::{self, slot};
use crate::protocol::resp::Reply;
use crate::server::commands::{SYNTAX, count, wrong_arity};
use crate::server::node::{Answer, Next, Node, SessionId, SlotRanges, SlotState, SlotTask};

const ARITY: &str = "cluster|migration";
const UNKNOWN: Reply = Reply::error("ERR unknown argument");

/// CLUSTER MIGRATION (IMPORT first last [first last ...] | STATUS (ID id | ALL) | CANCEL (ID id | ALL)).
pub(super) fn migration(node: &mut Node, args: &[&[u8]]) -> Result<Reply, Reply> {
    let is = |at: usize, word: &[u8]| args[at].eq_ignore_ascii_case(word);
    if is(2, b"IMPORT") {
        if !args[3..].len().is_multiple_of(2) {
            return Err(wrong_arity(ARITY));
        }
        return node.import_slots(ranges(&args[3..])?).map(|id| Reply::text(&id));
    }
    let asks = is(2, b"STATUS");
    if !asks && !is(2, b"CANCEL") {
        return Err(UNKNOWN);
    }
    let id = match args.len() {
        4 if is(3, b"ALL") => None,
        5 if is(3, b"ID") => Some(args[4]),
        4 | 5 if is(3, b"ALL") || is(3, b"ID") => return Err(wrong_arity(ARITY)),
        4 | 5 => return Err(UNKNOWN),
        _ => return Err(wrong_arity(ARITY)),
    };
    if !asks {
        return Ok(count(node.cancel_slots(id)));
    }
    let tasks = node.slot_tasks.current.iter().chain(&node.slot_tasks.ended);
    let named = tasks.filter(|task| id.is_none_or(|id| task.id.as_bytes() == id));
    let me = node.cluster.as_ref().map(|cluster| cluster.me);
    Ok(Reply::Array(named.map(|task| status(task, Some(task.dest) == me)).collect()))
}

/// Ranges of slots that do not overlap, in order; those that follow one another are one.
fn ranges(words: &[&[u8]]) -> Result<SlotRanges, Reply> {
    let numbers = words.iter().map(|arg| slot(arg)).collect::<Result<Vec<u16>, Reply>>()?;
    let mut ranges = args::ranges(&numbers)?;
    ranges.sort_unstable();
    if let Some(pair) = ranges.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
        let slot = pair[1].0;
        return Err(Reply::Error(format!("ERR Slot {slot} specified multiple times").into()));
    }
    ranges.dedup_by(|next, before| {
        let follows = before.1 + 1 == next.0;
        if follows {
            before.1 = next.1;
        }
        follows
    });
    Ok(ranges)
}

fn status(task: &SlotTask, imports: bool) -> Reply {
    let text = |name: &str, value: &str| (Reply::text(name), Reply::text(value));
    let number = |name: &str, value: i64| (Reply::text(name), Reply::Integer(value));
    let paused = task.paused_ms.filter(|_| !imports && task.state == SlotState::Completed);
    Reply::Map(vec![
        text("id", &task.id),
        text("slots", &task.ranges()),
        text("source", &task.source.to_string()),
        text("dest", &task.dest.to_string()),
        text("operation", if imports { "import" } else { "migrate" }),
        text("state", task.state.name()),
        text("last_error", &task.error),
        number("retries", task.retries),
        number("create_time", task.created_ms),
        number("start_time", task.started_ms),
        number("end_time", task.ended_ms),
        number("write_pause_ms", paused.map_or(0, |paused| task.ended_ms - paused)),
    ])
}

/// CLUSTER SYNCSLOTS (SYNC id first last [first last ...] | ACK state offset), from another node of the cluster.
pub(super) fn sync_slots(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[2].eq_ignore_ascii_case(word);
    let peer = &node.session(id).peer;
    let is_node = |cluster: &crate::server::cluster::Cluster| {
        cluster.peers.values().any(|other| other.place.host == *peer)
    };
    if !node.cluster.as_deref().is_some_and(is_node) {
        node.session_mut(id).leaving = true;
        return Err(Reply::error("ERR CLUSTER SYNCSLOTS subcommands are only allowed for internal clients"));
    }
    match args {
        [_, _, _, task, slots @ ..] if is(b"SYNC") && !slots.is_empty() => {
            if !slots.len().is_multiple_of(2) {
                return Err(wrong_arity("cluster|syncslots"));
            }
            node.export_slots(id, task, ranges(slots)?)?;
        }
        [_, _, _, _, _] if is(b"ACK") => node.hand_off(id),
        _ => return Err(SYNTAX),
    }
    Ok(Answer::silent(Next::Continue))
}
