//! The calls of functions.

use super::calls::Calls;
use super::hash::hash;
use super::scene::{Effect, Scene, Signal, Stop};
use super::system::{type_name, type_of};
use crate::protocol::{EPOCH_S, Float, Interval, SqlError, Value};
use crate::server::data::order;
use crate::server::locks::{Advisory, Mode, Scope, Tag, Wait};
use crate::server::plan::{Function, LockCall, folded_name, pure};
use crate::server::settings::VERSION;

/// Calls a function, unless it was called already in this computation.
pub(super) fn call(
    scene: &mut Scene<'_>,
    calls: &mut Calls,
    function: Function,
    args: &[Value],
) -> Result<Value, Stop> {
    if function.is_strict() && args.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    if !function.is_volatile() {
        return Ok(stable(scene, function, args)?);
    }
    if let Some(value) = calls.recall() {
        return Ok(value);
    }
    let value = match (function, args) {
        (Function::Lock(call), args) => lock(scene, calls, call, advisory(args))?,
        (Function::Unlock(mode), args) => unlock(scene, mode, advisory(args)),
        (Function::UnlockAll, _) => {
            let gone = scene.waits.give_back_all(scene.session, &|scope| scope == Scope::Session);
            scene.effects.extend(gone.into_iter().map(Effect::GaveBack));
            Value::Void
        }
        (Function::ClockTimestamp, _) => Value::Time(scene.clock),
        (Function::Random, _) => Value::Float(Float(scene.chance.fraction(scene.clock))),
        (Function::RandomUuid, _) => Value::Uuid(scene.chance.uuid(scene.clock)),
        (Function::NextVal, _) if scene.in_recovery => {
            let text = "cannot execute nextval() in a read-only transaction";
            return Err(SqlError::new("25006", text).into());
        }
        (Function::NextVal, [Value::Text(name)]) => {
            let name = &folded_name(name);
            let (next, logged) = scene.sequences.next(name)?;
            scene.effects.extend(logged.map(|sequence| Effect::Sequence(name.clone(), sequence)));
            scene.given.insert(name.clone(), next);
            *scene.last_given = Some(next);
            Value::Int(next)
        }
        (Function::CurrVal, [Value::Text(name)]) => {
            let name = &folded_name(name);
            if scene.sequences.get(name).is_none() {
                return Err(SqlError::new("42P01", format!("relation \"{name}\" does not exist")).into());
            }
            let text = || format!("currval of sequence \"{name}\" is not yet defined in this session");
            let given = scene.given.get(name).copied();
            Value::Int(given.ok_or_else(|| SqlError::new("55000", text()))?)
        }
        (Function::LastVal, _) => {
            let text = "lastval is not yet defined in this session";
            Value::Int(scene.last_given.ok_or_else(|| SqlError::new("55000", text))?)
        }
        (Function::Notify, _) if scene.in_recovery => {
            return Err(SqlError::new("25006", "cannot execute NOTIFY during recovery").into());
        }
        (Function::Notify, [channel, payload]) => {
            notify(scene, channel, payload)?;
            Value::Void
        }
        (Function::Promote, _) => {
            if !scene.in_recovery {
                return Err(SqlError::new("55000", "recovery is not in progress").into());
            }
            scene.effects.push(Effect::Promoted);
            Value::Bool(true)
        }
        (Function::SetConfig, [Value::Text(name), value, local]) => {
            let value = value.text();
            scene.settings.set(name, value.as_deref())?;
            if *local != Value::Bool(true) {
                scene.settled.set(name, value.as_deref())?;
            }
            Value::Text(scene.settings.show(name)?)
        }
        (Function::IsInRecovery, _) => Value::Bool(scene.in_recovery),
        (Function::CancelBackend, [Value::Int(pid)]) => signal(scene, *pid, Signal::Cancel),
        (Function::TerminateBackend, [Value::Int(pid)]) => signal(scene, *pid, Signal::Terminate),
        _ => return Err(SqlError::unsupported("this call").into()),
    };
    calls.note(&value);
    Ok(value)
}

