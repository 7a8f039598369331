//! The spelling of a program, written and read: `program{stores=3}:python3 lock.py`.

use std::fmt;
use std::str::FromStr;

use picklock_model::text::nearest;
use picklock_sim::design::{Condition, Conditions};
use picklock_sim::lock::Belief;
use picklock_stores::{Runs, Servers};

use crate::error::ProgramError;
use crate::program::{INDEPENDENT, Program, independent};
use crate::real::SUFFIX;

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
        match name {
            "name" => {
                let name = Some(value).filter(|name| !name.is_empty() && !name.contains(['{', '}', ',']));
                self.name =
                    Some(name.ok_or_else(|| wrong("name", "a text without `{`, `}` and `,`"))?.to_owned());
            }
            "stores" => {
                let stores = value.parse().map_err(|_| wrong("stores", "a number from 1 up"))?;
                self.servers = independent(stores)?;
            }
            "topology" => {
                let servers: Servers = value.parse()?;
                servers.for_programs()?;
                self.servers = servers;
            }
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

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut params = Vec::new();
        params.extend(self.name.as_ref().map(|name| format!("name={name}")));
        let servers = match self.servers.are_real() {
            // The suffix says it.
            true => self.servers.topology(),
            false => self.servers.to_string(),
        };
        match servers.strip_prefix(INDEPENDENT) {
            Some("1") => {}
            Some(stores) => params.push(format!("stores={stores}")),
            None if servers == Servers::default().topology() => {}
            None => params.push(format!("topology={servers}")),
        }
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
        write!(f, ":{}{}", self.command, if self.servers.are_real() { SUFFIX } else { "" })
    }
}

impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Program, ProgramError> {
        let (text, is_real) = match text.strip_suffix(SUFFIX) {
            Some(text) => (text, true),
            None => (text, false),
        };
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
        if is_real {
            program.servers = program.servers.run_as(Runs::Real)?;
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
            "program:python3 lock.py@real",
            "program{stores=3,belief=honest,fenced=yes}:./lock --fast",
            "program{stores=3}:./lock@real",
            "program{topology=simulated-etcd:3,fenced=yes}:python3 lock.py",
            "program{topology=etcd:3,fenced=yes}:python3 lock.py@real",
            "program{topology=simulated-postgres,renew=yes}:python3 lock.py",
            "program{topology=postgres-standby}:python3 lock.py@real",
            "program{topology=redis-cluster:3}:python3 lock.py",
            "program{topology=zookeeper:1}:python3 lock.py@real",
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
    }

    #[test]
    fn every_other_spelling_is_written_in_one_way() {
        for (text, written) in [
            ("program{topology=redlock:5}:x", "program{stores=5}:x"),
            ("program{topology=redlock:1}:x", "program:x"),
            ("program{topology=real-redlock:1}:x", "program:x@real"),
            ("program{topology=single}:x", "program:x"),
            ("program{topology=simulated-single}:x", "program:x"),
            ("program{topology=real-sentinel}:x", "program{topology=sentinel}:x@real"),
            ("program{topology=cluster:3}:x", "program{topology=redis-cluster:3}:x"),
            ("program{topology=etcd:3}:x", "program{topology=simulated-etcd:3}:x"),
            ("program{topology=real-etcd:3}:x", "program{topology=etcd:3}:x@real"),
            ("program{topology=real-etcd:3}:x@real", "program{topology=etcd:3}:x@real"),
            ("program{topology=postgres}:x", "program{topology=simulated-postgres}:x"),
        ] {
            let program: Program = text.parse().unwrap();
            assert_eq!(program.to_string(), written);
            assert_eq!(
                program.design().unwrap().store.unwrap().is_real(),
                written.ends_with("@real"),
                "{text}"
            );
            assert_eq!(written.parse::<Program>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn what_spells_no_program_is_refused_with_a_remedy() {
        let error = |text: &str| text.parse::<Program>().unwrap_err().to_string();
        assert!(error("program:").contains("there is no command"));
        assert!(error("program{stores=3}").contains("after a colon"));
        let consul = error("program{topology=consul}:x");
        assert!(consul.contains("is for `picklock serve` alone: serve it with"), "{consul}");
        assert!(
            error("program{topology=kubernetes:3}:x").contains("`picklock serve --topology kubernetes:N`")
        );
        assert!(error("program{topology=replicated}:x").contains("use `sentinel`"));
        let mysql = error("program{topology=mysql}:x");
        assert!(mysql.contains("there is no topology `mysql`; there are single, sentinel,"), "{mysql}");
        assert!(error("program:python3 'x").contains("not closed"));
        assert!(error("program{store=3}:x").contains("did you mean `stores`"));
        assert!(error("program{survives=minority}:x").contains("`minority-down`"));
        assert!(error("program{name=}:x").contains("a text without"));
        assert!(error("program{stores=0}:x").contains("from 1 to 99"));
        assert!(error("program{stores=many}:x").contains("a number from 1 up"));
        assert!(error("program{topology=etcd:0}:x").contains("N from 1 to 7"));
        assert!(error("program{topology=sentinel:3}:x").contains("`sentinel` without a number"));
        assert!(error("program{renew=yes,autonomous=yes}:x").contains("leave `renew` out"));
        assert!(error("program{warm=yes,autonomous=yes}:x").contains("leave `warm` out"));
        let both = error("program{topology=simulated-etcd:3}:x@real");
        assert!(both.contains("`simulated-etcd:3` names simulated servers, and real servers"), "{both}");
        let suffix = Program::new("x@real").design().unwrap_err().to_string();
        assert!(suffix.contains("--servers real"), "{suffix}");
    }
}
