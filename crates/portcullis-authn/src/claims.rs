//! What claims must say, and when.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_core::AdminOf;
use serde_json::{Map, Value};

use crate::error::{Code, Problem};

/// The times of a token, seconds since 1970; finite, but otherwise whatever the token says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    expires: f64,
    not_before: Option<f64>,
    issued: Option<f64>,
}

/// What times are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeLimits {
    /// The tolerated clock skew.
    pub(crate) skew: Duration,
    /// How old a token may be.
    pub(crate) max_validity: Option<Duration>,
}

/// The claims every token needs: `exp`, `aud`, `sub`.
pub(crate) fn required(claims: &Map<String, Value>) -> Result<Times, Problem> {
    let expires = number(claims, "exp")?.ok_or_else(|| missing("exp", "a number"))?;
    let audience = match claims.get("aud") {
        Some(Value::Array(list)) => list.iter().all(Value::is_string),
        Some(value) => value.is_string(),
        None => false,
    };
    if !audience {
        return Err(missing("aud", "a string or a list of strings"));
    }
    text(claims, "sub")?;
    Ok(Times {
        expires,
        not_before: number(claims, "nbf")?,
        issued: number(claims, "iat")?,
    })
}

impl Times {
    /// Whether the token is good now.
    pub(crate) fn check(&self, limits: TimeLimits, now: SystemTime) -> Result<(), Problem> {
        let now = seconds(now);
        let skew = limits.skew.as_secs_f64();
        if now >= self.expires + skew {
            let ago = now - self.expires;
            return Err(Problem::new(
                Code::Expired,
                format!("this token expired {} ago", amount(ago)),
            ));
        }
        let early = |time: f64| (time - skew > now).then(|| amount(time - now));
        if let Some(ahead) = self.not_before.and_then(early) {
            return Err(Problem::new(
                Code::NotYetValid,
                format!("this token is not valid before {ahead} from now"),
            ));
        }
        if let Some(ahead) = self.issued.and_then(early) {
            return Err(Problem::new(
                Code::NotYetValid,
                format!("this token was issued {ahead} in the future"),
            ));
        }
        let Some(most) = limits.max_validity else {
            return Ok(());
        };
        let Some(issued) = self.issued else {
            return Err(Problem::new(
                Code::MissingClaim,
                "the claim `iat` is required: tokens of this issuer have a maximum age",
            ));
        };
        let most = most.as_secs_f64();
        if now - issued > most + skew {
            return Err(Problem::new(
                Code::Expired,
                format!(
                    "this token was issued {} ago; the maximum age for this issuer is {}",
                    amount(now - issued),
                    amount(most)
                ),
            ));
        }
        Ok(())
    }
}

/// Whether the token is for this audience.
pub(crate) fn audience(claims: &Map<String, Value>, ours: &str) -> Result<(), Problem> {
    let found = match claims.get("aud") {
        Some(Value::String(one)) => one == ours,
        Some(Value::Array(list)) => list.iter().any(|one| one.as_str() == Some(ours)),
        _ => false,
    };
    if found {
        Ok(())
    } else {
        Err(Problem::new(
            Code::WrongAudience,
            format!("this token is for another audience; `aud` must be or hold `{ours}`"),
        ))
    }
}

/// A claim that must be a text.
pub(crate) fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Result<&'a str, Problem> {
    let value = claims.get(name).and_then(Value::as_str);
    value.ok_or_else(|| missing(name, "a string"))
}

/// Where the claims make their bearer admin.
pub(crate) fn admin(claims: &Map<String, Value>, allowed: bool) -> Result<AdminOf, Problem> {
    let bad = |what: &str| Err(Problem::new(Code::BadAdminClaim, what));
    let zuul = match claims.get("zuul") {
        None => return Ok(AdminOf::Nothing),
        Some(Value::Object(zuul)) => zuul,
        Some(_) => return bad("the claim `zuul` is not an object"),
    };
    let list = match zuul.get("admin") {
        None => return Ok(AdminOf::Nothing),
        Some(Value::Array(list)) => list,
        Some(_) => return bad("the claim `zuul.admin` is not a list of tenants"),
    };
    let mut tenants = Vec::with_capacity(list.len());
    for tenant in list {
        match tenant {
            Value::String(name) => tenants.push(name.clone()),
            _ => return bad("the claim `zuul.admin` is not a list of names of tenants"),
        }
    }
    if tenants.is_empty() {
        return Ok(AdminOf::Nothing);
    }
    if !allowed {
        return Err(Problem::new(
            Code::AdminClaimNotAllowed,
            "the claim `zuul.admin` is not allowed in tokens of this issuer (allowAuthzOverride)",
        ));
    }
    Ok(if tenants.iter().any(|t| t == "*") {
        AdminOf::Everything
    } else {
        AdminOf::Tenants(tenants)
    })
}

fn number(claims: &Map<String, Value>, name: &str) -> Result<Option<f64>, Problem> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::Number(number)) => {
            let number = number.as_f64().filter(|n| n.is_finite());
            number.map(Some).ok_or_else(|| missing(name, "a number"))
        }
        Some(_) => Err(missing(name, "a number")),
    }
}

fn missing(name: &str, kind: &str) -> Problem {
    Problem::new(
        Code::MissingClaim,
        format!("the claim `{name}` is missing or not {kind}"),
    )
}

/// A time as tokens count.
pub(crate) fn seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// A human-readable duration.
fn amount(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    match seconds {
        s if s < 120.0 => format!("{:.0} s", s.ceil()),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3_600.0),
        s if s < 3.2e9 => format!("{:.0} days", s / 86_400.0),
        _ => "more than a hundred years".to_owned(),
    }
}
