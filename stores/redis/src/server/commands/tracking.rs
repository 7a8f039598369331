//! CLIENT TRACKING, CACHING, GETREDIR and TRACKINGINFO (Redis 7.0 `networking.c`).

use std::collections::BTreeSet;

use super::{SYNTAX, number};
use crate::protocol::resp::Reply;
use crate::server::node::{Caching, Node, Session, SessionId};

pub(super) fn tracking(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Options { caching, prefixes } = Options::parse(node, &args[3..])?;
    let switches = |word: &[u8]| args[2].eq_ignore_ascii_case(word);
    if switches(b"OFF") {
        node.stop_tracking(id);
        return Ok(Reply::OK);
    }
    if !switches(b"ON") {
        return Err(SYNTAX);
    }
    let old = node.session(id).caching.as_deref().cloned();
    check(&caching, &prefixes, old.as_ref())?;
    let (next, kept) = old.map_or((false, BTreeSet::new()), |old| (old.next, old.prefixes));
    let kept_or_new = prefixes.iter().map(|prefix| prefix.to_vec()).chain(kept);
    let all = BTreeSet::from([Vec::new()]);
    let prefixes = match caching.broadcast {
        true if prefixes.is_empty() => kept_or_new.chain(all).collect(),
        true => kept_or_new.collect(),
        false => BTreeSet::new(),
    };
    node.track(id, Caching { next, prefixes, ..caching });
    Ok(Reply::OK)
}

/// The options of CLIENT TRACKING.
struct Options<'a> {
    caching: Caching,
    prefixes: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(node: &Node, mut words: &[&'a [u8]]) -> Result<Options<'a>, Reply> {
        let mut found = Options { caching: Caching::default(), prefixes: Vec::new() };
        while let Some((word, rest)) = words.split_first() {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            words = rest;
            match rest.split_first() {
                Some((target, rest)) if is(b"REDIRECT") => {
                    found.redirect(node, target)?;
                    words = rest;
                }
                Some((prefix, rest)) if is(b"PREFIX") => {
                    found.prefixes.push(prefix);
                    words = rest;
                }
                _ if is(b"BCAST") => found.caching.broadcast = true,
                _ if is(b"OPTIN") => found.caching.opt_in = true,
                _ if is(b"OPTOUT") => found.caching.opt_out = true,
                _ if is(b"NOLOOP") => found.caching.no_loop = true,
                _ => return Err(SYNTAX),
            }
        }
        Ok(found)
    }

    fn redirect(&mut self, node: &Node, target: &[u8]) -> Result<(), Reply> {
        if self.caching.redirect.is_some() {
            return Err(Reply::error("ERR A client can only redirect to a single other client"));
        }
        let target = u64::try_from(number(target)?).ok().map(SessionId);
        let there = target.filter(|target| node.sessions().any(|session| session.id == *target));
        self.caching.redirect =
            Some(there.ok_or(Reply::error("ERR The client ID you want redirect to does not exist"))?);
        Ok(())
    }
}

/// An error if the options contradict each other or what the client has chosen before.
fn check(new: &Caching, prefixes: &[&[u8]], old: Option<&Caching>) -> Result<(), Reply> {
    if !new.broadcast && !prefixes.is_empty() {
        return Err(Reply::error("ERR PREFIX option requires BCAST mode to be enabled"));
    }
    if old.is_some_and(|old| old.broadcast != new.broadcast) {
        return Err(Reply::error(
            "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a \
             different mode.",
        ));
    }
    if new.broadcast && (new.opt_in || new.opt_out) {
        return Err(Reply::error("ERR OPTIN and OPTOUT are not compatible with BCAST"));
    }
    if new.opt_in && new.opt_out {
        return Err(Reply::error("ERR You can't specify both OPTIN mode and OPTOUT mode"));
    }
    if old.is_some_and(|old| new.opt_in && old.opt_out || new.opt_out && old.opt_in) {
        return Err(Reply::error(
            "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a \
             different mode.",
        ));
    }
    let overlap = |a: &[u8], b: &[u8]| a.starts_with(b) || b.starts_with(a);
    for (at, prefix) in prefixes.iter().enumerate() {
        let mut existing = old.iter().flat_map(|old| &old.prefixes);
        if let Some(other) = existing.find(|other| overlap(other, prefix)) {
            return Err(overlaps(prefix, "an existing prefix", other));
        }
        // Redis says OK after this error, and tracks, if the first of them overlaps with none: that is left out.
        if let Some(other) = prefixes[at + 1..].iter().find(|other| overlap(other, prefix)) {
            return Err(overlaps(prefix, "another provided prefix", other));
        }
    }
    Ok(())
}

fn overlaps(prefix: &[u8], what: &str, other: &[u8]) -> Reply {
    let [prefix, other] = [prefix, other].map(String::from_utf8_lossy);
    let text = format!(
        "ERR Prefix '{prefix}' overlaps with {what} '{other}'. Prefixes for a single client must not overlap."
    );
    Reply::Error(text.into())
}

pub(super) fn caching(session: &mut Session, word: &[u8]) -> Result<Reply, Reply> {
    let Some(caching) = session.caching.as_deref_mut() else {
        return Err(Reply::error(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode \
             enabled",
        ));
    };
    let fits = match () {
        () if word.eq_ignore_ascii_case(b"YES") => caching.opt_in.then_some(()).ok_or(Reply::error(
            "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.",
        )),
        () if word.eq_ignore_ascii_case(b"NO") => caching.opt_out.then_some(()).ok_or(Reply::error(
            "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.",
        )),
        () => Err(SYNTAX),
    };
    caching.next |= fits.is_ok();
    fits.map(|()| Reply::OK)
}

/// The session that is notified in the place of this one: 0 if none is, -1 without a cache.
pub(super) fn redirect_of(session: &Session) -> i64 {
    session.caching.as_ref().map_or(-1, |caching| caching.redirect.map_or(0, SessionId::number))
}

pub(super) fn redirection(session: &Session) -> Reply {
    Reply::Integer(redirect_of(session))
}

pub(super) fn info(session: &Session) -> Reply {
    let mut flags = vec![if session.caching.is_some() { "on" } else { "off" }];
    let none = Caching::default();
    let caching = session.caching.as_deref().unwrap_or(&none);
    for (set, flag) in [
        (caching.broadcast, "bcast"),
        (caching.opt_in, "optin"),
        (caching.opt_in && caching.next, "caching-yes"),
        (caching.opt_out, "optout"),
        (caching.opt_out && caching.next, "caching-no"),
        (caching.no_loop, "noloop"),
        (caching.broken, "broken_redirect"),
    ] {
        if set {
            flags.push(flag);
        }
    }
    let prefixes = caching.prefixes.iter().map(|prefix| Reply::Bulk(prefix.clone())).collect();
    Reply::Map(vec![
        (Reply::text("flags"), Reply::Set(flags.into_iter().map(Reply::text).collect())),
        (Reply::text("redirect"), redirection(session)),
        (Reply::text("prefixes"), Reply::Array(prefixes)),
    ])
}
