//! The spelling of a program, written and read: `program{stores=3}:python3 lock.py`.

use std::fmt;
use std::str::FromStr;

use picklock_model::text::nearest;
use picklock_sim::design::{Condition, Conditions};
use picklock_sim::lock::Belief;
use picklock_sim::store::StoreKind;
use picklock_stores::KINDS;

use crate::ensemble::Ensemble;
use crate::error::ProgramError;
use crate::program::{Program, simulated_kinds};

/// The most stores that a program is given.
const STORES_MAX: u32 = 16;

const PARAMS: [&str; 10] = [
    "name",
    "stores",
    "topology",
    "belief",
    "survives",
    "fenced",
    "renew",
    "autonomous",
    "clock-points",
    "warm",
];

impl Program {
    /// True if a text spells a program.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.starts_with("program:") || text.starts_with("program{")
    }

    /// Sets a parameter by its name, as in a spelling.
    ///
    /// # Errors
    /// When there is none of this name, or it cannot have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ProgramError> {
        let wrong =
            |name, must: &str| ProgramError::Value { name, value: value.to_owned(), must: must.into() };
        let yes = |name| match value {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(wrong(name, "`yes` or `no`")),
        };
        if name == "topology" {
            self.kind = simulated_kinds().find(|kind| *kind == value);
        }
        match name {
            "name" => {
                let name = Some(value).filter(|name| !name.is_empty() && !name.contains(['{', '}', ',']));
                self.name =
                    Some(name.ok_or_else(|| wrong("name", "a text without `{`, `}` and `,`"))?.to_owned());
            }
            "stores" => {
                let stores = value.parse().ok().filter(|stores| (1..=STORES_MAX).contains(stores));
                self.stores =
                    stores.ok_or_else(|| wrong("stores", &format!("a number from 1 to {STORES_MAX}")))?;
            }
            "topology" => match value.split_once(':').unwrap_or((value, "")) {
                (_, "") if self.kind.is_some() => {
                    (self.stores, self.sentinel, self.ensemble) = (1, false, None);
                }
                ("single", "") => (self.stores, self.sentinel, self.ensemble) = (1, false, None),
                ("sentinel" | "replicated", "") => {
                    (self.stores, self.sentinel, self.ensemble) = (1, true, None);
                }
                ("redlock", stores) if !stores.is_empty() => {
                    let must = || format!("`redlock:N` with N from 1 to {STORES_MAX}");
                    self.set("stores", stores).map_err(|_| wrong("topology", &must()))?;
                    (self.sentinel, self.ensemble) = (false, None);
                }
                (name, members) if Ensemble::kind(name).is_some() => {
                    let must = || format!("{} with N from 1 to 7", Ensemble::forms());
                    let ensemble = Ensemble::read(name, members);
                    let ensemble = ensemble.ok_or_else(|| wrong("topology", &must()))?;
                    (self.stores, self.sentinel, self.ensemble) = (1, false, Some(ensemble));
                }
                _ => {
                    let must = format!(
                        "`single`, `sentinel`, `replicated`, `redlock:N`, {}, {}{}",
                        kinds(),
                        Ensemble::forms(),
                        closed(value)
                    );
                    return Err(wrong("topology", &must));
                }
            },
            "belief" => {
                self.belief = match value {
                    "naive" => Belief::Naive,
                    "honest" => Belief::Honest,
                    "trusting" => Belief::Trusting,
                    _ => return Err(wrong("belief", "`naive`, `honest` or `trusting`")),
                }
            }
            "survives" => {
                let parts = value.split(['+', ',']).filter(|part| !part.trim().is_empty());
                let read: Result<Conditions, _> = parts.map(str::parse).collect();
                let must = "some of `minority-down`, `primary-down`, `holder-paused`, `holder-dead`, `waiter-paused` and `client-cut`, \
                            with a `+` between them";
                self.survives = read.map_err(|_| wrong("survives", must))?;
            }
            "fenced" => self.fenced = yes("fenced")?,
            "renew" => self.renews = yes("renew")?,
            // `worker` and `looks` are former names.
            "autonomous" | "worker" => self.autonomous = yes("autonomous")?, // a former name
            "clock-points" => self.clock_points = yes("clock-points")?,
            "warm" => self.warm = yes("warm")?,
            "looks" => {
                self.clock_points = match value {
                    "page" => false,
                    "told" => true, // its former value
                    _ => return Err(wrong("looks", "a former name of `clock-points`, with `yes` or `no`")),
                }
            }
            _ => {
                let near = nearest(name, PARAMS.iter().copied());
                return Err(ProgramError::Unknown { name: name.to_owned(), near });
            }
        }
        Ok(())
    }
}

