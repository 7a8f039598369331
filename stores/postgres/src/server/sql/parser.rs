//! The parser of statements: recursive descent over the tokens.
//!
//! A statement that PostgreSQL knows and this simulation does not is refused as unsupported (0A000) if it begins with a word that
//! PostgreSQL knows, else as an error of syntax (42601) at the same place as PostgreSQL's.

use super::lexer::{Kind, Token, error_at, tokens};
use super::{Column, Comparison, Conflict, Expr, Function, Item, Operator, Patience, Statement};
use crate::protocol::{SqlError, Type};

/// The statements of a text, those between semicolons that are empty left out.
pub(crate) fn parse(text: &str) -> Result<Vec<Statement>, SqlError> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    let mut statements = Vec::new();
    loop {
        while parser.takes_sign(";") {}
        if parser.is_at_end() {
            return Ok(statements);
        }
        statements.push(parser.statement()?);
        if !parser.is_at_end() {
            parser.sign(";")?;
        }
    }
}

/// First words of statements that PostgreSQL has and this simulation has not.
const UNKNOWN_STATEMENTS: [&str; 22] = [
    "alter",
    "analyze",
    "call",
    "checkpoint",
    "close",
    "copy",
    "declare",
    "do",
    "drop",
    "explain",
    "fetch",
    "grant",
    "listen",
    "lock",
    "notify",
    "prepare",
    "release",
    "reset",
    "savepoint",
    "truncate",
    "vacuum",
    "with",
];

/// Words that cannot be a name unless quoted, of those that this grammar has at places where a name can stand.
const RESERVED: [&str; 21] = [
    "and", "as", "case", "create", "default", "end", "false", "for", "from", "group", "having", "limit",
    "not", "null", "on", "order", "or", "primary", "select", "true", "where",
];

