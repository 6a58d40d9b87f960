//! Where globals lie: those that the program uses, in the order of their declaration, module after
//! module. Which ones it uses is known only when it has been lowered, so it is compiled again with
//! their places reserved, unless the program before it from the same file used the same ones.

use crate::compiler::Compiler;
use crate::state::layout::Order;
use crate::state::messages::silent;
use crate::state::tile::{TileRequest, TileState};
use crate::types::value::{GlobalRef, ModuleId};
use crate::Res;
use std::path::Path;

/// A program is compiled at most so often.
const ROUNDS: u32 = 3;

impl Compiler {
    /// Compiles the code of a tile program. Its modules stay: the caller drops them.
    pub fn compile_placed(&mut self, request: &TileRequest) -> Res<TileState> {
        let Some((path, standard)) = &request.path else {
            return Ok(TileState::default());
        };
        let first = self.modules.len();
        let mut order = self.layout.orders.get(path).cloned().unwrap_or_default();
        for round in 1.. {
            let said = self.messages.mark();
            let compiled = self.compile_in_order(request, (path, *standard), &order);
            let used = match compiled {
                Ok(()) => self.used_globals(first),
                Err(error) if order.is_empty() || round >= ROUNDS => return Err(error),
                // What is reserved but not used may be what leaves no room.
                Err(_) => Order::new(),
            };
            if let Some(tile) = self
                .tile
                .take()
                .filter(|_| used == order || round >= ROUNDS)
            {
                self.layout.orders.insert(path.clone(), used);
                return Ok(tile);
            }
            order = used;
            self.messages.return_to(said);
            self.modules.truncate(first);
        }
        silent(request.span)
    }

    fn compile_in_order(
        &mut self,
        request: &TileRequest,
        (path, standard): (&Path, bool),
        order: &Order,
    ) -> Res<()> {
        let failures = self.messages.failures;
        self.tile = Some(TileState::default());
        let root = self.instantiate(path, standard, request.params.clone(), request.span)?;
        let tile = self.tile(request.span)?;
        tile.root = root.0 as usize;
        tile.program.file = path.display().to_string();
        // After a comptime block that failed, tasks would lack their ids and functions their callers.
        if self.run_modules(root, order)? {
            self.lower_all(request.span)?;
        }
        if self.messages.failures > failures {
            return silent(request.span);
        }
        self.write_initial_memory(request.span)
    }

    /// Gives the globals of `order` their places.
    pub fn reserve(&mut self, root: ModuleId, order: &Order) -> Res<()> {
        for (module, index) in order {
            let module = ModuleId(root.0 + module);
            let Some(known) = self.modules.get(module.0 as usize) else {
                continue;
            };
            let Some(decl) = known.ast.globals.get(*index as usize) else {
                continue;
            };
            let (span, index) = (decl.span, *index);
            let global = GlobalRef { module, index };
            let address = self.global_memory(global, span)?;
            self.tile(span)?.reserved.insert(global, address);
        }
        Ok(())
    }

    /// The globals from module `first` on that have got an address.
    fn used_globals(&self, first: usize) -> Order {
        let modules = self.modules[first..].iter().enumerate();
        let placed = modules.flat_map(|(n, module)| {
            let globals = module.globals.iter().enumerate();
            let placed = globals.filter(|(_, global)| global.address.is_some());
            placed.map(move |(index, _)| (n as u32, index as u32))
        });
        placed.collect()
    }
}
