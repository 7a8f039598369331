//! The parser of a text: its statements one after another, and those about sessions and transactions.
//!
//! A statement that PostgreSQL knows and this simulation does not is refused as not modelled (0A000) if it begins with a
//! word that PostgreSQL knows, else as an error of syntax (42601) at the same place as PostgreSQL's.

use super::change::{delete, insert, update};
use super::cursor::Cursor;
use super::ddl::create;
use super::lexer::Kind;
use super::statement::{Isolation, Part, Statement};
use crate::protocol::SqlError;

/// The statements of a text, those between semicolons that are empty left out.
pub(crate) fn parse(text: &str) -> Result<Vec<Statement>, SqlError> {
    statements(Cursor::new(text)?)
}

/// The statements of the body of a function: an argument by its number is a column of the name `$n`.
pub(crate) fn parse_body(text: &str) -> Result<Vec<Statement>, SqlError> {
    let mut at = Cursor::new(text)?;
    at.in_body = true;
    statements(at)
}

fn statements(mut at: Cursor<'_>) -> Result<Vec<Statement>, SqlError> {
    let mut statements = Vec::new();
    loop {
        while at.takes_sign(";") {}
        if at.is_at_end() {
            return Ok(statements);
        }
        statements.push(statement(&mut at)?);
        if !at.is_at_end() {
            at.sign(";")?;
        }
    }
}

/// First words of statements that PostgreSQL has and this simulation has not.
const UNKNOWN_STATEMENTS: [&str; 29] = [
    "alter",
    "analyze",
    "call",
    "checkpoint",
    "cluster",
    "comment",
    "copy",
    "declare",
    "do",
    "drop",
    "execute",
    "explain",
    "fetch",
    "grant",
    "import",
    "load",
    "lock",
    "merge",
    "move",
    "prepare",
    "reassign",
    "refresh",
    "reindex",
    "revoke",
    "security",
    "table",
    "truncate",
    "vacuum",
    "values",
];

fn statement(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let Some(Kind::Word(word)) = at.peek().map(|token| token.kind.clone()) else {
        return Err(at.error());
    };
    if UNKNOWN_STATEMENTS.contains(&word.as_str()) {
        return Err(SqlError::unsupported(word.to_uppercase()));
    }
    match word.as_str() {
        "set" => return set(at),
        "create" => return create(at),
        "insert" => return insert(at),
        "select" => return at.select().map(Statement::Select),
        "update" => return update(at),
        "delete" => return delete(at),
        "with" => return with(at),
        "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release" | "show"
        | "reset" | "listen" | "unlisten" | "notify" | "deallocate" | "discard" | "close" => at.step(),
        _ => return Err(at.error()),
    }
    match word.as_str() {
        "begin" => {
            at.takes_any(&["work", "transaction"]);
            modes(at).map(|isolation| Statement::Begin { tag: "BEGIN", isolation })
        }
        "start" => {
            at.word("transaction")?;
            modes(at).map(|isolation| Statement::Begin { tag: "START TRANSACTION", isolation })
        }
        "commit" | "end" => {
            ending(at)?;
            Ok(Statement::Commit)
        }
        "rollback" | "abort" => {
            at.takes_any(&["work", "transaction"]);
            if word == "rollback" && at.takes("to") {
                at.takes("savepoint");
                return at.name().map(Statement::RollbackTo);
            }
            ending(at)?;
            Ok(Statement::Rollback)
        }
        "savepoint" => at.name().map(Statement::Savepoint),
        "release" => {
            at.takes("savepoint");
            at.name().map(Statement::Release)
        }
        "show" => parameter(at).map(Statement::Show),
        "reset" => Ok(Statement::Reset(if at.takes("all") { None } else { Some(parameter(at)?) })),
        "listen" => at.name().map(Statement::Listen),
        "unlisten" => Ok(Statement::Unlisten(if at.takes_sign("*") { None } else { Some(at.name()?) })),
        "notify" => notify(at),
        "close" if !at.is_word("all") => Err(SqlError::unsupported("CLOSE of a cursor")),
        "close" => {
            at.step();
            Ok(Statement::CloseAll)
        }
        "deallocate" => {
            at.takes("prepare");
            Ok(Statement::Deallocate(if at.takes("all") { None } else { Some(at.name()?) }))
        }
        _ => {
            at.refuse(&["plans", "sequences", "temp", "temporary"])?;
            at.word("all")?;
            Ok(Statement::DiscardAll)
        }
    }
}

