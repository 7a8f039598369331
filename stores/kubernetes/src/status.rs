//! The answer to a request that fails.
//!
//! *Source:* `k8s.io/apimachinery/pkg/api/errors/errors.go`.

use serde::{Deserialize, Serialize};

/// A Status object of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `Status`.
    pub kind: Box<str>,
    /// `v1`.
    pub api_version: Box<str>,
    /// Nothing.
    pub metadata: Empty,
    /// `Failure`.
    pub status: Box<str>,
    /// The words for people.
    pub message: Box<str>,
    /// The word for programs.
    pub reason: Box<str>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// The status of HTTP.
    pub code: u16,
}

/// No data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// What an error is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The name of the object.
    pub name: String,
    /// Its API group.
    pub group: String,
    /// Its resource.
    pub kind: String,
}

/// The resource that objects of this kind are.
const RESOURCE: &str = "leases.coordination.k8s.io";

impl Status {
    fn new(code: u16, reason: &str, message: String) -> Status {
        Status {
            kind: "Status".into(),
            api_version: "v1".into(),
            metadata: Empty {},
            status: "Failure".into(),
            message: message.into(),
            reason: reason.into(),
            details: None,
            code,
        }
    }

    fn about(self, name: &str) -> Status {
        let (group, kind) = ("coordination.k8s.io".to_owned(), "leases".to_owned());
        Status { details: Some(Box::new(Details { name: name.to_owned(), group, kind })), ..self }
    }

    /// There is no such lease.
    #[must_use]
    pub fn not_found(name: &str) -> Status {
        Status::new(404, "NotFound", format!("{RESOURCE} {name:?} not found")).about(name)
    }

    /// There is such a lease already.
    #[must_use]
    pub fn already_exists(name: &str) -> Status {
        Status::new(409, "AlreadyExists", format!("{RESOURCE} {name:?} already exists")).about(name)
    }

    /// The lease was changed since it was read.
    #[must_use]
    pub fn conflict(name: &str) -> Status {
        let message = format!(
            "Operation cannot be fulfilled on {RESOURCE} {name:?}: the object has been modified; please apply your changes to the \
             latest version and try again"
        );
        Status::new(409, "Conflict", message).about(name)
    }

    /// The object is not as it has to be.
    #[must_use]
    pub fn invalid(name: &str, why: &str) -> Status {
        let message = format!("Lease.coordination.k8s.io {name:?} is invalid: {why}");
        Status::new(422, "Invalid", message).about(name)
    }

    /// The request is not as it has to be.
    #[must_use]
    pub fn bad_request(why: &str) -> Status {
        Status::new(400, "BadRequest", why.to_owned())
    }

    /// The store failed.
    #[must_use]
    pub fn internal(why: &str) -> Status {
        Status::new(500, "InternalError", format!("Internal error occurred: {why}"))
    }

    /// It is not here.
    #[must_use]
    pub fn not_modelled(what: &str) -> Status {
        Status::new(501, "NotImplemented", format!("{what} is not modelled"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_reads_as_kubernetes_writes_it() {
        let text = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on leases.coordination.k8s.io \"k\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"k","group":"coordination.k8s.io","kind":"leases"},"code":409}"#;
        assert_eq!(serde_json::to_string(&Status::conflict("k")).unwrap(), text);
        assert_eq!(serde_json::from_str::<Status>(text).unwrap(), Status::conflict("k"));
    }
}
