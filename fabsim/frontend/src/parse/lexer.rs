//! Text to tokens. Positions count characters, lines and columns from 1.

use crate::parse::intern::{Interner, Sym};
use crate::Res;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;
use std::rc::Rc;

/// One token. Keywords are `Word`s: the parser compares them by their text.
#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// An identifier or a keyword.
    Word(Sym),
    /// `@name`
    Builtin(Sym),
    Int(i128),
    Float(f64),
    Str(Rc<[u8]>),
    /// An operator or punctuation.
    Op(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub tok: Tok,
    pub span: Span,
}

/// Longest first, so that the first match is the right one.
const OPERATORS: [&str; 43] = [
    "<<=", ">>=", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "->", "=>", ".{", ".*", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "=", "<", ">",
    "(", ")", "[", "]", "{", "}", ",", ";", ":", ".",
];

struct Lexer<'a> {
    chars: Vec<char>,
    at: usize,
    file: u32,
    line: u32,
    column: u32,
    interner: &'a mut Interner,
}

/// All tokens of `text`, ending with `Tok::End`.
pub fn lex(text: &str, file: u32, interner: &mut Interner) -> Res<Vec<Token>> {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        file,
        line: 1,
        column: 1,
        interner,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let span = lexer.span();
        let tok = lexer.token()?;
        let end = tok == Tok::End;
        tokens.push(Token { tok, span });
        if end {
            return Ok(tokens);
        }
    }
}

