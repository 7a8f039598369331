//! Requests and answers in JSON, as Consul's HTTP API has them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::duration;

/// The header with the index of an answer.
pub const INDEX: &str = "X-Consul-Index";

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Session {
    /// Its id.
    #[serde(rename = "ID")]
    pub id: String,
    /// Its name, for people.
    #[serde(default)]
    pub name: String,
    /// The node that it belongs to.
    #[serde(default)]
    pub node: String,
    /// For how long nobody can acquire a lock that was lost with it, in nanoseconds.
    pub lock_delay: u64,
    /// What becomes of its keys when it ends: `release` or `delete`.
    pub behavior: String,
    /// Its time, as it was asked for. Empty: it does not run out.
    #[serde(rename = "TTL", default)]
    pub ttl: String,
    /// The health checks of the node that it depends on.
    #[serde(default)]
    pub node_checks: Vec<String>,
    /// The index at which it was created.
    #[serde(default)]
    pub create_index: u64,
    /// The index at which it was changed.
    #[serde(default)]
    pub modify_index: u64,
}

impl Session {
    /// Its time; none if it does not run out.
    #[must_use]
    pub fn time(&self) -> Option<Duration> {
        duration::parse(&self.ttl).filter(|ttl| !ttl.is_zero())
    }
}

/// The answer to the creation of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The id.
    #[serde(rename = "ID")]
    pub id: String,
}

/// A request for a session. What is left out is Consul's default. Go reads names in either case, and some clients send the lower one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Wanted {
    /// Its name.
    #[serde(alias = "name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The lock-delay: a span as a text, or a number, of seconds if it is below 1,000, and else of nanoseconds.
    #[serde(alias = "lockdelay", skip_serializing_if = "Option::is_none")]
    pub lock_delay: Option<Value>,
    /// What becomes of its keys.
    #[serde(alias = "behavior", skip_serializing_if = "Option::is_none")]
    pub behavior: Option<String>,
    /// Its time.
    #[serde(rename = "TTL", alias = "ttl", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

/// The lock-delay of a session that asks for none.
const LOCK_DELAY: Duration = Duration::from_secs(15);

/// A number below this is one of seconds (`lockDelayMinThreshold`).
const SECONDS_BELOW: u64 = 1_000;

impl Wanted {
    /// The lock-delay.
    ///
    /// # Errors
    /// The text that is no span.
    pub fn delay(&self) -> Result<Duration, String> {
        let nanos = match &self.lock_delay {
            None | Some(Value::Null) => return Ok(LOCK_DELAY),
            Some(Value::String(text)) => {
                let span = duration::parse(text).ok_or_else(|| text.clone())?;
                u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
            }
            Some(other) => other.as_u64().ok_or_else(|| other.to_string())?,
        };
        Ok(if nanos < SECONDS_BELOW { Duration::from_secs(nanos) } else { Duration::from_nanos(nanos) })
    }
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Pair {
    /// How often the key was acquired.
    pub lock_index: u64,
    /// The key.
    pub key: String,
    /// A number of the client's own.
    pub flags: u64,
    /// The value in base64; none if it is empty.
    pub value: Option<String>,
    /// The session that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The index at which it was created.
    pub create_index: u64,
    /// The index at which it was changed.
    pub modify_index: u64,
}

/// A value as it is answered.
#[must_use]
pub fn encoded(value: &[u8]) -> Option<String> {
    (!value.is_empty()).then(|| STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_and_a_pair_read_as_consuls() {
        let session = r#"[{"ID":"adf4238a-882b-9ddc-4a9d-5b6758e4159e","Name":"n","Node":"node-1","LockDelay":15000000000,
            "Behavior":"release","TTL":"10s","NodeChecks":["serfHealth"],"ServiceChecks":null,"CreateIndex":11,"ModifyIndex":11}]"#;
        let sessions: Vec<Session> = serde_json::from_str(session).unwrap();
        assert_eq!(sessions[0].time(), Some(Duration::from_secs(10)));
        let pair = r#"[{"LockIndex":1,"Key":"k","Flags":3304740253564472344,"Value":null,"Session":"s","CreateIndex":12,"ModifyIndex":12}]"#;
        let pairs: Vec<Pair> = serde_json::from_str(pair).unwrap();
        assert_eq!(serde_json::to_string(&pairs).unwrap(), pair);
    }

    #[test]
    fn a_lock_delay_is_a_text_or_a_number() {
        let delay = |json: &str| serde_json::from_str::<Wanted>(json).unwrap().delay();
        assert_eq!(delay("{}"), Ok(Duration::from_secs(15)));
        assert_eq!(delay(r#"{"LockDelay":"20s"}"#), Ok(Duration::from_secs(20)));
        assert_eq!(delay(r#"{"LockDelay":"0s"}"#), Ok(Duration::ZERO));
        assert_eq!(delay(r#"{"LockDelay":5}"#), Ok(Duration::from_secs(5)));
        assert_eq!(delay(r#"{"LockDelay":2000000}"#), Ok(Duration::from_millis(2)));
        assert_eq!(delay(r#"{"LockDelay":"soon"}"#), Err("soon".to_owned()));
    }
}
