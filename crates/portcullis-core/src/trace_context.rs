//! The trace that a request is a part of, as defined by W3C "Trace Context": `traceparent` and
//! `tracestate`.
//!
//! An invalid header is ignored: the trace then begins here.

use std::fmt::Write as _;
use std::sync::Arc;

/// `00-` trace id `-` parent id `-` flags.
const LENGTH: usize = 55;

/// The most of a `tracestate` that is passed on: what everybody must be able to carry.
const STATE_LENGTH: usize = 512;
const STATE_MEMBERS: usize = 32;

/// The flag that says that the caller may have recorded the trace.
const SAMPLED: u8 = 1;
/// The flag that says that the trace id is random; it goes along with the id.
const RANDOM: u8 = 2;

/// A place in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace; never all zeros.
    pub trace_id: [u8; 16],
    /// What requests made from here name as their parent; never all zeros.
    pub span_id: [u8; 8],
    /// The caller's own place in the trace, where this is another.
    pub parent_id: Option<[u8; 8]>,
    /// The lowest bit says whether it is recorded.
    pub flags: u8,
    /// What others keep in the trace; passed on as it came.
    pub state: Option<Arc<str>>,
}

impl TraceContext {
    /// The caller's place in the trace, from all headers `traceparent` and `tracestate` of a
    /// request. None where the caller has none, or breaks the rules.
    pub fn of<'a>(
        mut parents: impl Iterator<Item = &'a [u8]>,
        states: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let parent = parents.next()?;
        if parents.next().is_some() {
            return None;
        }
        let mut context = Self::parse(parent)?;
        context.state = state(states);
        Some(context)
    }

    /// Reads a `traceparent`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (known, rest) = text.split_at_checked(LENGTH)?;
        let mut parts = known.split(|b| *b == b'-');
        let [version] = bytes(parts.next()?)?;
        let trace_id: [u8; 16] = bytes(parts.next()?)?;
        let span_id: [u8; 8] = bytes(parts.next()?)?;
        let [flags] = bytes(parts.next()?)?;
        let is_of_its_length = match version {
            0 => rest.is_empty(),
            // A later version may say more, after another dash.
            1..=254 => matches!(rest.first(), None | Some(b'-')),
            255 => false,
        };
        let is_zero = trace_id == [0; 16] || span_id == [0; 8];
        (is_of_its_length && !is_zero && parts.next().is_none()).then_some(Self {
            trace_id,
            span_id,
            parent_id: None,
            flags: flags & (SAMPLED | RANDOM),
            state: None,
        })
    }

    /// Whether the trace is recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The place of what the caller's request led to.
    #[must_use]
    pub fn child(&self, span_id: [u8; 8], is_sampled: bool) -> Self {
        Self {
            span_id,
            parent_id: Some(self.span_id),
            flags: self.flags & !SAMPLED | u8::from(is_sampled),
            ..self.clone()
        }
    }

    /// What a request made from here sends as `traceparent`.
    pub fn traceparent(&self) -> String {
        let mut text = String::with_capacity(LENGTH);
        text.push_str("00-");
        push_hex(&mut text, &self.trace_id);
        text.push('-');
        push_hex(&mut text, &self.span_id);
        let _ = write!(text, "-{:02x}", self.flags);
        text
    }

    /// The headers of a request made from here.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("traceparent", self.traceparent())];
        if let Some(state) = &self.state {
            headers.push(("tracestate", state.to_string()));
        }
        headers
    }
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

/// Exactly so many bytes, each as two digits; letters in lower case.
fn bytes<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    if text.len() != N * 2 {
        return None;
    }
    let mut read = [0; N];
    for (byte, pair) in read.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(read)
}

/// The members of all these headers in one string; none if there are none, or one is invalid.
fn state<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<Arc<str>> {
    let mut made = String::new();
    let mut keys: Vec<&str> = Vec::new();
    for value in values {
        let value = std::str::from_utf8(value).ok()?;
        for member in value.split(',') {
            let member = member.trim_matches([' ', '\t']);
            if member.is_empty() {
                continue;
            }
            let (key, value) = member.split_once('=')?;
            if !is_key(key) || !is_value(value) || keys.contains(&key) {
                return None;
            }
            keys.push(key);
            if !made.is_empty() {
                made.push(',');
            }
            made.push_str(member);
            if keys.len() > STATE_MEMBERS || made.len() > STATE_LENGTH {
                return None;
            }
        }
    }
    (!made.is_empty()).then(|| made.into())
}

/// A name, or a tenant and a system.
fn is_key(key: &str) -> bool {
    let fits = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '*' | '/');
    let starts_with_letter = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    match key.split_once('@') {
        None => key.len() <= 256 && starts_with_letter(key) && key.chars().all(fits),
        Some((tenant, system)) => {
            let starts = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            tenant.len() <= 241
                && tenant.starts_with(starts)
                && tenant.chars().all(fits)
                && system.len() <= 14
                && starts_with_letter(system)
                && system.chars().all(fits)
        }
    }
}

