//! COMMAND: what the table and the catalogue know of each command (Redis 7.0 `server.c`).
//!
//! Left out on purpose: the explanations in COMMAND DOCS, which is refused as by servers before 7.0.

use super::row::Table;
use crate::protocol::resp::{Reply, integer};
use crate::server::catalogue::{self, Fact, flags};
use crate::server::commands::{SYNTAX, count, help, subcommand_syntax};
use crate::server::glob;
use crate::server::node::{Answer, Node, SessionId};
use crate::server::version::Version;

pub(crate) fn command(table: &Table, node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let version = node.store.version;
    let Some(sub) = args.get(1) else {
        return Ok(Reply::Array(known(table, version).map(|fact| info(fact, version)).collect()).into());
    };
    let is = |word: &[u8]| sub.eq_ignore_ascii_case(word);
    let reply = match () {
        () if is(b"COUNT") => count(known(table, version).count()),
        () if is(b"INFO") && args.len() == 2 => {
            Reply::Array(known(table, version).map(|fact| info(fact, version)).collect())
        }
        () if is(b"INFO") => {
            let named =
                |name: &&[u8]| find(table, name, version).map_or(Reply::Nil, |fact| info(fact, version));
            Reply::Array(args[2..].iter().map(named).collect())
        }
        // With an error instead of empty answers, redis-cli shows the explanations that it has itself.
        () if is(b"DOCS") => return Err(subcommand_syntax("COMMAND", sub)),
        () if is(b"LIST") => list(table, &args[2..], version)?,
        () if is(b"GETKEYS") => {
            let keys = keys(table, &args[2..], version)?;
            Reply::Array(keys.into_iter().map(|(key, _)| Reply::Bulk(key.to_vec())).collect())
        }
        () if is(b"GETKEYSANDFLAGS") => {
            let keys = keys(table, &args[2..], version)?;
            let pair =
                |(key, flags): (&[u8], &str)| Reply::Array(vec![Reply::Bulk(key.to_vec()), words(flags, "")]);
            Reply::Array(keys.into_iter().map(pair).collect())
        }
        () => help("command", version),
    };
    Ok(reply.into())
}

/// The commands that the node has.
fn known(table: &Table, version: Version) -> impl Iterator<Item = &'static Fact> {
    table
        .rows
        .iter()
        .filter_map(|row| catalogue::find(row.name))
        .filter(move |fact| catalogue::is_in(fact, version))
}

/// The command or subcommand of a name in any case.
fn find(table: &Table, name: &[u8], version: Version) -> Option<&'static Fact> {
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    let command = name.split('|').next().unwrap_or_default();
    table.find(command.as_bytes())?;
    catalogue::find(&name).filter(|fact| catalogue::is_in(fact, version))
}

fn words(text: &str, before: &str) -> Reply {
    let words = text.split(' ').filter(|word| !word.is_empty());
    Reply::Set(words.map(|word| Reply::Status(format!("{before}{word}").into())).collect())
}

fn info(fact: &Fact, version: Version) -> Reply {
    let names = flags::NAMES.iter().filter(|(_, bit)| fact.flags & bit != 0);
    let subs = catalogue::subcommands(fact.name).filter(|sub| catalogue::is_in(sub, version));
    let tips = fact.tips.split(' ').filter(|tip| !tip.is_empty());
    let specs = fact.specs.split(';').filter(|spec| !spec.is_empty());
    Reply::Array(vec![
        Reply::text(fact.name),
        Reply::Integer(fact.arity.into()),
        Reply::Set(names.map(|(name, _)| Reply::Status((*name).into())).collect()),
        Reply::Integer(fact.keys[0].into()),
        Reply::Integer(fact.keys[1].into()),
        Reply::Integer(fact.keys[2].into()),
        words(fact.categories, "@"),
        Reply::Set(tips.map(Reply::text).collect()),
        Reply::Set(specs.map(spec).collect()),
        Reply::Set(subs.map(|sub| info(sub, version)).collect()),
    ])
}

/// Where a command's keys are, as a map.
fn spec(text: &str) -> Reply {
    let mut parts = text.split('|');
    let flags = parts.next().unwrap_or_default();
    let mut found = vec![(Reply::text("flags"), words(flags, ""))];
    for (name, part) in ["begin_search", "find_keys"].into_iter().zip(parts) {
        let mut words = part.split(' ');
        let kind = words.next().unwrap_or_default();
        let names: &[&str] = match kind {
            "index" => &["index"],
            "keyword" => &["keyword", "startfrom"],
            "range" => &["lastkey", "keystep", "limit"],
            "keynum" => &["keynumidx", "firstkey", "keystep"],
            _ => &[],
        };
        let value = |word: &str| integer(word.as_bytes()).map_or_else(|| Reply::text(word), Reply::Integer);
        let fields = names.iter().zip(words).map(|(name, word)| (Reply::text(name), value(word)));
        let fields = Reply::Map(fields.collect());
        let map = vec![(Reply::text("type"), Reply::text(kind)), (Reply::text("spec"), fields)];
        found.push((Reply::text(name), Reply::Map(map)));
    }
    Reply::Map(found)
}

