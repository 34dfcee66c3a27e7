//! What an expression asks for, and bounds on what evaluating it takes.

use std::collections::HashMap;

use ::cel::IdedExpr;
use ::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SourceInfo};
use regex::{Regex, RegexBuilder};

use super::variable::Variable;
use super::{CelError, DEEPEST, place};

/// The most parts an expression may have, macros written out.
const PARTS: usize = 1_000;
/// The most steps an evaluation may take; one takes well below a microsecond.
const STEPS: u64 = 20_000;
/// The largest value, in bytes or entries.
const LARGEST: u64 = 1 << 20;
/// How many bytes are looked at in one step.
const BYTES_A_STEP: u64 = 256;
/// The largest program of a pattern.
const PATTERN: usize = 1 << 16;
/// Functions that are known.
const FUNCTIONS: [&str; 12] =
    ["size", "contains", "startsWith", "endsWith", "matches", "int", "uint", "double", "string", "bool", "dyn", "type"];

/// What an expression asks for.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) variables: Vec<Variable>,
    pub(super) patterns: HashMap<String, Regex>,
}

/// A bound on a value: how many bytes a text has or entries a list, and the size of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) len: u64,
    pub(super) item: u64,
}

/// A bound on a value and on the steps that lead to it.
#[derive(Clone, Copy)]
struct Bound {
    size: Size,
    steps: u64,
}

struct Surveyor<'s> {
    text: &'s str,
    places: &'s SourceInfo,
    found: Survey,
    parts: usize,
    /// Variables of macros, the innermost last.
    scope: Vec<(&'s str, Size)>,
}

/// Goes through an expression.
pub(super) fn survey(text: &str, ast: &IdedExpr, places: &SourceInfo) -> Result<Survey, CelError> {
    let mut surveyor = Surveyor { text, places, found: Survey::default(), parts: 0, scope: Vec::new() };
    if matches!(&ast.expr, Expr::List(_) | Expr::Map(_) | Expr::Literal(_)) && !matches!(&ast.expr, Expr::Literal(LiteralValue::Boolean(_)))
    {
        return Err(surveyor.error(ast.id, 0, "expected something that is true or false"));
    }
    surveyor.expression(ast, 0, 0)?;
    Ok(surveyor.found)
}

impl Size {
    pub(super) const ONE: Self = Self { len: 1, item: 1 };

    const fn total(self) -> u64 {
        self.len.saturating_mul(self.item)
    }

    /// The bound of one entry. It may be anything of that size.
    const fn entry(self) -> Self {
        Self { len: self.item, item: 1 }
    }

    fn or(self, other: Self) -> Self {
        Self { len: self.len.max(other.len), item: self.item.max(other.item) }
    }

    fn and(self, other: Self) -> Self {
        Self { len: self.len.saturating_add(other.len), item: self.item.max(other.item) }
    }
}

impl<'s> Surveyor<'s> {
    /// An error at a part, or at the innermost part around it whose place is known.
    fn error(&self, id: u64, around: u32, message: impl Into<String>) -> CelError {
        let offset = self.places.offset_for(id).map_or(around, |(start, _)| start);
        let (line, column) = place(self.text, offset);
        CelError { line, column, message: message.into() }
    }

