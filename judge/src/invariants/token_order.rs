//! I3: fencing tokens show the order of grants.
//!
//! Three demands. Tokens strictly increase in grant order, key by key, and a tie breaks that as well: two holders
//! with one token cannot be distinguished. The highest token that the resource has applied never falls. And the
//! resource never refuses a holder whose grant a quorum of running stores still keeps.
//!
//! Only grants that a client has seen are compared: the token of a grant whose reply was lost is known to nobody and
//! can harm nobody. Where no server reported when a grant was made, it was between its request and its answer: then two grants
//! break the order only if it is sure which came first, and tokens that fall in the order of the answers alone leave it open.
//! Source: Kleppmann, "How to do distributed locking" (2016), "Making the lock safe with fencing".

use std::collections::BTreeMap;

use picklock_model::ids::Token;

use super::findings::{cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Operation, OperationKind, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "token-order",
    number: "I3",
    property: "tokens strictly increase in grant order, and the holder of the latest is never refused",
    promise: Promise::Tokens,
    severity: 4,
    evidence: Evidence::Clients,
    recorded: Recorded::ByTokens,
    check,
};

fn check(history: &History<'_>) -> Outcome {
    match history.grants().filter(|(_, grant)| grant.token.is_some()).count() {
        0 => return Outcome::NotApplicable,
        1 => return Outcome::NotAsked("fewer than two grants carried a token".to_owned()),
        _ => {}
    }
    let mut findings = Vec::new();
    let open = in_grant_order(history, &mut findings);
    at_the_resource(history, &mut findings);
    refused_in_vain(history, &mut findings);
    if findings.is_empty() && open {
        let why =
            "no server reported which of two grants came first, and their tokens fall as they were answered";
        return Outcome::Undecided(why.to_owned());
    }
    judged(history, findings)
}

/// The findings of tokens that fell in the order in which the resource applied its operations, whatever the order of the grants.
pub(crate) fn fallen(history: &History<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    at_the_resource(history, &mut findings);
    findings
}

/// The refusals of holders whose grant a quorum of running stores still kept.
pub(crate) fn refusals(history: &History<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    refused_in_vain(history, &mut findings);
    findings
}

/// A grant with its token.
type Held<'h, 't> = (&'h Section<'t>, &'h Granted<'t>, Token);

/// Each token is compared with the highest of the grants of its key that surely came earlier, so that one that is far too high
/// is found out by every later one. True if a token is too low only if the answers came in the order of the grants.
fn in_grant_order(history: &History<'_>, findings: &mut Vec<Finding>) -> bool {
    let by_latest: Vec<Held<'_, '_>> =
        history.grants().filter_map(|(section, grant)| Some((section, grant, grant.token?))).collect();
    let mut by_earliest = by_latest.clone();
    by_earliest.sort_by_key(|(_, grant, _)| (grant.earliest, grant.rank));
    let mut highest: Vec<Option<Held<'_, '_>>> = vec![None; history.keys.len()];
    let mut known: BTreeMap<(usize, Token), Held<'_, '_>> = BTreeMap::new();
    let mut earlier = by_latest.iter().peekable();
    for one in &by_earliest {
        let (section, grant, token) = one;
        while let Some(before) = earlier.next_if(|(_, before, _)| before.surely_before(grant)) {
            raise(&mut highest[before.0.key], before);
        }
        match &highest[section.key] {
            Some(before) if *token <= before.2 => findings.push(fallen_to(history, before, one)),
            _ => {
                if let Some(other) = known.get(&(section.key, *token)) {
                    findings.push(tie(history, other, one));
                }
            }
        }
        known.entry((section.key, *token)).or_insert(*one);
    }
    let mut highest: Vec<Option<Held<'_, '_>>> = vec![None; history.keys.len()];
    by_latest.iter().any(|one| {
        let falls = highest[one.0.key].is_some_and(|before| one.2 < before.2);
        raise(&mut highest[one.0.key], one);
        falls
    })
}

