//! Calls of builtins and of the functions of standard modules, with the kinds of their arguments.

use crate::state::census::{Construct, Open, Part, Seen, SeenDsd};
use crate::types::kinds::dsr_type;

use crate::builtins::signature::{Argument, Member, Place, Signature};
use crate::compiler::{Compiler, Ev, Frame, Stage};
use crate::parse::ast::ExprId;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{ModuleId, Value};
use crate::Res;
use fabsim_program::program::Span;

/// What reads the fields of a struct, and what the list of constructs calls that.
const CONFIGURED: [(&str, &str); 17] = [
    ("a color configuration", "color"),
    ("'routes'", "color routes"),
    ("'switches'", "color switches"),
    ("a switch position", "switch position"),
    ("'pop_mode'", "color pop_mode"),
    ("'filter'", "color filter"),
    ("the 'kind' of a filter", "color filter kind"),
    ("a memory DSD", "memory DSD"),
    ("a tensor access", "memory DSD"),
    ("a fabin_dsd", "fabin_dsd"),
    ("a fabout_dsd", "fabout_dsd"),
    ("the configuration of an operation", "option"),
    ("'on_control'", "on_control"),
    ("'simd_mode'", "simd_mode"),
    ("the configuration of this queue", "queue"),
    ("a priority", "priority"),
    ("the configuration of a FIFO", "FIFO"),
];

impl Compiler {
    /// A builtin's arguments are about to be evaluated.
    pub fn census_open(&mut self, args: &[ExprId]) {
        if let Some(census) = &mut self.census {
            census.open.push(Open {
                arguments: args.iter().map(|arg| (*arg, None)).collect(),
                fields: Vec::new(),
            });
        }
    }

    /// An argument of the innermost open call has its value.
    pub fn census_argument(&mut self, f: &mut Frame, e: ExprId, ev: &Ev) {
        if self.census.is_none() {
            return;
        }
        let seen = self.seen(f, e, ev);
        let open = self
            .census
            .as_mut()
            .and_then(|census| census.open.last_mut());
        let place = open.and_then(|open| open.arguments.iter_mut().find(|(expr, _)| *expr == e));
        if let Some((_, argument)) = place {
            *argument = Some(seen);
        }
    }

    /// The fields of a struct that the innermost open call reads.
    pub fn census_fields(&mut self, what: &str, fields: &[(String, Ev)]) {
        if self.census.is_none() {
            return;
        }
        let known = CONFIGURED.iter().find(|(known, _)| *known == what);
        let what = known.map_or("struct", |(_, short)| short);
        let kinds: Vec<_> = fields
            .iter()
            .map(|(name, ev)| (what, name.clone(), self.kind_of_field(name, ev)))
            .collect();
        let open = self
            .census
            .as_mut()
            .and_then(|census| census.open.last_mut());
        if let Some(open) = open {
            open.fields.extend(kinds);
        }
    }

    /// Of an extent it matters whether it is 0 and whether it is known. A task stands for its id.
    fn kind_of_field(&mut self, name: &str, ev: &Ev) -> String {
        match (name, ev) {
            (_, Ev::Val(Value::Function(_))) if self.is_function(ev, true) => {
                self.show(Ty::LOCAL_TASK_ID)
            }
            ("extent", Ev::Val(Value::Int(0, _))) => "0".into(),
            ("extent", Ev::Slot(..)) => "int (run time)".into(),
            _ => self.kind(ev),
        }
    }

    /// The call is done; without a row it is none of a user's.
    pub fn census_close(
        &mut self,
        f: &Frame,
        row: Option<&'static Signature>,
        result: &Res<Ev>,
        span: Span,
    ) {
        let Some(open) = self.census.as_mut().and_then(|census| census.open.pop()) else {
            return;
        };
        let (Some(row), Ok(result)) = (row.filter(|_| !self.is_inside(span)), result) else {
            return;
        };
        match row.name {
            "load_to_dsr" => self.see_load(&open, span),
            "get_dsr" => self.see_register(f, result, span),
            _ if operates(row) => self.see_operation(row.name, open, span),
            _ => self.see_call(row, &open, span),
        }
    }

