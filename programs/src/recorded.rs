//! Spellings of programs in repro files, which are kept for years: they mean what they meant when the file was written.
//!
//! Up to form 3 of repro files, `topology=etcd:3` and `topology=zookeeper:3` named real members, and `simulated-` stood before the simulated
//! ones. The bare name means simulated members since, and files name the servers: `simulated-etcd:3`, or `@real` after the command.

use std::borrow::Cow;

use crate::program::Program;
use crate::real::SUFFIX;

/// The last form of repro files in which a bare name could mean real members.
const BARE_IS_REAL_UNTIL: u32 = 3;

/// The topologies whose members were real then.
const REAL_THEN: [&str; 2] = ["etcd:", "zookeeper:"];

/// The spelling of today for a design that stands in a repro file of this form. A spelling that is no program's stays as it is.
#[must_use]
pub fn recorded(design: &str, form: u32) -> Cow<'_, str> {
    if !Program::is_one(design) {
        return Cow::Borrowed(design);
    }
    let mut text = design.to_owned();
    if form <= BARE_IS_REAL_UNTIL
        && !design.ends_with(SUFFIX)
        && let Some((params, command)) = design.split_once("}:")
    {
        let mut params = params.to_owned();
        for name in REAL_THEN {
            params = params.replace(&format!("topology={name}"), &format!("topology=real-{name}"));
        }
        text = format!("{params}}}:{command}");
    }
    text.parse::<Program>().map_or(Cow::Borrowed(design), |program| Cow::Owned(program.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_etcd_of_an_early_file_is_a_real_one() {
        for (then, form, now) in [
            ("program{topology=etcd:3}:x", 1, "program{topology=etcd:3}:x@real"),
            ("program{topology=etcd:3,fenced=yes}:x", 3, "program{topology=etcd:3,fenced=yes}:x@real"),
            ("program{name=a,topology=zookeeper:1}:x", 2, "program{name=a,topology=zookeeper:1}:x@real"),
            (
                "program{topology=etcd:3}:x topology=etcd:3",
                3,
                "program{topology=etcd:3}:x topology=etcd:3@real",
            ),
            ("program{topology=simulated-etcd:3}:x", 3, "program{topology=simulated-etcd:3}:x"),
            ("program{topology=etcd:3}:x@real", 3, "program{topology=etcd:3}:x@real"),
            ("program{topology=etcd:3}:x", 4, "program{topology=simulated-etcd:3}:x"),
            ("program{topology=postgres}:x", 3, "program{topology=simulated-postgres}:x"),
            ("program{topology=redis-cluster:3}:x", 3, "program{topology=redis-cluster:3}:x"),
            ("program{stores=3}:x@real", 3, "program{stores=3}:x@real"),
            ("program:x", 3, "program:x"),
            ("etcd", 3, "etcd"),
        ] {
            assert_eq!(recorded(then, form), now, "{then}");
        }
    }
}
