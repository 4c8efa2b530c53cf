//! Amounts by the name of their resource.

use std::collections::BTreeMap;
use std::fmt;

use portcullis_core::text::shortened;

use crate::pod::{Amount, Map, ShapeError};

use super::Quantity;

/// Longer texts are cut in messages.
const MAX_TEXT: usize = 64;

/// Amounts by the name of their resource, sorted. Prints as `cpu=1,memory=1Gi`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceList(BTreeMap<String, Quantity>);

impl ResourceList {
    /// Reads amounts that stand at this place of an object.
    ///
    /// # Errors
    ///
    /// When one of them is not an amount.
    pub(crate) fn read(
        amounts: &Map<'_, Amount<'_>>,
        path: &dyn fmt::Display,
    ) -> Result<Self, ShapeError> {
        let mut list = Self::default();
        for (name, amount) in amounts {
            list.insert(name.as_ref(), amount.quantity(path, name)?);
        }
        Ok(list)
    }

    /// The amount of a resource.
    pub(crate) fn get(&self, name: &str) -> Option<&Quantity> {
        self.0.get(name)
    }

    /// Whether there is an amount of this resource.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether there is no amount.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All amounts with the names of their resources.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), amount))
    }

    /// The names of the resources.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Sets the amount of a resource.
    pub(crate) fn insert(&mut self, name: impl Into<String>, amount: Quantity) {
        self.0.insert(name.into(), amount);
    }

    /// Adds the other's amounts.
    pub(crate) fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let sum = match self.0.get(name) {
                Some(own) => own.plus(amount),
                None => amount.clone(),
            };
            self.0.insert(name.clone(), sum);
        }
    }

    /// Raises amounts to the other's where those are larger.
    pub(crate) fn raise_to(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            if self.0.get(name).is_none_or(|own| amount > own) {
                self.0.insert(name.clone(), amount.clone());
            }
        }
    }

    /// What is more here than in the other: zero where it is less, or missing.
    #[must_use]
    pub(crate) fn growth_since(&self, other: &Self) -> Self {
        let grown = self.0.iter().map(|(name, amount)| {
            let rest = match other.0.get(name) {
                Some(before) => amount.minus(before),
                None => amount.clone(),
            };
            let grown = if rest.is_positive() {
                rest
            } else {
                Quantity::ZERO
            };
            (name.clone(), grown)
        });
        let gone = other.0.keys().filter(|name| !self.0.contains_key(*name));
        let gone = gone.map(|name| (name.clone(), Quantity::ZERO));
        Self(grown.chain(gone).collect())
    }

    /// The amounts of these resources only.
    #[must_use]
    pub(crate) fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        self.filtered(|name, _| keep(name))
    }

    /// The amounts that are not zero.
    #[must_use]
    pub(crate) fn without_zeros(&self) -> Self {
        self.filtered(|_, amount| !amount.is_zero())
    }

    fn filtered(&self, keep: impl Fn(&str, &Quantity) -> bool) -> Self {
        let kept = self.0.iter().filter(|(name, amount)| keep(name, amount));
        Self(kept.map(|(n, a)| (n.clone(), a.clone())).collect())
    }
}

impl Amount<'_> {
    /// The amount of this name in the list at this place of an object, rounded as the API server rounds what it
    /// stores.
    ///
    /// # Errors
    ///
    /// When it is not an amount.
    pub(crate) fn quantity(
        &self,
        path: &dyn fmt::Display,
        name: &str,
    ) -> Result<Quantity, ShapeError> {
        // The API server permits space around it.
        let text = self.0.trim();
        let amount = Quantity::parse(text).map_err(|invalid| ShapeError {
            path: format!("{path}.{name}"),
            message: format!("`{}` is {invalid}", shortened(text, MAX_TEXT)),
        })?;
        Ok(amount.in_milli())
    }
}

impl FromIterator<(String, Quantity)> for ResourceList {
    fn from_iter<I: IntoIterator<Item = (String, Quantity)>>(amounts: I) -> Self {
        Self(amounts.into_iter().collect())
    }
}

impl fmt::Display for ResourceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, amount)) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            write!(f, "{name}={amount}")?;
        }
        Ok(())
    }
}
