//! A small reader of XML that accepts well-formed text only.

/// An element of an XML text: name, attributes, and how deep it stands.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    pub(crate) depth: usize,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }
}

fn unescaped(text: &str) -> String {
    assert!(!text.contains('<'), "a bare < in {text}");
    let mut parts = text.split('&');
    let mut clean = parts.next().unwrap().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').expect("a bare &");
        clean.push_str(match entity {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "apos" => "'",
            "#10" => "\n",
            "#9" => "\t",
            other => panic!("unknown entity {other}"),
        });
        clean.push_str(rest);
    }
    clean
}

/// All elements of an XML text; a text that is not well-formed panics.
pub(crate) fn elements(text: &str) -> Vec<Element> {
    let text = text
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .unwrap();
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "a control character"
    );
    let (mut found, mut open, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once('<') {
        unescaped(before);
        let (tag, left) = after.split_once('>').expect("an open tag");
        rest = left;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "wrong end");
            continue;
        }
        let is_closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut inner) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        while !inner.trim().is_empty() {
            let (key, value) = inner.split_once("=\"").expect("an attribute");
            let (value, left) = value.split_once('"').expect("an open quote");
            attributes.push((key.trim().to_owned(), unescaped(value)));
            inner = left;
        }
        found.push(Element {
            name: name.to_owned(),
            attributes,
            depth: open.len(),
        });
        if !is_closed {
            open.push(name.to_owned());
        }
    }
    assert!(
        open.is_empty() && rest.trim().is_empty(),
        "unclosed: {open:?} {rest}"
    );
    found
}
