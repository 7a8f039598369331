//! Clients sell from a stock: each section locks a key, looks at what is left, works, and sells one if there was one.
//!
//! It is the usual check before the purchase, of coupons and of sales that open to everybody at once: two sections that both
//! look before either sells oversell. The resource sells what it is asked to sell; only the lock stands between. A design
//! without a lock may sell in a way of its own.

use picklock_sim::design::Design;
use picklock_sim::lock::Belief;

use super::drawn::{PARAMS, draw};
use super::section;
use super::workload::Workload;

/// See the [module](self).
pub(super) const WORKLOAD: Workload = Workload {
    name: "sell",
    doc: "clients sell from a stock; a section looks at what is left, works, and sells one",
    params: PARAMS,
    applies: needs_a_lock_or_sells,
    draw,
    program: section::sell_program,
};

fn needs_a_lock_or_sells(design: &Design) -> Result<(), String> {
    match design.sells {
        true => Ok(()),
        false if design.belief == Belief::None => {
            Err("its sections sell under a lock, and the design has none and does not sell by itself".into())
        }
        false if design.own_data => {
            Err("its sections sell from a stock, and the data that the design guards are none".into())
        }
        false => Ok(()),
    }
}
