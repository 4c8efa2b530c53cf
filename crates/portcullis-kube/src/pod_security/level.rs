//! Levels, versions, and the policy made of them.
//!
//! Written and read exactly as on namespace labels: `baseline`, `latest`,
//! `v1.28`.

use std::{fmt, str::FromStr};

/// How strict a policy is; a greater level is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Level {
    /// Everything goes.
    Privileged,
    /// Known ways to take over a node are barred.
    Baseline,
    /// Current hardening practice is required.
    Restricted,
}

impl Level {
    /// The level's name on labels.
    #[must_use]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A word that is not a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of privileged, baseline, restricted")]
pub(crate) struct ParseLevelError;

impl FromStr for Level {
    type Err = ParseLevelError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "privileged" => Ok(Self::Privileged),
            "baseline" => Ok(Self::Baseline),
            "restricted" => Ok(Self::Restricted),
            _ => Err(ParseLevelError),
        }
    }
}

/// Which Kubernetes minor version's wording of the standards applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Version {
    /// That of Kubernetes 1.x; newer than known ones count as the newest known.
    V(u64),
    /// The newest known; ordered after all others.
    Latest,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V(minor) => write!(formatter, "v1.{minor}"),
            Self::Latest => formatter.write_str("latest"),
        }
    }
}

/// A word that is not a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be \"latest\" or \"v1.x\"")]
pub(crate) struct ParseVersionError;

impl FromStr for Version {
    type Err = ParseVersionError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        if word == "latest" {
            return Ok(Self::Latest);
        }
        let minor = word.strip_prefix("v1.").ok_or(ParseVersionError)?;
        let is_plain = minor.bytes().all(|byte| byte.is_ascii_digit())
            && (minor == "0" || !minor.starts_with('0'));
        match minor.parse::<u64>() {
            Ok(number) if is_plain && i64::try_from(number).is_ok() => Ok(Self::V(number)),
            _ => Err(ParseVersionError),
        }
    }
}

/// A level as of a version; prints as `baseline:v1.28`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LevelVersion {
    /// How strict.
    pub level: Level,
    /// As of when.
    pub version: Version,
}

impl LevelVersion {
    /// `privileged:latest`, which lets everything through.
    pub(crate) const PRIVILEGED: Self = Self::new(Level::Privileged, Version::Latest);

    /// A level as of a version.
    #[must_use]
    pub(crate) const fn new(level: Level, version: Version) -> Self {
        Self { level, version }
    }

    /// Whether both judge every pod alike: versions of `privileged` do not
    /// differ.
    #[must_use]
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self == other || (self.level == Level::Privileged && other.level == Level::Privileged)
    }
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.level, self.version)
    }
}

/// What a namespace asks for, one level for each of the three modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Violations are denied.
    pub enforce: LevelVersion,
    /// Violations are noted in the audit log.
    pub audit: LevelVersion,
    /// Violations are reported to the user.
    pub warn: LevelVersion,
}

impl Policy {
    /// Whether no mode looks at anything.
    #[must_use]
    pub(crate) fn is_fully_privileged(&self) -> bool {
        [self.enforce, self.audit, self.warn]
            .iter()
            .all(|mode| mode.level == Level::Privileged)
    }

    /// Whether both judge every pod alike in each mode.
    #[must_use]
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.enforce.is_equivalent(&other.enforce)
            && self.audit.is_equivalent(&other.audit)
            && self.warn.is_equivalent(&other.warn)
    }
}

impl Default for Policy {
    /// Privileged in all modes, as in Kubernetes without configuration.
    fn default() -> Self {
        Self {
            enforce: LevelVersion::PRIVILEGED,
            audit: LevelVersion::PRIVILEGED,
            warn: LevelVersion::PRIVILEGED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, LevelVersion, Version};

    #[test]
    fn levels_are_read_as_printed_and_ordered_by_strictness() {
        for level in [Level::Privileged, Level::Baseline, Level::Restricted] {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        for word in ["", "Baseline", "baseline ", "none"] {
            assert!(word.parse::<Level>().is_err(), "{word}");
        }
        assert!(Level::Privileged < Level::Baseline && Level::Baseline < Level::Restricted);
    }

    #[test]
    fn versions_are_read_as_printed() {
        for word in ["latest", "v1.0", "v1.9", "v1.28", "v1.9223372036854775807"] {
            let version: Version = word.parse().expect(word);
            assert_eq!(version.to_string(), word);
        }
        for word in [
            "",
            "v1",
            "v1.",
            "1.28",
            "v2.0",
            "v1.01",
            "v1.00",
            "v1.+1",
            "v1.-1",
            "v1.28.0",
            "Latest",
            "v1.9223372036854775808",
            "v1.1 ",
            "V1.1",
        ] {
            assert!(word.parse::<Version>().is_err(), "{word}");
        }
    }

    #[test]
    fn latest_is_newer_than_any_number() {
        assert!(Version::V(u64::MAX) < Version::Latest);
        assert!(Version::V(9) < Version::V(28));
    }

    #[test]
    fn versions_of_privileged_are_equivalent() {
        let old = LevelVersion::new(Level::Privileged, Version::V(3));
        assert!(old.is_equivalent(&LevelVersion::PRIVILEGED));
        let baseline = LevelVersion::new(Level::Baseline, Version::V(3));
        let latest = LevelVersion::new(Level::Baseline, Version::Latest);
        assert!(!baseline.is_equivalent(&latest));
    }
}