fn is_value(value: &str) -> bool {
    let fits = |b: u8| matches!(b, b' '..=b'~') && b != b'=';
    (1..=256).contains(&value.len()) && value.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn parsed(text: &str) -> Option<TraceContext> {
        TraceContext::parse(text.as_bytes())
    }

    fn of(headers: &[(&str, &str)]) -> Option<TraceContext> {
        let all = |name| {
            let named = headers.iter().filter(move |(known, _)| *known == name);
            named.map(|(_, value)| value.as_bytes())
        };
        TraceContext::of(all("traceparent"), all("tracestate"))
    }

    #[test]
    fn what_the_rules_allow_is_read_and_written_again() {
        let context = parsed(GOOD).unwrap();
        assert_eq!(context.trace_id[..2], [0x4b, 0xf9]);
        assert_eq!(context.span_id[7], 0xb7);
        assert!(context.is_sampled());
        assert_eq!(context.traceparent(), GOOD);
        assert!(!parsed(&GOOD.replace("-01", "-00")).unwrap().is_sampled());
        // Unknown flags are not passed on; that the id is random is.
        let flags = parsed(&GOOD.replace("-01", "-ff")).unwrap();
        assert!(flags.traceparent().ends_with("-03"));
        // Later versions are read as far as they are known, and answered in this one.
        for later in ["cc-", "01-", "fe-"] {
            for rest in ["", "-", "-what.the.future.will.be.like"] {
                let text = format!("{}{rest}", GOOD.replacen("00-", later, 1));
                assert_eq!(parsed(&text).unwrap().traceparent(), GOOD, "{text}");
            }
        }
    }

    #[test]
    fn what_breaks_the_rules_is_ignored() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let zero = "0".repeat(32);
        let (short_trace, short_span) = (trace.strip_prefix('4'), span.strip_prefix('0'));
        let (short_trace, short_span) = (short_trace.unwrap(), short_span.unwrap());
        for bad in [
            String::new(),
            format!("ff-{trace}-{span}-01"),
            format!("00-{zero}-{span}-01"),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{trace}-{}-01", span.to_uppercase()),
            format!("0A-{trace}-{span}-01"),
            format!("00-{trace}-{span}-0A"),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-"),
            format!("00-{trace}-{span}-1"),
            format!("00-{trace}-{span}-011"),
            format!("00-{trace}-{span}-01-"),
            format!("00-{trace}-{span}-01-what"),
            format!("cc-{trace}-{span}-01.what"),
            format!("cc-{trace}-{span}-01x"),
            format!("00-{short_trace}-{span}-01"),
            format!("00-{trace}0-{span}-01"),
            format!("00-{trace}-{short_span}-01"),
            format!("00-{trace}-{span}0-01"),
            format!("0-{trace}-{span}-01"),
            format!("000-{trace}-{span}-01"),
            format!("00_{trace}-{span}-01"),
            format!("00-{trace}-{span}-.0"),
            format!("0.-{trace}-{span}-01"),
            format!("00-.{short_trace}-{span}-01"),
            format!(" 00-{trace}-{span}-01"),
            format!("00-{trace}-{span}-01 "),
            format!("00-{trace}-{span}-é1"),
        ] {
            assert_eq!(parsed(&bad), None, "{bad}");
        }
    }

    #[test]
    fn one_parent_and_any_number_of_states() {
        assert_eq!(of(&[("x", GOOD)]), None);
        assert_eq!(of(&[("traceparent", GOOD), ("traceparent", GOOD)]), None);
        assert_eq!(of(&[("traceparent", "bad"), ("tracestate", "a=1")]), None);
        let context = of(&[
            ("tracestate", "foo=1, ,t@sys=a b"),
            ("traceparent", GOOD),
            ("tracestate", "\tbar=2 "),
        ]);
        let context = context.unwrap();
        assert_eq!(context.state.as_deref(), Some("foo=1,t@sys=a b,bar=2"));
        assert_eq!(context.headers().len(), 2);
    }

    #[test]
    fn a_wrong_state_is_left_out() {
        let many = (0..33).map(|i| format!("k{i}=1")).collect::<Vec<_>>();
        let long = format!("a={}", "x".repeat(257));
        let longer = format!("a={0},b={0},c={0}", "x".repeat(200));
        for bad in [
            "a",
            "=1",
            "A=1",
            "a=",
            "1a=1",
            "a@=1",
            "@a=1",
            "a=1,a=2",
            "a=1=2",
            "a=\u{7f}",
            "a=ü",
            &many.join(","),
            &long,
            &longer,
        ] {
            let context = of(&[("traceparent", GOOD), ("tracestate", bad)]).unwrap();
            assert_eq!(context.state, None, "{bad}");
        }
        let context = of(&[("traceparent", GOOD), ("tracestate", " ")]).unwrap();
        assert_eq!(context.headers(), [("traceparent", GOOD.to_owned())]);
    }

    #[test]
    fn a_child_stays_in_its_trace() {
        let parent = of(&[("traceparent", GOOD), ("tracestate", "a=1")]).unwrap();
        let child = parent.child([7; 8], false);
        assert_eq!(child.parent_id, Some(parent.span_id));
        assert_eq!(child.state, parent.state);
        let written = "00-4bf92f3577b34da6a3ce929d0e0e4736-0707070707070707-00";
        assert_eq!(child.traceparent(), written);
        assert!(parent.child([7; 8], true).is_sampled());
    }
}
