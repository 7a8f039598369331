//! The lines of a member's log that say whether it leads.

/// Reads a line of the log (`--logger=zap`): whether the member leads from now on. `None` if it is of something else.
pub(crate) fn leads(line: &str) -> Option<bool> {
    // The library that elects has said it in these words since its beginning.
    let (_, state) = line.split_once(" became ")?;
    match state.split_once(" at term ")?.0 {
        "leader" => Some(true),
        "follower" | "candidate" | "pre-candidate" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leads_is_read_in_the_log() {
        let line = |state: &str| {
            leads(&format!(r#"{{"level":"info","msg":"8211f1d0f64f3269 became {state} at term 2"}}"#))
        };
        assert_eq!(line("leader"), Some(true));
        assert_eq!(line("follower"), Some(false));
        assert_eq!(line("candidate"), Some(false));
        assert_eq!(leads(r#"{"msg":"raft.node: 8211 elected leader 8211 at term 2"}"#), None);
        assert_eq!(leads(""), None);
    }
}