    fn see_call(&mut self, row: &'static Signature, open: &Open, span: Span) {
        let mut construct = vec![Part::Text(format!("@{}(", row.name))];
        for (at, (_, seen)) in open.arguments.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            construct.push(Part::Text(comma.into()));
            construct.extend(self.argument_of(row.argument(at), seen));
        }
        let role = match row.place {
            Place::Anywhere if !row.pure => self.role_of(row),
            _ => "",
        };
        construct.push(Part::Text(format!("){role}")));
        self.see(construct, span);
        for (what, name, kind) in open.set_fields() {
            self.see_text(format!("{what} .{name} = {kind}"), span);
        }
    }

    fn argument_of(&self, argument: Option<&Argument>, seen: &Option<Seen>) -> Construct {
        let text = match (seen, argument) {
            (Some(Seen::Dsd(SeenDsd { class, .. })), _) => return class.clone(),
            (Some(Seen::Dsr(dsr)), _) => self.show(dsr_type(*dsr)),
            (Some(Seen::Other(kind)), _) if is_bool(kind) => "bool".into(),
            (Some(Seen::Other(kind)), _) => kind.clone(),
            // Not evaluated as a value.
            (None, Some(argument)) if argument.kinds.len() == 1 => argument.kinds[0].text.into(),
            (None, _) => "place".into(),
        };
        vec![Part::Text(text)]
    }

    /// The part of the program, where it matters: for what does something.
    fn role_of(&self, row: &Signature) -> &'static str {
        let gives = row.result.first().map_or("void", |result| result.text);
        match gives {
            "void" => self.role(),
            _ => "",
        }
    }

    /// The part of the program that is being evaluated.
    pub fn role(&self) -> &'static str {
        match self.stage {
            Stage::Global => " of a global",
            Stage::Layout => " in the layout",
            Stage::Comptime => " in a comptime block",
            Stage::Run => " in code",
        }
    }

    /// A name of a standard module that is no function.
    pub fn census_member(&mut self, module: &str, member: &Member, span: Span) {
        if self.census.is_some() && !matches!(member, Member::Function(_)) {
            self.see_text(format!("<{module}>.{}", member.name()), span);
        }
    }

    /// A call of a function of a standard module.
    pub fn census_member_call(
        &mut self,
        (name, row): (&str, &'static Signature),
        module: ModuleId,
        evs: &[Ev],
        span: Span,
    ) {
        if self.census.is_none() {
            return;
        }
        let kinds: Vec<String> = evs
            .iter()
            .enumerate()
            .map(|(at, ev)| self.member_argument((row, at), module, ev))
            .collect();
        let (function, role) = (row.name, self.role_of(row));
        let text = format!("<{name}>.{function}({}){role}", kinds.join(", "));
        self.see_text(text, span);
    }

    /// Values and types of a module's enums go by their names.
    fn member_argument(
        &mut self,
        (row, at): (&'static Signature, usize),
        module: ModuleId,
        ev: &Ev,
    ) -> String {
        let kinds = row.argument(at).map_or(&[][..], |argument| &argument.kinds);
        match ev {
            Ev::Val(Value::Enum(value, ty)) => self.enum_member(*value, *ty),
            Ev::Val(Value::Type(ty)) => {
                let named = kinds
                    .iter()
                    .filter_map(|kind| kind.text.strip_prefix("type "))
                    .find(|name| self.enum_of(Some(module), name) == Some(*ty));
                named.map_or_else(|| self.kind(ev), |name| format!("type {name}"))
            }
            _ => match self.kind(ev) {
                kind if is_bool(&kind) => "bool".into(),
                kind => kind,
            },
        }
    }

    fn enum_member(&self, value: i128, ty: Ty) -> String {
        let name = match self.types.kind(ty) {
            TypeKind::Enum { members, .. } => members.iter().find(|(_, number)| *number == value),
            _ => None,
        };
        name.map_or("enum".into(), |(name, _)| self.text(*name).to_string())
    }
}

fn is_bool(kind: &str) -> bool {
    kind == "true" || kind == "false"
}

/// Whether a builtin works on DSDs and DSRs element by element.
fn operates(row: &Signature) -> bool {
    let first = row.arguments.first();
    row.name == "map" || first.is_some_and(|argument| argument.name == "dest")
}
