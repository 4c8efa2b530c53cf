//! XML, as far as reports need it.

/// Text for XML 1.0, inside and outside of quotes; what XML can't say becomes a replacement mark.
pub(in crate::commands) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                safe.push('\u{fffd}');
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_written_is_escaped() {
        assert_eq!(
            escaped("<a b=\"c\">&'\n\u{1}]]>"),
            "&lt;a b=&quot;c&quot;&gt;&amp;&apos;&#10;\u{fffd}]]&gt;"
        );
    }
}
