//! The fault actions that only etcd has: a change of its members, which an operator asks for.

use std::sync::Arc;

use picklock_sim::store::OwnAction;

use super::member::Member;

const REMOVE: OwnAction = OwnAction {
    name: "remove-member",
    doc: "the member of this number is taken out of the group, as by `member remove`",
};

const ADD: OwnAction = OwnAction {
    name: "add-member",
    doc: "the member of this number is added to the group, as by `member add`",
};

/// The actions of etcd's members.
pub(crate) const ACTIONS: &[OwnAction] = &[REMOVE, ADD];

/// Does what actions ask for, for as long as the host runs. A member that may not change the group yet tries again for two elections, as a client
/// does who is answered `etcdserver: unhealthy cluster`.
pub(super) async fn act(member: Arc<Member>) {
    let timing = member.replica.timing;
    loop {
        let action = member.host.next_action().await;
        for _ in 0..2 * timing.election_ticks {
            let changed = member.replica.change_members(|members| {
                if *action.name == *REMOVE.name {
                    members.remove(&action.count);
                } else {
                    members.insert(action.count);
                }
            });
            match changed {
                Ok(true) => member.host.action_took_effect(&action),
                Ok(false) => {}
                Err(_) => {
                    member.host.sleep(timing.tick).await;
                    continue;
                }
            }
            break;
        }
    }
}
