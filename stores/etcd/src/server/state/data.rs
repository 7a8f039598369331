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
