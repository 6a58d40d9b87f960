//! Routers and links: how wavelets move from PE to PE.
//!
//! A cycle has two halves. First everybody looks: `look` decides from the state at the start of
//! the cycle which wavelets move. Then everybody moves: `commit` changes the state. Nothing that
//! a neighbour may look at changes in the first half, so the order of visits cannot matter.
//!
//! Only active routers are visited. A router whose wavelets cannot move falls asleep; whatever
//! could let them move wakes it: a landing, room or a changed route next door, room in its own
//! compute element's queues.
//!
//! The rectangle is divided into zones of whole rows, one a thread. In each half a thread changes
//! only what belongs to its zone; what goes to another zone is handed over after the second half.

pub mod channel;
mod commit;
mod edge;
pub mod filter;
pub mod grid;
mod look;
pub mod observer;
pub mod ramp;
mod rectangle;
pub mod registers;
pub mod router;
pub mod settings;
mod swap;
pub mod tiles;
mod view;
pub mod wavelet;
mod zone;
mod zones;

pub use self::commit::{Below, Moving};
pub use self::look::{Looked, Looking};
pub use self::rectangle::Fabric;
pub use self::router::{Delivery, Landing, NO_FLOW};
pub use self::view::View;
pub use self::zones::split_front;
