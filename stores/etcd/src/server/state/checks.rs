//! Requests that etcd refuses before it does anything.
//!
//! *Source:* etcd's `etcdserver/api/v3rpc/key.go`, 3.6. Up to 3.4 nobody looks whether an order is one that there is.

use std::collections::BTreeSet;

use crate::grpc::status::Status;
use crate::messages::{
    Asked, DeleteRangeRequest, PutRequest, RangeRequest, RequestOp, SortOrder, SortTarget, TxnRequest,
};

/// The most operations of one list (`max-txn-ops`).
const MOST_OPERATIONS: usize = 128;

/// Refuses a range without a key, or in an order that there is not.
pub(crate) fn check_range(request: &RangeRequest) -> Result<(), Status> {
    if request.key.is_empty() {
        return Err(Status::empty_key());
    }
    let is_order =
        SortOrder::try_from(request.sort_order).is_ok() && SortTarget::try_from(request.sort_target).is_ok();
    if is_order { Ok(()) } else { Err(Status::invalid_sort_option()) }
}

/// Refuses a put without a key, or with what it says is to be ignored.
pub(crate) fn check_put(request: &PutRequest) -> Result<(), Status> {
    if request.key.is_empty() {
        return Err(Status::empty_key());
    }
    if request.ignore_value && !request.value.is_empty() {
        return Err(Status::value_provided());
    }
    if request.ignore_lease && request.lease != 0 {
        return Err(Status::lease_provided());
    }
    Ok(())
}

/// Refuses a deletion without a key.
pub(crate) fn check_delete(request: &DeleteRangeRequest) -> Result<(), Status> {
    if request.key.is_empty() { Err(Status::empty_key()) } else { Ok(()) }
}

/// Refuses a transaction with too many operations, with one that is refused by itself, or which changes a key twice.
pub(crate) fn check_transaction(request: &TxnRequest) -> Result<(), Status> {
    check_operations(request, MOST_OPERATIONS)?;
    puts_and_deletions(&request.success)?;
    puts_and_deletions(&request.failure)?;
    Ok(())
}

fn check_operations(request: &TxnRequest, most: usize) -> Result<(), Status> {
    let longest = request.compare.len().max(request.success.len()).max(request.failure.len());
    if longest > most {
        return Err(Status::too_many_operations());
    }
    if request.compare.iter().any(|compare| compare.key.is_empty()) {
        return Err(Status::empty_key());
    }
    for operation in request.success.iter().chain(&request.failure) {
        match &operation.asked {
            Some(Asked::Range(range)) => check_range(range)?,
            Some(Asked::Put(put)) => check_put(put)?,
            Some(Asked::DeleteRange(delete)) => check_delete(delete)?,
            Some(Asked::Txn(inner)) => check_operations(inner, most - longest)?,
            None => return Err(Status::key_not_found()),
        }
    }
    Ok(())
}

/// The keys that operations put, and the ranges that they delete, inner transactions included.
type Touched<'r> = (BTreeSet<&'r [u8]>, Vec<&'r DeleteRangeRequest>);

/// What operations change.
///
/// # Errors
/// When a key is put twice, or put and deleted. Both lists of an inner transaction may put the same key, as only one is carried out.
fn puts_and_deletions(operations: &[RequestOp]) -> Result<Touched<'_>, Status> {
    let asked = || operations.iter().filter_map(|operation| operation.asked.as_ref());
    let mut deletions: Vec<&DeleteRangeRequest> = asked()
        .filter_map(|asked| if let Asked::DeleteRange(delete) = asked { Some(delete) } else { None })
        .collect();
    let mut puts: BTreeSet<&[u8]> = BTreeSet::new();
    for inner in asked().filter_map(|asked| if let Asked::Txn(inner) = asked { Some(inner) } else { None }) {
        let (on_success, deleted_on_success) = puts_and_deletions(&inner.success)?;
        let (on_failure, deleted_on_failure) = puts_and_deletions(&inner.failure)?;
        let is_deleted = |key: &&[u8]| deletions.iter().any(|deletion| deletes(deletion, key));
        let clashes = on_success.iter().any(|key| puts.contains(key) || is_deleted(key))
            || on_failure
                .iter()
                .any(|key| (puts.contains(key) && !on_success.contains(key)) || is_deleted(key));
        if clashes {
            return Err(Status::duplicate_key());
        }
        puts.extend(on_success);
        puts.extend(on_failure);
        deletions.extend(deleted_on_success);
        deletions.extend(deleted_on_failure);
    }
    for put in asked().filter_map(|asked| if let Asked::Put(put) = asked { Some(put) } else { None }) {
        let key = put.key.as_slice();
        if deletions.iter().any(|deletion| deletes(deletion, key)) || !puts.insert(key) {
            return Err(Status::duplicate_key());
        }
    }
    Ok((puts, deletions))
}

