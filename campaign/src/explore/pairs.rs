//! Two hits in one run, of those that are harmless alone.
//!
//! There are too many pairs to try them all, so they are tried in turns: one of each combination of two hosts and two kinds, then the
//! next of each, from a place in the list that depends on nothing but its length. How far this comes, the budget decides.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use picklock_model::plan::Injection;

use super::ground::{Ground, Site};
use super::request::Request;
use crate::campaign::over::Over;
use crate::check::CheckError;
use crate::parallel::in_parallel;

/// The results for pairs.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// How many there are of sites that are harmless alone.
    pub pairs: u64,
    /// How many of them were run.
    pub explored: u64,
    /// How many violate something.
    pub violating: u64,
    /// Which hosts, hit how, break together; by the names of the hosts.
    pub failures: Vec<PairFailures>,
    /// True if the time was up before all were run.
    pub out_of_time: bool,
}

/// Two kinds of faults at two hosts that violate something together.
#[derive(Clone, Debug)]
pub struct PairFailures {
    /// The kind of fault and the host, of both.
    pub both: [(&'static str, String); 2],
    /// The names of the invariants that some of the pairs violate.
    pub violated: Vec<String>,
    /// How many of the pairs that were run violate something.
    pub violating: u64,
    /// How many were run.
    pub explored: u64,
    /// The first of those that do.
    pub first: [Site; 2],
}

type SiteRef<'g, 'a> = (&'g Ground<'a>, &'g Site, &'g Injection);
/// Those of one kind at one host, on one workload.
type Side<'g, 'a> = Vec<SiteRef<'g, 'a>>;

/// All pairs of two sides, gone through in an order that leaps over them.
struct Combination<'g, 'a> {
    left: &'g Side<'g, 'a>,
    right: &'g Side<'g, 'a>,
    /// True if both sides are the same: then each pair is taken once.
    same: bool,
    size: u64,
    stride: u64,
}

impl<'g, 'a> Combination<'g, 'a> {
    fn new(left: &'g Side<'g, 'a>, right: &'g Side<'g, 'a>, same: bool) -> Combination<'g, 'a> {
        let size = left.len() as u64 * right.len() as u64;
        // Near the golden section, so that every beginning of the order is spread over the whole.
        let wanted = (size as f64 * 0.618) as u64;
        let stride = (wanted.max(1)..).find(|stride| coprime(*stride, size)).unwrap_or(1);
        Combination { left, right, same, size, stride }
    }

    /// How many pairs there are.
    fn pairs(&self) -> u64 {
        let side = self.left.len() as u64;
        if self.same { side * side.saturating_sub(1) / 2 } else { self.size }
    }

    /// The pair at this place of the order; none where both are one, or stand the other way round elsewhere.
    fn pair(&self, turn: u64) -> Option<[SiteRef<'g, 'a>; 2]> {
        let at = (u128::from(turn) * u128::from(self.stride) % u128::from(self.size)) as usize;
        let (left, right) = (at / self.right.len(), at % self.right.len());
        (!self.same || left < right).then(|| [self.left[left], self.right[right]])
    }
}

fn coprime(a: u64, b: u64) -> bool {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// The result of one combination.
#[derive(Default)]
struct Found {
    explored: u64,
    violating: u64,
    violated: Vec<String>,
    first: Option<(u64, [Site; 2])>,
}

pub(super) fn explore(
    request: &Request<'_>,
    harmless: &[SiteRef<'_, '_>],
    over: &Over<'_>,
) -> Result<Pairs, CheckError> {
    let mut sides: BTreeMap<_, Side<'_, '_>> = BTreeMap::new();
    for site in harmless {
        let (_, place, _) = site;
        sides.entry((place.seed, place.fault, &*place.point.host)).or_default().push(*site);
    }
    let sides: Vec<_> = sides.into_iter().collect();
    let mut combinations = Vec::new();
    for (at, (name, left)) in sides.iter().enumerate() {
        for (other, right) in sides[at..].iter().filter(|(other, _)| other.0 == name.0) {
            let same = other == name;
            combinations.push(([*name, *other], Combination::new(left, right, same)));
        }
    }
    let rounds = combinations.iter().map(|(_, combination)| combination.size).max().unwrap_or(0);
    let turns = rounds.saturating_mul(combinations.len() as u64);
    let next = AtomicUsize::new(0);
    let found = Mutex::new((combinations.iter().map(|_| Found::default()).collect::<Vec<_>>(), None));
    in_parallel(request.jobs, || {
        while !over.now() {
            let turn = next.fetch_add(1, Ordering::Relaxed) as u64;
            if turn >= turns {
                return;
            }
            let (round, at) = (turn / combinations.len() as u64, (turn % combinations.len() as u64) as usize);
            let combination = &combinations[at].1;
            let Some(pair) = (round < combination.size).then(|| combination.pair(round)).flatten() else {
                continue;
            };
            let outcome = pair[0].0.judge(pair.map(|(_, _, injection)| injection.clone()));
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(verdict) => found.0[at].note(round, pair.map(|(_, place, _)| place), verdict.violated),
                Err(error) => {
                    found.1.get_or_insert(error);
                    over.set();
                }
            }
        }
    });
    let (found, error) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = error {
        return Err(error);
    }
    let pairs = combinations.iter().map(|(_, combination)| combination.pairs()).sum();
    let explored = found.iter().map(|found| found.explored).sum();
    let violating = found.iter().map(|found| found.violating).sum();
    let failures = combinations.iter().zip(found).filter_map(|((names, _), found)| {
        let (_, first) = found.first?;
        let both = names.map(|(_, hit, host)| (hit, host.to_owned()));
        let Found { explored, violating, violated, .. } = found;
        Some(PairFailures { both, violated, violating, explored, first })
    });
    Ok(Pairs { pairs, explored, violating, failures: merged(failures), out_of_time: explored < pairs })
}

impl Found {
    fn note(&mut self, round: u64, places: [&Site; 2], violated: Vec<String>) {
        self.explored += 1;
        if violated.is_empty() {
            return;
        }
        self.violating += 1;
        self.violated.extend(violated);
        self.violated.sort_unstable();
        self.violated.dedup();
        if self.first.as_ref().is_none_or(|(first, _)| round < *first) {
            self.first = Some((round, places.map(Site::clone)));
        }
    }
}

/// The same hosts and kinds on several workloads are one way.
fn merged(failures: impl Iterator<Item = PairFailures>) -> Vec<PairFailures> {
    let mut merged: Vec<PairFailures> = Vec::new();
    for way in failures {
        match merged.iter_mut().find(|known| known.both == way.both) {
            Some(known) => {
                known.violating += way.violating;
                known.explored += way.explored;
                known.violated.extend(way.violated);
                known.violated.sort_unstable();
                known.violated.dedup();
            }
            None => merged.push(way),
        }
    }
    merged
}