fn list(table: &Table, args: &[&[u8]], version: Version) -> Result<Reply, Reply> {
    let all = known(table, version)
        .flat_map(|fact| std::iter::once(fact).chain(catalogue::subcommands(fact.name)))
        .filter(|fact| catalogue::is_in(fact, version));
    let names: Vec<Reply> = match args {
        [] => known(table, version).map(|fact| Reply::text(fact.name)).collect(),
        [filter, kind, value] if filter.eq_ignore_ascii_case(b"FILTERBY") => {
            let is = |word: &[u8]| kind.eq_ignore_ascii_case(word);
            let fits = |fact: &&Fact| match () {
                () if is(b"PATTERN") => glob::fits(value, fact.name.as_bytes()),
                () if is(b"ACLCAT") => {
                    fact.categories.split(' ').any(|name| value.eq_ignore_ascii_case(name.as_bytes()))
                }
                () => false,
            };
            if !is(b"PATTERN") && !is(b"ACLCAT") && !is(b"MODULE") {
                return Err(SYNTAX);
            }
            all.filter(fits).map(|fact| Reply::text(fact.name)).collect()
        }
        _ => return Err(SYNTAX),
    };
    Ok(Reply::Array(names))
}

/// The keys of a command with its arguments, each with what is done to it.
pub(super) fn keys<'a>(
    table: &Table,
    args: &[&'a [u8]],
    version: Version,
) -> Result<Vec<(&'a [u8], &'static str)>, Reply> {
    let name = args.first().copied().unwrap_or_default();
    let command = table.resolve(name, args, version).map_err(|error| match error {
        Reply::Error(text) if text.starts_with("ERR wrong number") => {
            Reply::error("ERR Invalid number of arguments specified for command")
        }
        _ => Reply::error("ERR Invalid command specified"),
    })?;
    let specs = catalogue::find(command.name).map_or("", |fact| fact.specs);
    if specs.is_empty() {
        return Err(Reply::error("ERR The command has no key arguments"));
    }
    let mut keys = Vec::new();
    for spec in specs.split(';') {
        let mut parts = spec.split('|');
        let flags = parts.next().unwrap_or_default();
        let (Some(begin), Some(find)) = (parts.next(), parts.next()) else { continue };
        if flags.contains("not_key") {
            continue;
        }
        let positions = begin_at(begin, args).map(|begin| positions(begin, find, args));
        keys.extend(positions.unwrap_or_default().into_iter().map(|at| (args[at], flags)));
    }
    // With KEYS, what stands where the key would be is empty and no key.
    if command.name == "migrate" && args[3].is_empty() && !keys.is_empty() {
        keys.remove(0);
    }
    if keys.is_empty() && !command.is(flags::NO_MANDATORY_KEYS) {
        return Err(Reply::error("ERR Invalid arguments specified for command"));
    }
    Ok(keys)
}

/// Where the keys of a specification begin.
fn begin_at(begin: &str, args: &[&[u8]]) -> Option<usize> {
    let words: Vec<&str> = begin.split(' ').collect();
    match words.as_slice() {
        ["index", at] => at.parse().ok(),
        ["keyword", word, from] => {
            let from: i64 = from.parse().ok()?;
            let is = |at: &usize| args[*at].eq_ignore_ascii_case(word.as_bytes());
            let found = if from >= 0 {
                (usize::try_from(from).ok()?..args.len()).find(is)
            } else {
                (1..args.len()).rev().find(is)
            };
            found.map(|at| at + 1)
        }
        _ => None,
    }
}

fn positions(begin: usize, find: &str, args: &[&[u8]]) -> Vec<usize> {
    let words: Vec<&str> = find.split(' ').collect();
    let [kind, a, b, c] = words.as_slice() else { return Vec::new() };
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    let step = usize::try_from(number(if *kind == "range" { b } else { c })).unwrap_or(1).max(1);
    match *kind {
        "range" => {
            let (last, limit) = (number(a), number(c));
            let len = i64::try_from(args.len()).unwrap_or(i64::MAX);
            let begin_signed = i64::try_from(begin).unwrap_or(i64::MAX);
            let end = match last {
                0.. => begin_signed + last,
                -1 if limit > 1 => begin_signed + (len - begin_signed) / limit - 1,
                _ => len + last,
            };
            let end = usize::try_from(end + 1).unwrap_or(0).min(args.len());
            (begin..end).step_by(step).collect()
        }
        "keynum" => {
            let at = begin + usize::try_from(number(a)).unwrap_or(0);
            let first = begin + usize::try_from(number(b)).unwrap_or(0);
            let count = args.get(at).and_then(|text| integer(text)).and_then(|n| usize::try_from(n).ok());
            let end = first.saturating_add(count.unwrap_or(0));
            if end > args.len() { Vec::new() } else { (first..end).step_by(step).collect() }
        }
        _ => Vec::new(),
    }
}
