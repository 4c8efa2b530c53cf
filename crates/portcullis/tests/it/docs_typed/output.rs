//! Whether a page shows what a command printed.

/// Stands for what differs from time to time.
const ANY: &str = "...";

/// Whether the lines shown stand for this output.
pub(super) fn fits(shown: &[String], got: &str) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| lasting(line)).collect();
    let got: Vec<String> = got.lines().map(lasting).collect();
    lines(&shown, &got)
}

fn lines(shown: &[String], got: &[String]) -> bool {
    match shown.split_first() {
        None => got.is_empty(),
        Some((first, rest)) if first == ANY => (0..=got.len()).any(|n| lines(rest, &got[n..])),
        Some((first, rest)) => got
            .split_first()
            .is_some_and(|(line, more)| one_line(first, line) && lines(rest, more)),
    }
}

fn one_line(shown: &str, got: &str) -> bool {
    let mut parts = shown.split(ANY);
    let Some(mut rest) = got.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, more)) = rest.split_once(part) else {
            return false;
        };
        rest = more;
    }
    rest.ends_with(last)
}

/// A line without what differs in every run: ids, times, durations, and digests that depend on the version.
fn lasting(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line.trim_end();
    while !rest.is_empty() {
        let is_word = |c: char| c.is_alphanumeric() || ":.-".contains(c);
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let end = if end == 0 {
            rest.chars().next().map_or(0, char::len_utf8)
        } else {
            end
        };
        let (word, more) = rest.split_at(end);
        rest = more;
        match word {
            _ if is_id(word) => kept += "ID",
            _ if is_time(word) => kept += "TIME",
            _ if word.starts_with("sha256:") => kept += "DIGEST",
            "s" | "ms" | "µs" => {
                let number = kept
                    .strip_suffix(' ')
                    .map(|k| k.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
                let spaces = number.map(|k| k.trim_end_matches(' ').len());
                match (number, spaces) {
                    // Durations stand at the right of their column.
                    (Some(number), Some(length)) if number.len() + 1 < kept.len() => {
                        kept.truncate(length);
                        kept += " DURATION";
                    }
                    _ => kept += word,
                }
            }
            _ => kept += word,
        }
    }
    kept
}

/// Whether this is a ULID of our time.
fn is_id(word: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || b.is_ascii_uppercase();
    word.len() == 26 && word.starts_with("01") && word.bytes().all(is_digit)
}

/// Whether this is a time as RFC 3339 writes it.
fn is_time(word: &str) -> bool {
    let shape = |b: u8| if b.is_ascii_digit() { b'0' } else { b };
    let shape: Vec<u8> = word.bytes().map(shape).collect();
    shape.starts_with(b"0000-00-00T00:00:00") && shape.ends_with(b"Z")
}

/// What to show instead: the output, with the lines shown before where they stand for one of its lines.
pub(super) fn updated(shown: &[String], got: &str) -> Vec<String> {
    let line = |got: &str| {
        let known = shown
            .iter()
            .find(|s| *s != ANY && one_line(&lasting(s), &lasting(got)));
        known.map_or_else(|| got.trim_end().to_owned(), Clone::clone)
    };
    got.lines().map(line).collect()
}

#[test]
fn dots_stand_for_anything() {
    let fits = |shown: &str, got: &str| {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        fits(&shown, got)
    };
    for (shown, got) in [
        ("", ""),
        ("a", "a\n"),
        ("a ...", "a b"),
        ("... b", "a b"),
        ("a...c...e", "abcde"),
        ("...", ""),
        ("...", "a\nb"),
        ("a\n...\nd", "a\nb\nc\nd"),
        ("...\nb", "b\na\nb"),
    ] {
        assert!(fits(shown, got), "{shown:?} {got:?}");
    }
    for (shown, got) in [
        ("", "a"),
        ("a", ""),
        ("a", "ab"),
        ("a", "a\nb"),
        ("a ...", "b a"),
        ("a...c", "ab"),
        ("...\nb", "b\na"),
        ("a...a", "a"),
    ] {
        assert!(!fits(shown, got), "{shown:?} {got:?}");
    }
}

#[test]
fn what_every_run_makes_anew_is_not_compared() {
    for (one, other) in [
        (
            "a 01M7HW0BBERA1F8J80QQ2YZAW3)",
            "a 01K9ZV3N5J0000000000000002)",
        ),
        (
            "\"at\":\"2026-11-15T09:15:40Z\"",
            "\"at\":\"2027-01-01T00:00:00.123456789Z\"",
        ),
        ("took 1.4 ms", "took 403 µs"),
        ("pass      40 µs  x", "pass  1.2 s  x"),
        ("sha256:00ff (of", "sha256:1234 (of"),
    ] {
        assert_eq!(lasting(one), lasting(other));
    }
    for line in [
        "a  b",
        "01K9ZV3N5J",
        "ends in 10m",
        "it 's",
        "v1.2 s3",
        "µs",
        "2026-11-15",
    ] {
        assert_eq!(lasting(line), line);
    }
}

#[test]
fn updates_keep_what_still_stands_for_a_line() {
    let shown = ["id ...", "old", "took 1 s", ANY].map(str::to_owned);
    assert_eq!(
        updated(&shown, "id 7\nnew\ntook 20 ms\n"),
        ["id ...", "new", "took 1 s"]
    );
}
