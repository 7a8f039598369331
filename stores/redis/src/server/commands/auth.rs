//! AUTH: there is one user, `default`, with the password of `requirepass` or without one (Redis 7.0 `acl.c`).

use super::SYNTAX;
use crate::protocol::resp::Reply;
use crate::server::node::{Answer, Node, SessionId};

pub(crate) const WRONG_PASSWORD: Reply =
    Reply::error("WRONGPASS invalid username-password pair or user is disabled.");

pub(crate) fn auth(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    match args {
        [_, _] if node.config.password.is_empty() => Err(Reply::error(
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
             configuration is correct?",
        )),
        [_, password] => log_in(node, id, b"default", password),
        [_, user, password] => log_in(node, id, user, password),
        _ => Err(SYNTAX),
    }
}

/// Takes a session for the user if the password is right.
pub(crate) fn log_in(node: &mut Node, id: SessionId, user: &[u8], password: &[u8]) -> Result<Answer, Reply> {
    let right = node.config.password.is_empty() || node.config.password == password;
    if user != b"default" || !right {
        return Err(WRONG_PASSWORD);
    }
    node.session_mut(id).authenticated = true;
    Ok(Reply::OK.into())
}
