//! What orders cost that steps make of one tree, remembered: the same are asked about again where others turn out to be illegal.

use super::cost::Cost;
use crate::transform::Steps;
use std::collections::HashMap;

/// As far as it is known.
pub(super) enum Price {
    Known(Cost),
    /// So many cycles or more.
    AtLeast(f64),
}

#[derive(Default)]
pub(super) struct Prices(HashMap<Steps, Price>);

impl Prices {
    /// `None`: so many cycles as `most`, or more. `find` has to know no better than that.
    pub fn of(&mut self, steps: &Steps, most: f64, find: impl FnOnce() -> Price) -> Option<Cost> {
        let is_enough = |price: &&Price| match price {
            Price::Known(_) => true,
            Price::AtLeast(least) => *least >= most,
        };
        let price = match self.0.get(steps).filter(is_enough) {
            Some(price) => price,
            None => {
                self.0.insert(steps.clone(), find());
                &self.0[steps]
            }
        };
        match price {
            Price::Known(cost) => Some(*cost),
            Price::AtLeast(_) => None,
        }
    }
}
