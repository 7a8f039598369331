//! The configuration of a Sentinel while it runs: SENTINEL SET, CONFIG and DEBUG.

use crate::protocol::resp::{self, Reply};
use crate::server::glob::fits;
use crate::server::sentinel::config;
use crate::server::sentinel::ids::InstanceId;
use crate::server::sentinel::state::{Periods, Sentinel};

/// The answer of SENTINEL SET when scripts are to be changed.
const NO_SCRIPTS: Reply = Reply::error(
    "ERR Reconfiguration of scripts path is denied for security reasons. Check the deny-scripts-reconfig configuration \
     directive in your Sentinel configuration",
);

pub(super) fn set(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    let mut rest = &args[3..];
    while let Some((option, values)) = rest.split_first() {
        // What was set before an error stays set.
        let taken = set_one(sentinel, id, option, values)?;
        let hidden = option.eq_ignore_ascii_case(b"auth-pass");
        let shown = rest[..=taken].iter().enumerate().map(|(at, word)| match at {
            1 if hidden => " ******".to_owned(),
            _ => format!(" {}", String::from_utf8_lossy(word)),
        });
        let shown: String = shown.collect();
        sentinel.event("+set", id, &shown);
        sentinel.save();
        rest = &values[taken..];
    }
    Ok(Reply::OK)
}

/// Sets one option of a primary; how many values it took.
fn set_one(sentinel: &mut Sentinel, id: InstanceId, option: &[u8], values: &[&[u8]]) -> Result<usize, Reply> {
    let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
    let name = String::from_utf8_lossy(option).into_owned();
    let unknown = || {
        let text = format!("ERR Unknown option or number of arguments for SENTINEL SET '{name}'");
        Reply::Error(text.into())
    };
    let invalid = |value: &[u8]| {
        let value = String::from_utf8_lossy(value);
        Reply::Error(format!("ERR Invalid argument '{value}' for SENTINEL SET '{name}'").into())
    };
    let Some(value) = values.first().copied() else { return Err(unknown()) };
    let number =
        |least: i64| resp::integer(value).filter(|number| *number >= least).ok_or_else(|| invalid(value));
    let watch = &mut sentinel.primary_mut(id).watch;
    let mut reconnect = false;
    match () {
        () if is(b"down-after-milliseconds") => watch.down_after_ms = number(1)?,
        () if is(b"failover-timeout") => watch.failover_timeout_ms = number(1)?,
        () if is(b"parallel-syncs") => {
            watch.parallel_syncs = usize::try_from(number(1)?).unwrap_or(usize::MAX)
        }
        () if is(b"quorum") => watch.quorum = usize::try_from(number(1)?).unwrap_or(usize::MAX),
        () if is(b"master-reboot-down-after-period") => watch.reboot_down_after_ms = number(0)?,
        () if is(b"notification-script") || is(b"client-reconfig-script") => return Err(NO_SCRIPTS),
        () if is(b"auth-pass") || is(b"auth-user") => {
            let text =
                if value.is_empty() { "" } else { config::word(value).ok_or_else(|| invalid(value))? };
            let field = if is(b"auth-pass") { &mut watch.password } else { &mut watch.user };
            text.clone_into(field);
            reconnect = true;
        }
        () if is(b"rename-command") => {
            let Some(other) = values.get(1).copied() else { return Err(unknown()) };
            for name in [other, value] {
                if config::word(name).is_none() {
                    return Err(invalid(name));
                }
            }
            watch.renamed.remove(&value.to_ascii_lowercase());
            if !value.eq_ignore_ascii_case(other) {
                watch.renamed.insert(value.to_ascii_lowercase(), other.to_vec());
            }
            return Ok(2);
        }
        () => return Err(unknown()),
    }
    if reconnect {
        let replicas: Vec<InstanceId> = sentinel.replicas_of(id).map(|(instance, _)| instance.id).collect();
        for server in std::iter::once(id).chain(replicas) {
            sentinel.close_commands(server);
            sentinel.close_messages(server);
        }
    }
    Ok(1)
}