/// WITH and the statement after it.
fn with(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    at.refuse(&["recursive"])?;
    let mut parts: Vec<Part> = Vec::new();
    loop {
        let name = at.name()?;
        let columns = if at.is_sign("(") { at.names()? } else { Vec::new() };
        at.word("as")?;
        // It is executed as a whole in any case.
        let _ = at.takes("materialized") || at.takes_all(&["not", "materialized"]);
        at.sign("(")?;
        let statement = about_rows(at)?;
        at.sign(")")?;
        if parts.iter().any(|part| part.name == name) {
            return Err(SqlError::new(
                "42712",
                format!("WITH query name \"{name}\" specified more than once"),
            ));
        }
        parts.push(Part { name, columns, statement });
        if !at.takes_sign(",") {
            break;
        }
    }
    Ok(Statement::With { parts, main: Box::new(about_rows(at)?) })
}

/// A statement that may stand in WITH or after it.
fn about_rows(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    if at.is_word("select") {
        return at.select().map(Statement::Select);
    }
    if at.is_word("insert") {
        return insert(at);
    }
    if at.is_word("update") {
        return update(at);
    }
    if at.is_word("delete") {
        return delete(at);
    }
    at.refuse(&["with", "values", "table", "merge"])?;
    Err(at.error())
}

fn notify(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let channel = at.name()?;
    let mut payload = String::new();
    if at.takes_sign(",") {
        match at.peek().map(|token| token.kind.clone()) {
            Some(Kind::Quoted(text)) => payload = text,
            _ => return Err(at.error()),
        }
        at.step();
    }
    Ok(Statement::Notify { channel, payload })
}

/// The modes of a new transaction: its isolation level, and what it has anyway.
fn modes(at: &mut Cursor<'_>) -> Result<Option<Isolation>, SqlError> {
    let mut isolation = None;
    loop {
        if at.takes("isolation") {
            at.word("level")?;
            isolation = Some(level(at)?);
        } else if !at.takes_all(&["read", "write"]) {
            if at.is_word("read") || at.is_word("deferrable") || at.is_word("not") {
                return Err(SqlError::unsupported("this transaction mode"));
            }
            return Ok(isolation);
        }
        at.takes_sign(",");
    }
}

fn level(at: &mut Cursor<'_>) -> Result<Isolation, SqlError> {
    if at.takes_all(&["read", "committed"]) || at.takes_all(&["read", "uncommitted"]) {
        Ok(Isolation::ReadCommitted)
    } else if at.takes_all(&["repeatable", "read"]) {
        Ok(Isolation::RepeatableRead)
    } else {
        at.word("serializable")?;
        Ok(Isolation::Serializable)
    }
}

fn ending(at: &mut Cursor<'_>) -> Result<(), SqlError> {
    at.takes_any(&["work", "transaction"]);
    if at.is_word("to") || at.is_word("and") || at.is_word("prepared") {
        return Err(SqlError::unsupported("this way to end a transaction"));
    }
    Ok(())
}

/// The name of a parameter of the session.
fn parameter(at: &mut Cursor<'_>) -> Result<String, SqlError> {
    if at.takes_all(&["transaction", "isolation", "level"]) {
        return Ok("transaction_isolation".to_owned());
    }
    if at.takes_all(&["time", "zone"]) {
        return Ok("timezone".to_owned());
    }
    at.refuse(&["all"])?;
    dotted(at)
}

/// The name of a parameter, which may have a point, such as `app.tenant`.
fn dotted(at: &mut Cursor<'_>) -> Result<String, SqlError> {
    let name = at.name()?;
    if at.takes_sign(".") { Ok(format!("{name}.{}", at.name()?)) } else { Ok(name) }
}

