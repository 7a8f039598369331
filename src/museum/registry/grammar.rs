//! The grammar of package names, versions and checksums in each registry.
//!
//! The tools of the languages take more than that: npm reads a path, an address, a tag or a range in the place of a version, pip takes an
//! option in the place of a name. Here a version is exact, and a name or a version is one component of a path and one word of a command line.
//!
//! Sources: PEP 440 and PEP 508, `validate-npm-package-name`, `golang.org/x/mod/module`, Maven's `ModelValidator`, the rules of crates.io
//! for names, semver.org.

use data_encoding::BASE64;

use super::Registry;

/// The longest name: that of npm.
const NAME_MAX: usize = 214;

/// The longest version.
const VERSION_MAX: usize = 100;

impl Registry {
    /// Checks the name of a package.
    ///
    /// # Errors
    /// The form of a name in this registry.
    pub(in crate::museum) fn check_name(self, name: &str) -> Result<(), String> {
        let (is_one, example) = match self {
            Registry::Crates => (is_crate(name), "redis"),
            Registry::Go => (is_module(name), "github.com/go-redsync/redsync/v4"),
            Registry::Maven => (is_artifact(name), "org.redisson:redisson"),
            Registry::Npm => (is_npm(name), "@scope/name"),
            Registry::Pypi => (is_project(name), "redis"),
        };
        let reason = || format!("write a package name of {}, for example `{example}`", self.name());
        (is_one && name.len() <= NAME_MAX).then_some(()).ok_or_else(reason)
    }

    /// Checks a version: it must be exact.
    ///
    /// # Errors
    /// The form of a version in this registry.
    pub(in crate::museum) fn check_version(self, version: &str) -> Result<(), String> {
        let (is_one, example) = match self {
            Registry::Crates => (is_semver(version), "1.2.3"),
            Registry::Go => (is_module_version(version), "v1.2.3"),
            Registry::Maven => (is_maven_version(version), "1.2.3"),
            // The registry of npm drops build metadata.
            Registry::Npm => (!version.contains('+') && is_semver(version), "1.2.3"),
            Registry::Pypi => (is_pep440(version), "1.2.3"),
        };
        let reason = || {
            format!(
                "write an exact version of {}, for example `{example}`; a path, an address, a tag or a range is none",
                self.name()
            )
        };
        (is_one && version.len() <= VERSION_MAX).then_some(()).ok_or_else(reason)
    }

    /// Checks the form of a checksum.
    ///
    /// # Errors
    /// The form of a checksum in this registry.
    pub(in crate::museum) fn check_checksum(self, checksum: &str) -> Result<(), String> {
        let base64 = |prefix: &str, bytes: usize| {
            let digest = checksum.strip_prefix(prefix).map(|digest| BASE64.decode(digest.as_bytes()));
            digest.is_some_and(|digest| digest.is_ok_and(|digest| digest.len() == bytes))
        };
        let (is_one, form) = match self {
            Registry::Npm => (base64("sha512-", 64), "the `integrity` of npm: `sha512-` and 88 characters"),
            Registry::Go => (base64("h1:", 32), "the hash of `go.sum`: `h1:` and 44 characters"),
            Registry::Crates | Registry::Maven | Registry::Pypi => {
                let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                (
                    checksum.len() == 64 && checksum.bytes().all(is_hex),
                    "a SHA-256: 64 hexadecimal digits in lower case",
                )
            }
        };
        is_one.then_some(()).ok_or_else(|| format!("write {form}"))
    }
}

/// True if a text is not empty, has these characters alone and begins with a letter or a digit.
fn is_word(text: &str, others: &[u8]) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number without needless zeros in front.
fn is_plain_number(text: &str) -> bool {
    is_number(text) && (text == "0" || !text.starts_with('0'))
}

fn is_crate(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && is_word(name, b"-_") && name.len() <= 64
}

fn is_project(name: &str) -> bool {
    is_word(name, b"-_.") && name.ends_with(|last: char| last.is_ascii_alphanumeric())
}

