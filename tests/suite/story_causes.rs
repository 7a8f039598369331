//! Checks of what a story says of answers and of the ends of leases, against the trace alone.

use picklock_campaign::story::Story;
use picklock_judge::history::History;
use picklock_model::ids::HostId;
use picklock_model::trace::{Event, Role, What};
use picklock_reports::Style;
use picklock_reports::story::timeline::{self, Detail};

/// The protocol of etcd, whose calls share a connection and are answered in any order.
const UNORDERED: [&str; 4] = ["KV/", "Lease/", "Watch/", "v3"];

/// The errors of a story about answers and leases; none if it passes.
pub(crate) fn faults(story: &Story) -> Vec<String> {
    let page = timeline::render(story, &Style { colour: false, width: 1_000 }, Detail::Relevant);
    let mut wrong = Vec::new();
    page.lines()
        .filter(|line| line.contains("→ no answer"))
        .for_each(|line| unanswered(story, line, &mut wrong));
    ended_leases(story, &page, &mut wrong);
    wrong
}

/// A request of which a line says that it was not answered was not: the connection brought nothing before the next request on it.
fn unanswered(story: &Story, line: &str, wrong: &mut Vec<String>) {
    let Some((before, request)) = line.split_once("→ ") else { return };
    if UNORDERED.iter().any(|call| request.contains(call)) {
        return;
    }
    let trace = &story.trace;
    let at = before.split_whitespace().next().unwrap_or_default();
    let target = request.split([':', ',']).next().unwrap_or_default();
    let is_named =
        |host: HostId, text: &str| text.split_whitespace().any(|word| word == trace.host_name(host));
    let sends = |event: &Event| {
        event.at.to_string() == at
            && is_named(event.host, before)
            && matches!(event.what, What::Sent { peer, .. } if trace.host_name(peer) == target)
            && story.wire.get(&event.id).is_some()
    };
    let Some(sent) = trace.events.iter().position(sends) else { return };
    let (asked, conn) = (&trace.events[sent], trace.events[sent].conn);
    let later = trace.events[sent + 1..].iter().filter(|event| event.conn == conn);
    let until_next =
        later.take_while(|event| !(event.host == asked.host && matches!(event.what, What::Sent { .. })));
    let own_accord = |text: &String| ["event:", "ping", "message "].iter().any(|word| text.starts_with(word));
    let answer = until_next.filter(|event| event.host != asked.host).find(|event| {
        matches!(event.what, What::Sent { .. }) && !story.wire.get(&event.id).is_some_and(own_accord)
    });
    if let Some(answer) = answer {
        wrong.push(format!("an answer was sent at {}: {line}", answer.at));
    }
}

/// A lease that is said to have run out was not renewed after that, and one that is said to have been revoked was counted by a member that
/// no longer led.
fn ended_leases(story: &Story, page: &str, wrong: &mut Vec<String>) {
    let history = History::of(&story.trace);
    for record in &history.records {
        let Some(ended) = record.ended.filter(|ended| matches!(ended.what, What::Expired { .. })) else {
            continue;
        };
        let over = history.ran_out(ended);
        let said = ["expired at", "had run out at", "had run out by"];
        let is_said = said.iter().any(|words| page.contains(&format!("{words} {over}")));
        let key = history.key_name(record.key);
        let renewed = story.trace.events.iter().find(|event| {
            event.host == ended.host
                && (over < event.at && event.id < ended.id && event.id > record.created.id)
                && matches!(&event.what, What::Extended { key: name } if name.as_str() == key)
        });
        if let Some(renewed) = renewed.filter(|_| is_said) {
            wrong.push(format!("the lease of `{key}` ran out at {over} and was renewed at {}", renewed.at));
        }
    }
    for line in page.lines().filter(|line| line.contains("revokes the lease of")) {
        let led = |event: &&Event| event.what == What::BecameLeader;
        let leaders = story.trace.events.iter().filter(led).map(|event| event.host);
        let named = leaders.filter(|host| line.contains(&format!("{}, the ", story.trace.host_name(*host))));
        if named.filter(|host| story.trace.role(*host) != Some(Role::Client)).count() == 0 {
            wrong.push(format!("no member led by whose clock a lease was over: {line}"));
        }
    }
}
