//! The lines of processes: they ask, hold, let go, change, and die.

use picklock_model::ids::{GrantId, HostId};
use picklock_model::trace::{Role, What};

use super::{Point, Process, Recording, Section, UnderWay};
use crate::recorded::line::{Ending, Line, Operation};
use crate::recorded::malformed::{Malformed, clipped};

impl Recording {
    fn process(&mut self, host: usize, line: &Line<'_>) -> usize {
        let name = line.process.as_deref().unwrap_or_default();
        let place = (host, name.to_owned());
        let process = *self.named.processes.entry(place).or_insert_with(|| {
            let outlived = self.hosts[host].crashes.len();
            self.processes.push(Process { host, name: name.to_owned(), under_way: None, outlived });
            self.processes.len() - 1
        });
        self.bury(process);
        process
    }

    /// Ends what a process did when its host crashed since its last line.
    pub(super) fn bury(&mut self, process: usize) {
        let crashes = &self.hosts[self.processes[process].host].crashes;
        let first = crashes.get(self.processes[process].outlived).copied();
        self.processes[process].outlived = crashes.len();
        if let Some(crash) = first {
            self.dies(process, crash);
        }
    }

    fn dies(&mut self, process: usize, crash: Point) {
        self.processes[process].under_way = None;
        let held: Vec<usize> =
            self.current.range((process, 0)..=(process, usize::MAX)).map(|(place, _)| place.1).collect();
        for key in held {
            if let Some(section) = self.current.remove(&(process, key)) {
                self.sections[section].ended.get_or_insert(crash);
            }
        }
    }

    pub(super) fn crash(&mut self, host: usize, line: &Line<'_>, point: Point) -> Result<(), Malformed> {
        match (self.hosts[host].role, line.process.is_some()) {
            (None | Some(Role::Client), true) => {
                let process = self.process(host, line);
                self.dies(process, point);
            }
            (None | Some(Role::Client), false) => self.hosts[host].crashes.push(point),
            _ => self.note(host, None, What::Crashed { power_loss: false }, point),
        }
        Ok(())
    }

    pub(super) fn by_process(
        &mut self,
        host: usize,
        line: &Line<'_>,
        operation: Operation,
        ending: Ending,
        point: Point,
    ) -> Result<(), Malformed> {
        let process = self.process(host, line);
        let key = self.key(line.key.as_deref().unwrap_or_default());
        match (operation, ending) {
            (Operation::Acquire | Operation::Release | Operation::Change, Ending::Invoke) => {
                self.begins(process, operation, key, line, point)
            }
            (Operation::Acquire | Operation::Release | Operation::Change, ending) => {
                self.ends(process, operation, key, ending, line, point)
            }
            (Operation::Lose, _) => {
                let section = self.of_process(process, key, line)?;
                self.stops(process, section, point);
                Ok(())
            }
            _ => {
                if let Some(section) = self.of_process(process, key, line)? {
                    self.sections[section].seen = Some(point);
                }
                Ok(())
            }
        }
    }

    /// The section that a line of a process is about.
    fn of_process(&self, process: usize, key: usize, line: &Line<'_>) -> Result<Option<usize>, Malformed> {
        let Some(grant) = &line.grant else { return Ok(self.current.get(&(process, key)).copied()) };
        let section = self.granted_as(grant, key)?;
        match section.filter(|section| self.sections[*section].process != process) {
            Some(_) => Err(Malformed::of(
                "grant",
                format!("`{}` is of another process: each acquire has a name of its own", clipped(grant)),
            )),
            None => Ok(section),
        }
    }

    /// The section in whose service a process changes something; it may be another's.
    fn served(&self, process: usize, key: usize, line: &Line<'_>) -> Result<Option<usize>, Malformed> {
        match &line.grant {
            Some(grant) => self.granted_as(grant, key),
            None => Ok(self.current.get(&(process, key)).copied()),
        }
    }

    fn stops(&mut self, process: usize, section: Option<usize>, point: Point) {
        let Some(section) = section else { return };
        self.sections[section].ended.get_or_insert(point);
        let place = (process, self.sections[section].key);
        if self.current.get(&place) == Some(&section) {
            self.current.remove(&place);
        }
    }

