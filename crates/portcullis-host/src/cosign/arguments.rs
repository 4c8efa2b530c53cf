//! The arguments of `cosign verify`, as far as the built-in verification has the same meaning for them.
//!
//! Everything else is an error: an argument that is passed over could make it accept what the program would not.

use std::collections::BTreeMap;

/// What arguments say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    /// Nothing is looked up in the transparency log.
    ignores_log: bool,
    /// What signatures must say besides.
    pub(super) annotations: BTreeMap<String, String>,
}

impl Arguments {
    /// Reads them; each is a flag, with its value after `=`.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut read = Self::default();
        for argument in arguments {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.as_str(), None),
            };
            let is_on = || match value {
                None | Some("true" | "1" | "t" | "T" | "TRUE" | "True") => Ok(true),
                Some("false" | "0" | "f" | "F" | "FALSE" | "False") => Ok(false),
                Some(_) => Err(format!("`{name}` is true or false")),
            };
            match (name, value) {
                ("--insecure-ignore-tlog" | "--private-infrastructure", _) => {
                    read.ignores_log |= is_on()?;
                }
                // Only for certificates.
                ("--insecure-ignore-sct", _) => drop(is_on()?),
                ("--check-claims", _) if is_on()? => {}
                ("-a" | "--annotations", Some(pairs)) => {
                    for pair in pairs.split(',') {
                        let (key, value) = pair
                            .split_once('=')
                            .filter(|(key, _)| !key.is_empty())
                            .ok_or_else(|| format!("`{name}` needs key=value"))?;
                        read.annotations.insert(key.to_owned(), value.to_owned());
                    }
                }
                _ => {
                    return Err(format!(
                        "the built-in verification does not support the argument `{name}`: install cosign"
                    ));
                }
            }
        }
        Ok(read)
    }

    /// Whether that is enough to verify.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.ignores_log {
            true => Ok(()),
            false => Err(
                "the built-in verification can't check the transparency log: install cosign, or set \
                 `cosignArguments: [--insecure-ignore-tlog=true]` if signatures are not in the log"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Arguments, String> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let read = Arguments::read(&arguments)?;
        read.check().map(|()| read)
    }

    #[test]
    fn the_log_must_be_ignored_explicitly() {
        for good in [
            "--insecure-ignore-tlog",
            "--insecure-ignore-tlog=true",
            "--private-infrastructure=true",
        ] {
            assert!(read(&[good]).is_ok(), "{good}");
        }
        for bad in [
            &[][..],
            &["--insecure-ignore-tlog=false"],
            &["--insecure-ignore-tlog=maybe"],
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn nothing_is_passed_over() {
        for bad in [
            "--check-claims=false",
            "--offline",
            "--rekor-url=https://r.example",
            "--certificate-identity=a",
            "--annotations=a",
            "--annotations",
            "-a==b",
        ] {
            assert!(read(&["--insecure-ignore-tlog", bad]).is_err(), "{bad}");
        }
        let both = read(&[
            "--insecure-ignore-tlog",
            "-a=x=1",
            "--annotations=y=2,z=3=4",
        ]);
        let annotations = both.unwrap().annotations;
        let pairs: Vec<_> = annotations
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(pairs, [("x", "1"), ("y", "2"), ("z", "3=4")]);
    }
}