impl Lexer<'_> {
    fn span(&self) -> Span {
        Span {
            file: self.file,
            line: self.line,
            column: self.column,
        }
    }

    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn bump(&mut self) -> char {
        let c = self.peek(0);
        self.at += 1;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        c
    }

    fn skip_blank(&mut self) {
        while self.at < self.chars.len() {
            if self.peek(0).is_whitespace() {
                self.bump();
            } else if self.peek(0) == '/' && self.peek(1) == '/' {
                while self.at < self.chars.len() && self.peek(0) != '\n' {
                    self.bump();
                }
            } else {
                return;
            }
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Diagnostic::new(self.span(), message)))
    }

    fn token(&mut self) -> Res<Tok> {
        if self.at >= self.chars.len() {
            return Ok(Tok::End);
        }
        let c = self.peek(0);
        if c.is_ascii_alphabetic() || c == '_' {
            return Ok(Tok::Word(self.word()));
        }
        if c == '@' {
            self.bump();
            if !(self.peek(0).is_ascii_alphabetic() || self.peek(0) == '_') {
                return self.error("'@' must be followed by the name of a builtin");
            }
            return Ok(Tok::Builtin(self.word()));
        }
        if c.is_ascii_digit() {
            return self.number();
        }
        if c == '"' {
            return self.string();
        }
        if c == '\'' {
            return self.character();
        }
        self.operator()
    }

    fn word(&mut self) -> Sym {
        let start = self.at;
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == '_' {
            self.bump();
        }
        let text: String = self.chars[start..self.at].iter().collect();
        self.interner.intern(&text)
    }

    fn operator(&mut self) -> Res<Tok> {
        for op in OPERATORS {
            if op.chars().enumerate().all(|(i, c)| self.peek(i) == c) {
                for _ in op.chars() {
                    self.bump();
                }
                return Ok(Tok::Op(op));
            }
        }
        self.error(format!("unexpected character {:?}", self.peek(0)))
    }

    fn number(&mut self) -> Res<Tok> {
        let (radix, prefix) = match (self.peek(0), self.peek(1)) {
            ('0', 'x') => (16, 2),
            ('0', 'b') => (2, 2),
            _ => (10, 0),
        };
        for _ in 0..prefix {
            self.bump();
        }
        let mut text = String::new();
        while self.peek(0).is_digit(radix) || (radix == 10 && self.peek(0) == '_') {
            text.push(self.bump());
        }
        // `1..` does not exist in CSL, but `1.*` does not either: a dot belongs to the number.
        if radix == 10 && (self.peek(0) == '.' || matches!(self.peek(0), 'e' | 'E')) {
            return self.float(text);
        }
        if self.peek(0).is_ascii_alphanumeric() {
            return self.error("malformed number");
        }
        text.retain(|c| c != '_');
        match i128::from_str_radix(&text, radix) {
            Ok(value) if value <= i128::from(u64::MAX) => Ok(Tok::Int(value)),
            _ => self.error("integer literal out of range"),
        }
    }

    fn float(&mut self, mut text: String) -> Res<Tok> {
        if self.peek(0) == '.' {
            text.push(self.bump());
            while self.peek(0).is_ascii_digit() {
                text.push(self.bump());
            }
        }
        if matches!(self.peek(0), 'e' | 'E') {
            text.push(self.bump());
            if matches!(self.peek(0), '+' | '-') {
                text.push(self.bump());
            }
            while self.peek(0).is_ascii_digit() {
                text.push(self.bump());
            }
        }
        if self.peek(0).is_ascii_alphanumeric() {
            return self.error("malformed number");
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Tok::Float(value)),
            _ => self.error("malformed floating-point literal"),
        }
    }

    fn string(&mut self) -> Res<Tok> {
        self.bump();
        let mut bytes = Vec::new();
        loop {
            match self.peek(0) {
                '"' => break,
                '\n' | '\0' => return self.error("this string is not closed"),
                _ => self.character_into(&mut bytes)?,
            }
        }
        self.bump();
        Ok(Tok::Str(bytes.into()))
    }

    fn character(&mut self) -> Res<Tok> {
        self.bump();
        let mut bytes = Vec::new();
        self.character_into(&mut bytes)?;
        if self.peek(0) != '\'' || bytes.len() != 1 {
            return self.error("a character literal holds one ASCII character");
        }
        self.bump();
        Ok(Tok::Int(i128::from(bytes[0])))
    }

    /// One character or escape sequence of a string.
    fn character_into(&mut self, bytes: &mut Vec<u8>) -> Res<()> {
        let c = self.bump();
        if c != '\\' {
            let mut buffer = [0; 4];
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            return Ok(());
        }
        match self.bump() {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            '\\' => bytes.push(b'\\'),
            '"' => bytes.push(b'"'),
            '\'' => bytes.push(b'\''),
            'x' => {
                let (high, low) = (self.bump().to_digit(16), self.bump().to_digit(16));
                match (high, low) {
                    (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
                    _ => return self.error("\\x needs two hexadecimal digits"),
                }
            }
            _ => return self.error("unknown escape sequence"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toks(text: &str) -> Result<Vec<Tok>, String> {
        let mut interner = Interner::default();
        lex(text, 0, &mut interner)
            .map(|tokens| tokens.into_iter().map(|t| t.tok).collect())
            .map_err(|d| d.message)
    }

    #[test]
    fn numbers_come_in_three_bases_and_as_floats() {
        let found = toks("10 0xfF 0b101 1.5 1.e-3 2e3 'a' '\\x0a'").unwrap();
        let expected = [
            Tok::Int(10),
            Tok::Int(255),
            Tok::Int(5),
            Tok::Float(1.5),
            Tok::Float(1e-3),
            Tok::Float(2e3),
            Tok::Int(97),
            Tok::Int(10),
            Tok::End,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_number_run_into_a_word_is_refused() {
        assert!(toks("12ab").is_err());
        assert!(toks("0xg").is_err());
    }

    #[test]
    fn a_comment_ends_with_its_line() {
        assert_eq!(toks("// x\n.{").unwrap(), [Tok::Op(".{"), Tok::End]);
    }

    #[test]
    fn an_open_string_and_a_strange_character_are_refused() {
        assert!(toks("\"abc").is_err());
        assert!(toks("a ? b").is_err());
        assert!(toks("a \u{a7} b").is_err());
    }
}
