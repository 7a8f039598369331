//! What 3.7 leaves out of the answer to a request for keys alone: it answers from the index of keys, which knows no leases.
//!
//! *Source:* `RangeOptions.FastKeysOnly` in `storage/mvcc` of etcd 3.7.3: keys that are sorted by their values are read as before.

use crate::messages::{Answered, Asked, RangeRequest, RangeResponse, SortTarget, TxnRequest, TxnResponse};

/// Takes the leases out of the keys that a range has found.
pub(super) fn of_range(request: &RangeRequest, answer: &mut RangeResponse) {
    if request.keys_only && request.sort_target() != SortTarget::Value {
        answer.kvs.iter_mut().for_each(|kv| kv.lease = 0);
    }
}

/// The same in all answers of a transaction.
pub(super) fn of_transaction(request: &TxnRequest, answer: &mut TxnResponse) {
    let operations = if answer.succeeded { &request.success } else { &request.failure };
    for (operation, response) in operations.iter().zip(&mut answer.responses) {
        match (&operation.asked, &mut response.answered) {
            (Some(Asked::Range(request)), Some(Answered::Range(answer))) => of_range(request, answer),
            (Some(Asked::Txn(request)), Some(Answered::Txn(answer))) => of_transaction(request, answer),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{KeyValue, RequestOp, ResponseOp};

    fn found(lease: i64) -> RangeResponse {
        RangeResponse { kvs: vec![KeyValue { lease, ..KeyValue::default() }], ..RangeResponse::default() }
    }

    fn keys_sorted_by(target: SortTarget) -> RangeRequest {
        RangeRequest { keys_only: true, sort_target: target.into(), ..RangeRequest::default() }
    }

    #[test]
    fn keys_alone_have_no_lease_unless_they_are_sorted_by_their_values() {
        for (target, lease) in [(SortTarget::Key, 0), (SortTarget::Mod, 0), (SortTarget::Value, 7)] {
            let mut answer = found(7);
            of_range(&keys_sorted_by(target), &mut answer);
            assert_eq!(answer, found(lease));
        }
        let mut answer = found(7);
        of_range(&RangeRequest::default(), &mut answer);
        assert_eq!(answer, found(7));
    }

    #[test]
    fn so_it_is_within_transactions() {
        let asked = |asked| vec![RequestOp { asked: Some(asked) }];
        let inner = TxnRequest {
            failure: asked(Asked::Range(keys_sorted_by(SortTarget::Key))),
            ..TxnRequest::default()
        };
        let request = TxnRequest { success: asked(Asked::Txn(inner)), ..TxnRequest::default() };
        let answered = |answered| vec![ResponseOp { answered: Some(answered) }];
        let answer = |lease| TxnResponse {
            succeeded: true,
            responses: answered(Answered::Txn(TxnResponse {
                responses: answered(Answered::Range(found(lease))),
                ..TxnResponse::default()
            })),
            ..TxnResponse::default()
        };
        let mut given = answer(7);
        of_transaction(&request, &mut given);
        assert_eq!(given, answer(0));
    }
}
