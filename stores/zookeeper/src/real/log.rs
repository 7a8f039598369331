//! The lines of a member's log that say whether it leads.

/// Reads a line of the log: whether the member leads from now on. `None` if it is of something else.
pub(crate) fn leads(line: &str) -> Option<bool> {
    let (_, said) = line.split_once(" - ")?;
    if said.starts_with("Have quorum of supporters") {
        return Some(true);
    }
    ["LOOKING", "FOLLOWING", "Shutting down"].contains(&said.split(" - ").next()?).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leads_is_read_in_the_log() {
        let line = |said: &str| {
            leads(&format!("[QuorumPeer] INFO org.apache.zookeeper.server.quorum.Leader - {said}"))
        };
        assert_eq!(line("Have quorum of supporters, sids: [[2, 3]]; starting up"), Some(true));
        assert_eq!(line("LEADING - LEADER ELECTION TOOK - 205 MS"), None);
        assert_eq!(line("FOLLOWING - LEADER ELECTION TOOK - 205 MS"), Some(false));
        assert_eq!(line("LOOKING"), Some(false));
        assert_eq!(leads("LOOKING"), None);
    }
}
