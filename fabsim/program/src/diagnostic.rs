//! What the compiler has to say about a program: a message at a place, with the other places that
//! belong to it. Rendering is `file:line:col: error: message`, the source line, a caret.

use crate::program::Span;
use crate::sdk::Sdk;
use std::fmt;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is refused.
    #[default]
    Error,
    /// It is compiled, and may not do what was meant.
    Warning,
    /// What the program itself prints with `@comptime_print`.
    Note,
}

/// One message. `places` is filled in by the compiler before it returns, so that a diagnostic can be
/// rendered without the sources: the first entry belongs to `span`, the others to `notes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave it is.
    pub severity: Severity,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where.
    pub span: Span,
    /// The other places that belong to it, each with what is there.
    pub notes: Vec<(Span, String)>,
    /// The text of all these places.
    pub places: Vec<Place>,
    /// The last release in which this is no error.
    pub until: Option<Sdk>,
}

/// The file name and the text of the line a span points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The text of the line.
    pub line: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            notes: Vec::new(),
            places: Vec::new(),
            until: None,
        }
    }

    /// The same diagnostic, which the releases up to `sdk` do not give.
    pub fn until(mut self, sdk: Sdk) -> Diagnostic {
        self.until = Some(sdk);
        self
    }

    /// The same diagnostic with another severity.
    pub fn severity(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }

    /// The same diagnostic with one more related place.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push((span, text.into()));
        self
    }

    /// Looks up every place with `find` (file name and line text of a span).
    pub fn attach(&mut self, find: impl Fn(Span) -> Place) {
        self.places = std::iter::once(self.span)
            .chain(self.notes.iter().map(|note| note.0))
            .map(find)
            .collect();
    }

    /// The full text, ending without a newline.
    pub fn render(&self) -> String {
        let kind = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let mut out = self.render_one(0, self.span, kind, &self.message);
        for (index, (span, text)) in self.notes.iter().enumerate() {
            out.push('\n');
            out.push_str(&self.render_one(index + 1, *span, "note", text));
        }
        out
    }

    fn render_one(&self, place: usize, span: Span, kind: &str, text: &str) -> String {
        let (file, line) = match self.places.get(place) {
            Some(place) => (place.file.as_str(), place.line.as_str()),
            None => ("?", ""),
        };
        if span.line == 0 {
            return format!("{file}: {kind}: {text}");
        }
        let mut out = format!("{file}:{}:{}: {kind}: {text}", span.line, span.column);
        if !line.is_empty() {
            let before = (span.column as usize).saturating_sub(1);
            // Tabs are kept so that the caret stays under its character.
            let pad: String = line
                .chars()
                .take(before)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            out.push_str(&format!("\n{line}\n{pad}^"));
        }
        out
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_the_line_a_caret_and_the_other_place() {
        let at = |line, column| Span {
            file: 0,
            line,
            column,
        };
        let mut diagnostic = Diagnostic::new(at(2, 3), "bound twice").note(at(1, 1), "first here");
        diagnostic.attach(|span| Place {
            file: "a.csl".into(),
            line: if span.line == 2 { "\tab" } else { "xy" }.into(),
        });
        assert_eq!(
            diagnostic.render(),
            "a.csl:2:3: error: bound twice\n\tab\n\t ^\na.csl:1:1: note: first here\nxy\n^"
        );
    }
}