/// The simulated kinds besides the first, for messages, in backquotes.
fn kinds() -> String {
    let names: Vec<String> = simulated_kinds().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A further sentence for a kind of store that programs cannot use; empty for any other name.
fn closed(topology: &str) -> String {
    let name = topology.split(':').next().unwrap_or_default();
    let is_it = |kind: &&&StoreKind| kind.name == name && kind.stores.is_none() && kind.ensemble.is_none();
    KINDS.iter().find(is_it).map_or_else(String::new, |kind| {
        format!(
            "; {} is simulated for built-in designs and for `picklock serve` alone: a program cannot use it yet",
            kind.name
        )
    })
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut params = Vec::new();
        params.extend(self.name.as_ref().map(|name| format!("name={name}")));
        if self.stores != 1 {
            params.push(format!("stores={}", self.stores));
        }
        if self.sentinel {
            params.push("topology=sentinel".to_owned());
        }
        params.extend(self.kind.map(|kind| format!("topology={kind}")));
        params.extend(self.ensemble.map(|ensemble| format!("topology={ensemble}")));
        match self.belief {
            Belief::Honest => params.push("belief=honest".to_owned()),
            Belief::Trusting => params.push("belief=trusting".to_owned()),
            Belief::Naive | Belief::None => {}
        }
        if !self.survives.is_empty() {
            let names: Vec<&str> = self.survives.iter().map(Condition::name).collect();
            params.push(format!("survives={}", names.join("+")));
        }
        for (set, word) in [
            (self.fenced, "fenced=yes"),
            (self.renews, "renew=yes"),
            (self.autonomous, "autonomous=yes"),
            (self.clock_points, "clock-points=yes"),
            (self.warm, "warm=yes"),
        ] {
            params.extend(set.then(|| word.to_owned()));
        }
        f.write_str("program")?;
        if !params.is_empty() {
            write!(f, "{{{}}}", params.join(","))?;
        }
        write!(f, ":{}", self.command)
    }
}

impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Program, ProgramError> {
        let rest = text.strip_prefix("program").ok_or(ProgramError::NoCommand)?;
        let (params, command) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once("}:").ok_or(ProgramError::NoCommand)?,
            None => ("", rest.strip_prefix(':').ok_or(ProgramError::NoCommand)?),
        };
        let mut program = Program::new(command);
        for param in params.split(',').filter(|param| !param.is_empty()) {
            let (name, value) = param.split_once('=').unwrap_or((param, ""));
            program.set(name.trim(), value.trim())?;
        }
        program.design().map(|_| program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_read_as_it_is_written() {
        for text in [
            "program:python3 lock.py",
            "program{stores=3,belief=honest,fenced=yes}:./lock --fast",
            "program{topology=etcd:3,fenced=yes}:python3 lock.py",
            "program{topology=postgres,renew=yes}:python3 lock.py",
            "program{topology=zookeeper:1}:python3 lock.py",
            "program{name=Redisson 4.7.0 RLock,fenced=yes}:java Lock",
            "program{topology=sentinel,renew=yes,clock-points=yes}:python3 'my lock.py' {a,b}",
            "program{belief=honest,autonomous=yes}:./client",
            "program{stores=3,warm=yes}:java -cp lib/*:. Lock",
            "program{stores=3,survives=minority-down+holder-dead}:./client",
        ] {
            let program: Program = text.parse().unwrap();
            assert_eq!(program.to_string(), text);
            assert_eq!(&*program.design().unwrap().name, text);
        }
        let redlock: Program = "program{topology=redlock:5}:x".parse().unwrap();
        assert_eq!(redlock.to_string(), "program{stores=5}:x");
        let cluster: Program = "program{topology=cluster:3}:x".parse().unwrap();
        assert_eq!(cluster.to_string(), "program{topology=redis-cluster:3}:x");
    }

    #[test]
    fn what_spells_no_program_is_refused_with_a_remedy() {
        let error = |text: &str| text.parse::<Program>().unwrap_err().to_string();
        assert!(error("program:").contains("there is no command"));
        assert!(error("program{stores=3}").contains("after a colon"));
        let consul = error("program{topology=consul}:x");
        assert!(
            consul.contains("consul is simulated for built-in designs and for `picklock serve`"),
            "{consul}"
        );
        assert!(error("program{topology=kubernetes:3}:x").contains("kubernetes is simulated for"));
        assert!(!error("program{topology=mysql}:x").contains("simulated for"));
        assert!(error("program:python3 'x").contains("not closed"));
        assert!(error("program{store=3}:x").contains("did you mean `stores`"));
        assert!(error("program{survives=minority}:x").contains("`minority-down`"));
        assert!(error("program{name=}:x").contains("a text without"));
        assert!(error("program{stores=0}:x").contains("from 1 to 16"));
        assert!(error("program{topology=ring}:x").contains("`redlock:N`"));
        assert!(error("program{topology=etcd:0}:x").contains("N from 1 to 7"));
        assert!(error("program{renew=yes,autonomous=yes}:x").contains("leave `renew` out"));
        assert!(error("program{warm=yes,autonomous=yes}:x").contains("leave `warm` out"));
    }
}
