//! Common subexpressions: a computation, or a load that nothing can have changed, is done once where
//! one is on every way to the other; a value just stored is not loaded again.

use crate::alias::{effect, Effect, Place, Variables};
use crate::dead::is_pure;
use crate::fold::is_clean;
use crate::graph::{Graph, Kind, Value};
use crate::order::{dominates, dominators};
use fabsim_program::program::{Inst, ScalarType};
use fabsim_program::quick_hash::QuickMap;

/// What has been computed, and in which blocks.
type Known = QuickMap<(Kind, Vec<Value>), Vec<(usize, Value)>>;

/// A value that memory holds.
#[derive(Clone, Debug)]
struct Held {
    place: Place,
    address: Value,
    ty: Option<ScalarType>,
    value: Value,
}

/// Removes what is computed twice.
pub fn run(graph: &mut Graph, variables: &Variables) {
    let order = graph.order();
    let idom = dominators(&order, &graph.predecessors());
    let mut instead: Vec<Value> = (0..graph.nodes.len() as u32).map(Value).collect();
    let mut known = Known::default();
    let mut held: Vec<Vec<Held>> = vec![Vec::new(); graph.blocks.len()];
    for &n in &order {
        let above = idom[n];
        let single = graph.blocks[n].predecessors.len() == 1;
        let mut here = match above {
            Some(above) if single => held[above].clone(),
            _ => Vec::new(),
        };
        for value in graph.blocks[n].body.clone() {
            let args = graph.nodes[value.index()].args.iter();
            let args: Vec<Value> = args.map(|arg| instead[arg.index()]).collect();
            graph.nodes[value.index()].args = args;
            let old = if is_pure(graph, value) {
                let key = (
                    graph.nodes[value.index()].kind.clone(),
                    graph.nodes[value.index()].args.clone(),
                );
                let places = known.entry(key).or_default();
                let mut above = places
                    .iter()
                    .filter(|(block, _)| dominates(&idom, *block, n));
                let old = above.next().map(|(_, value)| *value);
                if old.is_none() {
                    places.push((n, value));
                }
                old
            } else {
                remember(graph, variables, value, &mut here)
            };
            if let Some(old) = old {
                instead[value.index()] = old;
            }
        }
        held[n] = here;
    }
    graph.replace(&instead);
}

/// Follows an access to memory; the value that a load gets, where it is known.
fn remember(
    graph: &Graph,
    variables: &Variables,
    value: Value,
    here: &mut Vec<Held>,
) -> Option<Value> {
    let (inst, args) = graph.op(value)?;
    match effect(graph, variables, value) {
        Effect::None => None,
        Effect::All => {
            here.clear();
            None
        }
        Effect::Reads(place) => {
            let ty = match inst {
                Inst::Load { ty, .. } => Some(*ty),
                _ => None,
            };
            let same = |held: &&Held| held.address == args[0] && held.ty == ty;
            let old = here.iter().find(same).map(|held| held.value);
            if old.is_none() && place.is_memory() {
                let address = args[0];
                here.push(Held {
                    place,
                    address,
                    ty,
                    value,
                });
            }
            old
        }
        Effect::Writes(place) => {
            here.retain(|held| !held.place.may_meet(&place));
            if let Inst::Store { ty, .. } = inst {
                if place.is_memory() && is_clean(graph, args[1], *ty) {
                    let (address, ty, value) = (args[0], Some(*ty), args[1]);
                    here.push(Held {
                        place,
                        address,
                        ty,
                        value,
                    });
                }
            }
            None
        }
    }
}