fn set(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    let local = at.takes("local");
    if !local && at.takes("session") {
        at.refuse(&["characteristics", "authorization"])?;
    }
    at.refuse(&["role", "constraints"])?;
    if at.takes("transaction") {
        let isolation = modes(at)?;
        return isolation.map(Statement::SetTransaction).ok_or_else(|| at.error());
    }
    let zone = at.takes_all(&["time", "zone"]);
    let name = if zone { "timezone".to_owned() } else { dotted(at)? };
    if !zone && !at.takes_sign("=") {
        at.word("to")?;
    }
    if at.takes("default") {
        return Ok(Statement::Set { local, name, value: None });
    }
    let minus = if at.takes_sign("-") { "-" } else { "" };
    let token = at.peek().ok_or_else(|| at.error())?;
    let value = match &token.kind {
        Kind::Quoted(text) | Kind::Word(text) | Kind::Name(text) if minus.is_empty() => text.clone(),
        Kind::Number => format!("{minus}{}", token.text),
        _ => return Err(at.error()),
    };
    at.step();
    if at.is_sign(",") {
        return Err(SqlError::unsupported(format!("a list of values of {name}")));
    }
    Ok(Statement::Set { local, name, value: Some(value) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::server::sql::{Patience, RowLock, Select, Strength};

    fn one(text: &str) -> Statement {
        let mut statements = parse(text).unwrap();
        assert_eq!(statements.len(), 1, "{text}");
        statements.remove(0)
    }

    #[test]
    fn statements_are_separated_by_semicolons_outside_quotes() {
        assert_eq!(parse(" ; select 'a;b' ;; begin; -- and no more;\n").unwrap().len(), 2);
        assert_eq!(parse("/* nothing; */").unwrap(), []);
    }

    #[test]
    fn the_row_lock_is_understood_in_its_three_forms() {
        for (end, expected) in
            [("", Patience::Wait), (" NOWAIT", Patience::NoWait), (" SKIP LOCKED", Patience::Skip)]
        {
            let text = format!("SELECT value FROM t WHERE key = $1 FOR UPDATE{end}");
            let Statement::Select(Select { lock, .. }) = one(&text) else { panic!("{text}") };
            assert_eq!(lock, Some(RowLock { strength: Strength::Update, patience: expected }));
        }
    }

    #[test]
    fn an_error_of_syntax_names_the_place() {
        let error = parse("SELECT 'ü' FROM WHERE").unwrap_err();
        assert_eq!(error.message, "syntax error at or near \"WHERE\"");
        assert_eq!(error.position, Some(17));
        assert_eq!(parse("INSERT INTO").unwrap_err().message, "syntax error at end of input");
        assert_eq!(parse("selct 1").unwrap_err().code, "42601");
    }

    #[test]
    fn what_is_not_modelled_says_so() {
        for text in ["LOCK TABLE t", "SELECT a FROM t FOR KEY SHARE", "COPY t FROM STDIN", "DROP TABLE t"] {
            assert_eq!(parse(text).unwrap_err().code, "0A000", "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn no_order_of_words_is_too_strange(
            words in prop::collection::vec(prop::sample::select(vec![
                "select", "from", "where", "a", "=", "$1", "for", "update", "(", ")", ",", "1", "'x'", "insert", "into",
                "values", "on", "conflict", "do", "nothing", "set", "::", "text", "create", "table", "-", ";", "\"q\"",
                "case", "when", "end", "not", "is", "null", "in", "order", "by", "limit", "returning", "interval", "cast",
                "union", "all", "unnest", "[", "]", ":", "->>", "?", "array", "over", "filter", "distinct", "extract",
                "type", "enum", "check", "group", "having", "offset", "like", "escape", "fetch", "first", "rows", "function", "returns", "language", "sql", "index", "unique", "$$", "with", "of",
            ]), 0..14),
        ) {
            let _ = parse(&words.join(" "));
        }
    }
}
