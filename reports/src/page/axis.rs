//! The axes of a plot: where a value stands, where ticks stand, and how a place is written.

/// An axis from one value to another, and where these stand, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    values: (f64, f64),
    places: (f64, f64),
    logarithmic: bool,
}

impl Axis {
    /// Equal steps of the value are equally far apart.
    #[must_use]
    pub fn linear(values: (f64, f64), places: (f64, f64)) -> Axis {
        Axis { values, places, logarithmic: false }
    }

    /// Equal ratios of the value are equally far apart; what lies outside stands at the end. No value is 0.
    #[must_use]
    pub fn logarithmic(values: (f64, f64), places: (f64, f64)) -> Axis {
        Axis { values, places, logarithmic: true }
    }

    /// From the first to the last of these ticks.
    #[must_use]
    pub fn under(ticks: &[Tick], places: (f64, f64)) -> Axis {
        let end = |tick: Option<&Tick>| tick.map_or(0.0, |tick| tick.value);
        Axis::linear((end(ticks.first()), end(ticks.last())), places)
    }

    /// Where a value stands.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let ((low, high), (from, to)) = (self.values, self.places);
        if self.logarithmic {
            let share = (value.clamp(low, high) / low).ln() / (high / low).ln();
            from + (to - from) * share
        } else {
            from + (to - from) * (value - low) / (high - low)
        }
    }
}

/// A round value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// How it is written.
    pub name: String,
}

/// Round values from 0 to the first that reaches a value, in at most seven steps.
#[must_use]
pub fn ticks(most: f64) -> Vec<Tick> {
    let mut magnitude = 1.0;
    while magnitude * 10.0 <= most {
        magnitude *= 10.0;
    }
    while magnitude > most && most > 0.0 {
        magnitude /= 10.0;
    }
    let steps = [0.2, 0.25, 0.5, 1.0, 2.0].map(|step| step * magnitude);
    let step = steps.into_iter().find(|step| most / step <= 7.0).unwrap_or(magnitude);
    let count = (most / step - 1e-9).ceil().max(1.0) as usize;
    let tick = |nth| {
        let value = nth as f64 * step;
        Tick { value, name: format!("{}", (value * 100.0).round() / 100.0) }
    };
    (0..=count).map(tick).collect()
}

/// A place with one decimal: the last bits of a float are not the same everywhere.
#[must_use]
pub(crate) fn place(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_end_at_the_round_number_that_reaches_the_highest_value() {
        for (most, end, count) in [
            (640.0, 700.0, 8),
            (1.2, 1.2, 7),
            (100.0, 100.0, 6),
            (5.0, 5.0, 6),
            (988.0, 1000.0, 6),
            (0.0, 0.2, 2),
        ] {
            let ticks = ticks(most);
            let last = ticks.last().expect("there is one at 0").value;
            assert!((last - end).abs() < 1e-9 && ticks.len() == count, "{most}: {ticks:?}");
            assert_eq!(Axis::under(&ticks, (0.0, 50.0)).at(last), 50.0);
        }
    }

    #[test]
    fn what_lies_outside_a_logarithmic_axis_stands_at_its_end() {
        let axis = Axis::logarithmic((0.01, 1.0), (0.0, 100.0));
        for (value, at) in [(0.001, "0.0"), (0.01, "0.0"), (0.1, "50.0"), (1.0, "100.0"), (2.0, "100.0")] {
            assert_eq!(place(axis.at(value)), at, "{value}");
        }
    }
}
