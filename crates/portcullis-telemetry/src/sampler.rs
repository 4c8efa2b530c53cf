//! Which traces are recorded.

/// What to do with a trace that begins here, or with every trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    On,
    Off,
    /// Traces whose id, read as a number of 63 bits, is below this one.
    Below(u64),
}

/// Which traces are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampler {
    rule: Rule,
    /// Whether what the caller does is done here too.
    follows_parent: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            rule: Rule::On,
            follows_parent: true,
        }
    }
}

impl Sampler {
    /// The sampler of this name, with its argument.
    pub(crate) fn new(name: &str, argument: Option<&str>) -> Result<Self, String> {
        let (follows_parent, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let rule = match root {
            "always_on" => Rule::On,
            "always_off" => Rule::Off,
            "traceidratio" => {
                let ratio = argument.map_or(Ok(1.0), str::parse::<f64>);
                let ratio = ratio.ok().filter(|ratio| (0.0..=1.0).contains(ratio));
                let ratio = ratio.ok_or("its argument must be a number from 0 to 1")?;
                Rule::Below((ratio * (1u64 << 63) as f64) as u64)
            }
            _ => {
                return Err(
                    "expected always_on, always_off or traceidratio, each also with the prefix \
                     parentbased_"
                        .to_owned(),
                );
            }
        };
        Ok(Self {
            rule,
            follows_parent,
        })
    }

    /// Whether this trace is recorded, for a caller who does so or not, if there is one.
    pub(crate) fn samples(self, trace_id: &[u8; 16], parent: Option<bool>) -> bool {
        match (parent, self.rule) {
            (Some(parent), _) if self.follows_parent => parent,
            (_, Rule::On) => true,
            (_, Rule::Off) => false,
            (_, Rule::Below(bound)) => {
                let [_, _, _, _, _, _, _, _, low @ ..] = *trace_id;
                u64::from_be_bytes(low) >> 1 < bound
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(name: &str, argument: Option<&str>, parent: Option<bool>) -> bool {
        let sampler = Sampler::new(name, argument).unwrap();
        sampler.samples(&[0x55; 16], parent)
    }

    #[test]
    fn the_caller_counts_where_it_should() {
        for parent in [None, Some(true), Some(false)] {
            assert!(samples("always_on", None, parent));
            assert!(!samples("always_off", None, parent));
        }
        assert!(samples("parentbased_always_off", None, Some(true)));
        assert!(!samples("parentbased_always_on", None, Some(false)));
        assert!(samples("parentbased_always_on", None, None));
        assert!(!samples("parentbased_always_off", None, None));
        assert!(samples("parentbased_traceidratio", Some("0"), Some(true)));
        assert_eq!(
            Sampler::new("parentbased_always_on", None),
            Ok(Sampler::default())
        );
    }

    #[test]
    fn a_ratio_is_a_bound_on_the_id() {
        let sampler = |ratio| Sampler::new("traceidratio", Some(ratio)).unwrap();
        assert!(sampler("1").samples(&[0xff; 16], None));
        assert!(!sampler("0").samples(&[0; 16], None));
        assert!(sampler("0.5").samples(&[0x7f; 16], None));
        assert!(!sampler("0.5").samples(&[0x80; 16], None));
        assert!(samples("traceidratio", None, Some(false)));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (name, argument) in [
            ("jaeger_remote", None),
            ("parentbased_", None),
            ("", None),
            ("traceidratio", Some("2")),
            ("traceidratio", Some("-0.1")),
            ("traceidratio", Some("NaN")),
            ("traceidratio", Some("half")),
        ] {
            assert!(Sampler::new(name, argument).is_err(), "{name}");
        }
    }
}