fn raise<'h, 't>(highest: &mut Option<Held<'h, 't>>, one: &Held<'h, 't>) {
    if highest.is_none_or(|known| known.2 < one.2) {
        *highest = Some(*one);
    }
}

fn fallen_to(history: &History<'_>, earlier: &Held<'_, '_>, later: &Held<'_, '_>) -> Finding {
    let text = format!(
        "{} had got token {} for `{}`, and {}, granted later, got {}",
        who(history, earlier.0.id),
        earlier.2,
        history.key_name(later.0.key),
        who(history, later.0.id),
        later.2,
    );
    pair(text, earlier, later)
}

/// Two with one token cannot be distinguished, whichever came first.
fn tie(history: &History<'_>, one: &Held<'_, '_>, other: &Held<'_, '_>) -> Finding {
    let (one, other) = if one.1.rank < other.1.rank { (one, other) } else { (other, one) };
    let (name, other_name) = (who(history, one.0.id), who(history, other.0.id));
    let key = history.key_name(one.0.key);
    pair(format!("{name} and {other_name} both got token {} for `{key}`", one.2), one, other)
}

fn pair(text: String, one: &Held<'_, '_>, other: &Held<'_, '_>) -> Finding {
    Finding {
        text,
        grants: vec![one.0.id, other.0.id],
        events: cite([one.1.acquired, other.1.acquired]),
        width: None,
    }
}

fn at_the_resource(history: &History<'_>, findings: &mut Vec<Finding>) {
    let mut highest: Vec<Option<&Operation<'_>>> = vec![None; history.keys.len()];
    for operation in history.operations.iter().filter(|operation| operation.token.is_some()) {
        match &mut highest[operation.key] {
            Some(before) if operation.token < before.token => {
                let (Some(token), Some(high)) = (operation.token, before.token) else { continue };
                let ids = [before, operation].map(|one| one.section.map(|at| history.sections[at].id));
                findings.push(Finding {
                    text: format!(
                        "the resource applied an operation on `{}` with token {token} after one with {high}",
                        history.key_name(operation.key),
                    ),
                    grants: ids.into_iter().flatten().collect(),
                    events: cite([before.event, operation.event]),
                    width: None,
                });
            }
            highest => *highest = Some(operation),
        }
    }
}

