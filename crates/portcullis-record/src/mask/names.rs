//! Names that say that a value is a secret.
//!
//! A name is compared in lower case and without what is neither letter nor digit, so that
//! `access_token`, `accessToken` and `ACCESS-TOKEN` are one name. Digits at its end don't count, nor
//! does one of the words `value`, `hash`, `plain`, `plaintext`, `base64`, `b64`, `pem`, `raw`, `encoded`.
//!
//! | What | Which |
//! |---|---|
//! | Names **ending** in | `token`, `password`, `passwd`, `pwd`, `passphrase`, `secret`, `credential`, `apikey`, `accesskey`, `secretkey`, `privatekey`, `encryptionkey`, `signingkey`, `masterkey`, `accountkey`, `sharedkey`, `licensekey`, `hmackey`, `symmetrickey`, `storagekey`, `sshkey`, `tlskey`, `authkey`, `clientkey`, `deploykey`, `sessionkey`, `clientkeydata`, `authorization`, `connectionstring`, `cookie`, `bearer`, each also in the plural |
//! | Names **being** | `auth`, `auths`, `dsn`, `connstr`, `kubeconfig`, `dockerconfigjson`, `dockercfg`, `jwt` |
//! | but **not** ending in | `pullsecret(s)`, `existingsecret` (names of Secrets), `maxtokens`, `mintokens`, `numtokens`, `totaltokens` (counts) |
//! | Environment | `env`, `envs`, `envvars`, `extraenv`, `extraenvs`, `environmentvariables`: if a list or map, its values |
//! | Pairs | `value` beside a `name` or `key` that is such a name: `{name: Authorization, value: …}` |
//! | Headers, query parameters | names **containing** `token`, `secret`, `key`, `passw`, `pwd`, `auth`, `credential`, `cookie`, `session`, `signature`, `assertion`, `jwt`; a parameter also if it is `sig` |
//!
//! So `secretName`, `secretRef`, `secretKeyRef`, `tokenExpirationSeconds`, `tokenFile`, `topologyKey`,
//! `publicKey` and `key` are none. Whatever its name, a `true` or `false` is never masked, nor is `null` or an
//! empty text. An object under such a name is masked only in its member `value`
//! (`secret: {secretName: …}` is a volume).

/// What the name of a member means for its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyRule {
    /// Nothing.
    None,
    /// The value is a secret.
    Secret,
    /// The value may be a list or map of environment variables.
    Environment,
    /// `data`, `stringData`, `binaryData`: secret in a Secret.
    Data,
    /// `variables`: environment variables in a CI job.
    Variables,
    /// `value`: secret beside a `name` that is the name of a secret.
    Value,
}

/// A whole earlier version of the object, secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The endings of names of secrets that have this last letter.
const fn endings(last: u8) -> &'static [&'static [u8]] {
    match last {
        b'a' => &[b"clientkeydata"],
        b'd' => &[b"password", b"passwd", b"pwd"],
        b'e' => &[b"passphrase", b"cookie"],
        b'g' => &[b"connectionstring"],
        b'l' => &[b"credential"],
        b'n' => &[b"token", b"authorization"],
        b'r' => &[b"bearer"],
        b't' => &[b"secret"],
        b'y' => &[
            b"apikey",
            b"accesskey",
            b"secretkey",
            b"privatekey",
            b"encryptionkey",
            b"signingkey",
            b"masterkey",
            b"accountkey",
            b"sharedkey",
            b"licensekey",
            b"hmackey",
            b"symmetrickey",
            b"storagekey",
            b"sshkey",
            b"tlskey",
            b"authkey",
            b"clientkey",
            b"deploykey",
            b"sessionkey",
        ],
        _ => &[],
    }
}

const WHOLE: [&[u8]; 8] = [
    b"auth",
    b"auths",
    b"dsn",
    b"connstr",
    b"kubeconfig",
    b"dockerconfigjson",
    b"dockercfg",
    b"jwt",
];

