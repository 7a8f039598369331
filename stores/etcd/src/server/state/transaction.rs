//! Changes of the keys by requests: puts, deletions, and transactions, in which comparisons decide between two lists of these.

use super::keys::{Keys, Range};
use super::leases::Leases;
use crate::messages::{
    Answered, Asked, Compare, CompareResult, Compared, DeleteRangeRequest, DeleteRangeResponse, KeyValue,
    PutRequest, PutResponse, RequestOp, ResponseOp, TxnRequest, TxnResponse,
};
use crate::server::status::Status;

/// The most operations of one list.
const MOST_OPERATIONS: usize = 128;

/// The keys with their leases, while a request changes them.
pub(crate) struct Change<'s> {
    pub(crate) keys: &'s mut Keys,
    pub(crate) leases: &'s mut Leases,
    /// The revision that all changes of the request get.
    pub(crate) revision: i64,
}

impl Change<'_> {
    pub(crate) fn put(&mut self, request: &PutRequest) -> Result<PutResponse, Status> {
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
        if lease != 0 && !self.leases.has(lease) {
            return Err(Status::lease_not_found());
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
        plan.check(self.keys, self.leases)?;
        self.carry_out(&plan)
    }

    fn carry_out(&mut self, plan: &Plan<'_>) -> Result<TxnResponse, Status> {
        let mut responses = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            let answered = match step {
                Step::Range(request) => Answered::Range(self.keys.range(request)),
                Step::Put(request) => Answered::Put(self.put(request)?),
                Step::Delete(request) => Answered::DeleteRange(self.delete(request)),
                Step::Inner(plan) => Answered::Txn(self.carry_out(plan)?),
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
    Range(&'r crate::messages::RangeRequest),
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

    /// Refuses what could only be carried out in part.
    fn check(&self, keys: &Keys, leases: &Leases) -> Result<(), Status> {
        for step in &self.steps {
            match step {
                Step::Put(put) => {
                    if (put.ignore_value || put.ignore_lease) && keys.get(&put.key).is_none() {
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
                Step::Range(_) | Step::Delete(_) => {}
                Step::Inner(plan) => plan.check(keys, leases)?,
            }
        }
        Ok(())
    }
}

/// True if it only reads, whatever its comparisons say.
pub(crate) fn only_reads(request: &TxnRequest) -> bool {
    let reads = |operation: &RequestOp| match &operation.asked {
        Some(Asked::Put(_) | Asked::DeleteRange(_)) => false,
        Some(Asked::Txn(request)) => only_reads(request),
        Some(Asked::Range(_)) | None => true,
    };
    request.success.iter().chain(&request.failure).all(reads)
}

/// Refuses a transaction that etcd refuses before it does anything.
///
/// # Errors
/// Too many operations, an operation without a key, a key that is put twice.
pub(crate) fn check(request: &TxnRequest) -> Result<(), Status> {
    let longest = request.compare.len().max(request.success.len()).max(request.failure.len());
    if longest > MOST_OPERATIONS {
        return Err(Status::too_many_operations());
    }
    if request.compare.iter().any(|compare| compare.key.is_empty()) {
        return Err(Status::empty_key());
    }
    for operations in [&request.success, &request.failure] {
        let mut puts: Vec<&[u8]> = Vec::new();
        for operation in operations {
            match operation.asked.as_ref() {
                None => return Err(Status::key_not_found()),
                Some(Asked::Put(put)) if put.key.is_empty() => return Err(Status::empty_key()),
                Some(Asked::Put(put)) if puts.contains(&put.key.as_slice()) => {
                    return Err(Status::duplicate_key());
                }
                Some(Asked::Put(put)) => puts.push(&put.key),
                Some(Asked::Range(range)) if range.key.is_empty() => return Err(Status::empty_key()),
                Some(Asked::DeleteRange(range)) if range.key.is_empty() => return Err(Status::empty_key()),
                Some(Asked::Range(_)) => {}
                Some(Asked::DeleteRange(_)) => {}
                Some(Asked::Txn(inner)) => check(inner)?,
            }
        }
        let deletes = operations.iter().filter_map(|operation| match &operation.asked {
            Some(Asked::DeleteRange(delete)) => Some(Range { key: &delete.key, end: &delete.range_end }),
            _ => None,
        });
        if deletes.into_iter().any(|range| puts.iter().any(|key| range.contains(key))) {
            return Err(Status::duplicate_key());
        }
    }
    Ok(())
}

/// True if a comparison holds: for each key of its range, or for a key that is not there, which has version 0.
fn holds(keys: &Keys, compare: &Compare) -> bool {
    let range = Range { key: &compare.key, end: &compare.range_end };
    let found: Vec<&KeyValue> = keys.in_range(range).collect();
    if !found.is_empty() {
        return found.iter().all(|kv| matches_one(kv, compare));
    }
    // A value is never that of a key that is not there.
    !matches!(compare.compared, Some(Compared::Value(_))) && matches_one(&KeyValue::default(), compare)
}

fn matches_one(kv: &KeyValue, compare: &Compare) -> bool {
    let order = match compare.compared.as_ref() {
        None => kv.version.cmp(&0),
        Some(Compared::Version(version)) => kv.version.cmp(version),
        Some(Compared::Create(revision)) => kv.create_revision.cmp(revision),
        Some(Compared::Mod(revision)) => kv.mod_revision.cmp(revision),
        Some(Compared::Value(value)) => kv.value.cmp(value),
        Some(Compared::Lease(lease)) => kv.lease.cmp(lease),
    };
    match compare.result() {
        CompareResult::Equal => order.is_eq(),
        CompareResult::Greater => order.is_gt(),
        CompareResult::Less => order.is_lt(),
        CompareResult::NotEqual => order.is_ne(),
    }
}