fn is_npm(name: &str) -> bool {
    let is_part = |part: &str| is_word(part, b"-_.") && part != "node_modules";
    match name.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
        Some(Some((scope, name))) => is_part(scope) && is_part(name),
        Some(None) => false,
        None => is_part(name),
    }
}

fn is_module(path: &str) -> bool {
    let is_element = |element: &str| {
        element.starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '_' | '~'))
            && element.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
            && !element.ends_with('.')
    };
    let host = path.split('/').next().unwrap_or_default();
    host.contains('.') && is_word(host, b"-.") && path.split('/').all(is_element)
}

/// `group:artifact`, or `group:artifact:classifier` for a jar beside the main one.
fn is_artifact(name: &str) -> bool {
    let is_part = |part: &str| is_word(part, b"-_.") && !part.contains("..") && !part.ends_with('.');
    let parts: Vec<&str> = name.split(':').collect();
    matches!(parts.len(), 2 | 3) && parts.into_iter().all(is_part)
}

/// A version by semver.org.
fn is_semver(version: &str) -> bool {
    let (version, build) = match version.split_once('+') {
        Some((version, build)) => (version, Some(build)),
        None => (version, None),
    };
    let (numbers, pre) = match version.split_once('-') {
        Some((numbers, pre)) => (numbers, Some(pre)),
        None => (version, None),
    };
    let is_identifier = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_of_pre = |part: &str| is_identifier(part) && (!is_number(part) || is_plain_number(part));
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_plain_number)
        && pre.is_none_or(|pre| pre.split('.').all(is_of_pre))
        && build.is_none_or(|build| build.split('.').all(is_identifier))
}

/// `v` and a version by semver.org, pseudo-versions included. Of build metadata Go knows `+incompatible` alone.
fn is_module_version(version: &str) -> bool {
    let version = version.strip_suffix("+incompatible").unwrap_or(version);
    !version.contains('+') && version.strip_prefix('v').is_some_and(is_semver)
}

fn is_maven_version(version: &str) -> bool {
    let moves =
        ["LATEST", "RELEASE"].contains(&version) || version.to_ascii_uppercase().ends_with("SNAPSHOT");
    is_word(version, b"-_.+") && !version.contains("..") && !moves
}

