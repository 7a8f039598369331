//! What a member's log says of who leads.

/// What a member became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It leads: what is to be kept goes through it.
    Leader,
    /// It follows, or asks to be elected.
    Follower,
}

/// Reads a line of the log (`--logger=zap`); `None` if it is of something else.
#[must_use]
pub fn became(line: &str) -> Option<Became> {
    // The library that elects has said it in these words since its beginning.
    let (_, state) = line.split_once(" became ")?;
    match state.split_once(" at term ")?.0 {
        "leader" => Some(Became::Leader),
        "follower" | "candidate" | "pre-candidate" => Some(Became::Follower),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leads_is_read_in_the_log() {
        let line = |state: &str| {
            became(&format!(r#"{{"level":"info","msg":"8211f1d0f64f3269 became {state} at term 2"}}"#))
        };
        assert_eq!(line("leader"), Some(Became::Leader));
        assert_eq!(line("follower"), Some(Became::Follower));
        assert_eq!(line("candidate"), Some(Became::Follower));
        assert_eq!(became(r#"{"msg":"raft.node: 8211 elected leader 8211 at term 2"}"#), None);
        assert_eq!(became(""), None);
    }
}
