//! What an argument may be: a type of the language, or a class of types.

use crate::types::kinds::{primitive, Ty};
use fabsim_program::program::Arch;

/// One of the things an argument may be, on all targets or on one.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    pub kind: Kind,
    pub target: Option<Arch>,
    /// As the table has it.
    pub text: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A value of exactly this type, or one that converts to it by itself.
    Type(Ty),
    /// The program's float of 16 bits.
    Half,
    PointerTo(Box<Kind>),
    Class(Class),
    /// A value of an enum of the callee's module.
    EnumOf(&'static str),
    /// An enum of the callee's module itself.
    EnumType(&'static str),
}

macro_rules! classes {
    ($($class:ident $name:literal $says:literal,)*) => {
        /// A set of types that has a name in the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Class { $($class),* }
        /// Names of the classes, and how messages and the page call their members.
        pub const CLASSES: &[(&str, Class, &str)] = &[$(($name, Class::$class, $says)),*];
    };
}

classes! {
    Any "any" "any value",
    // Not evaluated as a value: the name of something.
    Place "place" "a name or a path to a variable",
    Int "int" "an integer",
    Float "float" "a float",
    Number "number" "a number or a bool",
    Enum "enum" "a value of an enum",
    Handle "handle" "an id of a color, a queue, a task or a microthread",
    Task "task" "a task",
    Function "function" "a function",
    Struct "struct" "a struct or tuple .{ ... }",
    Range "range" "a range",
    ArrayType "array_type" "an array type",
    PointerType "pointer_type" "a pointer type",
    NumberType "number_type" "a numeric type",
    IntType "int_type" "an integer type",
    EnumTypes "enum_type" "an enum",
    DsdType "dsd_type" "a DSD type",
    DsrType "dsr_type" "a DSR type",
    Dsd "dsd" "a DSD",
    Dsr "dsr" "a DSR",
    Pointer "pointer" "a pointer",
    Destination "dest" "a destination DSD or DSR",
    Source "source" "a source DSD or DSR",
    // What an operation gives: nothing, or whether a FIFO has let it end.
    Done "done" "nothing, or with a FIFO a bool",
}

impl Kind {
    /// The kind that the table calls `text`; `enums` are those of the module.
    pub fn named(text: &'static str, enums: &[&'static str]) -> Option<Kind> {
        if let Some(pointee) = text.strip_prefix("pointer ") {
            return Kind::named(pointee, enums).map(|kind| Kind::PointerTo(Box::new(kind)));
        }
        if let Some(name) = text.strip_prefix("type ") {
            return enums.contains(&name).then_some(Kind::EnumType(name));
        }
        if text == "half" {
            return Some(Kind::Half);
        }
        if let Some((_, class, _)) = CLASSES.iter().find(|(name, ..)| *name == text) {
            return Some(Kind::Class(*class));
        }
        if enums.contains(&text) {
            return Some(Kind::EnumOf(text));
        }
        primitive(text).map(Kind::Type)
    }

    /// How a message calls it.
    pub fn says(&self, text: &str) -> String {
        match self {
            Kind::Class(class) => {
                let found = CLASSES.iter().find(|(_, known, _)| known == class);
                found.map_or(text, |(.., says)| says).to_string()
            }
            Kind::EnumType(name) => format!("the enum {name}"),
            Kind::PointerTo(kind) => {
                let pointee = text.strip_prefix("pointer ").unwrap_or(text);
                match **kind {
                    Kind::Half => "a pointer to @fp16()".into(),
                    _ => format!("a pointer to {pointee}"),
                }
            }
            Kind::Half => "an @fp16()".into(),
            Kind::Type(_) | Kind::EnumOf(_) => with_article(text),
        }
    }
}

/// The name of a type behind `a` or `an`.
pub fn with_article(name: &str) -> String {
    let vowel = name.starts_with(['a', 'e', 'i', 'o']) || matches!(name, "f16" | "f32");
    format!("{} {name}", if vowel { "an" } else { "a" })
}
