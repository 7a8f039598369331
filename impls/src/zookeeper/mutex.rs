//! ZooKeeper's recipe for a lock: whoever has the ephemeral node with the lowest number below the lock's own holds it, for as long as its session lasts.
//!
//! *Claim:* one holder in the order of asking, on a store that survives the loss of a minority of its members; a holder that dies is replaced once its
//! session has expired.
//! *Weakness:* the session ends while its holder stands still or is cut off, the holder learns of it only from a member, and the writer sends no token
//! (`zookeeper-fenced` does). After a failover or a split, too, a holder may learn late that its session has ended. Without a value of its own in the name of its node (`protected=no`) a client does not find the node whose creation was
//! answered on a connection that broke, and waits behind it for as long as its session lasts.
//! With one it looks for it at the member that it reaches, whose answer may be old: a creation that was under way at a leader without a majority can
//! appear right after it, and then a second node stands behind the first (Curator looks without a `sync` as well).
//! *Source:* ZooKeeper's documentation, Recipes and Solutions, Locks; `LockInternals.java` of Curator 5 for what a protected node is.

use picklock_sim::design::Family;
use picklock_sim::param::Param;
use picklock_sim::params;

use super::queue::{MEMBERS, Obeys, PROTECTED, Rules, SESSION, design};
use crate::client::policy::BELIEF;

const PARAMS: &[Param] = params![BELIEF, MEMBERS, PROTECTED, SESSION];

/// The family of designs with ZooKeeper's recipe.
pub(crate) static FAMILY: Family = Family {
    name: "zookeeper",
    claim: "ZooKeeper's recipe: the lowest number among ephemeral nodes of sessions, on a store that survives the loss of a minority",
    weakness: "the session ends while its holder stands still, and the writer sends no token",
    source: "ZooKeeper Recipes and Solutions: Locks",
    params: PARAMS,
    build: |args| design(args, Rules { obeys: Obeys::Expiry, fenced: false, reentrant: false }),
};

/// The same with a fencing token.
pub(crate) static FENCED: Family = Family {
    name: "zookeeper-fenced",
    claim: "ZooKeeper's recipe, and the transaction that created the holder's node (czxid) as a token that the resource checks",
    weakness: "two clients may still believe that they hold it; the resource refuses the late one",
    source: "ZooKeeper Recipes and Solutions: Locks; Kleppmann, How to do distributed locking (2016)",
    params: PARAMS,
    build: |args| design(args, Rules { obeys: Obeys::Expiry, fenced: true, reentrant: false }),
};
