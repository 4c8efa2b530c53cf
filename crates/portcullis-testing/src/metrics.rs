//! Reads the text format of metrics, strictly.

use std::collections::{BTreeMap, HashMap, HashSet};

type Labels = BTreeMap<String, String>;

/// All samples, by name.
#[derive(Debug, Default)]
pub struct Metrics {
    samples: HashMap<String, Vec<(Labels, f64)>>,
    types: HashMap<String, String>,
}

impl Metrics {
    /// Panics at the first line that a scraper would not take.
    #[track_caller]
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut metrics = Self::default();
        let mut seen = HashSet::new();
        assert!(text.ends_with("# EOF\n"), "no end");
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(comment) = line.strip_prefix("# ") {
                let words: Vec<&str> = comment.splitn(3, ' ').collect();
                assert!(
                    matches!(words[0], "HELP" | "TYPE" | "UNIT") && words.len() == 3,
                    "{line}"
                );
                if words[0] == "TYPE" {
                    let before = metrics
                        .types
                        .insert(words[1].to_owned(), words[2].to_owned());
                    assert_eq!(before, None, "a second type: {line}");
                }
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            let (name, labels) = match series.split_once('{') {
                None => (series, Labels::new()),
                Some((name, rest)) => (name, labels(rest).unwrap_or_else(|| panic!("{line}"))),
            };
            assert!(
                seen.insert((name.to_owned(), labels.clone())),
                "a series twice: {line}"
            );
            metrics
                .samples
                .entry(name.to_owned())
                .or_default()
                .push((labels, value));
        }
        metrics
    }

    /// The sum of all series of this name with these labels.
    #[must_use]
    pub fn total(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let all = self.samples.get(name).map_or(&[][..], Vec::as_slice);
        let fits = |have: &Labels| {
            labels
                .iter()
                .all(|(k, v)| have.get(*k).is_some_and(|h| h == v))
        };
        all.iter()
            .filter(|(have, _)| fits(have))
            .map(|(_, value)| value)
            .sum()
    }

    /// Whether there are samples of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.samples.contains_key(name)
    }

    /// Families of this type.
    pub fn of_type(&self, wanted: &str) -> impl Iterator<Item = &str> {
        self.types
            .iter()
            .filter(move |(_, kind)| *kind == wanted)
            .map(|(name, _)| name.as_str())
    }

    /// The growing values of each histogram series of this family, with its count.
    #[must_use]
    pub fn histograms(&self, family: &str) -> Vec<(Vec<(f64, f64)>, f64)> {
        let mut series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for (labels, value) in self
            .samples
            .get(&format!("{family}_bucket"))
            .into_iter()
            .flatten()
        {
            let mut labels = labels.clone();
            let bound = labels.remove("le").unwrap().parse().unwrap();
            series.entry(labels).or_default().push((bound, *value));
        }
        let counts = &self.samples.get(&format!("{family}_count"));
        let count = |labels: &Labels| {
            let all = counts.map_or(&[][..], Vec::as_slice);
            all.iter().find(|(have, _)| have == labels).unwrap().1
        };
        series
            .into_iter()
            .map(|(labels, buckets)| (buckets, count(&labels)))
            .collect()
    }

    /// Every value of every label.
    pub fn label_values(&self) -> impl Iterator<Item = &str> {
        let all = self.samples.values().flatten();
        all.flat_map(|(labels, _)| labels.values().map(String::as_str))
    }
}

/// `a="b",c="d"}`, where values may hold escaped characters.
fn labels(text: &str) -> Option<Labels> {
    let mut labels = Labels::new();
    let mut rest = text;
    loop {
        if let Some(end) = rest.strip_prefix('}') {
            return end.is_empty().then_some(labels);
        }
        let (name, after) = rest.split_once("=\"")?;
        let (mut value, mut characters) = (String::new(), after.chars());
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => match characters.next()? {
                    'n' => value.push('\n'),
                    c @ ('"' | '\\') => value.push(c),
                    _ => return None,
                },
                c => value.push(c),
            }
        }
        labels
            .insert(name.to_owned(), value)
            .is_none()
            .then_some(())?;
        rest = characters.as_str();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}
