//! A pool of programs that have started up.

use std::{
    collections::VecDeque,
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::copies::life::Place;
use super::kernel::text::text_of;
use super::start::spawn::refused;
use crate::{Group, Setup, StartError, Template};

/// How many templates are kept: those of a few programs, each with a host of its own name for each client.
const TEMPLATES: usize = 16;
/// How many are kept where there is memory for them, as a comparison of many programs wants. Each has a dozen descriptors, and a process often has a
/// thousand.
const MOST_TEMPLATES: usize = 40;
/// How many setups are remembered.
const SETUPS: usize = 256;

/// Starts programs by copying those that were started before.
///
/// A group of a pool takes the same steps as one of [`Group::start`]. The first start of a setup is a plain one, the
/// second makes a template, and from then on only the template is copied, whatever the seed. Where a copy would
/// share more with its template than its memory, the start is a plain one each time.
///
/// Whatever a program prepares before its first step is done once: an adapter in Python does well to import all that it
/// needs (a first connect by name imports `encodings.idna`), and to call `gc.freeze()`, before it reads its first line.
/// And a group that is dropped costs less than one that is led to its end, where Python takes its memory apart.
///
/// A template holds its program as it was when it started: files that are changed later do not change it. It costs three
/// processes that do nothing, and the program's memory.
#[derive(Default)]
pub struct Pool {
    /// The oldest first.
    known: Mutex<VecDeque<(Key, Known)>>,
}

/// All that a start-up depends on.
#[derive(Clone, PartialEq)]
struct Key {
    /// Without its seed.
    setup: Setup,
    path: Option<OsString>,
    dir: Option<PathBuf>,
    /// The world in which it was warmed up, if it was.
    warmed_in: Option<String>,
}

impl Key {
    fn new(setup: &Setup) -> Self {
        let setup = Setup { seed: 0, ..setup.clone() };
        Self { setup, path: std::env::var_os("PATH"), dir: std::env::current_dir().ok(), warmed_in: None }
    }
}

/// The state of a setup in the pool.
enum Known {
    /// It was started once.
    Once,
    /// It cannot be copied.
    Plain,
    Template(Place),
}

impl Known {
    /// True if it is a template that is not there, and that nobody will bring back.
    fn is_lost(&self) -> bool {
        let Self::Template(place) = self else { return false };
        Arc::strong_count(place) == 1 && place.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// An empty pool. Its programs end with it, but for those that groups still use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a program, as [`Group::start`] does.
    ///
    /// # Errors
    /// If there is no such program, or the kernel or the container forbids what is needed.
    pub fn start(&self, setup: &Setup) -> Result<Group, StartError> {
        if setup.home.is_some() {
            return Group::start(setup);
        }
        let key = Key::new(setup);
        if let Some((template, place)) = self.idle(&key) {
            if let Ok(group) = template.copy(setup, place) {
                return Ok(group);
            }
        } else if self.is_worth_a_template(&key) {
            match Template::new(setup) {
                Some(template) => {
                    let place = Place::default();
                    self.note(key, Known::Template(place.clone()));
                    if let Ok(group) = template.copy(setup, place) {
                        return Ok(group);
                    }
                }
                None => self.note(key, Known::Plain),
            }
        }
        Group::start(setup)
    }

    /// Starts a copy of a program that was warmed up: [`Group::start_to_copy`] started it, it did whatever makes it faster, and
    /// [`Group::into_template`] stopped it. `warm_up` does all that; it is called if there is no template of this setup that is idle.
    ///
    /// The group takes other steps than one of [`Group::start`]: what was done is not done again. The same setup takes the same steps each
    /// time, if `warm_up` depends on it and on `world` alone: what else the world of the warm-up is made of, in any words. Its monotonic clock goes on a second after the template's.
    ///
    /// # Errors
    /// That of `warm_up`, or that the kernel or the container forbids what is needed.
    pub fn start_warmed<E: From<StartError>>(
        &self,
        setup: &Setup,
        world: &str,
        warm_up: impl FnOnce() -> Result<Template, E>,
    ) -> Result<Group, E> {
        let key = Key { warmed_in: Some(world.to_owned()), ..Key::new(setup) };
        let (template, place) = match self.idle(&key) {
            Some(idle) => idle,
            None => {
                let template = warm_up()?;
                let place = Place::default();
                self.note(key, Known::Template(place.clone()));
                (template, place)
            }
        };
        let copied = template.copy(setup, place);
        copied.map_err(|source| refused("copy the program", source).into())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, VecDeque<(Key, Known)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A template that nobody uses.
    fn idle(&self, key: &Key) -> Option<(Template, Place)> {
        let mut known = self.known();
        known.retain(|(_, known)| !known.is_lost());
        known.iter().filter(|(other, _)| other == key).find_map(|(_, known)| {
            let Known::Template(place) = known else { return None };
            let template = place.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            Some((template, place.clone()))
        })
    }

    /// True if a setup was started before, and may be copied.
    fn is_worth_a_template(&self, key: &Key) -> bool {
        let mut known = self.known();
        let mut before = known.iter().filter(|(other, _)| other == key).peekable();
        if before.peek().is_none() {
            drop(before);
            known.push_back((key.clone(), Known::Once));
            if known.len() > SETUPS {
                known.pop_front();
            }
            return false;
        }
        !before.any(|(_, known)| matches!(known, Known::Plain))
    }

    fn note(&self, key: Key, what: Known) {
        let mut known = self.known();
        known.retain(|(other, known)| *other != key || matches!(known, Known::Template(_)));
        known.push_back((key, what));
        let is_template = |(_, known): &(Key, Known)| matches!(known, Known::Template(_));
        let kept = if is_memory_short() { TEMPLATES } else { MOST_TEMPLATES };
        if known.iter().filter(|entry| is_template(entry)).count() > kept
            && let Some(oldest) = known.iter().position(is_template)
        {
            known.remove(oldest);
        }
    }
}

/// True if less than a quarter of the memory can be had, or if nothing is known of it. Whether a program is copied is seen in no run.
fn is_memory_short() -> bool {
    let text = text_of("/proc/meminfo").unwrap_or_default();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    match (of("MemAvailable:"), of("MemTotal:")) {
        (Some(available), Some(total)) => available < total / 4,
        _ => true,
    }
}