const EXCEPTIONS: [&[u8]; 7] = [
    b"pullsecret",
    b"pullsecrets",
    b"existingsecret",
    b"maxtokens",
    b"mintokens",
    b"numtokens",
    b"totaltokens",
];

const ENVIRONMENT: [&[u8]; 6] = [
    b"env",
    b"envs",
    b"envvars",
    b"extraenv",
    b"extraenvs",
    b"environmentvariables",
];

/// Words behind the name proper.
const BEHIND: [&[u8]; 9] = [
    b"value",
    b"hash",
    b"plain",
    b"plaintext",
    b"base64",
    b"b64",
    b"pem",
    b"raw",
    b"encoded",
];

const PARTS: [&[u8]; 12] = [
    b"token",
    b"secret",
    b"key",
    b"passw",
    b"pwd",
    b"auth",
    b"credential",
    b"cookie",
    b"session",
    b"signature",
    b"assertion",
    b"jwt",
];

/// What the name of a member means.
#[inline]
pub(crate) fn key_rule(key: &str) -> KeyRule {
    if !may_matter(key.as_bytes()) {
        return KeyRule::None;
    }
    match key {
        "data" | "stringData" | "binaryData" => KeyRule::Data,
        "value" => KeyRule::Value,
        // In every pod, and sooner known than by looking through all words.
        "env" => KeyRule::Environment,
        "key" | "metadata" => KeyRule::None,
        "variables" => KeyRule::Variables,
        LAST_APPLIED => KeyRule::Secret,
        key => normal_rule(key),
    }
}

/// Whether a name, like that of a pair, is the name of a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    key_rule(name) == KeyRule::Secret
}

/// Whether a name of a header or query parameter is the name of a secret.
pub(crate) fn is_secret_header(name: &str) -> bool {
    let begins = |rest: &[u8], part: &[u8]| {
        rest.get(..part.len())
            .is_some_and(|beginning| beginning.eq_ignore_ascii_case(part))
    };
    let name = name.as_bytes();
    (0..name.len()).any(|at| {
        let rest = name.get(at..).unwrap_or_default();
        // What the parts begin with.
        let first = rest.first().map(u8::to_ascii_lowercase);
        matches!(first, Some(b't' | b's' | b'k' | b'p' | b'a' | b'c' | b'j'))
            && PARTS.iter().any(|part| begins(rest, part))
    })
}

/// Whether the last letters are those of any name that matters: most names end otherwise. May say yes
/// too often, but never no to a name that has a rule.
#[inline]
fn may_matter(key: &[u8]) -> bool {
    // ASCII letters all have the bit 0x40 and lack the bit 0x80. The few other bytes of which this is true
    // are in the table.
    if let [.., a, b, c] = *key
        && a & b & c & 0x40 != 0
        && (a | b | c) & 0x80 == 0
        && !is_ending(a, b, c)
    {
        return false;
    }
    may_matter_by_last_letters(key)
}

/// The same for those, and for names with something else than letters at their end.
fn may_matter_by_last_letters(key: &[u8]) -> bool {
    let Some((key, [a, b, c])) = last_letters(key) else {
        return false;
    };
    if !(a.is_ascii_alphabetic() && b.is_ascii_alphabetic()) {
        // A digit, or something that is passed over.
        return true;
    }
    let ending: &[u8] = match &[a | 0x20, b | 0x20, c | 0x20] {
        b"ken" | b"swd" | b"pwd" | b"key" | b"env" | b"dsn" | b"jwt" | b"cfg" | b"pem" | b"raw"
        | b"kie" | b"eys" | b"nvs" | b"wds" | b"uth" | b"fig" => return true,
        b"ens" => b"kens",
        b"ord" => b"word",
        b"rds" => b"words",
        // Of `base64` and `b64`.
        [_, _, b'b'] | b"ase" => return true,
        b"ses" => b"hrases",
        b"ret" => b"cret",
        b"ets" => b"crets",
        b"ial" => b"ntial",
        b"als" => b"ntials",
        b"ata" => b"data",
        b"tas" => b"datas",
        b"ion" if key.ends_with(b"configuration") => return true,
        b"ion" => b"ization",
        b"ons" => b"izations",
        b"ing" => b"string",
        b"ngs" => b"strings",
        b"ies" => b"okies",
        b"rer" => b"earer",
        b"ers" => b"earers",
        b"ths" => b"auths",
        b"str" => b"nstr",
        b"son" => b"gjson",
        b"ars" => b"vars",
        b"les" => b"iables",
        b"lue" => b"value",
        b"ash" => b"hash",
        b"ain" => b"plain",
        b"ext" => b"ntext",
        b"ded" => b"coded",
        _ => return false,
    };
    let last = key.iter().rev().zip(ending.iter().rev());
    for (byte, wanted) in last {
        if !byte.is_ascii_alphabetic() {
            return true;
        }
        if byte | 0x20 != *wanted {
            return false;
        }
    }
    key.len() >= ending.len()
}

