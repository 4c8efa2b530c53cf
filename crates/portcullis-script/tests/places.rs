//! Whatever is kept stays at its line and column.
#![allow(
    clippy::panic,
    clippy::string_slice,
    reason = "functions of tests may fail"
)]

use portcullis_script::{Language, prepare};
use proptest::prelude::*;

/// Parts of modules. What is called `keep` stays, what is called `gone` does not; `N` is a number.
const PARTS: &[&str] = &[
    "import goneN, {gone as goneN2} from './goneN'",
    "import type {Gone} from 'gone'",
    "import {\n  goneN as goneN3, // gone\n  type Gone,\n} from './gone𝒳é'",
    "export const keepN: goneN = keep.keep as gone",
    "var keepN = 'keep', sameN; export {sameN as goneN}",
    "export * as goneN4 from 'gone'",
    "export async function keepN(keep: gone<'𝒳é'>, keep2?: gone): gone<gone> { keep() }",
    "export abstract class keepN<gone> extends keep implements gone { keep?: gone = 1; abstract gone(): gone }",
    "type goneN = {\r\n  gone: 'é𝒳'\r\n}",
    "interface goneN { gone: '𝒳' } keep()",
    "let keepN = '𝒳' as gone, keepN1: '𝒳é' = `keep${keep!}`",
    "const keepN = <gone,>(keep: gone):\n gone => keep satisfies gone",
    "function goneN(gone: gone): gone\nfunction keepN(keep: any) { return keep! }",
    "declare const goneN: gone",
    "/* keep 𝒳 */ keep(/keep/, 1)",
    "if (keep as gone) { keep } else keep!",
];

const LAST: &[&str] = &[
    "",
    "export default keep",
    "export default(keep)",
    "export default function keepN(keep) {}",
    "export default function <gone>(keep: gone) {}",
    "export default class extends keep {}",
    "export default async (keep: gone): gone => keep",
];

fn words(text: &str, start: &str) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    for (line, text) in text.split('\n').enumerate() {
        for (at, _) in text.match_indices(start) {
            let column = text[..at].chars().count();
            let word = text[at..].chars().take_while(char::is_ascii_alphanumeric);
            found.push((line, column, word.collect()));
        }
    }
    found
}

fn check(text: &str) {
    let script = match prepare(text, Language::TypeScript) {
        Ok(script) => script,
        Err(faults) => panic!("{text}\n{faults:?}"),
    };
    let code = script.code();
    assert_eq!(words(code, "keep"), words(text, "keep"), "{text}\n{code}");
    assert_eq!(words(code, "gone"), [], "{code}");
    let widths = |text: &str| -> Vec<_> { text.split('\n').map(|l| l.chars().count()).collect() };
    assert_eq!(widths(code), widths(text), "{code}");
    let carriage_returns = |text: &str| text.matches("\r\n").count();
    assert_eq!(carriage_returns(code), carriage_returns(text));
}

fn numbered(part: &str, number: usize) -> String {
    part.replace('N', &format!("N{number}x"))
}

#[test]
fn each_part_alone() {
    for part in PARTS.iter().chain(LAST) {
        check(&numbered(part, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_together(
        parts in prop::collection::vec((0..PARTS.len(), 0..4_usize), 0..12),
        last in 0..LAST.len(),
    ) {
        let mut text = String::new();
        for (number, (part, end)) in parts.into_iter().enumerate() {
            text.push_str(&numbered(PARTS[part], number));
            text.push_str(["\n", "\r\n", "; /* é𝒳 */ ", ";\n\n\t"][end]);
        }
        text.push_str(&numbered(LAST[last], 99));
        check(&text);
    }
}
