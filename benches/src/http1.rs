//! Just enough HTTP/1.1 to ask a known server: requests made once, answers cut out of a buffer.

mod chunked;

use std::borrow::Cow;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// `GET` or `POST`.
    pub(crate) method: &'static str,
    /// The path with its query.
    pub(crate) path: &'static str,
    /// The body; empty with `GET`.
    pub(crate) body: Vec<u8>,
}

impl Question {
    /// The bytes to send, for every request the same.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: localhost\r\nuser-agent: kube-apiserver-admission\r\n\
             accept: application/json, */*\r\n",
            self.method, self.path
        );
        if !self.body.is_empty() {
            let length = self.body.len();
            head += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

/// An answer, as far as the benchmark looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// The status.
    pub(crate) status: u16,
    /// The whole body.
    pub(crate) body: Cow<'a, [u8]>,
    /// The length of head and body together.
    pub(crate) length: usize,
    /// The status line and the headers.
    head: &'a [u8],
}

impl Answer<'_> {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.split(|byte| *byte == b'\n').skip(1);
        lines.find_map(|line| {
            let (found, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// An answer that can't be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotHttp(pub(crate) &'static str);

/// The answer at the start of the buffer; none while it is not yet whole.
pub(crate) fn parse(buffer: &[u8]) -> Result<Option<Answer<'_>>, NotHttp> {
    const BLANK: &[u8] = b"\r\n\r\n";
    let Some(head_length) = find(buffer, BLANK) else {
        return Ok(None);
    };
    let (head, rest) = buffer.split_at(head_length);
    let rest = rest.get(BLANK.len()..).unwrap_or_default();
    let mut lines = head.split(|b| *b == b'\n');
    let status = status(lines.next().unwrap_or_default()).ok_or(NotHttp("no status line"))?;
    let (body, length) = match lines.clone().find_map(content_length) {
        Some(length) => (rest.get(..length).map(Cow::Borrowed), length),
        None if status == 204 => (Some(Cow::Borrowed(&[][..])), 0),
        None if lines.any(chunked::is_announced) => match chunked::body(rest)? {
            Some((body, length)) => (Some(Cow::Owned(body)), length),
            None => (None, 0),
        },
        None => return Err(NotHttp("no content-length")),
    };
    Ok(body.map(|body| Answer {
        status,
        body,
        length: head_length + BLANK.len() + length,
        head,
    }))
}

/// The status in `HTTP/1.1 200 OK`.
fn status(line: &[u8]) -> Option<u16> {
    number(line.strip_prefix(b"HTTP/1.1 ")?.get(..3)?)?
        .try_into()
        .ok()
}

/// The length in `content-length: 123`.
pub(crate) fn content_length(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let (name, value) = line.split_at_checked(NAME.len())?;
    name.eq_ignore_ascii_case(NAME)
        .then(|| number(value.trim_ascii()))?
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Where the needle first is.
pub(crate) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    loop {
        let rest = haystack.get(from..)?;
        let at = from + rest.iter().position(|b| *b == first)?;
        if haystack.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

    #[test]
    fn an_answer_is_cut_out_of_what_follows() {
        let buffer = [WHOLE, b"HTTP/1.1 500"].concat();
        let answer = parse(&buffer).unwrap().unwrap();
        assert_eq!(
            (answer.status, &*answer.body, answer.length),
            (200, &b"ok"[..], WHOLE.len())
        );
    }

    #[test]
    fn half_an_answer_is_none_yet() {
        for end in 0..WHOLE.len() {
            assert_eq!(parse(&WHOLE[..end]), Ok(None), "{end}");
        }
    }

    #[test]
    fn an_empty_body_is_whole() {
        let answer = parse(b"HTTP/1.1 204 No Content\r\ncontent-length:0\r\n\r\n")
            .unwrap()
            .unwrap();
        assert_eq!((answer.status, &*answer.body), (204, &b""[..]));
        let without = b"HTTP/1.1 204 No Content\r\nx-gitlab-last-update: 7\r\n\r\n";
        let answer = parse(without).unwrap().unwrap();
        assert_eq!((answer.status, answer.length), (204, without.len()));
        assert_eq!(answer.header("X-GitLab-Last-Update"), Some("7"));
        assert_eq!(answer.header("last-update"), None);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let endless = b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n";
        assert_eq!(parse(endless), Err(NotHttp("no content-length")));
        assert_eq!(parse(b"SSH-2.0\r\n\r\n"), Err(NotHttp("no status line")));
        let long = b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n";
        assert_eq!(parse(long), Err(NotHttp("no content-length")));
    }

    #[test]
    fn chunks_are_one_body() {
        let whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                      2\r\no\n\r\nA\r\n0123456789\r\n0\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(parse(&whole[..end]), Ok(None), "{end}");
        }
        let answer = parse(whole).unwrap().unwrap();
        assert_eq!(
            (&*answer.body, answer.length),
            (&b"o\n0123456789"[..], whole.len())
        );
        let broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n";
        assert_eq!(parse(broken), Err(NotHttp("a chunk without a length")));
    }

    #[test]
    fn a_request_says_how_long_it_is() {
        let question = Question {
            method: "POST",
            path: "/validate",
            body: b"{}".to_vec(),
        };
        let text = String::from_utf8(question.to_bytes()).unwrap();
        assert!(text.starts_with("POST /validate HTTP/1.1\r\n"));
        assert!(text.ends_with("content-length: 2\r\n\r\n{}"));
    }

    #[test]
    fn needles_are_found_after_false_starts() {
        assert_eq!(find(b"aab", b"ab"), Some(1));
        assert_eq!(find(b"aa", b"ab"), None);
        assert_eq!(find(b"", b"a"), None);
    }
}
