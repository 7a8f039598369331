//! Which keys are the data that a lock guards, for the trace: those below `guarded/`, each a register whose number is written out.
//!
//! A write is reported by the leader in whose term it came about, once it is applied there. One that is left over from an earlier term is not: its leader
//! may have reported it, and who has asked for it was not answered there.

use picklock_model::ids::Origin;
use picklock_model::trace::What;

use crate::messages::{EventKind, RangeRequest, RangeResponse, WatchEvent};
use crate::requests::{number_in, register_of};

/// The registers that these changes have written, which a message has brought about.
pub(super) fn written(changes: &[WatchEvent], origin: Origin) -> impl Iterator<Item = (Origin, What)> {
    let puts = changes.iter().filter(|event| event.kind() == EventKind::Put);
    puts.filter_map(move |event| {
        let kv = event.kv.as_ref()?;
        let key = register_of(&kv.key)?;
        Some((origin, What::ResourceWritten { key, value: number_in(&kv.value), token: None }))
    })
}

/// The register that a request has read; none if it asks for something else.
pub(crate) fn read(request: &RangeRequest, answer: &RangeResponse) -> Option<What> {
    let key = register_of(&request.key).filter(|_| request.range_end.is_empty())?;
    let value = answer.kvs.first().map_or(0, |kv| number_in(&kv.value));
    Some(What::ResourceRead { key, value, token: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::KeyValue;
    use picklock_model::ids::Key;

    fn kv(key: &str, value: &str) -> KeyValue {
        KeyValue { key: key.into(), value: value.into(), ..KeyValue::default() }
    }

    #[test]
    fn a_register_is_a_key_of_its_place_alone() {
        let put = |kv| WatchEvent { kv: Some(kv), ..WatchEvent::default() };
        let changes = [put(kv("guarded/stock", "7")), put(kv("stock/1a", "8"))];
        let said: Vec<What> = written(&changes, Origin::default()).map(|(_, what)| what).collect();
        assert_eq!(said, [What::ResourceWritten { key: Key::new("stock"), value: 7, token: None }]);
    }

    #[test]
    fn a_register_that_was_never_written_is_read_as_nought() {
        let asked = |key: &str| RangeRequest { key: key.into(), ..RangeRequest::default() };
        let reading = |value| Some(What::ResourceRead { key: Key::new("stock"), value, token: None });
        let found = RangeResponse { kvs: vec![kv("guarded/stock", "7")], ..RangeResponse::default() };
        assert_eq!(read(&asked("guarded/stock"), &found), reading(7));
        assert_eq!(read(&asked("guarded/stock"), &RangeResponse::default()), reading(0));
        let all = RangeRequest { range_end: b"guarded0".to_vec(), ..asked("guarded/stock") };
        assert_eq!(read(&all, &found), None);
        assert_eq!(read(&asked("stock"), &found), None);
    }
}
