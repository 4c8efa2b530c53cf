//! LimitRanges as they are read.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::pod::view::view;
use crate::pod::{Amount, Map, ShapeError, read_value};
use crate::quantity::ResourceList;

use super::super::document::name_in as name;

/// The limits of a namespace.
#[derive(Clone, Debug)]
pub(super) struct LimitRange {
    /// What it limits, in the order in which it does.
    pub(super) limits: Vec<Limit>,
}

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitType {
    /// Each container and init container.
    Container,
    /// All containers of a pod together.
    Pod,
    /// A claim of storage.
    Claim,
}

impl fmt::Display for LimitType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Container => "Container",
            Self::Pod => "Pod",
            Self::Claim => "PersistentVolumeClaim",
        })
    }
}

/// One limit.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// What it is for.
    pub(super) kind: LimitType,
    /// The least that may be requested.
    pub(super) min: ResourceList,
    /// The most that may be requested and be the limit.
    pub(super) max: ResourceList,
    /// Limits of containers without their own.
    pub(super) default: ResourceList,
    /// Requests of containers without their own.
    pub(super) default_request: ResourceList,
    /// How many times the request the limit may be.
    pub(super) max_ratio: ResourceList,
}

impl LimitRange {
    /// Reads a LimitRange of the cluster. Types that Kubernetes doesn't know limit nothing there, nor here.
    ///
    /// # Errors
    ///
    /// When it can't be read, with its name.
    pub(super) fn read(object: &Value) -> Result<Self, String> {
        let limits = Self::limits(object);
        let limits = limits.map_err(|error| format!("LimitRange {:?}: {error}", name(object)))?;
        Ok(Self { limits })
    }

    fn limits(object: &Value) -> Result<Vec<Limit>, ShapeError> {
        let object: Written<'_> = read_value(object)?;
        let mut limits = Vec::new();
        for (index, written) in object.spec.limits.iter().enumerate() {
            limits.extend(Limit::read(index, written)?);
        }
        Ok(limits)
    }
}

impl Limit {
    fn read(index: usize, written: &WrittenLimit<'_>) -> Result<Option<Self>, ShapeError> {
        let kind = match written.kind.as_ref() {
            "Container" => LimitType::Container,
            "Pod" => LimitType::Pod,
            "PersistentVolumeClaim" => LimitType::Claim,
            _ => return Ok(None),
        };
        let list = |key: &str, amounts: &Map<'_, Amount<'_>>| {
            ResourceList::read(amounts, &format!("spec.limits[{index}].{key}"))
        };
        let mut limit = Self {
            kind,
            min: list("min", &written.min)?,
            max: list("max", &written.max)?,
            default: list("default", &written.default)?,
            default_request: list("defaultRequest", &written.default_request)?,
            max_ratio: list("maxLimitRequestRatio", &written.max_ratio)?,
        };
        if kind == LimitType::Container {
            limit.complete();
        }
        Ok(Some(limit))
    }

    /// Fills in what the API server fills in when it stores a LimitRange.
    fn complete(&mut self) {
        fill(&mut self.default, &self.max);
        fill(&mut self.default_request, &self.default);
        fill(&mut self.default_request, &self.min);
    }
}

fn fill(list: &mut ResourceList, from: &ResourceList) {
    for (name, amount) in from.iter() {
        if !list.contains(name) {
            list.insert(name, amount.clone());
        }
    }
}

view! {
    /// A LimitRange.
    struct Written<'a> {
        /// Specification.
        spec: WrittenSpec<'a> = "spec",
    }
}

view! {
    /// Specification of a LimitRange.
    struct WrittenSpec<'a> {
        /// Limits.
        limits: Vec<WrittenLimit<'a>> = "limits",
    }
}

view! {
    /// One limit.
    struct WrittenLimit<'a> {
        /// What it is for.
        kind: Cow<'a, str> = "type",
        /// Least amounts.
        min: Map<'a, Amount<'a>> = "min",
        /// Largest amounts.
        max: Map<'a, Amount<'a>> = "max",
        /// Default limits.
        default: Map<'a, Amount<'a>> = "default",
        /// Default requests.
        default_request: Map<'a, Amount<'a>> = "defaultRequest",
        /// Largest ratios of limits to requests.
        max_ratio: Map<'a, Amount<'a>> = "maxLimitRequestRatio",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_completed_as_by_the_api_server() {
        let range = json!({"metadata": {"name": "limits"}, "spec": {"limits": [
            {"type": "Container", "max": {"cpu": "2", "memory": "1Gi"}, "min": {"cpu": "100m", "x": 1},
             "default": {"cpu": 1}},
            {"type": "Pod", "max": {"cpu": "2"}},
            {"type": "Unknown", "max": {"cpu": "2"}},
        ]}});
        let range = LimitRange::read(&range).expect("a LimitRange");
        let [containers, pods] = range.limits.as_slice() else {
            panic!("{range:?}");
        };
        assert_eq!(containers.default.to_string(), "cpu=1,memory=1Gi");
        assert_eq!(
            containers.default_request.to_string(),
            "cpu=1,memory=1Gi,x=1"
        );
        assert!(pods.default.is_empty() && pods.default_request.is_empty());
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for (spec, expected) in [
            (
                json!({"limits": [{}, {"type": "Pod", "max": {"cpu": "lots"}}]}),
                r#"LimitRange "limits": spec.limits[1].max.cpu: `lots` is not a quantity"#,
            ),
            (
                json!({"limits": {}}),
                r#"LimitRange "limits": spec.limits: expected a list, found an object"#,
            ),
        ] {
            let range = json!({"metadata": {"name": "limits"}, "spec": spec});
            assert_eq!(LimitRange::read(&range).expect_err("an error"), expected);
        }
    }
}
