//! What is known of a region's parameters, and what is taken for granted of them.

use crate::facts::ValueId;
use isl::{DimType, IslError, Set};
use model::assume::Assumption;
use model::scop::{Param, ParamId};

pub struct Known {
    pub params: Vec<Param>,
    /// Holds for all parameters with which the program has a meaning.
    pub context: Set,
    /// Holds where the assumptions do, too.
    pub assumed: Set,
    pub assumptions: Vec<Assumption>,
}

/// A point to go back to when what was read turns out not to be needed.
pub struct Mark {
    params: usize,
    assumptions: usize,
    context: Set,
    assumed: Set,
}

impl Known {
    pub fn nothing(ctx: &isl::Ctx) -> Result<Known, IslError> {
        let universe = Set::universe(&isl::Space::params_alloc(ctx, 0)?)?;
        Ok(Known { params: Vec::new(), context: universe.clone(), assumed: universe, assumptions: Vec::new() })
    }

    /// The parameters are of this set, whatever is assumed.
    pub fn learn(&mut self, set: &Set) -> Result<(), IslError> {
        self.context = self.context.intersect(set)?;
        self.assumed = self.assumed.intersect(set)?;
        Ok(())
    }

    pub fn assume(&mut self, assumption: Assumption) -> Result<(), IslError> {
        self.assumed = self.assumed.intersect(&assumption.valid)?;
        self.assumptions.push(assumption);
        Ok(())
    }

    pub fn add(&mut self, id: ParamId, param: Param) -> Result<(), IslError> {
        let (low, high) = param.range;
        self.params.push(param);
        self.learn(&Set::read_from_str(self.context.ctx(), &format!("[{id}] -> {{ : {low} <= {id} <= {high} }}"))?)
    }

    /// The values that a set of parameters speaks of.
    pub fn values_in(&self, set: &Set) -> Result<Vec<ValueId>, IslError> {
        let mut values = Vec::new();
        for p in 0..set.dim(DimType::Param)? {
            if set.involves_dims(DimType::Param, p, 1)? {
                let id = ParamId::from_isl_name(&set.get_dim_name(DimType::Param, p)?).expect("a parameter");
                values.push(self.params[id.index()].value);
            }
        }
        Ok(values)
    }

    pub fn mark(&self) -> Mark {
        Mark {
            params: self.params.len(),
            assumptions: self.assumptions.len(),
            context: self.context.clone(),
            assumed: self.assumed.clone(),
        }
    }

    pub fn go_back_to(&mut self, mark: Mark) {
        self.params.truncate(mark.params);
        self.assumptions.truncate(mark.assumptions);
        self.context = mark.context;
        self.assumed = mark.assumed;
    }
}