/// A function that gives the same value throughout a statement.
fn stable(scene: &mut Scene<'_>, function: Function, args: &[Value]) -> Result<Value, SqlError> {
    Ok(match (function, args) {
        (Function::Now, _) => Value::Time(scene.began),
        (Function::StatementTimestamp, _) => Value::Time(scene.statement_began),
        (Function::BackendPid, _) => Value::Int(i64::from(scene.pid)),
        (Function::TimeZone, [Value::Text(zone), point]) => {
            if !["utc", "gmt", "etc/utc", "z"].contains(&zone.to_ascii_lowercase().as_str()) {
                return Err(SqlError::unsupported("a time zone other than UTC"));
            }
            match point {
                Value::Time(micros) => Value::Stamp(*micros),
                Value::Stamp(micros) => Value::Time(*micros),
                _ => Value::Null,
            }
        }
        (Function::HashText, [Value::Text(text)]) => {
            let number = i64::from(hash(text.as_bytes()).cast_signed());
            scene.effects.push(Effect::Hashed(number, text.clone()));
            Value::Int(number)
        }
        (Function::MakeInterval, [Value::Float(Float(seconds))]) => {
            let beyond = || SqlError::new("22008", "interval out of range");
            Value::Span(Interval::of_seconds(*seconds).ok_or_else(beyond)?)
        }
        (Function::ToRegclass, [Value::Text(name)]) => {
            let name = folded_name(name);
            let is_table = scene.heap.catalogue.schema(scene.actor.top, &name).is_some();
            let known = is_table || scene.sequences.get(&name).is_some();
            if known { Value::Text(name) } else { Value::Null }
        }
        (Function::CurrentSetting, [Value::Text(name), or_null @ ..]) => match scene.settings.show(name) {
            Err(_) if or_null.first() == Some(&Value::Bool(true)) => Value::Null,
            shown => Value::Text(shown?),
        },
        (Function::Epoch, [point]) => epoch(point)?,
        (Function::ToRegtype, [Value::Text(name)]) => type_of(name)?,
        (Function::TypeName, [Value::Int(oid)]) => type_name(*oid),
        (Function::Version, _) => Value::Text(format!("PostgreSQL {VERSION} on x86_64-pc-linux-gnu")),
        (Function::CurrentSchema, _) => Value::Text("public".to_owned()),
        (Function::CurrentDatabase, _) => Value::Text("postgres".to_owned()),
        (Function::Greatest, args) => args
            .iter()
            .filter(|arg| **arg != Value::Null)
            .max_by(|a, b| order(a, b))
            .cloned()
            .unwrap_or(Value::Null),
        (Function::Least, args) => args
            .iter()
            .filter(|arg| **arg != Value::Null)
            .min_by(|a, b| order(a, b))
            .cloned()
            .unwrap_or(Value::Null),
        (function, args) => return pure(function, args),
    })
}

/// The seconds since 1970, or of a span, in millionths.
fn epoch(value: &Value) -> Result<Value, SqlError> {
    let beyond = || SqlError::new("22008", "interval out of range");
    let micros = match value {
        Value::Time(micros) | Value::Stamp(micros) => micros.checked_add(EPOCH_S * 1_000_000),
        Value::Span(span) => span.epoch(),
        _ => None,
    };
    micros.map(Value::Numeric).ok_or_else(beyond)
}

fn advisory(args: &[Value]) -> Tag {
    let int = |value: &Value| match value {
        Value::Int(value) => *value,
        _ => 0,
    };
    Tag::Advisory(match args {
        // Planned as integers of 32 bits.
        [a, b] => Advisory::Two(int(a) as i32, int(b) as i32),
        args => Advisory::One(args.first().map_or(0, int)),
    })
}

fn lock(scene: &mut Scene<'_>, calls: &mut Calls, call: LockCall, tag: Tag) -> Result<Value, Stop> {
    let LockCall { mode, transaction, tries } = call;
    let scope = if transaction { Scope::Transaction(scene.actor.xid) } else { Scope::Session };
    if std::mem::take(&mut calls.waits) {
        // The wait has ended with the lock. Who waited for it alone did not have it alone.
        if mode == Mode::Exclusive {
            scene.effects.push(Effect::Took(tag));
        }
        return Ok(Value::Void);
    }
    if tries && scene.waits.locks.is_wanted(scene.session, &tag, mode) {
        return Ok(Value::Bool(false));
    }
    let had = scene.waits.locks.is_alone(scene.session, &tag);
    if scene.waits.locks.try_take(scene.session, &tag, mode, scope) {
        if mode == Mode::Exclusive && !had {
            scene.effects.push(Effect::Took(tag));
        }
        return Ok(if tries { Value::Bool(true) } else { Value::Void });
    }
    if tries {
        return Ok(Value::Bool(false));
    }
    calls.waits = true;
    Err(Stop::Wait(Wait::Lock { tag, mode, scope }))
}

fn unlock(scene: &mut Scene<'_>, mode: Mode, tag: Tag) -> Value {
    let had = scene.waits.locks.is_alone(scene.session, &tag);
    let Some(woken) = scene.waits.locks.give_back(scene.session, &tag, mode, Scope::Session) else {
        let text = format!("you don't own a lock of type {}", mode.name());
        scene.notices.push(SqlError::warning("01000", text));
        return Value::Bool(false);
    };
    scene.waits.wake(woken);
    if had && !scene.waits.locks.is_alone(scene.session, &tag) {
        scene.effects.push(Effect::GaveBack(tag));
    }
    Value::Bool(true)
}

fn notify(scene: &mut Scene<'_>, channel: &Value, payload: &Value) -> Result<(), SqlError> {
    let channel = channel.text().unwrap_or_default();
    if channel.is_empty() {
        return Err(SqlError::new("22023", "channel name cannot be empty"));
    }
    let payload = payload.text().unwrap_or_default();
    scene.effects.push(Effect::Notify { channel, payload });
    Ok(())
}

fn signal(scene: &mut Scene<'_>, pid: i64, signal: Signal) -> Value {
    let target = i32::try_from(pid).ok().and_then(|pid| scene.pids.get(&pid)).copied();
    match target {
        Some(session) => scene.effects.push(Effect::Signal(session, signal)),
        None => {
            let text = format!("PID {pid} is not a PostgreSQL backend process");
            scene.notices.push(SqlError::warning("01000", text));
        }
    }
    Value::Bool(target.is_some())
}
