//! The parameters of a session: those that have to do with waiting, and those that clients get at the start.
//!
//! Source: PostgreSQL 15, "Client Connection Defaults" and "Lock Management".

use std::time::Duration;

use crate::protocol::SqlError;
use crate::server::keepalive::Keepalive;
use crate::server::sql::Isolation;

/// The version that is modelled.
pub(crate) const VERSION: &str = "15.20 (Debian 15.20-0+deb12u1)";

/// The same as a number.
const VERSION_NUMBER: &str = "150020";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    lock_timeout_ms: u32,
    statement_timeout_ms: u32,
    idle_timeout_ms: u32,
    deadlock_timeout_ms: u32,
    check_interval_ms: u32,
    idle_session_timeout_ms: u32,
    /// The isolation level of transactions that name none.
    pub(crate) isolation: Isolation,
    pub(crate) application_name: String,
    /// When the server looks whether the client is still there.
    pub(crate) keepalive: Keepalive,
    /// The same as the server is configured.
    configured: Keepalive,
    /// When its commits are durable (`synchronous_commit`).
    pub(crate) commits: Commits,
    /// The same as the server is configured.
    configured_commits: Commits,
}

/// When a commit is durable, which is when its client is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Commits {
    /// `off`: some time after it was answered.
    Off,
    /// `local`: once it is on the server's disk.
    Local,
    /// `on`: once it is on the disk of the server, and on that of a synchronous standby.
    #[default]
    Everywhere,
}

impl Commits {
    fn name(self) -> &'static str {
        match self {
            Commits::Off => "off",
            Commits::Local => "local",
            Commits::Everywhere => "on",
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lock_timeout_ms: 0,
            statement_timeout_ms: 0,
            idle_timeout_ms: 0,
            deadlock_timeout_ms: 1_000,
            check_interval_ms: 0,
            idle_session_timeout_ms: 0,
            isolation: Isolation::default(),
            application_name: String::new(),
            keepalive: Keepalive::default(),
            configured: Keepalive::default(),
            commits: Commits::default(),
            configured_commits: Commits::default(),
        }
    }
}

/// The parameters that a client gets at the start besides its own name and that of its application.
pub(crate) const REPORTED: [(&str, &str); 10] = [
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, MDY"),
    ("default_transaction_read_only", "off"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "on"),
    ("server_encoding", "UTF8"),
    ("server_version", VERSION),
    ("standard_conforming_strings", "on"),
];

impl Settings {
    /// Those of a server that is configured like this.
    pub(crate) fn configured(keepalive: Keepalive, commits: Commits) -> Settings {
        let (configured, configured_commits) = (keepalive, commits);
        Settings { keepalive, configured, commits, configured_commits, ..Settings::default() }
    }

    /// How long a statement waits for one lock; none for ever.
    pub(crate) fn lock_timeout(&self) -> Option<Duration> {
        span(self.lock_timeout_ms)
    }

    /// How long a statement may take.
    pub(crate) fn statement_timeout(&self) -> Option<Duration> {
        span(self.statement_timeout_ms)
    }

    /// How long a transaction may be idle.
    pub(crate) fn idle_timeout(&self) -> Option<Duration> {
        span(self.idle_timeout_ms)
    }

