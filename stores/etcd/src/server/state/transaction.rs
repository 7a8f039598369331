//! Changes of the keys by requests: puts, deletions, and transactions, in which comparisons decide between two lists of these.
//!
//! *Source:* etcd's `etcdserver/txn/txn.go`, 3.6. Up to 3.4 a transaction looks at all its puts before it looks at its ranges: of two errors it may
//! answer the other one.

use super::keys::{Keys, Range};
use super::leases::Leases;
use crate::grpc::status::Status;
use crate::messages::{
    Answered, Asked, Compare, CompareResult, CompareTarget, Compared, DeleteRangeRequest,
    DeleteRangeResponse, Header, KeyValue, PutRequest, PutResponse, RangeRequest, RangeResponse, RequestOp,
    ResponseOp, TxnRequest, TxnResponse,
};

/// The keys with their leases, while a request changes them.
pub(crate) struct Change<'s> {
    pub(crate) keys: &'s mut Keys,
    pub(crate) leases: &'s mut Leases,
    /// The revision that all changes of the request get.
    pub(crate) revision: i64,
}

/// The header of an answer within a transaction: it has a revision and nothing else.
fn inner(revision: i64) -> Option<Header> {
    Some(Header { revision, ..Header::default() })
}

impl Change<'_> {
    pub(crate) fn put(&mut self, request: &PutRequest) -> Result<PutResponse, Status> {
        // The lease is looked up before the key.
        if request.lease != 0 && !self.leases.has(request.lease) {
            return Err(Status::lease_not_found());
        }
        let (mut value, mut lease) = (request.value.clone(), request.lease);
        if request.ignore_value || request.ignore_lease {
            let before = self.keys.get(&request.key).ok_or_else(Status::key_not_found)?;
            if request.ignore_value {
                value.clone_from(&before.value);
            }
            if request.ignore_lease {
                lease = before.lease;
            }
        }
        let before = self.keys.put(&request.key, value, lease, self.revision);
        if let Some(before) = &before {
            self.leases.detach(before.lease, &request.key);
        }
        self.leases.attach(lease, &request.key);
        Ok(PutResponse { header: None, prev_kv: before.filter(|_| request.prev_kv) })
    }

    pub(crate) fn delete(&mut self, request: &DeleteRangeRequest) -> DeleteRangeResponse {
        let range = Range { key: &request.key, end: &request.range_end };
        let gone = self.keys.delete(range, self.revision);
        gone.iter().for_each(|kv| self.leases.detach(kv.lease, &kv.key));
        let deleted = gone.len() as i64;
        let prev_kvs = if request.prev_kv { gone } else { Vec::new() };
        DeleteRangeResponse { header: None, deleted, prev_kvs }
    }

    pub(crate) fn transact(&mut self, request: &TxnRequest) -> Result<TxnResponse, Status> {
        // Comparisons, those of inner transactions too, see the keys as they were before.
        let plan = Plan::of(self.keys, request);
        plan.check(self.keys, self.leases, &mut Vec::new())?;
        self.carry_out(&plan)
    }

    fn carry_out(&mut self, plan: &Plan<'_>) -> Result<TxnResponse, Status> {
        let mut responses = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            let answered = match step {
                Step::Range(request) => {
                    let found = self.keys.range(request);
                    Answered::Range(RangeResponse { header: inner(self.keys.revision), ..found })
                }
                Step::Put(request) => {
                    let done = self.put(request)?;
                    Answered::Put(PutResponse { header: inner(self.revision), ..done })
                }
                Step::Delete(request) => {
                    let done = self.delete(request);
                    let header = inner(self.keys.revision);
                    Answered::DeleteRange(DeleteRangeResponse { header, ..done })
                }
                Step::Inner(plan) => Answered::Txn(TxnResponse { header: inner(0), ..self.carry_out(plan)? }),
            };
            responses.push(ResponseOp { answered: Some(answered) });
        }
        Ok(TxnResponse { header: None, succeeded: plan.succeeded, responses })
    }
}

/// What a transaction comes to, once its comparisons are decided.
pub(crate) struct Plan<'r> {
    succeeded: bool,
    steps: Vec<Step<'r>>,
}

