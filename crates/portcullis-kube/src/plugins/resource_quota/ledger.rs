//! What was admitted, but isn't counted in the status of its quota yet.
//!
//! The status of a quota tells what is used, but late: after the object was stored, and after the watch saw the new
//! status. Until then every request of a burst would see the same free space. So what is admitted is charged here, and
//! a charge is taken back when the status grows by as much: the oldest first. A charge that the status never shows,
//! because the object was denied by others, say, or because something else was deleted, expires.
//!
//! An object is charged once, however often it is asked about: a request is often judged in both phases, and repeated
//! when it fails. A pod that gets its name from the server has none in the first phase, and is recognized in the second
//! by the prefix of its name.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crate::quantity::{Quantity, ResourceList};

use super::quota::Quota;

/// How long a charge stands that no status shows. Kubernetes counts anew every five minutes.
pub(super) const EXPIRY: Duration = Duration::from_secs(6 * 60);
/// The most charges that are kept apart for a quota; the oldest are added up.
const MAX_CHARGES: usize = 4096;

/// What a charge is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The resource, like `pods`.
    pub(super) resource: String,
    /// The name of the object; empty until it has one.
    pub(super) name: String,
    /// The prefix of the name that it gets; empty if it has a name of its own.
    pub(super) prefix: String,
    /// The version that is changed; empty for a new object.
    pub(super) version: String,
}

impl Subject {
    /// Whether this is the same object as before, seen again.
    fn is_again(&self, before: &Self) -> bool {
        let is_same = self.resource == before.resource && self.version == before.version;
        let is_named = !self.name.is_empty() && self.name == before.name;
        let got_its_name =
            !self.name.is_empty() && before.name.is_empty() && self.prefix == before.prefix;
        is_same && (is_named || got_its_name)
    }
}

#[derive(Clone, Debug)]
struct Charge {
    /// What it is for; none if several were added up.
    subject: Option<Subject>,
    /// What of it no status has shown.
    open: ResourceList,
    made: Instant,
}

/// The charges of one quota.
#[derive(Clone, Debug)]
struct Account {
    uid: String,
    /// What the status said when it was seen last.
    used: ResourceList,
    /// The oldest first.
    charges: VecDeque<Charge>,
}

/// The charges of all quotas, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    accounts: BTreeMap<String, BTreeMap<String, Account>>,
}

impl Ledger {
    /// Takes note of the quotas of a namespace as they are now: what their status shows is charged no longer.
    pub(super) fn observe(&mut self, namespace: &str, quotas: &[Quota], now: Instant) {
        let Some(accounts) = self.accounts.get_mut(namespace) else {
            return;
        };
        accounts.retain(|name, account| {
            let quota = quotas.iter().find(|quota| quota.name == *name);
            let quota = quota.filter(|quota| quota.uid == account.uid);
            quota.is_some_and(|quota| account.observe(quota, now))
        });
        if accounts.is_empty() {
            self.accounts.remove(namespace);
        }
    }

    /// What is charged to a quota beside its status, leaving out an earlier charge for the same object.
    pub(super) fn open(&self, namespace: &str, quota: &Quota, subject: &Subject) -> ResourceList {
        let mut open = ResourceList::default();
        let account = self.account(namespace, &quota.name);
        let again = account.and_then(|account| account.position(subject));
        let charges = account
            .into_iter()
            .flat_map(|account| account.charges.iter());
        for (place, charge) in charges.enumerate() {
            if Some(place) != again {
                open.add(&charge.open);
            }
        }
        open
    }

    /// Charges a quota, in place of an earlier charge for the same object.
    pub(super) fn charge(
        &mut self,
        namespace: &str,
        quota: &Quota,
        subject: &Subject,
        amounts: ResourceList,
        now: Instant,
    ) {
        let accounts = self.accounts.entry(namespace.to_owned()).or_default();
        let account = accounts
            .entry(quota.name.clone())
            .or_insert_with(|| Account {
                uid: quota.uid.clone(),
                used: quota.used.clone(),
                charges: VecDeque::new(),
            });
        if let Some(place) = account.position(subject) {
            account.charges.remove(place);
        }
        account.charges.push_back(Charge {
            subject: Some(subject.clone()),
            open: amounts,
            made: now,
        });
        account.limit();
    }

