//! Sorted sets: unions, intersections and differences, also with plain sets (Redis 7.0 `t_zset.c`).

use std::collections::BTreeMap;

use super::numbers::double;
use super::sorted_ranges::keep;
use super::sorted_sets::list;
use super::{SYNTAX, count, number};
use crate::protocol::resp::{self, Reply};
use crate::server::store::{SortedSet, Store, Value, WRONG_TYPE};

/// How several sets become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

/// How the scores of one member become one.
#[derive(Clone, Copy)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    /// Infinity and minus infinity are zero together. Of two zeros, or with what is no number, the first one stays.
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Aggregate::Sum => zero_if_nan(a + b),
            Aggregate::Min if b < a => b,
            Aggregate::Max if b > a => b,
            Aggregate::Min | Aggregate::Max => a,
        }
    }
}

fn zero_if_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// The options that a command allows, and its name.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    operation: Operation,
    /// True for the commands that store the result, which they say first where.
    stores: bool,
    /// True for the command that only counts.
    counts: bool,
}

type Scores = BTreeMap<Vec<u8>, f64>;

struct Question {
    inputs: Vec<Scores>,
    aggregate: Aggregate,
    with_scores: bool,
    limit: usize,
}

fn question(store: &mut Store, args: &[&[u8]], form: Form) -> Result<Question, Reply> {
    let keys = number(args[0])?;
    let keys = usize::try_from(keys).ok().filter(|keys| *keys > 0).ok_or_else(|| {
        Reply::Error(format!("ERR at least 1 input key is needed for '{}' command", form.name).into())
    })?;
    let (keys, mut rest) = args[1..].split_at_checked(keys).ok_or(SYNTAX)?;
    let mut inputs = Vec::with_capacity(keys.len());
    for key in keys {
        inputs.push(match store.get(key).map(|entry| &entry.value) {
            None => Scores::new(),
            Some(Value::SortedSet(set)) => {
                set.iter().map(|(member, score)| (member.to_vec(), score)).collect()
            }
            Some(Value::Set(members)) => members.iter().map(|member| (member.clone(), 1.0)).collect(),
            Some(_) => return Err(WRONG_TYPE),
        });
    }
    let mut question = Question { inputs, aggregate: Aggregate::Sum, with_scores: false, limit: 0 };
    let weighs = form.operation != Operation::Difference && !form.counts;
    while let [option, after @ ..] = rest {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        match after {
            _ if is(b"WEIGHTS") && weighs && after.len() >= keys.len() => {
                let (weights, after) = after.split_at(keys.len());
                for (input, weight) in question.inputs.iter_mut().zip(weights) {
                    let weight = double(weight).ok_or(Reply::error("ERR weight value is not a float"))?;
                    input.values_mut().for_each(|score| *score *= weight);
                }
                rest = after;
            }
            [word, after @ ..] if is(b"AGGREGATE") && weighs => {
                question.aggregate = match () {
                    () if word.eq_ignore_ascii_case(b"SUM") => Aggregate::Sum,
                    () if word.eq_ignore_ascii_case(b"MIN") => Aggregate::Min,
                    () if word.eq_ignore_ascii_case(b"MAX") => Aggregate::Max,
                    () => return Err(SYNTAX),
                };
                rest = after;
            }
            _ if is(b"WITHSCORES") && !form.stores && !form.counts => {
                question.with_scores = true;
                rest = after;
            }
            [limit, after @ ..] if is(b"LIMIT") && form.counts => {
                let number = resp::integer(limit).and_then(|number| usize::try_from(number).ok());
                question.limit = number.ok_or(Reply::error("ERR LIMIT can't be negative"))?;
                rest = after;
            }
            _ => return Err(SYNTAX),
        }
    }
    Ok(question)
}

fn combine(mut inputs: Vec<Scores>, operation: Operation, aggregate: Aggregate) -> SortedSet {
    if operation != Operation::Difference {
        // Scores are added from the smallest set on, which shows in the last digits.
        inputs.sort_by_key(Scores::len);
    }
    // What is no number counts as zero in a union; in an intersection, only if the smallest set has it.
    let all = if operation == Operation::Union { inputs.len() } else { 1 };
    for score in inputs.iter_mut().take(all).flat_map(BTreeMap::values_mut) {
        *score = zero_if_nan(*score);
    }
    let mut inputs = inputs.into_iter();
    let mut result = inputs.next().unwrap_or_default();
    for input in inputs {
        match operation {
            Operation::Union => {
                for (member, score) in input {
                    let sum = result.get(&member).map_or(score, |old| aggregate.of(*old, score));
                    result.insert(member, sum);
                }
            }
            Operation::Intersection => result.retain(|member, score| match input.get(member) {
                Some(other) => {
                    *score = aggregate.of(*score, *other);
                    true
                }
                None => false,
            }),
            Operation::Difference => result.retain(|member, _| !input.contains_key(member)),
        }
    }
    let mut set = SortedSet::default();
    for (member, score) in result {
        set.insert(&member, score);
    }
    set
}

fn run(store: &mut Store, args: &[&[u8]], form: Form) -> Result<Reply, Reply> {
    let from = if form.stores { 2 } else { 1 };
    let Question { inputs, aggregate, with_scores, limit } = question(store, &args[from..], form)?;
    let result = combine(inputs, form.operation, aggregate);
    if form.counts {
        return Ok(count(if limit == 0 { result.len() } else { result.len().min(limit) }));
    }
    let members = result.iter().map(|(member, score)| (member.to_vec(), score));
    if form.stores {
        return keep(store, args, args[1], members, form.name);
    }
    Ok(list(members, with_scores))
}

macro_rules! command {
    ($name:ident, $operation:ident, $stores:literal, $counts:literal) => {
        pub(crate) fn $name(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
            let name = stringify!($name);
            run(
                store,
                args,
                Form { name, operation: Operation::$operation, stores: $stores, counts: $counts },
            )
        }
    };
}

command!(zunion, Union, false, false);
command!(zinter, Intersection, false, false);
command!(zdiff, Difference, false, false);
command!(zunionstore, Union, true, false);
command!(zinterstore, Intersection, true, false);
command!(zdiffstore, Difference, true, false);
command!(zintercard, Intersection, false, true);