/// Whether a word of this module, or its plural, ends in these three letters, or one of them is not a
/// letter.
#[inline]
fn is_ending(a: u8, b: u8, c: u8) -> bool {
    let (word, bit) = place_of(a, b, c);
    TRIPLES.get(word).is_some_and(|word| word & bit != 0)
}

/// A bit for every three letters, upper and lower case alike.
static TRIPLES: [u64; PLACES * PLACES * PLACES / 64] = triples();

/// Places for the last five bits of a byte: letters have 1 to 26.
const PLACES: usize = 32;
const LETTERS: usize = 26;

#[inline]
const fn place_of(a: u8, b: u8, c: u8) -> (usize, u64) {
    const LAST: usize = PLACES - 1;
    let (a, b, c) = (a as usize & LAST, b as usize & LAST, c as usize & LAST);
    let place = (a * PLACES + b) * PLACES + c;
    (place / 64, 1 << (place % 64))
}

#[expect(
    clippy::indexing_slicing,
    reason = "at compile time, inside the bounds"
)]
const fn triples() -> [u64; PLACES * PLACES * PLACES / 64] {
    const SINGLE: [&[u8]; 4] = [b"data", b"value", b"variables", LAST_APPLIED.as_bytes()];
    let mut triples = [0; PLACES * PLACES * PLACES / 64];
    let mut place = 0;
    while place < PLACES * PLACES * PLACES {
        let places = [
            place / PLACES / PLACES,
            place / PLACES % PLACES,
            place % PLACES,
        ];
        if !(is_letter(places[0]) && is_letter(places[1]) && is_letter(places[2])) {
            triples[place / 64] |= 1 << (place % 64);
        }
        place += 1;
    }
    let lists: [&[&[u8]]; 4] = [&WHOLE, &ENVIRONMENT, &BEHIND, &SINGLE];
    let mut list = 0;
    while list < lists.len() + LETTERS {
        let words = match list < lists.len() {
            true => lists[list],
            false => endings(b'a' + (list - lists.len()) as u8),
        };
        let mut word = 0;
        while word < words.len() {
            let text = words[word];
            let (a, b, c) = (
                text[text.len() - 3],
                text[text.len() - 2],
                text[text.len() - 1],
            );
            // Names that end in digits are not in this table of letters.
            if c.is_ascii_lowercase() {
                let (place, bit) = place_of(a, b, c);
                triples[place] |= bit;
                let (place, bit) = place_of(b, c, b's');
                triples[place] |= bit;
            }
            word += 1;
        }
        list += 1;
    }
    triples
}

const fn is_letter(place: usize) -> bool {
    place >= 1 && place <= LETTERS
}

/// A name up to its last letter, and the last three bytes of that.
#[inline]
fn last_letters(key: &[u8]) -> Option<(&[u8], &[u8; 3])> {
    let last = key.iter().rposition(u8::is_ascii_alphabetic)?;
    let key = key.get(..=last)?;
    Some((key, key.last_chunk()?))
}

/// Longest part of a name that is looked at; longer ones are looked at from behind.
const LONGEST: usize = 64;