    /// How long a statement waits for a lock before it looks for a deadlock.
    pub(crate) fn deadlock_timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.deadlock_timeout_ms))
    }

    /// How long a session may be idle outside of a transaction.
    pub(crate) fn idle_session_timeout(&self) -> Option<Duration> {
        span(self.idle_session_timeout_ms)
    }

    /// How often a session that waits looks whether its client is still there.
    pub(crate) fn check_interval(&self) -> Option<Duration> {
        span(self.check_interval_ms)
    }

    fn timeout(&mut self, name: &str) -> Option<&mut u32> {
        match name {
            "lock_timeout" => Some(&mut self.lock_timeout_ms),
            "statement_timeout" => Some(&mut self.statement_timeout_ms),
            "idle_in_transaction_session_timeout" => Some(&mut self.idle_timeout_ms),
            "deadlock_timeout" => Some(&mut self.deadlock_timeout_ms),
            "client_connection_check_interval" => Some(&mut self.check_interval_ms),
            "idle_session_timeout" => Some(&mut self.idle_session_timeout_ms),
            _ => None,
        }
    }

    /// Sets a parameter, to its default without a value.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), SqlError> {
        let name = name.to_lowercase();
        let invalid = |value: &str| {
            SqlError::new("22023", format!("invalid value for parameter \"{name}\": \"{value}\""))
        };
        let mut defaults = Settings::default();
        if let Some(timeout) = self.timeout(&name) {
            *timeout = match value {
                None => defaults.timeout(&name).copied().unwrap_or(0),
                Some(value) => {
                    let ms = milliseconds(value).ok_or_else(|| invalid(value))?;
                    let least = i64::from(name == "deadlock_timeout");
                    let range = least..=i64::from(i32::MAX);
                    let fits = u32::try_from(ms).ok().filter(|_| range.contains(&ms));
                    fits.ok_or_else(|| {
                        let text = "is outside the valid range for parameter";
                        SqlError::new("22023", format!("{ms} ms {text} \"{name}\" ({least} .. {})", i32::MAX))
                    })?
                }
            };
            return Ok(());
        }
        if name.starts_with("tcp_") {
            return self.set_keepalive(&name, value).ok_or_else(|| invalid(value.unwrap_or_default()));
        }
        match (name.as_str(), value) {
            ("application_name", _) => self.application_name = value.unwrap_or_default().to_owned(),
            ("client_encoding", None) => {}
            // Of the name of an encoding the letters and digits count.
            ("client_encoding", Some(value)) => {
                let name: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
                if !["utf8", "unicode"].contains(&name.to_ascii_lowercase().as_str()) {
                    return Err(SqlError::unsupported("another encoding than UTF8"));
                }
            }
            ("default_transaction_isolation", None) => self.isolation = Isolation::default(),
            ("default_transaction_isolation", Some(value)) => {
                let levels = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
                let level = levels.into_iter().find(|level| level.name() == value.to_lowercase());
                self.isolation = level.ok_or_else(|| invalid(value))?;
            }
            ("synchronous_commit", value) => {
                self.commits = match value.map(str::to_lowercase).as_deref() {
                    None => self.configured_commits,
                    Some("off" | "false" | "no" | "0") => Commits::Off,
                    Some("local") => Commits::Local,
                    Some("on" | "true" | "yes" | "1") => Commits::Everywhere,
                    Some("remote_write" | "remote_apply") => {
                        return Err(SqlError::unsupported("this value of synchronous_commit"));
                    }
                    Some(other) => return Err(invalid(other)),
                };
            }
            (known, value) if HARMLESS.iter().any(|(name, _)| *name == known) => {
                let is = |one: &&(&str, &[&str])| one.0 == known;
                let allowed = HARMLESS.iter().find(is).map_or(&[][..], |(_, values)| values);
                let value = value.map(str::to_lowercase);
                if value.is_some_and(|value| !allowed.is_empty() && !allowed.contains(&value.as_str())) {
                    return Err(SqlError::unsupported(format!("this value of {known}")));
                }
            }
            // PostgreSQL keeps a parameter with a point in its name for whoever reads it.
            (name, _) if name.contains('.') => {
                return Err(SqlError::unsupported(format!("the parameter {name}")));
            }
            (name, _) => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Sets when the server looks whether the client is still there; 0 is as it is configured. None if the value makes no sense.
    fn set_keepalive(&mut self, name: &str, value: Option<&str>) -> Option<()> {
        let (now, configured) = (&mut self.keepalive, self.configured);
        let number = |unit: &str| -> Option<u32> {
            let Some(value) = value else { return Some(0) };
            let is_bare = value.trim().bytes().all(|byte| byte.is_ascii_digit());
            let given = if is_bare { format!("{value}{unit}") } else { value.to_owned() };
            u32::try_from(milliseconds(&given)?).ok().filter(|ms| *ms <= i32::MAX as u32)
        };
        let or = |ms: u32, other: Duration| span(ms).unwrap_or(other);
        match name {
            "tcp_keepalives_idle" => now.idle = or(number("s")?, configured.idle),
            "tcp_keepalives_interval" => now.interval = or(number("s")?, configured.interval),
            "tcp_keepalives_count" => {
                let count: u32 = value.map_or(Some(0), |value| value.trim().parse().ok())?;
                now.count = if count == 0 { configured.count } else { count };
            }
            "tcp_user_timeout" => now.user_timeout = span(number("ms")?).or(configured.user_timeout),
            _ => return None,
        }
        Some(())
    }

    /// A parameter as SHOW shows it.
    pub(crate) fn show(&self, name: &str) -> Result<String, SqlError> {
        let name = name.to_lowercase();
        if let Some(ms) = self.clone().timeout(&name) {
            return Ok(timeout_text(*ms));
        }
        match name.as_str() {
            "application_name" => Ok(self.application_name.clone()),
            "default_transaction_isolation" => Ok(self.isolation.name().to_owned()),
            "synchronous_commit" => Ok(self.commits.name().to_owned()),
            "timezone" => Ok("UTC".to_owned()),
            "server_version_num" => Ok(VERSION_NUMBER.to_owned()),
            "tcp_keepalives_idle" => Ok(self.keepalive.idle.as_secs().to_string()),
            "tcp_keepalives_interval" => Ok(self.keepalive.interval.as_secs().to_string()),
            "tcp_keepalives_count" => Ok(self.keepalive.count.to_string()),
            "tcp_user_timeout" => {
                Ok(self.keepalive.user_timeout.map_or(0, |limit| limit.as_millis()).to_string())
            }
            _ => {
                let known = REPORTED.iter().find(|(reported, _)| reported.to_lowercase() == name);
                known.map(|(_, value)| (*value).to_owned()).ok_or_else(|| unknown(&name))
            }
        }
    }
}

