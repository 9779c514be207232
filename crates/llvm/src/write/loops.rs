//! Loops and branches of the plan.

use super::WriteError;
use super::code::CodeWriter;
use super::ir::{Block, Compare, Value};
use super::tags::{plain_loop_id, short_loop_id};
use model::loop_ast::{Counter, Expr, For, LoopRole, Node};
use model::scop::StatementId;

impl CodeWriter<'_> {
    /// Appends the code of `node`; the builder then stands where execution goes on.
    pub(super) fn write_node(&mut self, node: &Node) -> Result<(), WriteError> {
        match node {
            Node::Block(children) => children.iter().try_for_each(|child| self.write_node(child)),
            Node::Jammed { points, apart } => {
                self.build.block().function().avoid_gathers(self.site.options.before_inlining);
                let outer = self.tags.enter_points(self.build, apart);
                for (number, point) in points.iter().enumerate() {
                    self.tags.at_point(number);
                    self.write_node(point)?;
                }
                self.tags.leave_points(outer);
                Ok(())
            }
            Node::For(f) if f.role.is_for_threads() && self.can_run_at_once() => self.write_parallel(f),
            Node::For(f) => {
                let (first, last) = (self.write_int(&f.first)?, self.write_int(&f.last)?);
                self.write_loop(f, first, last)
            }
            Node::If { condition, then, otherwise } => self.write_if(condition, then, otherwise.as_deref()),
            Node::IfHold { when, calls, asked_for, then, otherwise } => {
                self.write_if_hold(when, (calls, *asked_for), then, otherwise)
            }
            Node::Call { statement, coordinates, found, private } => {
                let coordinates = coordinates.iter().map(|c| self.write_int(c)).collect::<Result<Vec<_>, _>>()?;
                self.own_slots = self.write_own_slots(private)?;
                self.ahead.calls += 1;
                self.write_statement(*statement, &coordinates, found)
            }
            Node::Copy { from, coordinates, into, loads, .. } => {
                let coordinates = coordinates.iter().map(|c| self.write_int(c)).collect::<Result<Vec<_>, _>>()?;
                self.write_copy(from, &coordinates, into, loads)
            }
        }
    }

    fn can_run_at_once(&self) -> bool {
        self.site.options.parallel && self.target.is_in_place() && self.site.can_keep_errno()
    }

    fn write_if(
        &mut self,
        condition: &model::loop_ast::Expr,
        then: &Node,
        otherwise: Option<&Node>,
    ) -> Result<(), WriteError> {
        let condition = self.write_bool(condition)?;
        match (condition.constant_bool(), otherwise) {
            (Some(true), _) => return self.write_node(then),
            (Some(false), None) => return Ok(()),
            (Some(false), Some(otherwise)) => return self.write_node(otherwise),
            (None, _) => {}
        }
        let then_block = self.build.new_block(c"lw.then");
        let other_block = otherwise.map(|_| self.build.new_block(c"lw.else"));
        let done = self.build.new_block(c"lw.endif");
        self.build.branch_if(condition, then_block, other_block.unwrap_or(done));
        self.build.at_end(then_block);
        self.write_node(then)?;
        self.build.branch(done);
        if let (Some(otherwise), Some(block)) = (otherwise, other_block) {
            self.build.at_end(block);
            self.write_node(otherwise)?;
            self.build.branch(done);
        }
        self.place_after_current(done);
        self.build.at_end(done);
        Ok(())
    }

    fn write_if_hold(
        &mut self,
        when: &Expr,
        (calls, asked_for): (&[Node], Counter),
        then: &Node,
        otherwise: &Node,
    ) -> Result<(), WriteError> {
        let mut asked = Vec::new();
        for call in calls {
            let Node::Call { statement, coordinates, private, .. } = call else { continue };
            let body = self.site.body(*statement)?;
            let depth = body.predicates.iter().map(|p| p.depth).max().unwrap_or(0);
            if !body.predicates_need_only(depth) {
                return self.write_node(otherwise);
            }
            asked.push((*statement, &coordinates[..], private, depth));
        }
        let when = self.write_bool(when)?;
        let (test, other) = (self.build.new_block(c"lw.test"), self.build.new_block(c"lw.else"));
        let done = self.build.new_block(c"lw.endif");
        self.build.branch_if(when, test, other);
        self.build.at_end(test);
        for &(statement, coordinates, private, depth) in &asked {
            self.own_slots = self.write_own_slots(private)?;
            let mut now = Vec::new();
            for (dimension, coordinate) in coordinates.iter().enumerate() {
                now.push(if dimension < depth { self.write_int(coordinate)? } else { self.build.constant(0) });
            }
            if let Some(skipped) = self.write_predicates_before(statement, &now)? {
                let here = self.build.block();
                self.build.at_end(skipped);
                self.build.branch(other);
                self.build.at_end(here);
            }
        }
        self.held = Some((asked_for, asked.iter().map(|(statement, ..)| *statement).collect()));
        self.write_node(then)?;
        self.held = None;
        self.build.branch(done);
        self.place_after_current(other);
        self.build.at_end(other);
        self.write_node(otherwise)?;
        self.build.branch(done);
        self.place_after_current(done);
        self.build.at_end(done);
        Ok(())
    }

    /// `for (counter = first; counter <= last; counter += f.step) f.body`, rotated: guard, preheader, body, latch, exit.
    pub(super) fn write_loop(&mut self, f: &For, first: Value, last: Value) -> Result<(), WriteError> {
        if f.step <= 0 {
            return Err(WriteError::Plan("a loop step is not positive".into()));
        }
        let preheader = self.build.new_block(c"lw.preheader");
        let body = self.build.new_block(c"lw.loop");
        let exit = self.build.new_block(c"lw.exit");
        let any = self.build.compare(Compare::Le, first, last);
        self.build.branch_if(any, preheader, exit);

        self.build.at_end(preheader);
        let step = self.build.constant(f.step);
        // The last value that the counter takes: first + ⌊(last − first) / step⌋ · step. The difference is not negative here and as
        // an unsigned number exact even where it exceeds 2⁶³; the sum lies between first and last.
        let reached = if f.step == 1 {
            last
        } else {
            let distance = self.build.sub(last, first);
            let whole = self.build.mul(self.build.udiv(distance, step), step);
            self.build.add(first, whole)
        };
        let tested = match self.held.take_if(|(asked_for, _)| *asked_for == f.counter) {
            Some((_, statements)) => Some((None, statements)),
            None => self.write_shared_predicates(f)?.map(|(skipped, statements)| (Some(skipped), statements)),
        };
        let shadowed = self.counters.insert(f.counter, first);
        let guarded = tested.as_ref().map_or(&[][..], |(_, statements)| statements);
        let ahead = self.load_ahead(f, guarded)?;
        let outer_ahead = std::mem::replace(&mut self.ahead, ahead);
        let preheader = self.build.block();
        self.build.branch(body);

        self.build.at_end(body);
        let counter = self.build.phi(self.build.i64());
        counter.add_incoming(first, preheader);
        let outer = f.role.is_for_vectors().then(|| self.tags.enter_vector_loop(self.build));
        self.counters.insert(f.counter, counter);
        let (skipped, outer_guarded) = match tested {
            Some((skipped, statements)) => (skipped, std::mem::replace(&mut self.guarded, statements)),
            None => (None, std::mem::take(&mut self.guarded)),
        };
        self.write_node(&f.body)?;
        self.ahead = outer_ahead;
        self.guarded = outer_guarded;
        match shadowed {
            Some(value) => self.counters.insert(f.counter, value),
            None => self.counters.remove(&f.counter),
        };

        let latch = self.build.block();
        let next = self.build.add(counter, step);
        // The sum is used only where counter ≠ reached, hence counter + step ≤ reached; but where it is not used it may wrap, and
        // poison that nobody uses is harmless.
        next.set_no_signed_wrap();
        counter.add_incoming(next, latch);
        let done = self.build.compare(Compare::Eq, counter, reached);
        let branch = self.build.branch_if(done, exit, body);
        let id = match outer {
            Some(outer) => self.tags.leave_vector_loop(self.build, outer),
            None if f.role == LoopRole::Few => short_loop_id(self.build),
            None => plain_loop_id(self.build),
        };
        branch.set_metadata("llvm.loop", id);
        if let Some(skipped) = skipped {
            self.place_after_current(skipped);
            self.build.at_end(skipped);
            self.build.branch(exit);
        }
        self.place_after_current(exit);
        self.build.at_end(exit);
        Ok(())
    }

    /// A predicate that is the same in all iterations is tested before the loop; returns where control is if it does not hold, and
    /// the statements that need not test it.
    ///
    /// Nothing but statements stands in the loop, so that its first iteration, which there is behind the guard of the loop, runs the
    /// first of them: what that would look at is there now, and all others find the same, since their predicates are those of the
    /// same instance of the condition.
    fn write_shared_predicates(&mut self, f: &For) -> Result<Option<(Block, Vec<StatementId>)>, WriteError> {
        let calls: Vec<(StatementId, &[Expr])> = match &f.body {
            Node::Call { statement, coordinates, private, .. } if private.is_empty() => vec![(*statement, coordinates)],
            Node::Block(children) => {
                let call = |child| match child {
                    &Node::Call { statement, ref coordinates, ref private, .. } if private.is_empty() => {
                        Some((statement, &coordinates[..]))
                    }
                    _ => None,
                };
                children.iter().map(call).collect::<Option<_>>().unwrap_or_default()
            }
            _ => return Ok(None),
        };
        let Some(&(first, coordinates)) = calls.first() else { return Ok(None) };
        let predicates = &self.site.body(first)?.predicates;
        let Some(depth) = predicates.iter().map(|p| p.depth).max() else { return Ok(None) };
        for (statement, others) in &calls {
            let same = self.site.body(*statement)?.predicates == *predicates && others[..depth] == coordinates[..depth];
            if !same {
                return Ok(None);
            }
        }
        let mut varies = false;
        for coordinate in &coordinates[..depth] {
            coordinate.for_each(&mut |e| varies |= *e == Expr::Counter(f.counter));
        }
        if varies || !self.site.body(first)?.predicates_need_only(depth) {
            return Ok(None);
        }
        let mut now = Vec::new();
        for (dimension, coordinate) in coordinates.iter().enumerate() {
            now.push(if dimension < depth { self.write_int(coordinate)? } else { self.build.constant(0) });
        }
        self.own_slots.clear();
        let skipped = self.write_predicates_before(first, &now)?;
        Ok(skipped.map(|skipped| (skipped, calls.iter().map(|c| c.0).collect())))
    }

    /// Keeps blocks in the order in which they run, for people who read the output.
    pub(super) fn place_after_current(&self, block: super::ir::Block) {
        block.move_after(self.build.block());
    }
}
