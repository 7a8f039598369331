//! The desk of the world at which all choices are made: it names them, asks the strategy, and notes what was taken.

use picklock_model::plan::{self, Choice, ChoiceKind, Plan};
use picklock_model::seed::{Stream, scale};
use picklock_model::time::TrueTime;

use super::made::Made;
use super::ready_order::ReadyOrder;
use super::recorded::RecordedChoices;
use super::seeded::Seeded;
use super::strategy::{Choices, Open};

/// Makes the choices of one run.
pub(crate) struct Chooser {
    strategy: Strategy,
    /// How many choices of each kind have been made.
    made: [u64; ChoiceKind::COUNT],
    /// The order of ready tasks, if it is drawn.
    ready_order: Option<ReadyOrder>,
    /// All choices made so far, if they are noted.
    noted: Option<Vec<Made>>,
}

/// The strategies by how they are called: an ordinary run pays for no call through a pointer.
enum Strategy {
    Seeded(Seeded),
    Recorded(RecordedChoices<Seeded>),
    Given(RecordedChoices<Box<dyn Choices>>),
}

impl Chooser {
    /// The chooser of a plan. What the plan has no choice for is decided by the strategy that is given, or else by the seed.
    pub(crate) fn new(plan: &Plan, given: Option<Box<dyn Choices>>, noting: bool) -> Chooser {
        let strategy = match given {
            Some(given) => Strategy::Given(RecordedChoices::new(&plan.choices, given)),
            None if plan.choices.is_empty() => Strategy::Seeded(Seeded),
            None => Strategy::Recorded(RecordedChoices::new(&plan.choices, Seeded)),
        };
        let drawn = plan.world.ready_order == plan::ReadyOrder::Drawn;
        Chooser {
            strategy,
            made: [0; ChoiceKind::COUNT],
            ready_order: drawn.then(|| ReadyOrder::new(plan.seed)),
            noted: noting.then(Vec::new),
        }
    }

    /// The option that is taken of so many, of which the seed proposes one.
    #[inline]
    pub(crate) fn choose(&mut self, kind: ChoiceKind, options: u64, proposed: u64) -> u64 {
        let ordinal = self.made[kind as usize];
        self.made[kind as usize] += 1;
        if let (Strategy::Seeded(seeded), None) = (&mut self.strategy, &self.noted) {
            return seeded.choose(Open { kind, ordinal, options, proposed });
        }
        self.choose_otherwise(Open { kind, ordinal, options, proposed })
    }

    #[cold]
    fn choose_otherwise(&mut self, open: Open) -> u64 {
        let chosen = match &mut self.strategy {
            Strategy::Seeded(seeded) => seeded.choose(open),
            Strategy::Recorded(recorded) => recorded.choose(open),
            Strategy::Given(given) => given.choose(open),
        };
        let Open { kind, ordinal, options, proposed } = open;
        let chosen = chosen.min(options - 1);
        if let Some(noted) = &mut self.noted {
            noted.push(Made { choice: Choice { kind, ordinal, chosen }, options, proposed });
        }
        chosen
    }

    /// Puts tasks that wake into an order, which the seed draws uniformly from a stream (Fisher and Yates).
    pub(crate) fn order_of_waking<T>(&mut self, woken: &mut [T], draws: &mut Stream) {
        for last in (1..woken.len()).rev() {
            let options = last as u64 + 1;
            let proposed = draws.below(options);
            woken.swap(last, self.choose(ChoiceKind::Wake, options, proposed) as usize);
        }
    }

    /// True if the ready task that is polled next is a choice. Otherwise it is the one that was woken first.
    pub(crate) fn orders_ready_tasks(&self) -> bool {
        !matches!(self.strategy, Strategy::Seeded(_)) || self.ready_order.is_some() || self.noted.is_some()
    }

    /// The place of the task that is polled next among so many that are ready now.
    pub(crate) fn next_task(&mut self, ready: usize, now: TrueTime) -> usize {
        let options = ready as u64;
        let proposed = self.ready_order.as_mut().map_or(0, |order| scale(order.draw(now), options));
        self.choose(ChoiceKind::Poll, options, proposed) as usize
    }

    /// The choices noted so far.
    pub(crate) fn take_noted(&mut self) -> Vec<Made> {
        self.noted.take().unwrap_or_default()
    }
}
