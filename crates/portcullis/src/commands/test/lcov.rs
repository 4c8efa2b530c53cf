//! Coverage in the format of lcov, for files alone.

use std::fmt::Write;

use portcullis_gate::offline::Coverage;

use super::outcome::Tested;

/// The report.
pub(super) fn write(tested: &Tested) -> String {
    let mut text = String::new();
    let files = tested.coverage.iter().flat_map(Coverage::files);
    for file in files.filter(|file| file.is_file) {
        let _ = writeln!(text, "TN:\nSF:{}", file.name);
        for (line, hits) in file.lines() {
            let _ = writeln!(text, "DA:{line},{hits}");
        }
        let (run, all) = (file.run(), file.count());
        let _ = writeln!(text, "LF:{all}\nLH:{run}\nend_of_record");
    }
    text
}
