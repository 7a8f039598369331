//! The choices of a run: everything that the world leaves open goes through one trait, [`Choices`].
//!
//! The kinds are those of [`ChoiceKind`](picklock_model::plan::ChoiceKind): the latency of a segment, the order of waking after a
//! halt, the ready task that is polled next, and the clocks of a host at the start. The seed proposes an option for every choice, also
//! where another one is taken: a generator that is shared with a host goes on in the same way, so that a choice can be taken
//! back without moving what is drawn behind it.
//!
//! Left out on purpose: the random numbers of clients and servers, which are theirs, and where a fault hits. A fault is drawn into
//! the plan before the run, as an injection with its point, and the plan is data already: it can be changed, stored and reduced there.
//! Tasks that a library spawns past its host are ordered by their own runtime, and those of the turmoil engine by turmoil.

mod chooser;
mod made;
mod ready_order;
mod recorded;
mod seeded;
mod strategy;

pub(crate) use chooser::Chooser;
pub use made::Made;
pub use recorded::RecordedChoices;
pub use seeded::Seeded;
pub use strategy::{Choices, Open};
