//! The Lease object, and what its clients read of it.

use serde::{Deserialize, Serialize};

/// Where leases are found.
pub const API_VERSION: &str = "coordination.k8s.io/v1";

/// A Lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lease {
    /// `Lease`.
    pub kind: String,
    /// [`API_VERSION`].
    pub api_version: String,
    /// What every object has.
    pub metadata: Metadata,
    /// What a lease has.
    pub spec: Spec,
}

/// What every object has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Its name.
    pub name: String,
    /// Its namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// What no other object has or had.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The revision at which it was changed last; empty in what is stored and in what is to be created.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
}

/// What a lease has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    /// Who holds it; empty if it was released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder_identity: Option<String>,
    /// How long others are to wait, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_duration_seconds: Option<i32>,
    /// When it was acquired, by the holder's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acquire_time: Option<String>,
    /// When it was renewed, by the holder's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<String>,
    /// How often it went from one holder to another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_transitions: Option<i32>,
}

impl Lease {
    /// A lease that is to be created.
    #[must_use]
    pub fn new(namespace: &str, name: &str, spec: Spec) -> Lease {
        Lease {
            kind: "Lease".to_owned(),
            api_version: API_VERSION.to_owned(),
            metadata: Metadata {
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                ..Metadata::default()
            },
            spec,
        }
    }

    /// Who holds it; none if nobody does.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        self.spec.holder_identity.as_deref().filter(|holder| !holder.is_empty())
    }
}

/// The path of the leases of a namespace, and of one of them.
#[must_use]
pub fn path(namespace: &str, name: Option<&str>) -> String {
    let all = format!("/apis/{API_VERSION}/namespaces/{namespace}/leases");
    name.map_or(all.clone(), |name| format!("{all}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_reads_as_kubernetes_writes_it() {
        let text = r#"{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-scheduler","namespace":"kube-system",
            "uid":"5bf2f3b6-6f27-4a1c-9e0b-4c1d8e8b7a11","resourceVersion":"1022","creationTimestamp":"2025-03-01T10:00:00Z",
            "managedFields":[{"manager":"kube-scheduler"}]},"spec":{"holderIdentity":"cp-1_0a1b","leaseDurationSeconds":15,
            "acquireTime":"2025-03-01T10:00:00.000000Z","renewTime":"2025-03-01T10:05:12.345678Z","leaseTransitions":0}}"#;
        let lease: Lease = serde_json::from_str(text).unwrap();
        assert_eq!(lease.holder(), Some("cp-1_0a1b"));
        assert_eq!(lease.metadata.resource_version, "1022");
        assert_eq!(lease.spec.lease_duration_seconds, Some(15));
        let again: Lease = serde_json::from_str(&serde_json::to_string(&lease).unwrap()).unwrap();
        assert_eq!(again, lease);
    }

    #[test]
    fn a_released_lease_has_no_holder() {
        let spec = Spec { holder_identity: Some(String::new()), ..Spec::default() };
        assert_eq!(Lease::new("default", "k", spec).holder(), None);
    }
}