    fn expression(&mut self, part: &'s IdedExpr, depth: u16, around: u32) -> Result<Bound, CelError> {
        let around = self.places.offset_for(part.id).map_or(around, |(start, _)| start);
        self.parts += 1;
        if depth > 2 * DEEPEST || self.parts > PARTS {
            return Err(self.error(part.id, around, "the expression has too many parts"));
        }
        let bound = match &part.expr {
            Expr::Unspecified | Expr::Struct(_) => return Err(self.error(part.id, around, "this is not supported")),
            Expr::Literal(literal) => Bound::leaf(literal_size(literal)),
            Expr::Ident(name) => Bound::leaf(self.variable(part.id, name, around)?),
            Expr::Select(select) => {
                let operand = self.expression(&select.operand, depth + 1, around)?;
                Bound { size: if select.test { Size::ONE } else { operand.size.entry() }, steps: operand.steps }
            }
            Expr::List(list) => self.entries(list.elements.iter(), depth, around)?,
            Expr::Map(map) => {
                let pairs = map.entries.iter().filter_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => Some([&entry.key, &entry.value]),
                    EntryExpr::StructField(_) => None,
                });
                self.entries(pairs.flatten(), depth, around)?
            }
            Expr::Call(call) => self.call(part.id, call, depth, around)?,
            Expr::Comprehension(fold) => self.fold(fold, depth, around)?,
        };
        let steps = bound.steps.saturating_add(1);
        if steps > STEPS || bound.size.total() > LARGEST {
            return Err(self.error(part.id, around, "evaluating this could take too long"));
        }
        Ok(Bound { steps, ..bound })
    }

    fn variable(&mut self, id: u64, name: &str, around: u32) -> Result<Size, CelError> {
        if let Some((_, size)) = self.scope.iter().rev().find(|(known, _)| *known == name) {
            return Ok(*size);
        }
        let Some(variable) = Variable::named(name) else {
            return Err(self.error(id, around, format!("there is no variable `{name}`, there are {}", Variable::names())));
        };
        if !self.found.variables.contains(&variable) {
            self.found.variables.push(variable);
        }
        Ok(variable.size())
    }

    fn entries(&mut self, entries: impl Iterator<Item = &'s IdedExpr>, depth: u16, around: u32) -> Result<Bound, CelError> {
        let mut all = Bound { size: Size { len: 0, item: 1 }, steps: 0 };
        for entry in entries {
            let entry = self.expression(entry, depth + 1, around)?;
            all.size = all.size.and(Size { len: 1, item: entry.size.total() });
            all.steps = all.steps.saturating_add(entry.steps);
        }
        Ok(all)
    }

    fn call(&mut self, id: u64, call: &'s CallExpr, depth: u16, around: u32) -> Result<Bound, CelError> {
        let name = &*call.func_name;
        let is_operator = name.starts_with(|first: char| !first.is_ascii_alphabetic());
        if !is_operator && !FUNCTIONS.contains(&name) {
            return Err(self.error(id, around, format!("there is no function `{name}`, there are {}", FUNCTIONS.join(", "))));
        }
        let mut sizes = Vec::with_capacity(call.args.len() + 1);
        let mut steps = 0_u64;
        for argument in call.target.as_deref().into_iter().chain(&call.args) {
            let argument = self.expression(argument, depth + 1, around)?;
            sizes.push(argument.size);
            let looked_at = match name {
                "_?_:_" | "_[_]" | "_&&_" | "_||_" => 0,
                "_+_" => argument.size.len,
                _ => argument.size.total(),
            };
            steps = steps.saturating_add(argument.steps).saturating_add(looked_at / BYTES_A_STEP);
        }
        if name == "matches" {
            self.pattern(id, call, around)?;
        }
        let first = sizes.first().copied().unwrap_or(Size::ONE);
        let size = match name {
            "_+_" => sizes.iter().skip(1).fold(first, |all, size| all.and(*size)),
            "_?_:_" => sizes.iter().skip(1).fold(Size { len: 0, item: 1 }, |all, size| all.or(*size)),
            "_[_]" => first.entry(),
            "string" | "dyn" | "type" => first.or(Size { len: 64, item: 1 }),
            _ => Size::ONE,
        };
        Ok(Bound { size, steps })
    }

    /// Keeps the pattern of a `matches`. It has to be a literal, since compiling one takes long.
    fn pattern(&mut self, id: u64, call: &CallExpr, around: u32) -> Result<(), CelError> {
        let Some(Expr::Literal(LiteralValue::String(pattern))) = call.args.last().map(|last| &last.expr) else {
            return Err(self.error(id, around, "the pattern of `matches` has to be written out"));
        };
        let pattern = pattern.inner();
        let built = RegexBuilder::new(pattern).size_limit(PATTERN).dfa_size_limit(PATTERN).build();
        let built = built.map_err(|error| {
            let message = error.to_string();
            let last = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.error(id, around, format!("not a usable pattern: {last}"))
        })?;
        self.found.patterns.insert(pattern.to_owned(), built);
        Ok(())
    }

    /// What a macro is written out to: a step for each entry of a range, on top of what the steps before it made.
    fn fold(&mut self, fold: &'s ComprehensionExpr, depth: u16, around: u32) -> Result<Bound, CelError> {
        let range = self.expression(&fold.iter_range, depth + 1, around)?;
        let start = self.expression(&fold.accu_init, depth + 1, around)?;
        let outside = self.scope.len();
        self.scope.push((&fold.iter_var, range.size.entry()));
        if let Some(second) = &fold.iter_var2 {
            self.scope.push((second, range.size.entry()));
        }
        // What one step adds to nothing shows by how much each grows.
        self.scope.push((&fold.accu_var, Size { len: 0, item: 1 }));
        let added = self.expression(&fold.loop_step, depth + 1, around)?.size;
        self.scope.pop();
        let times = range.size.len;
        let grown = start.size.and(Size { len: added.len.saturating_mul(times), item: added.item });
        self.scope.push((&fold.accu_var, grown));
        let condition = self.expression(&fold.loop_cond, depth + 1, around)?;
        let step = self.expression(&fold.loop_step, depth + 1, around)?;
        self.scope.truncate(outside);
        self.scope.push((&fold.accu_var, grown));
        let result = self.expression(&fold.result, depth + 1, around)?;
        self.scope.truncate(outside);
        let each = condition.steps.saturating_add(step.steps).saturating_mul(times);
        let steps = [range.steps, start.steps, each].into_iter().fold(result.steps, u64::saturating_add);
        Ok(Bound { size: result.size, steps })
    }
}

impl Bound {
    const fn leaf(size: Size) -> Self {
        Self { size, steps: 0 }
    }
}

fn literal_size(literal: &LiteralValue) -> Size {
    let len = match literal {
        LiteralValue::String(text) => text.inner().len(),
        LiteralValue::Bytes(bytes) => bytes.inner().len(),
        _ => 1,
    };
    Size { len: u64::try_from(len).unwrap_or(u64::MAX), item: 1 }
}