/// Parameters that drivers set and that change nothing here, with the values that they may have; any without a list.
const HARMLESS: [(&str, &[&str]); 7] = [
    ("timezone", &["utc", "gmt", "etc/utc", "z"]),
    ("datestyle", &["iso", "iso, mdy"]),
    ("intervalstyle", &["postgres"]),
    ("standard_conforming_strings", &["on", "true"]),
    ("extra_float_digits", &[]),
    ("search_path", &["public", "\"$user\", public"]),
    ("client_min_messages", &["notice"]),
];

/// All parameters of PostgreSQL 15, in lower case: `pg_settings`, and those that it leaves out.
const ALL: &str = include_str!("parameters.txt");

/// The error of a parameter that is not modelled, or that PostgreSQL does not have.
fn unknown(name: &str) -> SqlError {
    if ALL.lines().any(|known| known == name) {
        return SqlError::unsupported(format!("the parameter {name}"));
    }
    SqlError::new("42704", format!("unrecognized configuration parameter \"{name}\""))
}

fn span(ms: u32) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(u64::from(ms)))
}

/// Units in milliseconds, the largest first.
const UNITS: [(&str, i64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];

/// A span as people write it, `5s` or `100`; none if it is no whole number of milliseconds.
fn milliseconds(text: &str) -> Option<i64> {
    let text = text.trim();
    let len = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let number: i64 = text[..len].parse().ok()?;
    let unit = text[len..].trim();
    let factor = if unit.is_empty() { 1 } else { UNITS.iter().find(|(name, _)| *name == unit)?.1 };
    number.checked_mul(factor)
}

fn timeout_text(ms: u32) -> String {
    let ms = i64::from(ms);
    match UNITS.iter().find(|(_, factor)| ms % factor == 0) {
        Some((unit, factor)) if ms > 0 => format!("{}{unit}", ms / factor),
        _ => ms.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_shown_in_its_largest_unit() {
        let mut settings = Settings::default();
        for (given, shown) in [("1500", "1500ms"), ("2s", "2s"), ("60s", "1min"), ("0", "0"), ("1 d", "1d")] {
            settings.set("lock_timeout", Some(given)).unwrap();
            assert_eq!(settings.show("LOCK_TIMEOUT").unwrap(), shown);
        }
        assert_eq!(settings.set("lock_timeout", Some("soon")).unwrap_err().code, "22023");
        assert_eq!(settings.set("lock_timout", None).unwrap_err().code, "42704");
    }

    #[test]
    fn a_parameter_of_postgresql_is_refused_as_not_modelled_and_another_as_unknown() {
        let mut settings = Settings::default();
        for name in
            ["search_path", "max_connections", "Transaction_Isolation", "work_mem", "session_authorization"]
        {
            let error = settings.show(name).unwrap_err();
            assert!(error.unmodelled && error.message.ends_with("is not modelled"), "{error}");
        }
        assert!(settings.set("work_mem", Some("4MB")).unwrap_err().unmodelled);
        assert!(settings.set("app.tenant", Some("me")).unwrap_err().unmodelled);
        assert!(!settings.show("serch_path").unwrap_err().unmodelled);
    }
}