    fn account(&self, namespace: &str, name: &str) -> Option<&Account> {
        self.accounts.get(namespace)?.get(name)
    }

    /// How many charges there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let accounts = self.accounts.values().flat_map(BTreeMap::values);
        accounts.map(|account| account.charges.len()).sum()
    }
}

impl Account {
    /// Takes back what the status shows, and what has expired; whether anything is left.
    fn observe(&mut self, quota: &Quota, now: Instant) -> bool {
        let growth = quota.used.growth_since(&self.used);
        for (name, grown) in growth.iter() {
            let mut left = grown.clone();
            for charge in &mut self.charges {
                left = charge.settle(name, left);
            }
        }
        self.used = quota.used.clone();
        self.charges.retain(|charge| {
            let age = now.saturating_duration_since(charge.made);
            age < EXPIRY && charge.open.iter().any(|(_, amount)| amount.is_positive())
        });
        !self.charges.is_empty()
    }

    /// The place of the charge for the same object, if there is one.
    fn position(&self, subject: &Subject) -> Option<usize> {
        let is_again =
            |charge: &Charge| charge.subject.as_ref().is_some_and(|s| subject.is_again(s));
        self.charges.iter().position(is_again)
    }

    fn limit(&mut self) {
        while self.charges.len() > MAX_CHARGES
            && let Some(oldest) = self.charges.pop_front()
            && let Some(next) = self.charges.front_mut()
        {
            next.open.add(&oldest.open);
            next.subject = None;
        }
    }
}

