//! A place in the tokens of a text, and what may be asked of it.

use super::lexer::{Kind, Token, error_at, is_of_operator, tokens};
use super::words::RESERVED;
use crate::protocol::SqlError;
use crate::server::deep::{DEPTH_MAX, too_deep};

pub(super) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
    /// The number of expressions and SELECTs around this place.
    depth: u16,
    /// True in the body of a function, whose arguments have names and numbers.
    pub(super) in_body: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Result<Cursor<'a>, SqlError> {
        Ok(Cursor { text, tokens: tokens(text)?, next: 0, depth: 0, in_body: false })
    }

    pub(super) fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next)
    }

    pub(super) fn step(&mut self) {
        self.next += 1;
    }

    /// Reads what may contain itself: every recursion of the parser goes through here.
    ///
    /// # Errors
    /// 54001 if it is nested too deeply.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        if self.depth == DEPTH_MAX {
            return Err(too_deep());
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    pub(super) fn place(&self) -> usize {
        self.next
    }

    /// Goes back to a place where it was.
    pub(super) fn back_to(&mut self, place: usize) {
        self.next = place;
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.next == self.tokens.len()
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: Kind::Word(found), .. }) if found == word)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: Kind::Sign, text, .. }) if *text == sign)
    }

    /// What the next token stands for, if it is one of these signs.
    pub(super) fn sign_of<T: Copy>(&self, signs: &[(&str, T)]) -> Option<T> {
        let Some(Token { kind: Kind::Sign, text, .. }) = self.peek() else { return None };
        signs.iter().find(|(sign, _)| sign == text).map(|(_, meaning)| *meaning)
    }

    /// True if the token after the next one is this sign.
    pub(super) fn is_sign_after(&self, sign: &str) -> bool {
        let after = self.tokens.get(self.next + 1);
        matches!(after, Some(Token { kind: Kind::Sign, text, .. }) if *text == sign)
    }

    /// The quoted literal that comes after the next token.
    pub(super) fn quoted_after(&self) -> Option<&str> {
        match self.tokens.get(self.next + 1).map(|token| &token.kind) {
            Some(Kind::Quoted(text)) => Some(text),
            _ => None,
        }
    }

    /// The table of `table.*`, if that comes next: it is behind that then.
    pub(super) fn star_of(&mut self) -> Option<String> {
        let table = self.name_if_any()?;
        let star = self.tokens.get(self.next + 2);
        let found = matches!(star, Some(Token { kind: Kind::Sign, text: "*", .. }));
        self.next += 3 * usize::from(found);
        found.then_some(table)
    }

    pub(super) fn takes(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    pub(super) fn takes_any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.takes(word))
    }

    /// True if all these words came next.
    pub(super) fn takes_all(&mut self, words: &[&str]) -> bool {
        let from = self.next;
        let all = words.iter().all(|word| self.takes(word));
        if !all {
            self.next = from;
        }
        all
    }

    pub(super) fn takes_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.next += usize::from(found);
        found
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), SqlError> {
        if self.takes(word) { Ok(()) } else { Err(self.error()) }
    }

    pub(super) fn sign(&mut self, sign: &str) -> Result<(), SqlError> {
        if self.takes_sign(sign) { Ok(()) } else { Err(self.error()) }
    }

    /// A table's or column's name.
    pub(super) fn name(&mut self) -> Result<String, SqlError> {
        let name = self.name_if_any().ok_or_else(|| self.error())?;
        self.next += 1;
        Ok(name)
    }

    /// The name of a column of a result, which may be any word.
    pub(super) fn label(&mut self) -> Result<String, SqlError> {
        let label = match self.peek().map(|token| &token.kind) {
            Some(Kind::Word(word) | Kind::Name(word)) => word.clone(),
            _ => return Err(self.error()),
        };
        self.next += 1;
        Ok(label)
    }

    /// The name that comes next, if one does.
    pub(super) fn name_if_any(&self) -> Option<String> {
        match self.peek().map(|token| &token.kind) {
            Some(Kind::Word(word)) if RESERVED.binary_search(&word.as_str()).is_err() => Some(word.clone()),
            Some(Kind::Name(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// A table's or sequence's name, with its schema or without. Those of the catalogue are known by their bare names, those of the
    /// information schema by their whole ones.
    pub(super) fn qualified_name(&mut self) -> Result<String, SqlError> {
        let name = self.name()?;
        if !self.takes_sign(".") {
            return Ok(name);
        }
        if name == "information_schema" {
            return Ok(format!("{name}.{}", self.name()?));
        }
        if name != "public" && name != "pg_catalog" {
            return Err(SqlError::unsupported("a schema other than public"));
        }
        self.name()
    }

    /// Names in parentheses.
    pub(super) fn names(&mut self) -> Result<Vec<String>, SqlError> {
        self.sign("(")?;
        let mut names = vec![self.name()?];
        while self.takes_sign(",") {
            names.push(self.name()?);
        }
        self.sign(")")?;
        Ok(names)
    }

    /// Refuses clauses of PostgreSQL that may stand next and are not modelled.
    pub(super) fn refuse(&self, words: &[&str]) -> Result<(), SqlError> {
        match words.iter().find(|word| self.is_word(word)) {
            Some(word) => Err(SqlError::unsupported(word.to_uppercase())),
            None => Ok(()),
        }
    }

    /// The error about what comes next.
    pub(super) fn error(&self) -> SqlError {
        match self.peek() {
            Some(token) => {
                self.not_modelled(token).unwrap_or_else(|| error_at(self.text, token.at, token.text))
            }
            None => error_at(self.text, self.text.len(), ""),
        }
    }

    /// The error of what PostgreSQL would read here: an operator of several signs, a literal behind a letter, and COLLATE.
    fn not_modelled(&self, token: &Token<'_>) -> Option<SqlError> {
        let before = self.tokens.get(self.next.checked_sub(1)?)?;
        let touches = before.at + before.text.len() == token.at;
        let is_operator =
            |token: &Token<'_>| token.kind == Kind::Sign && token.text.chars().all(is_of_operator);
        let what = match (&before.kind, &token.kind) {
            (Kind::Sign, Kind::Sign) if touches && is_operator(before) && is_operator(token) => {
                format!("the operator {}{}", before.text, token.text)
            }
            (Kind::Word(letter), Kind::Quoted(_))
                if touches && ["b", "e", "n", "x"].contains(&letter.as_str()) =>
            {
                format!("a literal that begins with {}", before.text)
            }
            (Kind::Word(word), _) if word == "collate" => "COLLATE".to_owned(),
            _ => return None,
        };
        Some(SqlError::unsupported(what))
    }
}
