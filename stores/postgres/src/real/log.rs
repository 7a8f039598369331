//! The lines of a server's log that say whether it leads.

/// Reads a line of the log: true if the server was promoted. `None` if the line is of something else, such as the start of a server.
pub(super) fn leads(line: &str) -> Option<bool> {
    line.contains("selected new timeline ID: ").then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_is_read_in_the_log() {
        assert_eq!(leads("2023-11-14 22:13:21.000 UTC [7] LOG:  selected new timeline ID: 2"), Some(true));
        assert_eq!(
            leads("2023-11-14 22:13:21.000 UTC [1] LOG:  database system is ready to accept connections"),
            None
        );
    }
}
