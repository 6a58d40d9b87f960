//! Names as numbers: comparing and hashing them is then cheap.

use fabsim_program::quick_hash::QuickMap;
use std::rc::Rc;

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(pub u32);

#[derive(Default)]
pub struct Interner {
    by_text: QuickMap<Rc<str>, Sym>,
    texts: Vec<Rc<str>>,
}

impl Interner {
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.by_text.get(text) {
            return *sym;
        }
        let sym = Sym(self.texts.len() as u32);
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.by_text.insert(text, sym);
        sym
    }

    pub fn text(&self, sym: Sym) -> Rc<str> {
        self.texts[sym.0 as usize].clone()
    }

    pub fn str(&self, sym: Sym) -> &str {
        &self.texts[sym.0 as usize]
    }
}