    fn new_section(&mut self, process: usize, key: usize) -> usize {
        let host = self.processes[process].host;
        self.hosts[host].sections += 1;
        self.sections.push(Section {
            id: GrantId::new(HostId(host as u16), self.hosts[host].sections),
            process,
            key,
            asked: None,
            granted: None,
            ended: None,
            seen: None,
            token: None,
            shared: false,
            depth: 0,
        });
        self.sections.len() - 1
    }

    fn begins(
        &mut self,
        process: usize,
        operation: Operation,
        key: usize,
        line: &Line<'_>,
        point: Point,
    ) -> Result<(), Malformed> {
        if let Some(open) = self.processes[process].under_way {
            return Err(Malformed::of(
                "process",
                format!(
                    "its `{}` of line {} has not ended: end it by \"ok\", \"fail\" or \"info\", or give what runs at the \
                     same time a process of its own",
                    open.operation.name(),
                    open.line
                ),
            ));
        }
        let section = match operation {
            Operation::Acquire => {
                let held = self.current.get(&(process, key)).copied();
                // A process that asks anew no longer relies on its former grant, unless it may have both.
                if !self.settings.reentrant {
                    self.stops(process, held, point);
                }
                let section = self.new_section(process, key);
                self.sections[section].asked = Some(point);
                Some(section)
            }
            Operation::Release => {
                let section = self.of_process(process, key, line)?;
                match section.map(|section| &mut self.sections[section]) {
                    Some(held) if held.depth > 0 => held.depth -= 1,
                    _ => self.stops(process, section, point),
                }
                section
            }
            _ => match self.served(process, key, line)? {
                Some(section) => {
                    // An operation of another process for a holder shows nothing about the holder.
                    if self.sections[section].process == process {
                        self.sections[section].seen = Some(point);
                    }
                    Some(section)
                }
                None => {
                    let section = self.new_section(process, key);
                    if let Some(grant) = &line.grant {
                        self.name(section, grant)?;
                    }
                    Some(section)
                }
            },
        };
        if operation == Operation::Acquire
            && let Some(section) = section
        {
            self.described(section, line)?;
        }
        self.processes[process].under_way = Some(UnderWay { operation, key, section, line: point.line });
        Ok(())
    }

    /// Takes the facts of the grant from a line of an acquire.
    fn described(&mut self, section: usize, line: &Line<'_>) -> Result<(), Malformed> {
        if let Some(grant) = &line.grant {
            self.name(section, grant)?;
        }
        if line.shared == Some(true) {
            if !self.settings.sharing {
                let message = "a lock of which grants can be shared says so in the first line: {\"history\":1,\"sharing\":true}";
                return Err(Malformed::of("shared", message));
            }
            self.sections[section].shared = true;
        }
        let token = &mut self.sections[section].token;
        *token = line.token.or(*token);
        Ok(())
    }

    fn ends(
        &mut self,
        process: usize,
        operation: Operation,
        key: usize,
        ending: Ending,
        line: &Line<'_>,
        point: Point,
    ) -> Result<(), Malformed> {
        let begun = self.processes[process].under_way.take();
        let begun = begun.filter(|begun| begun.operation == operation && begun.key == key);
        let Some(begun) = begun else {
            return Err(Malformed::of(
                "type",
                format!(
                    "nothing ends here: no `{}` of `{}` is under way in this process; write a line with \"invoke\" before",
                    operation.name(),
                    clipped(self.keys[key].as_str())
                ),
            ));
        };
        let Some(section) = begun.section else { return Ok(()) };
        match (operation, ending) {
            (Operation::Acquire, Ending::Ok) => self.acquired(process, section, line, point),
            (Operation::Change, _) => {
                let key = self.keys[key].clone();
                let what = match ending {
                    Ending::Ok => What::WriteAcknowledged { key },
                    Ending::Fail => What::WriteRefused { key },
                    _ => What::WriteUnknown { key },
                };
                let Section { id, process, .. } = self.sections[section];
                self.note(self.processes[process].host, Some(id), what, point);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn acquired(
        &mut self,
        process: usize,
        section: usize,
        line: &Line<'_>,
        point: Point,
    ) -> Result<(), Malformed> {
        self.described(section, line)?;
        let key = self.sections[section].key;
        if let Some(held) = self.current.get(&(process, key)).copied() {
            self.sections[held].depth += 1;
            return Ok(());
        }
        self.sections[section].granted = Some(point);
        self.current.insert((process, key), section);
        Ok(())
    }
}