fn normal_rule(key: &str) -> KeyRule {
    let mut buffer = [0_u8; LONGEST];
    let mut length = 0;
    // From behind, so that the end of a long name counts.
    let letters = key.bytes().rev().filter(u8::is_ascii_alphanumeric);
    for (place, byte) in buffer.iter_mut().rev().zip(letters) {
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    let name = buffer.get(LONGEST - length..).unwrap_or_default();
    rule_of(name)
}

fn rule_of(name: &[u8]) -> KeyRule {
    if ENVIRONMENT.contains(&name) {
        return KeyRule::Environment;
    }
    if ends_as_secret(name) {
        return KeyRule::Secret;
    }
    let behind = BEHIND.iter().filter(|word| ends(name, word));
    let behind = behind.filter_map(|word| name.get(..name.len() - word.len()));
    let mut shorter = behind.chain([name]).map(without_digits);
    match shorter.any(|shorter| shorter.len() < name.len() && ends_as_secret(shorter)) {
        true => KeyRule::Secret,
        false => KeyRule::None,
    }
}

fn without_digits(name: &[u8]) -> &[u8] {
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    name.get(..name.len() - digits).unwrap_or_default()
}

fn ends_as_secret(name: &[u8]) -> bool {
    let singular = name.strip_suffix(b"s").unwrap_or(name);
    let Some(last) = singular.last() else {
        return false;
    };
    let is_one = |ending: &&[u8]| ends(singular, ending);
    let is_whole = matches!(last, b'h' | b'n' | b'r' | b'g' | b't') && WHOLE.contains(&name);
    is_whole
        || (endings(*last).iter().any(is_one)
            && !EXCEPTIONS.iter().any(|except| ends(name, except)))
}

/// The same as `ends_with`, faster where the last bytes differ.
#[inline]
fn ends(name: &[u8], ending: &[u8]) -> bool {
    let mut last = name.iter().rev().zip(ending.iter().rev());
    name.len() >= ending.len() && last.all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name the table has, in the plural and with what may stand behind it.
    #[test]
    fn the_look_at_the_last_letters_misses_nothing() {
        let endings: Vec<&[u8]> = (b'a'..=b'z').flat_map(endings).copied().collect();
        assert_eq!(endings.len(), 31);
        let words = endings.iter().chain(&WHOLE).chain(&ENVIRONMENT);
        for word in words {
            let word = std::str::from_utf8(word).unwrap();
            let behind = BEHIND.map(|b| std::str::from_utf8(b).unwrap());
            for more in behind.iter().chain(&["", "s", "1", "_", "-2"]) {
                for name in [
                    format!("{word}{more}"),
                    format!("X_{word}_{more}").to_uppercase(),
                ] {
                    let is_known = normal_rule(&name) != KeyRule::None;
                    assert!(!is_known || may_matter(name.as_bytes()), "{name}");
                }
            }
        }
        for word in endings.iter().chain(&WHOLE) {
            assert!(ends_as_secret(word), "{word:?}");
            assert!(WHOLE.contains(word) || ends_as_secret(&[word, &b"s"[..]].concat()));
        }
        // Nothing else than letters is passed over for being none of these endings.
        for byte in 0..=u8::MAX {
            let is_letter = byte.is_ascii_alphabetic();
            let key = [b'q', b'z', byte];
            let is_passed_over = key.iter().all(|b| b & 0x40 != 0 && b & 0x80 == 0)
                && !is_ending(key[0], key[1], key[2]);
            assert_eq!(is_passed_over, is_letter, "{byte:#x}");
        }
        for usual in ["env", "key", "metadata"] {
            assert_eq!(key_rule(usual), normal_rule(usual), "{usual}");
        }
        for key in ["data", "stringData", "value", "variables", LAST_APPLIED] {
            assert_ne!(key_rule(key), KeyRule::None, "{key}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_name_counts() {
        assert_eq!(
            key_rule(&format!("{}Token", "x".repeat(500))),
            KeyRule::Secret
        );
        assert_eq!(
            key_rule(&format!("token{}", "x".repeat(500))),
            KeyRule::None
        );
    }
}