enum Step<'r> {
    Range(&'r RangeRequest),
    Put(&'r PutRequest),
    Delete(&'r DeleteRangeRequest),
    Inner(Plan<'r>),
}

impl<'r> Plan<'r> {
    fn of(keys: &Keys, request: &'r TxnRequest) -> Plan<'r> {
        let succeeded = request.compare.iter().all(|compare| holds(keys, compare));
        let operations = if succeeded { &request.success } else { &request.failure };
        let step = |operation: &'r RequestOp| {
            Some(match operation.asked.as_ref()? {
                Asked::Range(request) => Step::Range(request),
                Asked::Put(request) => Step::Put(request),
                Asked::DeleteRange(request) => Step::Delete(request),
                Asked::Txn(request) => Step::Inner(Plan::of(keys, request)),
            })
        };
        Plan { succeeded, steps: operations.iter().filter_map(step).collect() }
    }

    /// Refuses what could only be carried out in part. Given are the ranges that the steps before delete: a real member does not look at them, and
    /// ends itself at a put that needs what they have deleted.
    fn check(&self, keys: &Keys, leases: &Leases, gone: &mut Vec<Range<'r>>) -> Result<(), Status> {
        for step in &self.steps {
            match step {
                Step::Put(put) => {
                    let is_there =
                        keys.get(&put.key).is_some() && !gone.iter().any(|range| range.contains(&put.key));
                    if (put.ignore_value || put.ignore_lease) && !is_there {
                        return Err(Status::key_not_found());
                    }
                    if put.lease != 0 && !leases.has(put.lease) {
                        return Err(Status::lease_not_found());
                    }
                }
                Step::Range(range) if range.revision > keys.revision => return Err(Status::future_revision()),
                Step::Range(range) if range.revision != 0 && range.revision < keys.compacted => {
                    return Err(Status::compacted());
                }
                Step::Range(_) => {}
                Step::Delete(delete) => gone.push(Range { key: &delete.key, end: &delete.range_end }),
                Step::Inner(plan) => plan.check(keys, leases, gone)?,
            }
        }
        Ok(())
    }
}

fn operations(request: &TxnRequest) -> impl Iterator<Item = &RequestOp> {
    request.success.iter().chain(&request.failure)
}

/// True if it only reads, whatever its comparisons say. An inner transaction counts as a change, as in etcd.
pub(crate) fn only_reads(request: &TxnRequest) -> bool {
    operations(request).all(|operation| matches!(operation.asked, Some(Asked::Range(_))))
}

/// True if it is answered without asking the others.
pub(crate) fn is_serializable(request: &TxnRequest) -> bool {
    operations(request)
        .all(|operation| matches!(&operation.asked, Some(Asked::Range(range)) if range.serializable))
}

/// True if a comparison holds: for each key of its range, or for a key that is not there, which has version 0.
fn holds(keys: &Keys, compare: &Compare) -> bool {
    let range = Range { key: &compare.key, end: &compare.range_end };
    let found: Vec<&KeyValue> = keys.in_range(range).collect();
    if !found.is_empty() {
        return found.iter().all(|kv| matches_one(kv, compare));
    }
    // A value is never that of a key that is not there.
    compare.target() != CompareTarget::Value && matches_one(&KeyValue::default(), compare)
}

/// Compares what the target names. Where the comparison brings a value for another target, 0 or nothing stands for it.
fn matches_one(kv: &KeyValue, compare: &Compare) -> bool {
    let given = compare.compared.as_ref();
    let order = match (compare.target(), given) {
        (CompareTarget::Version, Some(Compared::Version(version))) => kv.version.cmp(version),
        (CompareTarget::Version, _) => kv.version.cmp(&0),
        (CompareTarget::Create, Some(Compared::Create(revision))) => kv.create_revision.cmp(revision),
        (CompareTarget::Create, _) => kv.create_revision.cmp(&0),
        (CompareTarget::Mod, Some(Compared::Mod(revision))) => kv.mod_revision.cmp(revision),
        (CompareTarget::Mod, _) => kv.mod_revision.cmp(&0),
        (CompareTarget::Value, Some(Compared::Value(value))) => kv.value.cmp(value),
        (CompareTarget::Value, _) => kv.value.as_slice().cmp(b""),
        (CompareTarget::Lease, Some(Compared::Lease(lease))) => kv.lease.cmp(lease),
        (CompareTarget::Lease, _) => kv.lease.cmp(&0),
    };
    match compare.result() {
        CompareResult::Equal => order.is_eq(),
        CompareResult::Greater => order.is_gt(),
        CompareResult::Less => order.is_lt(),
        CompareResult::NotEqual => order.is_ne(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use picklock_model::time::Monotonic;

    /// A store with the key `a` at revision 2, and the lease 7.
    fn store() -> (Keys, Leases) {
        let (mut keys, mut leases) = (Keys::default(), Leases::default());
        keys.put(b"a", b"1".to_vec(), 0, 2);
        leases.grant(7, 60, Monotonic::default());
        (keys, leases)
    }

    fn put(key: &str) -> PutRequest {
        PutRequest { key: key.as_bytes().to_vec(), ..PutRequest::default() }
    }

    fn get(key: &str, revision: i64) -> Asked {
        Asked::Range(RangeRequest { key: key.as_bytes().to_vec(), revision, ..RangeRequest::default() })
    }

    fn txn(compare: Vec<Compare>, success: Vec<Asked>, failure: Vec<Asked>) -> TxnRequest {
        let asked =
            |asked: Vec<Asked>| asked.into_iter().map(|asked| RequestOp { asked: Some(asked) }).collect();
        TxnRequest { compare, success: asked(success), failure: asked(failure) }
    }

    fn transact((keys, leases): &mut (Keys, Leases), request: &TxnRequest) -> Result<TxnResponse, Status> {
        let revision = keys.revision + 1;
        Change { keys, leases, revision }.transact(request)
    }

    fn compare(target: CompareTarget, compared: Option<Compared>) -> Compare {
        Compare { key: b"a".to_vec(), target: target.into(), compared, ..Compare::default() }
    }

    #[test]
    fn changes_of_one_transaction_have_one_revision() {
        let mut store = store();
        let request = txn(Vec::new(), vec![Asked::Put(put("b")), Asked::Put(put("c"))], Vec::new());
        assert!(transact(&mut store, &request).is_ok());
        let at = |key: &[u8]| store.0.get(key).map(|kv| kv.mod_revision);
        assert_eq!((at(b"b"), at(b"c"), store.0.revision), (Some(3), Some(3), 3));
    }

    #[test]
    fn answers_within_have_the_revision_of_their_moment() {
        let request = txn(Vec::new(), vec![get("a", 0), Asked::Put(put("b")), get("a", 0)], Vec::new());
        let answer = transact(&mut store(), &request).expect("nothing is wrong with it");
        let revisions: Vec<i64> =
            answer.responses.iter().filter_map(header).map(|header| header.revision).collect();
        assert_eq!(revisions, [2, 3, 3]);
    }

    fn header(response: &ResponseOp) -> Option<Header> {
        match response.answered.as_ref()? {
            Answered::Range(answer) => answer.header,
            Answered::Put(answer) => answer.header,
            Answered::DeleteRange(answer) => answer.header,
            Answered::Txn(answer) => answer.header,
        }
    }

    #[test]
    fn an_inner_transaction_compares_with_what_was_before() {
        let inner = txn(vec![Compare::made_at(b"b".to_vec(), 0)], vec![get("a", 0)], Vec::new());
        let request = txn(Vec::new(), vec![Asked::Put(put("b")), Asked::Txn(inner)], Vec::new());
        let answer = transact(&mut store(), &request).expect("nothing is wrong with it");
        let Some(Answered::Txn(inner)) = &answer.responses[1].answered else { panic!("it is a transaction") };
        assert!(inner.succeeded);
    }

    #[test]
    fn one_that_cannot_be_carried_out_changes_nothing() {
        let mut store = store();
        let lost = PutRequest { lease: 8, ..put("c") };
        let request = txn(Vec::new(), vec![Asked::Put(put("b")), Asked::Put(lost)], Vec::new());
        assert_eq!(transact(&mut store, &request), Err(Status::lease_not_found()));
        assert!(store.0.get(b"b").is_none());
    }

    #[test]
    fn what_is_deleted_before_is_not_there_to_keep_its_value() {
        let mut store = store();
        let delete = DeleteRangeRequest { key: b"a".to_vec(), range_end: b"\0".to_vec(), prev_kv: false };
        let keeps = PutRequest { ignore_value: true, ..put("a") };
        let request = txn(Vec::new(), vec![Asked::DeleteRange(delete), Asked::Put(keeps)], Vec::new());
        assert_eq!(transact(&mut store, &request), Err(Status::key_not_found()));
        assert!(store.0.get(b"a").is_some());
    }

    #[test]
    fn a_range_of_the_revision_that_is_being_made_is_refused() {
        let request = txn(Vec::new(), vec![Asked::Put(put("b")), get("a", 3)], Vec::new());
        assert_eq!(transact(&mut store(), &request), Err(Status::future_revision()));
    }

    #[test]
    fn what_is_not_chosen_is_not_looked_at() {
        let request = txn(Vec::new(), Vec::new(), vec![get("a", 99)]);
        assert!(transact(&mut store(), &request).is_ok());
    }

    #[test]
    fn the_target_says_what_is_compared() {
        let store = store();
        let holds = |target, compared| holds(&store.0, &compare(target, compared));
        assert!(holds(CompareTarget::Create, Some(Compared::Create(2))));
        assert!(!holds(CompareTarget::Version, Some(Compared::Create(2))));
        assert!(holds(CompareTarget::Lease, Some(Compared::Create(2))));
    }

    #[test]
    fn a_value_is_never_that_of_a_key_that_is_not_there() {
        let compare = Compare { key: b"b".to_vec(), ..compare(CompareTarget::Value, None) };
        assert!(!holds(&store().0, &compare));
    }

    #[test]
    fn a_comparison_holds_for_each_key_of_its_range() {
        let mut store = store();
        store.0.put(b"b", b"2".to_vec(), 0, 3);
        let of_all = |value: &[u8]| Compare {
            range_end: b"\0".to_vec(),
            ..compare(CompareTarget::Value, Some(Compared::Value(value.to_vec())))
        };
        assert!(!holds(&store.0, &of_all(b"1")));
        store.0.put(b"b", b"1".to_vec(), 0, 4);
        assert!(holds(&store.0, &of_all(b"1")));
    }

    #[test]
    fn a_put_takes_its_key_from_one_lease_to_another() {
        let (mut keys, mut leases) = store();
        leases.grant(9, 60, Monotonic::default());
        for lease in [7, 9] {
            let revision = keys.revision + 1;
            let mut change = Change { keys: &mut keys, leases: &mut leases, revision };
            assert!(change.put(&PutRequest { lease, ..put("a") }).is_ok());
        }
        let has = |id: i64| leases.get(id).is_some_and(|lease| lease.keys.contains(b"a".as_slice()));
        assert_eq!((has(7), has(9)), (false, true));
    }

    #[test]
    fn a_put_that_ignores_its_lease_keeps_the_one_of_before() {
        let (mut keys, mut leases) = store();
        keys.put(b"a", b"1".to_vec(), 7, 3);
        let mut change = Change { keys: &mut keys, leases: &mut leases, revision: 4 };
        let request = PutRequest { ignore_lease: true, ignore_value: true, ..put("a") };
        assert!(change.put(&request).is_ok());
        let kv = keys.get(b"a").expect("it is there");
        assert_eq!((kv.lease, kv.value.as_slice()), (7, b"1".as_slice()));
    }

    #[test]
    fn an_inner_transaction_counts_as_a_change() {
        let reads = txn(Vec::new(), vec![get("a", 0)], Vec::new());
        assert!(only_reads(&reads) && !is_serializable(&reads));
        assert!(!only_reads(&txn(Vec::new(), vec![Asked::Txn(reads)], Vec::new())));
    }
}
