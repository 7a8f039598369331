//! The environment of a tool: the variables by which registries are found, and a home directory of its own.
//!
//! A list of what is passed on, and not of what is left out: `PYTHONPATH`, `NODE_OPTIONS`, `RUSTC_WRAPPER`, `JAVA_TOOL_OPTIONS` and tokens
//! change what a build does or are secrets. Settings of registries that lie in the user's home directory are named by their path.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables that are passed on.
const PASSED: &[&str] = &[
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    // Proxies and certificates.
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    // pip.
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TRUSTED_HOST",
    // npm.
    "NPM_CONFIG_CAFILE",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_PROXY",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_cafile",
    "npm_config_https_proxy",
    "npm_config_proxy",
    "npm_config_registry",
    "npm_config_userconfig",
    // Go.
    "GOAUTH",
    "GOENV",
    "GOINSECURE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    // Maven.
    "JAVA_HOME",
    "MAVEN_HOME",
    "M2_HOME",
    // cargo.
    "CARGO_HTTP_CAINFO",
    "CARGO_HTTP_PROXY",
    "CARGO_HTTP_TIMEOUT",
    "CARGO_NET_RETRY",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    // Version managers, whose programs on the PATH look for them.
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "MISE_DATA_DIR",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VOLTA_HOME",
];

/// Files and directories in the home directory of the user, and the variable that names each.
const IN_HOME: &[(&str, &str)] = &[
    ("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
    ("PIP_CONFIG_FILE", ".pip/pip.conf"),
    ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ("GOENV", ".config/go/env"),
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
];

/// The environment of the user, as far as a tool sees it.
pub(super) struct Environment {
    variables: Vec<(OsString, OsString)>,
    home: Option<PathBuf>,
    cargo: Option<PathBuf>,
}

impl Environment {
    /// That of this process.
    pub(super) fn of_the_user() -> Environment {
        Environment::of(std::env::vars_os())
    }

    pub(super) fn of(all: impl Iterator<Item = (OsString, OsString)>) -> Environment {
        let all: Vec<_> = all.collect();
        let path = |name: &str| {
            let found = all.iter().find(|(key, value)| key == name && !value.is_empty());
            found.map(|(_, value)| PathBuf::from(value))
        };
        let home = path("HOME");
        let cargo = path("CARGO_HOME").or_else(|| Some(home.as_ref()?.join(".cargo")));
        let is_passed = |name: &OsStr| name.to_str().is_some_and(|name| PASSED.contains(&name));
        let mut variables: Vec<(OsString, OsString)> =
            all.into_iter().filter(|(name, _)| is_passed(name)).collect();
        for (name, within) in IN_HOME {
            let is_set = variables.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
            if let Some(path) =
                home.as_ref().map(|home| home.join(within)).filter(|path| !is_set && path.exists())
            {
                variables.push(((*name).into(), path.into()));
            }
        }
        Environment { variables, home, cargo }
    }

    /// The variables of a tool whose home directory is this one.
    pub(super) fn within(&self, home: &Path) -> Vec<(OsString, OsString)> {
        let own = [
            ("HOME", ""),
            ("TMPDIR", "tmp"),
            ("CARGO_HOME", "cargo"),
            ("GOPATH", "go"),
            ("GOCACHE", "go-build"),
        ];
        let own = own.into_iter().map(|(name, within)| (name.into(), home.join(within).into()));
        // Go never fetches another version of itself, and needs no C compiler; what it fetches can be removed.
        let fixed = [
            ("GOTOOLCHAIN", "local"),
            ("GOFLAGS", "-modcacherw -buildvcs=false"),
            ("GOWORK", "off"),
            ("CGO_ENABLED", "0"),
            ("RUSTUP_AUTO_INSTALL", "0"),
            ("MAVEN_SKIP_RC", "1"),
        ];
        let fixed = fixed.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.variables.iter().cloned().chain(own).chain(fixed).collect()
    }

    /// The user's own settings of cargo, which may name a mirror.
    pub(super) fn cargo_settings(&self) -> Option<PathBuf> {
        self.cargo.as_ref().map(|cargo| cargo.join("config.toml")).filter(|path| path.is_file())
    }

    /// The user's own settings of Maven.
    pub(super) fn maven_settings(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".m2/settings.xml")).filter(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_sees_the_settings_of_registries_and_no_other_variable() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".npmrc"), "").unwrap();
        let user = [
            ("HOME", home.path().as_os_str()),
            ("PATH", OsStr::new("/bin")),
            ("GOPROXY", OsStr::new("https://proxy")),
            ("SECRET_TOKEN", OsStr::new("s")),
            ("PYTHONPATH", OsStr::new("/x")),
            ("NODE_OPTIONS", OsStr::new("--require /x")),
            ("RUSTC_WRAPPER", OsStr::new("/x")),
            ("CARGO_REGISTRY_TOKEN", OsStr::new("s")),
        ];
        let environment = Environment::of(user.into_iter().map(|(name, value)| (name.into(), value.into())));
        let variables = environment.within(Path::new("/own"));
        let of = |name: &str| {
            let found = variables.iter().filter(|(known, _)| known == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("HOME"), ["/own/"]);
        assert_eq!(of("PATH"), ["/bin"]);
        assert_eq!(of("GOPROXY"), ["https://proxy"]);
        assert_eq!(of("NPM_CONFIG_USERCONFIG"), [home.path().join(".npmrc").to_string_lossy()]);
        for none in ["SECRET_TOKEN", "PYTHONPATH", "NODE_OPTIONS", "RUSTC_WRAPPER", "CARGO_REGISTRY_TOKEN"] {
            assert!(of(none).is_empty(), "{none}");
        }
    }
}
