//! Which rules match a caller, without evaluating every one.
//!
//! Of each alternative one term, the rarest, is indexed by its claim and the values it requires. A caller's
//! claims lead to the few alternatives whose indexed term holds; only those are compared completely.

use std::collections::HashMap;

use super::claim::{self, ClaimValue, Scalar, UID};
use super::rule::{Alternative, ExpectedValue, RuleHere, Term};
use portcullis_core::Identity;

/// The rules of one place, by what they want.
#[derive(Debug, Default)]
pub(super) struct RuleIndex {
    /// How many rules there are.
    rules: usize,
    /// Rules that match every authenticated caller.
    always: Vec<usize>,
    /// The claims that terms are filed under.
    claims: Vec<ClaimIndex>,
    /// The claims that may begin at a member of this name.
    heads: HashMap<Box<str>, Vec<usize>>,
    /// The stable name of the caller among the claims.
    uid: Option<usize>,
}

/// The terms that are filed under one claim.
#[derive(Debug)]
struct ClaimIndex {
    key: Box<str>,
    texts: HashMap<Box<str>, Vec<Filed>>,
    numbers: HashMap<i128, Vec<Filed>>,
    yes: Vec<Filed>,
    no: Vec<Filed>,
}

/// One alternative of one rule.
#[derive(Debug, Clone, Copy)]
struct Filed {
    rule: usize,
    alternative: usize,
    /// Whether the filed term is all there is.
    alone: bool,
}

/// A set of places in a list: of the rules that match among those that are mapped.
#[derive(Debug)]
pub(super) struct Places {
    /// The first of them, without an allocation.
    first: [u64; WORDS],
    /// The others.
    rest: Vec<u64>,
}

const WORDS: usize = 4;

impl Places {
    /// None of so many places.
    pub(super) fn none_of(places: usize) -> Self {
        Self {
            first: [0; WORDS],
            rest: vec![0; places.div_ceil(64).saturating_sub(WORDS)],
        }
    }

    /// Puts a place in.
    pub(super) fn add(&mut self, place: usize) {
        let word = place / 64;
        let word = if word < WORDS {
            self.first.get_mut(word)
        } else {
            self.rest.get_mut(word - WORDS)
        };
        if let Some(word) = word {
            *word |= 1 << (place % 64);
        }
    }

    /// Whether a place is in it.
    pub(super) fn has(&self, place: usize) -> bool {
        let word = place / 64;
        let word = if word < WORDS {
            self.first.get(word)
        } else {
            self.rest.get(word - WORDS)
        };
        word.is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    /// The places in it, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.first.iter().chain(&self.rest).enumerate();
        words.flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

impl RuleIndex {
    /// Files these rules.
    pub(super) fn new<'r>(rules: impl Iterator<Item = &'r RuleHere> + Clone) -> Self {
        let mut often: HashMap<(&str, &ExpectedValue<Box<str>>), usize> = HashMap::new();
        let terms = rules
            .clone()
            .flat_map(|rule| &rule.alternatives)
            .flat_map(|alternative| &alternative.terms);
        for term in terms {
            for wanted in &term.any_of {
                *often.entry((&term.claim, wanted)).or_default() += 1;
            }
        }
        let mut index = Self::default();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (rule, here) in rules.enumerate() {
            index.rules = rule + 1;
            for (alternative, Alternative { terms }) in here.alternatives.iter().enumerate() {
                let frequency = |term: &&Term<Box<str>>| -> usize {
                    let counts = term.any_of.iter();
                    let counts = counts.filter_map(|wanted| often.get(&(&*term.claim, wanted)));
                    counts.sum()
                };
                let Some(rarest) = terms.iter().min_by_key(frequency) else {
                    index.always.push(rule);
                    continue;
                };
                let place = *places
                    .entry(&rarest.claim)
                    .or_insert_with(|| index.claim(&rarest.claim));
                let filed = Filed {
                    rule,
                    alternative,
                    alone: terms.len() == 1,
                };
                if let Some(claim) = index.claims.get_mut(place) {
                    rarest
                        .any_of
                        .iter()
                        .for_each(|wanted| claim.file(wanted, filed));
                }
            }
        }
        index
    }

    /// Makes a place for a claim.
    fn claim(&mut self, key: &str) -> usize {
        let place = self.claims.len();
        self.claims.push(ClaimIndex {
            key: key.into(),
            texts: HashMap::new(),
            numbers: HashMap::new(),
            yes: Vec::new(),
            no: Vec::new(),
        });
        if key == UID {
            self.uid = Some(place);
        } else {
            for head in claim::heads(key) {
                self.heads.entry(head.into()).or_default().push(place);
            }
        }
        place
    }

    /// The rules that match a caller.
    pub(super) fn matching<'r>(
        &self,
        who: &Identity,
        rule: impl Fn(usize) -> Option<&'r RuleHere>,
    ) -> Places {
        let mut matching = Places::none_of(self.rules);
        self.always.iter().for_each(|rule| matching.add(*rule));
        let compare = |claim: &ClaimIndex, matching: &mut Places| {
            let Some(found) = claim::find(who, &claim.key) else {
                return;
            };
            claim.each(found, |filed| {
                if matching.has(filed.rule) {
                    return;
                }
                let whole = || rule(filed.rule)?.alternatives.get(filed.alternative);
                if filed.alone || whole().is_some_and(|all| all.matches(who)) {
                    matching.add(filed.rule);
                }
            });
        };
        if self.claims.len() <= who.claims.len() {
            for claim in &self.claims {
                compare(claim, &mut matching);
            }
            return matching;
        }
        // Few claims and many kinds of rules: only what can begin at one of the claims is looked at.
        if let Some(claim) = self.uid.and_then(|place| self.claims.get(place)) {
            compare(claim, &mut matching);
        }
        for member in who.claims.keys() {
            for place in self.heads.get(member.as_str()).into_iter().flatten() {
                if let Some(claim) = self.claims.get(*place) {
                    compare(claim, &mut matching);
                }
            }
        }
        matching
    }
}

