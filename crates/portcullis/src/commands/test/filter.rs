//! Which tests run: those whose file or name fits `--filter`.

use std::str::FromStr;

use portcullis_core::Glob;
use regex::Regex;

/// What a file or a name of a test must look like.
#[derive(Debug, Clone)]
pub(super) struct TestFilter {
    written: String,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    /// It contains this text.
    Text,
    /// It fits this pattern as a whole.
    Pattern(Glob),
    /// This is found in it.
    Regex(Regex),
}

impl FromStr for TestFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let regex = text
            .strip_prefix('/')
            .and_then(|text| text.strip_suffix('/'));
        let form = match regex.filter(|regex| !regex.is_empty()) {
            Some(regex) => Form::Regex(Regex::new(regex).map_err(|error| {
                // The last line says what is wrong, those before it show where.
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default();
                let why = why.trim_start_matches("error: ");
                format!("invalid regular expression: {why}")
            })?),
            None if text.contains(['*', '?']) => Form::Pattern(Glob::new(text)),
            None => Form::Text,
        };
        Ok(Self {
            written: text.to_owned(),
            form,
        })
    }
}

impl TestFilter {
    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a test of this file and this name runs.
    pub(super) fn fits(&self, file: &str, name: &str) -> bool {
        let last = file.rsplit('/').next().unwrap_or(file);
        match &self.form {
            Form::Text => file.contains(&self.written) || name.contains(&self.written),
            Form::Pattern(glob) => [file, last, name].into_iter().any(|it| glob.matches(it)),
            Form::Regex(regex) => regex.is_match(file) || regex.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_patterns_and_regular_expressions_are_told_apart() {
        for (filter, fits) in [
            ("pods", true),
            ("latest is", true),
            ("deploy", false),
            ("latest*", true),
            ("*denied", true),
            ("denied*", false),
            ("pods*", true),
            ("tests/*.yaml", true),
            ("*.ts", false),
            ("latest ?s denied", true),
            ("/^latest .* denied$/", true),
            ("/^denied/", false),
            ("/pods\\.test/", true),
            ("tests/pods", true),
            ("/", true),
        ] {
            let made: TestFilter = filter.parse().unwrap();
            let found = made.fits("tests/pods.test.yaml", "latest is denied");
            assert_eq!(found, fits, "{filter}");
        }
        let wrong = "/(/".parse::<TestFilter>().unwrap_err();
        assert!(wrong.starts_with("invalid regular expression: "), "{wrong}");
    }
}
