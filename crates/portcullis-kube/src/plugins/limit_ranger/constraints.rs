//! What pods and claims are held to, in Kubernetes' words.
//!
//! Amounts are compared as Kubernetes compares them: by thousandths rounded up, or by whole numbers where one is too
//! large for that.

use crate::pod::{PodSpec, ShapeError};
use crate::quantity::{Quantity, ResourceList};

use super::super::refusal::Aggregate;
use super::limit_range::{Limit, LimitRange, LimitType};
use super::pod_amounts::{self, Amounts, ContainerAmounts};

/// Resources that a pod may ask for as a whole, as far as limits know them.
const OF_PODS: [&str; 2] = ["cpu", "memory"];

/// What a pod and its containers ask for.
#[derive(Debug)]
pub(super) struct PodAmounts<'p> {
    containers: Vec<ContainerAmounts<'p>>,
    total: Amounts,
}

impl<'p> PodAmounts<'p> {
    /// Of this pod.
    ///
    /// # Errors
    ///
    /// When something is not an amount.
    pub(super) fn read(spec: &'p PodSpec<'_>) -> Result<Self, ShapeError> {
        let containers = pod_amounts::containers(spec)?;
        let mut total = pod_amounts::total(&containers);
        if let Some(of_pod) = &spec.resources {
            let of_pod = Amounts::read(of_pod, &"spec.resources")?;
            let counts = |name: &str| OF_PODS.contains(&name);
            pod_amounts::override_with(&mut total.requests, &of_pod.requests, counts);
            pod_amounts::override_with(&mut total.limits, &of_pod.limits, counts);
        }
        Ok(Self { containers, total })
    }
}

/// What a LimitRange has against a pod.
pub(super) fn of_pod(range: &LimitRange, pod: &PodAmounts<'_>) -> Option<String> {
    let mut errors = Aggregate::default();
    for limit in &range.limits {
        match limit.kind {
            LimitType::Container => {
                for container in &pod.containers {
                    check(limit, &container.amounts, &mut errors);
                }
            }
            LimitType::Pod => check(limit, &pod.total, &mut errors),
            LimitType::Claim => {}
        }
    }
    errors.text()
}

/// What a LimitRange has against a claim that requests this. Claims have no limits.
pub(super) fn of_claim(range: &LimitRange, requests: &ResourceList) -> Option<String> {
    let mut errors = Aggregate::default();
    let none = ResourceList::default();
    let claims = range.limits.iter();
    for limit in claims.filter(|limit| limit.kind == LimitType::Claim) {
        for (name, least) in limit.min.iter() {
            let asked = Asked::of(name, requests, &none);
            add(&mut errors, asked.at_least(limit.kind, least));
        }
        for (name, most) in limit.max.iter() {
            let asked = Asked::of(name, requests, &none);
            add(&mut errors, asked.request_at_most(limit.kind, most));
        }
    }
    errors.text()
}

fn check(limit: &Limit, amounts: &Amounts, errors: &mut Aggregate) {
    let of = |name| Asked::of(name, &amounts.requests, &amounts.limits);
    for (name, least) in limit.min.iter() {
        add(errors, of(name).at_least(limit.kind, least));
    }
    for (name, most) in limit.max.iter() {
        add(errors, of(name).at_most(limit.kind, most));
    }
    for (name, most) in limit.max_ratio.iter() {
        add(errors, of(name).ratio_at_most(limit.kind, most));
    }
}

fn add(errors: &mut Aggregate, error: Option<String>) {
    if let Some(error) = error {
        errors.add(error);
    }
}

/// What is asked for of one resource.
struct Asked<'a> {
    name: &'a str,
    request: Option<&'a Quantity>,
    limit: Option<&'a Quantity>,
}

impl<'a> Asked<'a> {
    fn of(name: &'a str, requests: &'a ResourceList, limits: &'a ResourceList) -> Self {
        Self {
            name,
            request: requests.get(name),
            limit: limits.get(name),
        }
    }

    /// How amounts are counted so that all of them can be: these and `bound`.
    fn counted(&self, bound: &Quantity) -> fn(&Quantity) -> i128 {
        let all = [self.request, self.limit, Some(bound)];
        if all
            .into_iter()
            .flatten()
            .all(Quantity::counts_in_thousandths)
        {
            Quantity::thousandths
        } else {
            Quantity::whole
        }
    }

    fn at_least(&self, kind: LimitType, least: &Quantity) -> Option<String> {
        let said = format!("minimum {} usage per {kind} is {least}", self.name);
        let count = self.counted(least);
        let is_less = |amount: &&Quantity| count(amount) < count(least);
        match (self.request, self.limit.filter(is_less)) {
            (None, _) => Some(format!("{said}.  No request is specified")),
            (Some(request), _) if is_less(&request) => {
                Some(format!("{said}, but request is {request}"))
            }
            (_, Some(limit)) => Some(format!("{said}, but limit is {limit}")),
            _ => None,
        }
    }

    fn at_most(&self, kind: LimitType, most: &Quantity) -> Option<String> {
        let said = format!("maximum {} usage per {kind} is {most}", self.name);
        let count = self.counted(most);
        let is_more = |amount: &&Quantity| count(amount) > count(most);
        match (self.limit, self.request.filter(is_more)) {
            (None, _) => Some(format!("{said}.  No limit is specified")),
            (Some(limit), _) if is_more(&limit) => Some(format!("{said}, but limit is {limit}")),
            (_, Some(request)) => Some(format!("{said}, but request is {request}")),
            _ => None,
        }
    }

    fn request_at_most(&self, kind: LimitType, most: &Quantity) -> Option<String> {
        let said = format!("maximum {} usage per {kind} is {most}", self.name);
        let count = self.counted(most);
        match self.request {
            None => Some(format!("{said}.  No request is specified")),
            Some(request) if count(request) > count(most) => {
                Some(format!("{said}, but request is {request}"))
            }
            Some(_) => None,
        }
    }

    fn ratio_at_most(&self, kind: LimitType, most: &Quantity) -> Option<String> {
        let name = self.name;
        let said = format!("{name} max limit to request ratio per {kind} is {most}, but");
        let count = self.counted(most);
        let is_something = |amount: &&Quantity| count(amount) != 0;
        let Some(request) = self.request.filter(is_something) else {
            return Some(format!("{said} no request is specified or request is 0"));
        };
        let Some(limit) = self.limit.filter(is_something) else {
            return Some(format!("{said} no limit is specified or limit is 0"));
        };
        let ratio = count(limit) as f64 / count(request) as f64;
        let is_more = if most.counts_in_thousandths() {
            ratio * 1000.0 > most.thousandths() as f64
        } else {
            ratio > most.whole() as f64
        };
        is_more.then(|| format!("{said} provided ratio is {ratio:.6}"))
    }
}
