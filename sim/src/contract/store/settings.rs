//! The parameters of stores in a plan: completed, and checked when they come from a file.

use std::time::Duration;

use super::spec::OwnAction;
use crate::contract::param::{Args, Count, OneSpan, Param, Value, Word};
use picklock_model::plan::{Action, Declared, Injection, PlanError, Setting, Settings, WorldSpec};

/// The settings with a value for every declared parameter: the one given, or the default.
#[must_use]
pub fn complete(params: &'static [Param], given: &Settings, ttl: Duration) -> Settings {
    let mut settings = Settings::default();
    for (param, value) in Args::defaults(params).iter() {
        let value = given.find(param.name).cloned().or_else(|| setting(value, ttl));
        value.into_iter().for_each(|value| settings.put(param.name, value));
    }
    settings
}

/// A parameter's value in a plan. A kind of store declares single values only, no ranges and shares.
#[must_use]
pub fn setting(value: Value, ttl: Duration) -> Option<Setting> {
    match value {
        Value::Spans(span, _) => Some(Setting::Span(span.resolve(ttl))),
        Value::Counts(count, _) => Some(Setting::Count(count)),
        Value::Word(word) => Some(Setting::Word(word.to_owned())),
        Value::Share(_) => None,
    }
}

impl Declared for Param<OneSpan> {
    type Value<'s> = Duration;

    fn name(self) -> &'static str {
        self.name
    }

    fn read(setting: &Setting) -> Option<Duration> {
        if let Setting::Span(span) = setting { Some(*span) } else { None }
    }

    fn write(span: Duration) -> Setting {
        Setting::Span(span)
    }
}

impl Declared for Param<Count> {
    type Value<'s> = u64;

    fn name(self) -> &'static str {
        self.name
    }

    fn read(setting: &Setting) -> Option<u64> {
        if let Setting::Count(count) = setting { Some(*count) } else { None }
    }

    fn write(count: u64) -> Setting {
        Setting::Count(count)
    }
}

impl Declared for Param<Word> {
    type Value<'s> = &'s str;

    fn name(self) -> &'static str {
        self.name
    }

    fn read(setting: &Setting) -> Option<&str> {
        if let Setting::Word(word) = setting { Some(word) } else { None }
    }

    fn write(word: &str) -> Setting {
        Setting::Word(word.to_owned())
    }
}

/// Checks that every action of a kind's own is one that this kind has; without a kind there are none.
pub(crate) fn has_actions(
    kind: Option<(&str, &[OwnAction])>,
    injections: &[Injection],
) -> Result<(), PlanError> {
    let actions = kind.map_or(&[][..], |(_, actions)| actions);
    for injection in injections {
        let Action::Own { name, .. } = &injection.action else { continue };
        if !actions.iter().any(|action| action.name == name) {
            let names: Vec<&str> = actions.iter().map(|action| action.name).collect();
            let must = match (kind, names.is_empty()) {
                (None, _) => "left out: the design has no stores".to_owned(),
                (Some((kind, _)), true) => format!("left out: {kind} has no actions of its own"),
                (Some((kind, _)), false) => format!("an action of {kind}: {}", names.join(", ")),
            };
            let value = name.chars().take(40).collect();
            return Err(PlanError { field: "action.own.name".into(), value, must: must.into() });
        }
    }
    Ok(())
}

/// Checks the values given to declared parameters against their domains.
pub(crate) fn admits(params: &'static [Param], world: &WorldSpec) -> Result<(), PlanError> {
    for (name, given) in world.store.iter() {
        let Some(param) = params.iter().find(|param| param.name == name) else { continue };
        let text = given.to_string();
        let mut args = Args::defaults(params);
        let parsed = param.domain.parse(&text).ok();
        let fits = parsed.filter(|value| setting(*value, world.ttl).as_ref() == Some(given));
        let bounded = fits.is_some_and(|value| {
            args.put(param.name, value);
            !args.check(world.ttl).is_err_and(|(wrong, _)| wrong == param.name)
        });
        if !bounded {
            let must = param.domain.to_string();
            return Err(PlanError { field: format!("store.{name}").into(), value: text, must: must.into() });
        }
    }
    Ok(())
}
