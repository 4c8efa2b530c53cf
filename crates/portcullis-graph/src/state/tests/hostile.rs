//! Hostile objects, and what is left of objects.

use proptest::prelude::*;

use super::super::projection::project;
use super::*;
use crate::expression::path::{Path, Step};
use crate::expression::tests::agreement;
use crate::expression::{Expression, ExpressionError};
use crate::lookups::Nothing;

const PROFILE: &str = "
- kind: Show
  only: self.b != 3
  keep: [a.b, 'c.*', b]
  malformed: [{when: 'size(self.a) > 2', says: too many}]
  edges:
    - {to: Hall, names: [self.a, self.b.a, self.c]}
    - {from: [Seat, Company], exact: true, names: [self.a, \"self.a.map(x, x.b)\"]}
    - {from: Seat, when: self.a.b, namespace: self.c, names: self.b}
    - {to: Ticket, names: self.c, of: {kind: Visitor, name: self.a, namespace: self.b}}
    - {from: Company, names: \"lookup('Show', 'n', string(self.b)).a\"}
    - {from: Company, when: expired(self.c), names: self.a.a}
";

fn said(value: Result<Value, ExpressionError>) -> Result<Value, String> {
    value.map_err(|error| format!("{error:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever an object is, it is followed or it isn't; and when it goes nothing of it stays.
    #[test]
    fn any_object_is_followed_or_not(objects in prop::collection::vec(agreement::object(), 1..6)) {
        let following = following(&theatre(PROFILE));
        for (number, rest) in objects.iter().enumerate() {
            following.state.apply(rest);
            following.state.apply(&object("Show", "n", &(number % 3).to_string(), rest));
        }
        for number in 0..3 {
            following.delete("Show", "n", &number.to_string());
        }
        for graph in following.state.graphs() {
            prop_assert_eq!(graph.counts(), (0, 0));
        }
        prop_assert_eq!(following.state.tick(), None);
    }

    /// Over what an expression looks at, it says the same as over the whole.
    #[test]
    fn what_is_read_is_enough(text in agreement::expression(), whole in agreement::object()) {
        let Ok(expression) = Expression::compile(&text, &["self"]) else {
            return Ok(());
        };
        let Some(reads) = expression.reads("self") else {
            return Ok(());
        };
        let paths = reads.into_iter().map(|c| Path(c.into_iter().map(Step::Member).collect()));
        let part = project(&whole, &paths.collect::<Vec<_>>());
        let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
        scope.set("self", &whole);
        let over_whole = expression.evaluate(&scope);
        let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
        scope.set("self", &part);
        prop_assert_eq!(said(expression.evaluate(&scope)), said(over_whole), "{} of {}, {}", text, whole, part);
    }
}