impl Charge {
    /// Takes back as much of a resource as the status grew by; what is left of that.
    fn settle(&mut self, name: &str, grown: Quantity) -> Quantity {
        match self.open.get(name) {
            Some(open) if *open > grown => {
                let rest = open.minus(&grown);
                self.open.insert(name, rest);
                Quantity::ZERO
            }
            Some(open) => {
                let left = grown.minus(open);
                self.open.insert(name, Quantity::ZERO);
                left
            }
            None => grown,
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> ResourceList {
        let pairs = text.split(',').filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| {
                let (name, amount) = pair.split_once('=').unwrap();
                (name.to_owned(), Quantity::parse(amount).unwrap())
            })
            .collect()
    }

    fn quota(used: &str) -> Quota {
        Quota {
            name: "q".to_owned(),
            uid: "1".to_owned(),
            hard: list("pods=100,cpu=100"),
            used: list(used),
            scopes: Vec::new(),
        }
    }

    fn named(name: &str) -> Subject {
        Subject {
            resource: "pods".to_owned(),
            name: name.to_owned(),
            prefix: String::new(),
            version: String::new(),
        }
    }

    fn generated(name: &str, prefix: &str) -> Subject {
        Subject {
            prefix: prefix.to_owned(),
            ..named(name)
        }
    }

    struct Book {
        ledger: Ledger,
        now: Instant,
    }

    impl Book {
        fn new() -> Self {
            Self {
                ledger: Ledger::default(),
                now: clock::monotonic(),
            }
        }

        fn charge(&mut self, subject: &Subject, used: &str, amounts: &str) {
            self.ledger.observe("shop", &[quota(used)], self.now);
            self.ledger
                .charge("shop", &quota(used), subject, list(amounts), self.now);
        }

        fn open(&mut self, used: &str) -> String {
            self.ledger.observe("shop", &[quota(used)], self.now);
            let open = self.ledger.open("shop", &quota(used), &named("other"));
            open.without_zeros().to_string()
        }
    }

    #[test]
    fn charges_stand_until_the_status_shows_them() {
        let mut book = Book::new();
        book.charge(&named("a"), "pods=3,cpu=1", "pods=1,cpu=2");
        book.charge(&named("b"), "pods=3,cpu=1", "pods=1,cpu=500m");
        assert_eq!(book.open("pods=3,cpu=1"), "cpu=2500m,pods=2");
        assert_eq!(book.open("pods=4,cpu=3"), "cpu=500m,pods=1");
        assert_eq!(book.open("pods=4,cpu=3"), "cpu=500m,pods=1");
        assert_eq!(book.open("pods=5,cpu=3500m"), "");
        assert_eq!(book.ledger.len(), 0);
    }

    #[test]
    fn a_status_that_shrinks_takes_nothing_back() {
        let mut book = Book::new();
        book.charge(&named("a"), "pods=3", "pods=1");
        assert_eq!(book.open("pods=2"), "pods=1");
        assert_eq!(book.open("pods=3"), "");
    }

    #[test]
    fn an_object_is_charged_once() {
        let mut book = Book::new();
        for _ in 0..3 {
            book.charge(&named("a"), "pods=0", "pods=1");
        }
        assert_eq!(book.open("pods=0"), "pods=1");
        let open = book.ledger.open("shop", &quota("pods=0"), &named("a"));
        assert!(open.is_empty(), "asked again, it is not in its own way");
        let update = Subject {
            version: "7".to_owned(),
            ..named("a")
        };
        book.charge(&update, "pods=0", "pods=1");
        assert_eq!(book.open("pods=0"), "pods=2");
        let other = Subject {
            resource: "services".to_owned(),
            ..named("a")
        };
        book.charge(&other, "pods=0", "pods=1");
        assert_eq!(book.open("pods=0"), "pods=3");
    }

    #[test]
    fn an_object_that_got_its_name_is_the_one_that_had_none() {
        let mut book = Book::new();
        book.charge(&generated("", "web-"), "pods=0", "pods=1");
        book.charge(&generated("", "web-"), "pods=0", "pods=1");
        assert_eq!(book.open("pods=0"), "pods=2");
        book.charge(&generated("web-1", "web-"), "pods=0", "pods=1");
        book.charge(&generated("web-2", "web-"), "pods=0", "pods=1");
        assert_eq!(book.open("pods=0"), "pods=2");
        book.charge(&generated("web-3", "web-"), "pods=0", "pods=1");
        book.charge(&generated("x-1", "x-"), "pods=0", "pods=1");
        assert_eq!(book.open("pods=0"), "pods=4");
    }

    #[test]
    fn charges_expire() {
        let mut book = Book::new();
        book.charge(&named("a"), "pods=0", "pods=1");
        book.now += EXPIRY / 2;
        book.charge(&named("b"), "pods=0", "pods=1");
        book.now += EXPIRY / 2;
        assert_eq!(book.open("pods=0"), "pods=1");
        book.now += EXPIRY;
        assert_eq!(book.open("pods=0"), "");
    }

    #[test]
    fn charges_go_with_their_quota() {
        let mut book = Book::new();
        book.charge(&named("a"), "pods=0", "pods=1");
        book.ledger.observe("other", &[], book.now);
        assert_eq!(book.ledger.len(), 1);
        let another = Quota {
            uid: "2".to_owned(),
            ..quota("pods=0")
        };
        book.ledger.observe("shop", &[another], book.now);
        assert_eq!(book.ledger.len(), 0);
        book.charge(&named("a"), "pods=0", "pods=1");
        book.ledger.observe("shop", &[], book.now);
        assert_eq!(book.ledger.len(), 0);
    }

    #[test]
    fn very_many_charges_are_added_up() {
        let mut book = Book::new();
        let quota = quota("");
        for n in 0..MAX_CHARGES + 100 {
            let subject = named(&n.to_string());
            book.ledger
                .charge("shop", &quota, &subject, list("pods=1"), book.now);
        }
        assert_eq!(book.ledger.len(), MAX_CHARGES);
        assert_eq!(book.open(""), format!("pods={}", MAX_CHARGES + 100));
    }

    proptest! {
        /// Whatever happens, what is open is never negative and never more than what was charged; and once the
        /// status has shown everything, nothing is.
        #[test]
        fn what_is_open_stays_within_what_was_charged(steps in prop::collection::vec((0..8u32, 0..5u32), 1..40)) {
            let mut book = Book::new();
            let (mut used, mut charged) = (0, 0);
            for (n, (grown, asked)) in steps.iter().enumerate() {
                used += grown;
                let now = format!("pods={used}");
                book.charge(&named(&n.to_string()), &now, &format!("pods={asked}"));
                charged += asked;
                let open = book.ledger.open("shop", &quota(&now), &named("other"));
                let open = open.get("pods").cloned().unwrap_or(Quantity::ZERO);
                prop_assert!(!open.is_negative());
                prop_assert!(open <= Quantity::of(charged));
            }
            prop_assert_eq!(book.open(&format!("pods={}", used + charged)), "");
        }
    }
}
