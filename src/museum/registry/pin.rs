//! A further package of an adapter, as `[with]` pins it.

use serde::Deserialize;

/// A version, and for a crate its features.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pin {
    /// The version.
    pub version: String,
    /// Features of a crate, beside the default ones.
    pub features: Vec<String>,
    /// True if a crate has its default features.
    pub default_features: bool,
}

/// A dependency of cargo. Other keys lead to code outside the registry (`path`, `git`, `registry`), or give another package its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Dependency {
    version: String,
    #[serde(default)]
    features: Vec<String>,
    default_features: Option<bool>,
}

/// A document of one dependency: a text that opens a second key or a table is refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    pin: Dependency,
}

impl TryFrom<String> for Pin {
    type Error = String;

    fn try_from(text: String) -> Result<Pin, String> {
        if !text.starts_with('{') {
            return Ok(Pin { version: text, features: Vec::new(), default_features: true });
        }
        let read = toml::from_str::<Document>(&format!("pin = {text}"));
        let Document { pin } = read.map_err(|error| {
            format!(
                "a pin is a version, or a table with `version`, `features` and `default-features`: {}",
                error.message()
            )
        })?;
        let version = pin.version.strip_prefix('=').unwrap_or(&pin.version).to_owned();
        Ok(Pin { version, features: pin.features, default_features: pin.default_features.unwrap_or(true) })
    }
}

impl Pin {
    /// True if its features are words of cargo.
    pub(in crate::museum) fn has_plain_features(&self) -> bool {
        let is_of_one = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+./".contains(&byte);
        self.features
            .iter()
            .all(|feature| !feature.is_empty() && feature.len() <= 100 && feature.bytes().all(is_of_one))
    }

    /// True if it is a version alone.
    pub(in crate::museum) fn is_version_alone(&self) -> bool {
        self.features.is_empty() && self.default_features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pin, String> {
        Pin::try_from(text.to_owned())
    }

    #[test]
    fn a_table_of_cargo_has_a_version_and_features_alone() {
        let pin = read("{ version = \"=1.47.1\", features = [\"rt\"], default-features = false }").unwrap();
        assert_eq!(
            pin,
            Pin { version: "1.47.1".into(), features: vec!["rt".into()], default_features: false }
        );
        for more in [
            "path = \"/x\"",
            "git = \"https://x\"",
            "registry = \"x\"",
            "package = \"x\"",
            "workspace = true",
        ] {
            let error = read(&format!("{{ version = \"1.0.0\", {more} }}")).unwrap_err();
            assert!(error.contains("unknown field"), "{error}");
        }
        for text in
            ["{ version = \"1.0.0\" }\nb = 1", "{ version = \"1.0.0\" }\n[patch.crates-io]", "{", "{}"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