fn refused_in_vain(history: &History<'_>, findings: &mut Vec<Finding>) {
    let quorum = history.trace.quorum;
    for operation in &history.operations {
        let OperationKind::Refused { standing } = operation.kind else { continue };
        let Some(section) = operation.section.map(|at| &history.sections[at]) else { continue };
        // Without stores there is nothing that could still keep the grant.
        if quorum == 0 || standing < quorum {
            continue;
        }
        let acquired = section.grant.as_ref().map(|grant| grant.acquired);
        findings.push(Finding {
            text: format!(
                "the resource refused {} on `{}` while {standing} of the stores still kept its grant",
                who(history, section.id),
                history.key_name(operation.key),
            ),
            grants: vec![section.id],
            events: cite(acquired.into_iter().chain([operation.event])),
            width: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::GrantId;
    use picklock_model::trace::{Content, Trace, What};
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    /// Grants of one client, one after another, with these tokens.
    fn granted(tokens: &[Option<u64>]) -> Trace {
        let add = |script: Script, (at, token): (u32, &Option<u64>)| {
            let grant = section(0, at + 1);
            script.at(u64::from(at) * 10).waits(grant).acquires_with(grant, *token, None)
        };
        (0..).zip(tokens).fold(Script::new(), add).trace()
    }

    #[test]
    fn increasing_tokens_hold() {
        assert_eq!(judge(&INVARIANT, &granted(&[Some(1), Some(2), Some(7)])), Outcome::Holds);
    }

    #[test]
    fn a_falling_token_is_found() {
        let trace = granted(&[Some(7), Some(5)]);
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, A2]);
        assert_eq!(cited(&trace, &found), ["0 client-1 acquired", "10 client-1 acquired"]);
        let text = "client-1 (section 1) had got token 7 for `stock`, and client-1 (section 2), granted later, got 5";
        assert_eq!(found.text, text);
    }

    #[test]
    fn a_tie_is_found_and_so_is_every_grant_below_one_that_is_too_high() {
        assert_eq!(finding(&INVARIANT, &granted(&[Some(7), Some(7)])).grants, [A1, A2]);
        let found = findings(&INVARIANT, &granted(&[Some(1), Some(9), Some(3), Some(4)]));
        assert!(found.iter().all(|found| found.grants[0] == A2), "{found:#?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn order_is_that_of_the_store_and_not_of_the_returns() {
        let script = Script::new().at(0).waits(A1).waits(B1).at(5).creates(A1, NODE_1).at(6).expires(NODE_1);
        let script = script.at(7).creates(B1, NODE_1).at(10).acquires_with(B1, Some(2), None);
        assert_eq!(
            judge(&INVARIANT, &script.at(20).acquires_with(A1, Some(1), None).trace()),
            Outcome::Holds
        );
    }

    #[test]
    fn where_no_server_reports_grants_only_what_is_sure_of_their_order_is_judged() {
        // A1 learns late what it was granted before B1: by their answers alone the tokens fall.
        let granted = |asked: u64, first: u64, second: u64| {
            let script = Script::new().at(0).waits(A1).at(asked).waits(B1);
            script
                .at(30)
                .acquires_with(B1, Some(first), None)
                .at(40)
                .acquires_with(A1, Some(second), None)
                .trace()
        };
        assert!(is_unknown(&INVARIANT, &granted(5, 2, 1)));
        assert_eq!(judge(&INVARIANT, &granted(5, 1, 2)), Outcome::Holds);
        let tie = finding(&INVARIANT, &granted(5, 2, 2));
        assert_eq!(tie.text, "client-2 (section 1) and client-1 (section 1) both got token 2 for `stock`");
        // One had its answer before the other asked.
        let script = Script::new().at(0).waits(A1).at(10).acquires_with(A1, Some(2), None).at(20).waits(B1);
        assert_eq!(
            finding(&INVARIANT, &script.at(30).acquires_with(B1, Some(1), None).trace()).grants,
            [A1, B1]
        );
    }

    #[test]
    fn an_answer_shows_nothing_that_came_after_it_was_sent() {
        let sent = |script: Script, at: u64, arrives: u64| {
            let sent = What::Sent { peer: CLIENT_1, segment: 0, bytes: 9, content: Content::default() };
            let script = script.at(at).event(NODE_1, Some(A1), sent).at(arrives);
            script.event(CLIENT_1, Some(A1), What::Delivered { peer: NODE_1, segment: 0 })
        };
        let script = sent(Script::new().at(0).waits(A1), 10, 40).acquires_with(A1, Some(2), None);
        let mut trace = script.at(20).waits(B1).at(30).acquires_with(B1, Some(1), None).trace();
        let sent = trace.events.iter().find(|event| matches!(event.what, What::Sent { .. })).unwrap().id;
        for event in trace.events.iter_mut().filter(|event| matches!(event.what, What::Delivered { .. })) {
            event.cause = Some(sent);
        }
        assert_eq!(
            finding(&INVARIANT, &trace).grants,
            [A1, B1],
            "A1 was granted by 10 ms, and B1 asked at 20"
        );
    }

    #[test]
    fn keys_have_orders_of_their_own() {
        let script =
            Script::new().at(0).acquires_with(A1, Some(9), None).at(5).acquires_with(A2, Some(10), None);
        let trace = script.on("other").at(10).acquires_with(B1, Some(3), None).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_falling_token_at_the_resource_is_found() {
        let script =
            Script::new().at(0).acquires_with(A1, Some(1), None).at(5).acquires_with(B1, Some(2), None);
        let trace = script.at(10).reads(B1, 0).at(20).writes(A1, 1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(cited(&trace, &found), ["10 resource resource-read", "20 resource resource-written"]);
        assert_eq!(found.text, "the resource applied an operation on `stock` with token 1 after one with 2");
    }

    #[test]
    fn one_token_may_come_to_the_resource_again() {
        let script =
            Script::new().at(0).acquires_with(A1, Some(1), None).at(1).reads(A1, 0).at(2).writes(A1, 1);
        let trace =
            script.at(5).acquires_with(B1, Some(2), None).at(6).reads(B1, 1).at(7).writes(B1, 2).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    /// Two holders of three stores; the first one's record stays alive on stores 1 and 2 until it expires.
    fn two_of_three() -> Script {
        let script =
            Script::new().quorum(2).at(0).waits(A1).waits(B1).creates(A1, NODE_1).creates(A1, NODE_2);
        script.at(1).acquires_with(A1, Some(1), None).at(20).acquires_with(B1, Some(2), None)
    }

    #[test]
    fn a_holder_that_the_stores_still_keep_is_never_refused() {
        let trace = two_of_three().at(30).fenced_off(A1, 2).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1]);
        assert_eq!(cited(&trace, &found), ["1 client-1 acquired", "30 resource resource-refused"]);
        let text =
            "the resource refused client-1 (section 1) on `stock` while 2 of the stores still kept its grant";
        assert_eq!(found.text, text);
    }

    #[test]
    fn a_holder_that_too_few_stores_still_keep_may_be_refused() {
        let holds =
            |script: Script| judge(&INVARIANT, &script.at(30).fenced_off(A1, 2).trace()) == Outcome::Holds;
        assert!(holds(two_of_three().at(15).expires(NODE_2)));
        assert!(holds(two_of_three().at(15).deletes(A1, NODE_1)));
        assert!(holds(two_of_three().at(15).crashes(NODE_1)));
        assert!(holds(two_of_three().at(15).creates(B1, NODE_1)));
        assert!(holds(two_of_three().quorum(0)));
        assert!(!holds(two_of_three().at(15).creates(B1, NODE_3)));
    }

    #[test]
    fn what_a_client_with_several_tasks_has_made_is_no_proof_of_whose_it_is() {
        let other_task = GrantId { task: 1, ..A2 };
        let script = || two_of_three().at(25).waits(other_task);
        assert_eq!(judge(&INVARIANT, &script().at(30).fenced_off(A1, 2).trace()), Outcome::Holds);
        // By its records A1 came first; they may be of the other task.
        let fallen = || {
            let script =
                Script::new().at(0).waits(B1).waits(A1).creates(A1, NODE_1).at(1).creates(B1, NODE_2).at(10);
            script.acquires_with(A1, Some(2), None).acquires_with(B1, Some(1), None)
        };
        assert_eq!(findings(&INVARIANT, &fallen().trace()).len(), 1);
        assert!(is_unknown(&INVARIANT, &fallen().waits(other_task).trace()));
    }

    #[test]
    fn designs_without_tokens_are_not_judged_and_one_token_says_nothing() {
        assert_eq!(judge(&INVARIANT, &granted(&[None, None])), Outcome::NotApplicable);
        assert!(is_unknown(&INVARIANT, &granted(&[Some(1), None])));
    }

    proptest! {
        #[test]
        fn the_order_holds_exactly_if_the_tokens_strictly_increase(
            tokens in prop::collection::vec(0..12_u64, 2..6),
        ) {
            let tokens: Vec<_> = tokens.into_iter().map(Some).collect();
            let found = findings(&INVARIANT, &granted(&tokens));
            prop_assert_eq!(found.is_empty(), tokens.is_sorted_by(|one, other| one < other));
        }
    }
}