/// The global options: where it says that it listens; the others have no effect or are refused.
pub(super) fn config(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let is = |at: usize, word: &[u8]| args[at].eq_ignore_ascii_case(word);
    match args.len() {
        5 if is(2, b"set") => {
            let (option, value) = (String::from_utf8_lossy(args[3]), String::from_utf8_lossy(args[4]));
            let invalid = || {
                let text = format!("ERR Invalid value '{value}' to SENTINEL CONFIG SET '{option}'");
                Reply::Error(text.into())
            };
            let host = || match args[4] {
                [] => Ok(""),
                name => config::word(name).ok_or_else(invalid),
            };
            let port =
                || resp::integer(args[4]).and_then(|port| u16::try_from(port).ok()).ok_or_else(invalid);
            match () {
                () if is(3, b"announce-ip") => host()?.clone_into(&mut sentinel.announced.host),
                () if is(3, b"announce-port") => sentinel.announced.port = port()?,
                // Names are addresses here, so that there is nothing to choose.
                () if is(3, b"resolve-hostnames") || is(3, b"announce-hostnames") => {
                    if !is(4, b"yes") && !is(4, b"no") {
                        return Err(invalid());
                    }
                }
                () => {
                    let text = format!("ERR Invalid argument '{option}' to SENTINEL CONFIG SET");
                    return Err(Reply::Error(text.into()));
                }
            }
            sentinel.save();
            Ok(Reply::OK)
        }
        4 if is(2, b"get") => {
            let port = sentinel.announced.port.to_string();
            let options = [
                ("resolve-hostnames", "no"),
                ("announce-hostnames", "no"),
                ("announce-ip", sentinel.announced.host.as_str()),
                ("announce-port", port.as_str()),
                ("sentinel-user", ""),
                ("sentinel-pass", ""),
            ];
            let pattern = args[3].to_ascii_lowercase();
            let asked = options.into_iter().filter(|(name, _)| fits(&pattern, name.as_bytes()));
            Ok(Reply::Map(asked.map(|(name, value)| (Reply::text(name), Reply::text(value))).collect()))
        }
        _ => Err(Reply::error("ERR Only SENTINEL CONFIG GET <option> / SET <option> <value> are supported.")),
    }
}

/// Shows or sets the periods.
pub(super) fn debug(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    if args.len() == 2 {
        let mut periods = sentinel.periods.clone();
        let pair = |name: &str, value: i64| (Reply::text(name), Reply::text(&value.to_string()));
        return Ok(Reply::Map(fields(&mut periods).map(|(name, value)| pair(name, *value)).to_vec()));
    }
    let mut rest = &args[2..];
    while let Some((option, values)) = rest.split_first() {
        let name = String::from_utf8_lossy(option);
        let fields = fields(&mut sentinel.periods);
        let field = fields.into_iter().find(|(known, _)| option.eq_ignore_ascii_case(known.as_bytes()));
        let (Some((_, field)), Some(value)) = (field, values.first()) else {
            let text = format!("ERR Unknown option or number of arguments for SENTINEL DEBUG '{name}'");
            return Err(Reply::Error(text.into()));
        };
        *field = resp::integer(value).filter(|value| *value > 0).ok_or_else(|| {
            let value = String::from_utf8_lossy(value);
            Reply::Error(format!("ERR Invalid argument '{value}' for SENTINEL DEBUG '{name}'").into())
        })?;
        rest = &values[1..];
    }
    Ok(Reply::OK)
}

fn fields(periods: &mut Periods) -> [(&'static str, &mut i64); 13] {
    [
        ("INFO-PERIOD", &mut periods.info),
        ("PING-PERIOD", &mut periods.ping),
        ("ASK-PERIOD", &mut periods.ask),
        ("PUBLISH-PERIOD", &mut periods.hello),
        ("DEFAULT-DOWN-AFTER", &mut periods.down_after),
        ("DEFAULT-FAILOVER-TIMEOUT", &mut periods.failover),
        ("TILT-TRIGGER", &mut periods.tilt_trigger),
        ("TILT-PERIOD", &mut periods.tilt),
        ("SLAVE-RECONF-TIMEOUT", &mut periods.reconfiguration),
        ("MIN-LINK-RECONNECT-PERIOD", &mut periods.reconnect),
        ("ELECTION-TIMEOUT", &mut periods.election),
        ("SCRIPT-MAX-RUNTIME", &mut periods.script),
        ("SCRIPT-RETRY-DELAY", &mut periods.script_retry),
    ]
}