/// True if a deletion takes this key, as far as etcd looks: one of all keys from its own on it takes for one of none.
fn deletes(deletion: &DeleteRangeRequest, key: &[u8]) -> bool {
    let from = deletion.key.as_slice();
    match deletion.range_end.as_slice() {
        [] => key == from,
        end => key >= from && key < end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Compare;

    fn put(key: &str) -> RequestOp {
        let put = PutRequest { key: key.as_bytes().to_vec(), ..PutRequest::default() };
        RequestOp { asked: Some(Asked::Put(put)) }
    }

    fn delete(key: &str, end: &str) -> RequestOp {
        let (key, range_end) = (key.as_bytes().to_vec(), end.as_bytes().to_vec());
        RequestOp { asked: Some(Asked::DeleteRange(DeleteRangeRequest { key, range_end, prev_kv: false })) }
    }

    fn either(success: Vec<RequestOp>, failure: Vec<RequestOp>) -> TxnRequest {
        TxnRequest { compare: Vec::new(), success, failure }
    }

    fn inner(success: Vec<RequestOp>, failure: Vec<RequestOp>) -> RequestOp {
        RequestOp { asked: Some(Asked::Txn(either(success, failure))) }
    }

    fn checked(operations: Vec<RequestOp>) -> Result<(), Status> {
        check_transaction(&either(operations, Vec::new()))
    }

    #[test]
    fn a_key_is_put_once() {
        assert_eq!(checked(vec![put("a"), put("a")]), Err(Status::duplicate_key()));
        assert_eq!(checked(vec![put("a"), put("b")]), Ok(()));
    }

    #[test]
    fn each_list_may_put_a_key() {
        assert_eq!(check_transaction(&either(vec![put("a")], vec![put("a")])), Ok(()));
        assert_eq!(checked(vec![inner(vec![put("a")], vec![put("a")])]), Ok(()));
    }

    #[test]
    fn a_key_is_not_put_where_an_inner_transaction_puts_it() {
        assert_eq!(checked(vec![inner(Vec::new(), vec![put("a")]), put("a")]), Err(Status::duplicate_key()));
        let two = vec![inner(vec![put("a")], Vec::new()), inner(vec![put("a")], Vec::new())];
        assert_eq!(checked(two), Err(Status::duplicate_key()));
    }

    #[test]
    fn a_key_is_not_put_where_it_is_deleted() {
        assert_eq!(checked(vec![put("b"), delete("a", "c")]), Err(Status::duplicate_key()));
        let within = vec![delete("b", ""), inner(vec![put("b")], Vec::new())];
        assert_eq!(checked(within), Err(Status::duplicate_key()));
        assert_eq!(checked(vec![put("c"), delete("a", "c")]), Ok(()));
    }

    #[test]
    fn a_deletion_of_all_keys_from_one_on_is_not_looked_at() {
        assert_eq!(checked(vec![put("b"), delete("a", "\0")]), Ok(()));
    }

    #[test]
    fn an_inner_transaction_has_what_the_outer_one_leaves_of_the_operations() {
        let many = |count: usize| (0..count).map(|number| put(&number.to_string())).collect::<Vec<_>>();
        assert_eq!(checked(many(128)), Ok(()));
        assert_eq!(checked(many(129)), Err(Status::too_many_operations()));
        assert_eq!(checked(vec![inner(many(127), Vec::new())]), Ok(()));
        assert_eq!(checked(vec![inner(many(128), Vec::new())]), Err(Status::too_many_operations()));
    }

    #[test]
    fn each_operation_has_a_key() {
        assert_eq!(checked(vec![put("")]), Err(Status::empty_key()));
        assert_eq!(checked(vec![delete("", "a")]), Err(Status::empty_key()));
        let compare = vec![Compare::default()];
        let request = TxnRequest { compare, ..TxnRequest::default() };
        assert_eq!(check_transaction(&request), Err(Status::empty_key()));
    }

    #[test]
    fn an_operation_asks_for_something() {
        assert_eq!(checked(vec![RequestOp { asked: None }]), Err(Status::key_not_found()));
    }

    #[test]
    fn what_is_ignored_is_not_given() {
        let put = PutRequest { key: b"a".to_vec(), ..PutRequest::default() };
        let value = PutRequest { ignore_value: true, value: b"1".to_vec(), ..put.clone() };
        assert_eq!(check_put(&value), Err(Status::value_provided()));
        let lease = PutRequest { ignore_lease: true, lease: 7, ..put };
        assert_eq!(check_put(&lease), Err(Status::lease_provided()));
    }

    #[test]
    fn an_order_is_one_that_there_is() {
        let range = RangeRequest { key: b"a".to_vec(), sort_target: 5, ..RangeRequest::default() };
        assert_eq!(check_range(&range), Err(Status::invalid_sort_option()));
    }
}