impl ClaimIndex {
    fn file(&mut self, wanted: &ExpectedValue<Box<str>>, filed: Filed) {
        match wanted {
            ExpectedValue::Text(text) => self.texts.entry(text.clone()).or_default().push(filed),
            ExpectedValue::Number(number) => self.numbers.entry(*number).or_default().push(filed),
            ExpectedValue::Flag(true) => self.yes.push(filed),
            ExpectedValue::Flag(false) => self.no.push(filed),
        }
    }

    /// Everything that is filed under what was found.
    fn each(&self, found: ClaimValue<'_>, mut visit: impl FnMut(Filed)) {
        found.any(|has| {
            let filed = match has {
                Scalar::Text(text) => self.texts.get(text),
                Scalar::Number(number) => self.numbers.get(&number),
                Scalar::Flag(true) => Some(&self.yes),
                Scalar::Flag(false) => Some(&self.no),
            };
            filed.into_iter().flatten().copied().for_each(&mut visit);
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use portcullis_core::AdminOf;

    /// A rule for each of these claims, wanting `x`.
    fn rules(claims: &[&str]) -> Vec<RuleHere> {
        let rule = |claim: &&str| RuleHere {
            name: (*claim).to_owned(),
            alternatives: vec![Alternative {
                terms: vec![Term {
                    claim: (*claim).into(),
                    any_of: vec![ExpectedValue::Text("x".into())],
                }],
            }],
            wants_tenant: false,
        };
        claims.iter().map(rule).collect()
    }

    #[test]
    fn few_claims_lead_to_the_same_rules_as_many() {
        let rules = rules(&["a", "a.b", "a.b.c", "b", "b.c", "c.a", "zuul_uid", "d"]);
        let index = RuleIndex::new(rules.iter());
        for (claims, wanted) in [
            (json!({"a": "x"}), vec!["a"]),
            (json!({"a": {"b": "x"}}), vec!["a.b"]),
            (json!({"a": {"b": {"c": "x"}}}), vec!["a.b.c"]),
            (json!({"a.b": {"c": "x"}}), vec!["a.b.c"]),
            (
                json!({"a": {"b.c": "x"}, "b": {"c": ["x"]}}),
                vec!["a.b.c", "b.c"],
            ),
            (json!({"a.b.c": "x", "zuul_uid": "x"}), vec!["a.b.c"]),
            (json!({}), vec![]),
        ] {
            for others in [0, 20] {
                let mut all = claims.as_object().unwrap().clone();
                all.extend((0..others).map(|other| (format!("other{other}"), Value::Null)));
                let who = Identity {
                    claims: all,
                    uid: "x".to_owned(),
                    admin: AdminOf::Nothing,
                };
                let found = index.matching(&who, |place| rules.get(place));
                let found: Vec<_> = found
                    .iter()
                    .map(|place| rules[place].name.as_str())
                    .collect();
                let mut wanted = wanted.clone();
                wanted.push("zuul_uid");
                assert_eq!(found, wanted, "{claims}");
            }
        }
    }

    #[test]
    fn sets_hold_any_number_of_rules_in_order() {
        for rules in [0, 1, 64, 255, 256, 257, 1000] {
            let mut set = Places::none_of(rules);
            let added: Vec<_> = (0..rules).filter(|rule| rule % 3 == 0).collect();
            added.iter().rev().for_each(|rule| set.add(*rule));
            assert_eq!(set.iter().collect::<Vec<_>>(), added);
            assert!((0..rules).all(|rule| set.has(rule) == (rule % 3 == 0)));
        }
    }
}
