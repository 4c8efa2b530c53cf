//! Errors of the operating system, in the words that users read. What failed, and where, is said by the caller.

use std::io;

/// Why a file can't be read, or a server not be reached, in plain words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "a part of its path is not a directory".to_owned(),
        _ => without_number(&error.to_string()),
    }
}

/// What the system says, without the number of the error.
fn without_number(text: &str) -> String {
    let text = text
        .rsplit_once(" (os error ")
        .map_or(text, |(text, _)| text);
    let mut characters = text.chars();
    let first = characters.next();
    first.map_or_else(String::new, |first| {
        let first = first.to_lowercase();
        first.chain(characters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_no_numbers() {
        for (number, text) in [
            (2, "no such file or directory"),
            (13, "permission denied"),
            (111, "connection refused"),
        ] {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(reason(&error), text);
        }
        assert_eq!(reason(&io::Error::other("No answer")), "no answer");
    }
}
