//! The same data in hash maps, asked by a depth-first search with a set of what was visited.

use std::collections::{HashMap, HashSet};

use portcullis_graph::VertexRef;

use super::data::{Data, Number};
use super::random::Random;

/// Vertices by name, and what comes after each of them.
#[derive(Debug, Default)]
pub(super) struct Naive {
    numbers: HashMap<String, u32>,
    after: HashMap<u32, Vec<u32>>,
    /// Targets, with their numbers in the data; not for answers.
    targets: HashMap<u32, Number>,
}

fn key(vertex: VertexRef<'_>) -> String {
    format!("{}:{}/{}", vertex.kind.0, vertex.namespace, vertex.name)
}

impl Naive {
    pub(super) fn new(data: &Data) -> Self {
        let mut naive = Self::default();
        for (start, end) in data.edges() {
            let from = naive.number(data.named(*start));
            let to = naive.number(data.named(*end));
            naive.after.entry(from).or_default().push(to);
            if data.is_target(*end) {
                naive.targets.insert(to, *end);
            }
        }
        naive
    }

    fn number(&mut self, vertex: VertexRef<'_>) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(key(vertex)).or_insert(next)
    }

    /// Follows edges by chance to the first target.
    pub(super) fn some_end(
        &self,
        data: &Data,
        from: Number,
        random: &mut Random,
    ) -> Option<Number> {
        let mut at = *self.numbers.get(&key(data.named(from)))?;
        while !self.targets.contains_key(&at) {
            at = random.one_of(self.after.get(&at)?)?;
        }
        self.targets.get(&at).copied()
    }

    /// Whether one vertex leads to another.
    pub(super) fn leads(&self, from: VertexRef<'_>, to: VertexRef<'_>) -> bool {
        let numbers = (self.numbers.get(&key(from)), self.numbers.get(&key(to)));
        let (Some(from), Some(to)) = numbers else {
            return false;
        };
        let (mut stack, mut seen) = (vec![*from], HashSet::from([*from]));
        while let Some(vertex) = stack.pop() {
            if vertex == *to {
                return true;
            }
            for after in self.after.get(&vertex).into_iter().flatten() {
                if seen.insert(*after) {
                    stack.push(*after);
                }
            }
        }
        false
    }
}