/// How deep parentheses may go.
const DEPTH_MAX: u32 = 50;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn statement(&mut self) -> Result<Statement, SqlError> {
        let Some(Kind::Word(word)) = self.peek().map(|token| token.kind.clone()) else {
            return Err(self.error());
        };
        if UNKNOWN_STATEMENTS.contains(&word.as_str()) {
            return Err(SqlError::unsupported(word.to_uppercase()));
        }
        match word.as_str() {
            "begin" => {
                self.next += 1;
                self.takes_any(&["work", "transaction"]);
                self.modes("BEGIN")
            }
            "start" => {
                self.next += 1;
                self.word("transaction")?;
                self.modes("START TRANSACTION")
            }
            "commit" | "end" => {
                self.next += 1;
                self.ending()?;
                Ok(Statement::Commit)
            }
            "rollback" | "abort" => {
                self.next += 1;
                self.ending()?;
                Ok(Statement::Rollback)
            }
            "set" => self.set(),
            "show" => {
                self.next += 1;
                let name = self.name()?;
                Ok(Statement::Show(name))
            }
            "create" => self.create(),
            "insert" => self.insert(),
            "select" => self.select(),
            "update" => self.update(),
            "delete" => {
                self.next += 1;
                self.word("from")?;
                let table = self.name()?;
                let filter = self.filter()?;
                self.no_more_clauses()?;
                Ok(Statement::Delete { table, filter })
            }
            _ => Err(self.error()),
        }
    }

    /// The modes of a new transaction: only those that it has anyway.
    fn modes(&mut self, tag: &'static str) -> Result<Statement, SqlError> {
        loop {
            if self.takes("isolation") {
                self.word("level")?;
                if !self.takes_all(&["read", "committed"]) {
                    return Err(SqlError::unsupported("an isolation level other than READ COMMITTED"));
                }
            } else if !self.takes_all(&["read", "write"]) {
                if self.is_word("read") || self.is_word("deferrable") || self.is_word("not") {
                    return Err(SqlError::unsupported("this transaction mode"));
                }
                return Ok(Statement::Begin { tag });
            }
            self.takes_sign(",");
        }
    }

    fn ending(&mut self) -> Result<(), SqlError> {
        self.takes_any(&["work", "transaction"]);
        if self.is_word("to") || self.is_word("and") || self.is_word("prepared") {
            return Err(SqlError::unsupported("this way to end a transaction"));
        }
        Ok(())
    }

    fn set(&mut self) -> Result<Statement, SqlError> {
        self.next += 1;
        let local = self.takes("local");
        if !local {
            self.takes("session");
        }
        if self.is_word("transaction") || self.is_word("role") {
            return Err(SqlError::unsupported("this form of SET"));
        }
        let name = self.name()?;
        if !self.takes_sign("=") {
            self.word("to")?;
        }
        if self.takes("default") {
            return Ok(Statement::Set { local, name, value: None });
        }
        let minus = if self.takes_sign("-") { "-" } else { "" };
        let token = self.peek().ok_or_else(|| self.error())?;
        let value = match &token.kind {
            Kind::Quoted(text) | Kind::Word(text) | Kind::Name(text) if minus.is_empty() => text.clone(),
            Kind::Number => format!("{minus}{}", token.text),
            _ => return Err(self.error()),
        };
        self.next += 1;
        Ok(Statement::Set { local, name, value: Some(value) })
    }

    fn create(&mut self) -> Result<Statement, SqlError> {
        self.next += 1;
        if !self.takes("table") {
            return Err(SqlError::unsupported("CREATE of anything but a table"));
        }
        let if_not_exists = self.takes_all(&["if", "not", "exists"]);
        let table = self.name()?;
        self.sign("(")?;
        let mut columns: Vec<Column> = Vec::new();
        loop {
            if self.is_word("primary") {
                self.primary_key_of(&mut columns)?;
            } else {
                let column = self.column()?;
                columns.push(column);
            }
            if !self.takes_sign(",") {
                break;
            }
        }
        self.sign(")")?;
        Ok(Statement::CreateTable { table, if_not_exists, columns })
    }

    /// `PRIMARY KEY (column)`.
    fn primary_key_of(&mut self, columns: &mut [Column]) -> Result<(), SqlError> {
        self.next += 1;
        self.word("key")?;
        self.sign("(")?;
        let name = self.name()?;
        if self.is_sign(",") {
            return Err(SqlError::unsupported("a primary key of several columns"));
        }
        self.sign(")")?;
        let missing = || SqlError::new("42703", format!("column \"{name}\" named in key does not exist"));
        let column = columns.iter_mut().find(|column| column.name == name).ok_or_else(missing)?;
        column.primary = true;
        Ok(())
    }

    fn column(&mut self) -> Result<Column, SqlError> {
        let name = self.name()?;
        let ty = self.ty()?;
        let mut column = Column { name, ty, primary: false, not_null: false, default: None };
        loop {
            if self.takes("primary") {
                self.word("key")?;
                column.primary = true;
            } else if self.takes("not") {
                self.word("null")?;
                column.not_null = true;
            } else if self.takes("default") {
                column.default = Some(self.primary()?);
            } else if self.is_word("unique") || self.is_word("check") || self.is_word("references") {
                return Err(SqlError::unsupported("this constraint"));
            } else if !self.takes("null") {
                return Ok(column);
            }
        }
    }

    fn ty(&mut self) -> Result<Type, SqlError> {
        let name = self.name()?;
        match name.as_str() {
            "text" => Ok(Type::Text),
            "varchar" => self.length(),
            "character" => {
                self.word("varying")?;
                self.length()
            }
            "int" | "integer" | "int4" => Ok(Type::Int4),
            "bigint" | "int8" => Ok(Type::Int8),
            "bool" | "boolean" => Ok(Type::Bool),
            "timestamptz" => Ok(Type::Timestamp),
            "timestamp" if self.takes_all(&["with", "time", "zone"]) => Ok(Type::Timestamp),
            _ => Err(SqlError::unsupported(format!("type \"{name}\""))),
        }
    }

    fn length(&mut self) -> Result<Type, SqlError> {
        if !self.takes_sign("(") {
            return Ok(Type::Varchar(None));
        }
        let len = match self.primary()? {
            Expr::Int(len) => u32::try_from(len).ok().filter(|len| (1..=10_485_760).contains(len)),
            _ => None,
        };
        let len = len.ok_or_else(|| SqlError::new("22023", "length for type varchar must be at least 1"))?;
        self.sign(")")?;
        Ok(Type::Varchar(Some(len)))
    }

    fn insert(&mut self) -> Result<Statement, SqlError> {
        self.next += 1;
        self.word("into")?;
        let table = self.name()?;
        let mut columns = Vec::new();
        if self.takes_sign("(") {
            columns.push(self.name()?);
            while self.takes_sign(",") {
                columns.push(self.name()?);
            }
            self.sign(")")?;
        }
        if self.is_word("select") || self.is_word("default") || self.is_word("with") {
            return Err(SqlError::unsupported("INSERT of anything but VALUES"));
        }
        self.word("values")?;
        let mut rows = Vec::new();
        loop {
            self.sign("(")?;
            let mut row = vec![self.expr()?];
            while self.takes_sign(",") {
                row.push(self.expr()?);
            }
            self.sign(")")?;
            rows.push(row);
            if !self.takes_sign(",") {
                break;
            }
        }
        let conflict = if self.takes("on") { self.conflict()? } else { Conflict::Fail };
        self.no_more_clauses()?;
        Ok(Statement::Insert { table, columns, rows, conflict })
    }

    fn conflict(&mut self) -> Result<Conflict, SqlError> {
        self.word("conflict")?;
        let mut column = None;
        if self.takes_sign("(") {
            column = Some(self.name()?);
            self.sign(")")?;
        }
        self.word("do")?;
        if self.is_word("update") {
            return Err(SqlError::unsupported("ON CONFLICT DO UPDATE"));
        }
        self.word("nothing")?;
        Ok(Conflict::Nothing(column))
    }

    fn select(&mut self) -> Result<Statement, SqlError> {
        self.next += 1;
        if self.is_word("distinct") {
            return Err(SqlError::unsupported("DISTINCT"));
        }
        let mut items = Vec::new();
        // A result may have no columns at all.
        if !self.is_at_end() && !self.is_sign(";") && !self.is_word("from") {
            items.push(self.item()?);
            while self.takes_sign(",") {
                items.push(self.item()?);
            }
        }
        let mut table = None;
        if self.takes("from") {
            table = Some(self.name()?);
            if self.is_sign(",") || self.is_word("join") {
                return Err(SqlError::unsupported("a SELECT from several tables"));
            }
        }
        let filter = self.filter()?;
        if table.is_none() && !filter.is_empty() {
            return Err(SqlError::unsupported("WHERE without a table"));
        }
        let mut lock = None;
        if self.takes("for") {
            if !self.takes("update") {
                return Err(SqlError::unsupported("a row lock other than FOR UPDATE"));
            }
            if self.is_word("of") {
                return Err(SqlError::unsupported("FOR UPDATE OF"));
            }
            lock = Some(if self.takes("nowait") {
                Patience::NoWait
            } else if self.takes_all(&["skip", "locked"]) {
                Patience::Skip
            } else {
                Patience::Wait
            });
        }
        self.no_more_clauses()?;
        Ok(Statement::Select { items, table, filter, lock })
    }

    fn item(&mut self) -> Result<Item, SqlError> {
        if self.takes_sign("*") {
            return Ok(Item::All);
        }
        let value = self.expr()?;
        let name = if self.takes("as") { Some(self.name()?) } else { None };
        Ok(Item::One { value, name })
    }

    fn update(&mut self) -> Result<Statement, SqlError> {
        self.next += 1;
        let table = self.name()?;
        self.word("set")?;
        let mut sets = Vec::new();
        loop {
            let column = self.name()?;
            self.sign("=")?;
            sets.push((column, self.expr()?));
            if !self.takes_sign(",") {
                break;
            }
        }
        let filter = self.filter()?;
        self.no_more_clauses()?;
        Ok(Statement::Update { table, sets, filter })
    }

    fn filter(&mut self) -> Result<Vec<Comparison>, SqlError> {
        let mut filter = Vec::new();
        if !self.takes("where") {
            return Ok(filter);
        }
        loop {
            filter.push(self.comparison()?);
            if self.is_word("or") {
                return Err(SqlError::unsupported("OR"));
            }
            if !self.takes("and") {
                return Ok(filter);
            }
        }
    }

    fn comparison(&mut self) -> Result<Comparison, SqlError> {
        let left = self.expr()?;
        let operators = [
            ("=", Operator::Equal),
            ("<>", Operator::Unequal),
            ("!=", Operator::Unequal),
            ("<=", Operator::LessOrEqual),
            ("<", Operator::Less),
            (">=", Operator::GreaterOrEqual),
            (">", Operator::Greater),
        ];
        let Some((_, operator)) = operators.into_iter().find(|(sign, _)| self.takes_sign(sign)) else {
            if self.is_word("is") || self.is_word("in") || self.is_word("like") || self.is_word("between") {
                return Err(SqlError::unsupported("this comparison"));
            }
            return Err(self.error());
        };
        let value = self.expr()?;
        match left {
            Expr::Column(column) => Ok(Comparison { column, operator, value }),
            _ => Err(SqlError::unsupported("a comparison that does not begin with a column")),
        }
    }

    fn expr(&mut self) -> Result<Expr, SqlError> {
        let mut left = self.primary()?;
        loop {
            let minus = self.is_sign("-");
            if !minus && !self.is_sign("+") {
                if self.is_sign("*") || self.is_sign("/") {
                    return Err(SqlError::unsupported("this operator"));
                }
                return Ok(left);
            }
            self.next += 1;
            let right = Box::new(self.primary()?);
            left = Expr::Sum { left: Box::new(left), minus, right };
        }
    }

    fn primary(&mut self) -> Result<Expr, SqlError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SqlError::new("54001", "stack depth limit exceeded"));
        }
        let mut value = self.operand()?;
        while self.takes_sign("::") {
            value = Expr::Cast(Box::new(value), self.ty()?);
        }
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<Expr, SqlError> {
        let Some(token) = self.peek().cloned() else { return Err(self.error()) };
        match token.kind {
            Kind::Number => {
                self.next += 1;
                number(token.text)
            }
            Kind::Quoted(text) => {
                self.next += 1;
                Ok(Expr::Quoted(text))
            }
            Kind::Param(0) => Err(SqlError::new("42P02", "there is no parameter $0")),
            Kind::Param(nth) => {
                self.next += 1;
                Ok(Expr::Param(nth))
            }
            Kind::Sign if token.text == "-" => {
                self.next += 1;
                match self.peek().map(|token| (token.kind == Kind::Number, token.text)) {
                    Some((true, digits)) => {
                        self.next += 1;
                        number(&format!("-{digits}"))
                    }
                    _ => Err(SqlError::unsupported("a sign before anything but a number")),
                }
            }
            Kind::Sign if token.text == "(" => {
                self.next += 1;
                if self.is_word("select") {
                    return Err(SqlError::unsupported("a subquery"));
                }
                let inner = self.expr()?;
                self.sign(")")?;
                Ok(inner)
            }
            Kind::Sign => Err(self.error()),
            Kind::Word(_) | Kind::Name(_) => self.named(),
        }
    }

    /// A truth value, a function or a column.
    fn named(&mut self) -> Result<Expr, SqlError> {
        for (word, value) in [("null", Expr::Null), ("true", Expr::Bool(true)), ("false", Expr::Bool(false))]
        {
            if self.takes(word) {
                return Ok(value);
            }
        }
        if self.takes("current_timestamp") {
            return Ok(Expr::Call(Function::Now));
        }
        let name = self.name()?;
        if self.is_sign(".") {
            return Err(SqlError::unsupported("a qualified name"));
        }
        if !self.takes_sign("(") {
            return Ok(Expr::Column(name));
        }
        let known = [Function::Now, Function::ClockTimestamp, Function::BackendPid];
        let function = known.into_iter().find(|function| function.name() == name);
        let function = function.ok_or_else(|| SqlError::unsupported(format!("function {name}")))?;
        self.sign(")")?;
        Ok(Expr::Call(function))
    }

    /// A table's or column's name.
    fn name(&mut self) -> Result<String, SqlError> {
        let name = match self.peek().map(|token| &token.kind) {
            Some(Kind::Word(word)) if !RESERVED.contains(&word.as_str()) => word.clone(),
            Some(Kind::Name(name)) => name.clone(),
            _ => return Err(self.error()),
        };
        self.next += 1;
        Ok(name)
    }

    /// Clauses of PostgreSQL that may stand at the end of a statement and are not modelled.
    fn no_more_clauses(&self) -> Result<(), SqlError> {
        for word in ["returning", "order", "limit", "group", "offset", "union", "having", "fetch"] {
            if self.is_word(word) {
                return Err(SqlError::unsupported(word.to_uppercase()));
            }
        }
        Ok(())
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next)
    }

    fn is_at_end(&self) -> bool {
        self.next == self.tokens.len()
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: Kind::Word(found), .. }) if found == word)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: Kind::Sign, text, .. }) if *text == sign)
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    fn takes_any(&mut self, words: &[&str]) {
        if let Some(word) = words.iter().find(|word| self.is_word(word)) {
            self.takes(word);
        }
    }

    /// True if all these words came next.
    fn takes_all(&mut self, words: &[&str]) -> bool {
        let from = self.next;
        let all = words.iter().all(|word| self.takes(word));
        if !all {
            self.next = from;
        }
        all
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.next += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> Result<(), SqlError> {
        if self.takes(word) { Ok(()) } else { Err(self.error()) }
    }

    fn sign(&mut self, sign: &str) -> Result<(), SqlError> {
        if self.takes_sign(sign) { Ok(()) } else { Err(self.error()) }
    }

    /// The error about what comes next.
    fn error(&self) -> SqlError {
        match self.peek() {
            Some(token) => error_at(self.text, token.at, token.text),
            None => error_at(self.text, self.text.len(), ""),
        }
    }
}

fn number(digits: &str) -> Result<Expr, SqlError> {
    digits.parse().map(Expr::Int).map_err(|_| SqlError::unsupported("a number that is no bigint"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            assert!(matches!(one(&text), Statement::Select { lock: Some(lock), .. } if lock == expected));
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
        for text in ["SAVEPOINT a", "SELECT a FROM t FOR SHARE", "SELECT a FROM t LIMIT 1", "DROP TABLE t"] {
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
            ]), 0..14),
        ) {
            let _ = parse(&words.join(" "));
        }
    }
}