/// A version in the normal form of PEP 440, without a local part, which no registry serves.
fn is_pep440(version: &str) -> bool {
    let (epoch, version) = version.split_once('!').unwrap_or(("0", version));
    let (version, dev) = version.split_once(".dev").unwrap_or((version, "0"));
    let (version, post) = version.split_once(".post").unwrap_or((version, "0"));
    let (release, pre) = match version.find(|character: char| character.is_ascii_alphabetic()) {
        Some(at) => version.split_at(at),
        None => (version, "a0"),
    };
    let number = ["rc", "a", "b"].iter().find_map(|kind| pre.strip_prefix(kind));
    [epoch, dev, post].into_iter().all(is_plain_number)
        && release.split('.').all(is_number)
        && number.is_some_and(is_plain_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hostile in every registry, as a name and as a version.
    const NOWHERE: [&str; 22] = [
        "",
        ".",
        "..",
        "../..",
        "/etc",
        "a/../b",
        "-x",
        "--x",
        "a b",
        "a\nb",
        "a\0b",
        "a\"b",
        "a'b",
        "a<b",
        "a>b",
        "a;b",
        "file:a",
        "git+https://example.org/a.git",
        "https://example.org/a.tgz",
        "$HOME",
        "a\\b",
        "é",
    ];

    const ALL: [Registry; 5] =
        [Registry::Crates, Registry::Go, Registry::Maven, Registry::Npm, Registry::Pypi];

    #[test]
    fn a_hostile_text_is_no_name_and_no_version() {
        for registry in ALL {
            for text in NOWHERE {
                // Maven's names have a colon.
                let name = text == "file:a" && registry == Registry::Maven;
                assert!(name || registry.check_name(text).is_err(), "{registry:?} {text:?}");
                assert!(registry.check_version(text).is_err(), "{registry:?} {text:?}");
                assert!(registry.check_checksum(text).is_err(), "{registry:?} {text:?}");
            }
            for long in [registry.check_name(&"a".repeat(300)), registry.check_version(&"1".repeat(300))] {
                assert!(long.is_err(), "{registry:?}");
            }
        }
    }

    #[test]
    fn a_version_is_exact() {
        let none = |registry: Registry, versions: &[&str]| {
            for version in versions {
                assert!(registry.check_version(version).is_err(), "{registry:?} {version}");
            }
        };
        let npm =
            ["latest", "^1.2.3", "~1.2.3", "1.2", "1.x", "*", ">=1.0.0", "1.2.3 || 2.0.0", "npm:other@1.2.3"];
        none(Registry::Npm, &npm);
        none(Registry::Npm, &["01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+build", "v1.2.3", "=1.2.3"]);
        none(Registry::Crates, &["1", "1.2", "^1.2.3", "=1.2.3", "*", "1.2.3+", "1.2.3-a..b"]);
        none(Registry::Go, &["latest", "master", "1.2.3", "v1", "v1.2", "v1.2.3+build", "v1.2.3-"]);
        none(Registry::Maven, &["[1,2)", "LATEST", "RELEASE", "1.0-SNAPSHOT", "${x}", "1..2", ".."]);
        none(
            Registry::Pypi,
            &["1.*", "==1.2", "1.2,<3", "1.2+local", "1.2.a", "1.2-alpha", "1!", "1.2;x", "01!1"],
        );
        let exact = |registry: Registry, versions: &[&str]| {
            for version in versions {
                assert_eq!(registry.check_version(version), Ok(()), "{registry:?} {version}");
            }
        };
        exact(Registry::Npm, &["1.2.3", "5.0.0-beta.2", "0.0.0-20200101-ab"]);
        exact(Registry::Crates, &["1.2.3", "0.9.34+deprecated", "1.0.0-rc.1"]);
        exact(Registry::Go, &["v4.12.0", "v2.0.0+incompatible", "v0.0.0-20181119212430-b82af8480203"]);
        exact(Registry::Maven, &["3.11.0", "4.1.0.Final", "1.0-beta-2", "2004.01_1"]);
        exact(
            Registry::Pypi,
            &["2.10.6", "1!2.0", "5.0.0b2", "1.0.post1", "1.0rc1.post2.dev3", "2024.01", "1"],
        );
    }

    #[test]
    fn a_name_is_one_of_its_registry() {
        let names = [
            (Registry::Npm, "@ioredis/commands", "@ioredis"),
            (Registry::Npm, "lodash.defaults", "node_modules"),
            (Registry::Npm, "JSONStream", "@a/b/c"),
            (Registry::Pypi, "celery_once", "celery-"),
            (Registry::Go, "go.etcd.io/etcd/client/v3", "etcd/client"),
            (Registry::Go, "gopkg.in/yaml.v3", "gopkg.in//yaml"),
            (Registry::Maven, "org.redisson:redisson", "redisson"),
            (Registry::Maven, "io.netty:netty-epoll:linux-x86_64", "a:b:c:d"),
            (Registry::Maven, "a:b", "a:..:b"),
            (Registry::Crates, "redlock", "1redlock"),
        ];
        for (registry, name, none) in names {
            assert_eq!(registry.check_name(name), Ok(()));
            assert!(registry.check_name(none).is_err(), "{registry:?} {none}");
        }
    }

    #[test]
    fn a_checksum_has_the_form_of_its_registry() {
        let hex = "ab".repeat(32);
        let npm = format!("sha512-{}", BASE64.encode(&[7; 64]));
        let go = format!("h1:{}", BASE64.encode(&[7; 32]));
        for registry in ALL {
            let own = match registry {
                Registry::Npm => &npm,
                Registry::Go => &go,
                _ => &hex,
            };
            for checksum in [&hex, &npm, &go] {
                assert_eq!(
                    registry.check_checksum(checksum).is_ok(),
                    checksum == own,
                    "{registry:?} {checksum}"
                );
            }
            for none in ["missing", "sha512-", "h1:", "sha512-ab", "h1:ab", &hex[1..], &hex.to_uppercase()] {
                assert!(registry.check_checksum(none).is_err(), "{registry:?} {none}");
            }
        }
    }
}
