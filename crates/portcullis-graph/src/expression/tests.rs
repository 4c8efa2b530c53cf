//! What expressions mean, and what they may not do.

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::lookups::Nothing;

pub(crate) mod agreement;

/// Subject: two organizations, common name, and one alternative name of each kind.
const CSR: &str = "\
    LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQmFqQ0NBUkFDQVFBd1h6RWtNQ0lHQTFVRUNnd2\
    JaMkZ5WkdWdVpYSXVZMnh2ZFdRNmMzbHpkR1Z0T25ObApaV1J6TVE4d0RRWURWUVFLREFaelpXTnZibVF4SmpBa0Jn\
    TlZCQU1NSFdkaGNtUmxibVZ5TG1Oc2IzVmtPbk41CmMzUmxiVHB6WldWa09uTXhNRmt3RXdZSEtvWkl6ajBDQVFZSU\
    tvWkl6ajBEQVFjRFFnQUVSd3QyYkNPMDhjQmUKTmtpSi83NU1ZVUh3Ny9tbm9SVTBqRWxFK2RxK2d6MzgwT3RiMkxw\
    VG14S2RwbGZzWTRIcTZuTUFjN1UxNTRjNwo2TUFWTThWSXpxQlBNRTBHQ1NxR1NJYjNEUUVKRGpGQU1ENHdQQVlEVl\
    IwUkJEVXdNNElKWVM1bGVHRnRjR3hsCmh3UUtBQUFCZ1ExNFFHVjRZVzF3YkdVdWIzSm5oaEZvZEhSd2N6b3ZMM1V1\
    WlhoaGJYQnNaVEFLQmdncWhrak8KUFFRREFnTklBREJGQWlBNWhTWjN6b0RlMGgzbnVuVnBkNHZpSGRsQVVlcHNzND\
    E5U2ZVT0F1Vk1aQUloQUo5NQpsT3FFL0NyRFBBYnhPUjJ5Tm1JcjVSaG5wZlMrdVpPclBNL3ppYTBMCi0tLS0tRU5E\
    IENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

fn compile(text: &str) -> Expression {
    Expression::compile(text, &["self", "object"]).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn evaluate(text: &str, value: &Value) -> Result<Value, ExpressionError> {
    let mut scope = Scope::new(&Nothing, UNIX_EPOCH + Duration::from_secs(1_000));
    scope.set("self", value);
    compile(text).evaluate(&scope)
}

fn fails(text: &str, value: &Value) -> String {
    match evaluate(text, value) {
        Err(ExpressionError::Failed(words)) => words,
        other => panic!("{text}: {other:?}"),
    }
}

fn wrong(text: &str) -> String {
    match Expression::compile(text, &["self", "object"]) {
        Err(words) => words,
        Ok(_) => panic!("{text} compiles"),
    }
}

#[test]
fn values_are_json() {
    let object = json!({
        "n": 3, "d": 1.5, "big": 18_446_744_073_709_551_615_u64, "t": "a/b", "no": null, "yes": true,
        "list": [{"k": "Secret", "n": "x"}, {"k": "ConfigMap", "n": "y"}],
        "labels": {"a.b/c": "1", "d": "2"},
    });
    let cases = [
        ("self.n + 1", json!(4)),
        ("self.n / 2", json!(1)),
        ("-self.n % 2", json!(-1)),
        ("self.n == 3.0", json!(true)),
        ("self.n < self.d", json!(false)),
        ("self.d * 2.0", json!(3.0)),
        ("self.n in [1, 2, 3]", json!(true)),
        ("'d' in self.labels", json!(true)),
        ("'x' in self.labels", json!(false)),
        ("self.labels['a.b/c']", json!("1")),
        ("self.labels.`a.b/c`", json!("1")),
        ("self.list[1].n", json!("y")),
        ("self.list.map(r, r.n)", json!(["x", "y"])),
        ("self.list.map(r, r.k == 'Secret', r.n)", json!(["x"])),
        (
            "self.list.filter(r, r.k == 'Secret')",
            json!([{"k": "Secret", "n": "x"}]),
        ),
        ("self.list.exists(r, r.n == 'y')", json!(true)),
        ("self.list.all(r, r.n == 'y')", json!(false)),
        ("self.list.exists_one(r, r.n == 'y')", json!(true)),
        ("self.labels.map(k, k)", json!(["a.b/c", "d"])),
        (
            "self.list.map(r, self.list.map(s, r.n + s.n))",
            json!([["xx", "xy"], ["yx", "yy"]]),
        ),
        ("[self.t, 'c'] + ['d']", json!(["a/b", "c", "d"])),
        (
            "{'name': self.t, 'n': self.n}",
            json!({"name": "a/b", "n": 3}),
        ),
        ("self.yes ? 'a' : 'b'", json!("a")),
        ("size(self.list) == 2 && self.t.size() == 3", json!(true)),
        ("has(self.no) && self.no == null", json!(true)),
        ("has(self.nothing)", json!(false)),
        ("has(self.nothing.at.all)", json!(false)),
        ("has(self.no.member)", json!(false)),
        ("self.no == null", json!(true)),
        ("self.t == 1", json!(false)),
        ("self.labels == {'d': '2', 'a.b/c': '1'}", json!(true)),
        ("self", object.clone()),
        ("string(self.n) + string(self.yes)", json!("3true")),
        ("int('7') + int(2.9)", json!(9)),
    ];
    for (text, value) in cases {
        assert_eq!(evaluate(text, &object), Ok(value), "{text}");
    }
}

#[test]
fn functions_beyond_the_standard() {
    let csr: String = CSR.split_whitespace().collect();
    let object = json!({
        "t": "Shoot.ca-cluster", "u": "ÄbÇ", "csr": csr, "no": null,
        "a": {"x": 1, "y": {"z": [1, 2]}, "same": true}, "b": {"x": 2, "y": {"z": [1, 3]}, "same": true, "new": 1},
        "past": "1970-01-01T00:16:40Z", "coming": "1970-01-01T00:16:41Z", "later": "2970-01-01T00:00:00+02:00",
    });
    let cases = [
        ("self.t.removeSuffix('.ca-cluster')", json!("Shoot")),
        ("self.t.removeSuffix('x')", json!("Shoot.ca-cluster")),
        (
            "self.t.removePrefix('Shoot.').removePrefix('ca-')",
            json!("cluster"),
        ),
        (
            "('a' + self.t).removePrefix('aS')",
            json!("hoot.ca-cluster"),
        ),
        (
            "self.t.startsWith('Sh') && self.t.endsWith('r') && self.t.contains('.ca')",
            json!(true),
        ),
        ("self.t.matches('^[A-Z][a-z]+[.]ca-.*$')", json!(true)),
        ("self.t.matches('^' + 'x')", json!(false)),
        ("self.t.split('.')", json!(["Shoot", "ca-cluster"])),
        ("'a,b'.split('').join('-')", json!("a-,-b")),
        ("self.u.substring(1)", json!("bÇ")),
        ("self.u.substring(0, 2)", json!("Äb")),
        ("self.u.substring(3)", json!("")),
        ("self.t.lowerAscii()", json!("shoot.ca-cluster")),
        ("self.u.lowerAscii()", json!("ÄbÇ")),
        ("sha256('garden--s3').substring(0, 6)", json!("3b7093")),
        ("base64Decode('YcOk')", json!("aä")),
        ("base64Decode('!')", json!(null)),
        ("base64Decode('/w==')", json!(null)),
        ("base64Decode(self.no)", json!(null)),
        ("changedKeys(self.a, self.b)", json!(["new", "x", "y"])),
        ("changedKeys(self.a, null)", json!(["same", "x", "y"])),
        ("changedKeys(self.nothing, self.no)", json!([])),
        (
            "equalExcept(self.a, self.b, ['x', 'y.z', 'new'])",
            json!(true),
        ),
        (
            "equalExcept(self.a, self.b, ['x', 'y.z[1]', 'new'])",
            json!(true),
        ),
        (
            "equalExcept(self.a, self.b, ['x', 'y.z.*', 'new'])",
            json!(true),
        ),
        (
            "equalExcept(self.a, self.b, ['x', 'y.z[0]', 'new'])",
            json!(false),
        ),
        ("equalExcept(self.a, self.b, ['x', 'new'])", json!(false)),
        ("equalExcept(self.a, self.b, ['*'])", json!(true)),
        (
            "equalExcept(self.a, self.b, ['x', ['y', 'z'], 'n' + 'ew'])",
            json!(true),
        ),
        ("equalExcept(self.nothing, null, [])", json!(true)),
        ("get(self, 'a.y.z[1]', 0)", json!(2)),
        ("get(self, 'a.y.z[2]', 0)", json!(0)),
        ("get(self, ['a', 'x'], 0)", json!(1)),
        ("get(self.nothing, 'x', 'default')", json!("default")),
        ("get(self, 'no', 'default')", json!("default")),
        ("get(self, 't' + '.x', 'default')", json!("default")),
        ("expired(self.past)", json!(true)),
        ("expired(self.coming)", json!(false)),
        ("expired(self.later)", json!(false)),
        ("expired('')", json!(true)),
        ("expired('soon')", json!(true)),
        ("expired(self.nothing.at.all)", json!(true)),
        ("expired(self.no)", json!(true)),
        ("lookup('Seed', '', 'x')", json!(null)),
        ("exists('Seed', '', 'x')", json!(false)),
        ("csr('x')", json!(null)),
        ("csr(self.no)", json!(null)),
        (
            "csr(self.csr)",
            json!({
                "commonName": "gardener.cloud:system:seed:s1",
                "organizations": ["gardener.cloud:system:seeds", "second"],
                "dnsNames": ["a.example"], "ipAddresses": ["10.0.0.1"],
                "emailAddresses": ["x@example.org"], "uris": ["https://u.example"],
            }),
        ),
        (
            "csr(self.csr).organizations[0]",
            json!("gardener.cloud:system:seeds"),
        ),
    ];
    for (text, value) in cases {
        assert_eq!(evaluate(text, &object), Ok(value), "{text}");
    }
}

#[test]
fn what_is_missing_is_missing() {
    let object = json!({"a": {"no": null, "list": [1], "t": "x"}});
    for text in [
        "self.b",
        "self.a.b.c",
        "self.a.no.x",
        "self.a.list[1]",
        "self.a.list[-1]",
        "self.a['b']",
        "self.a.no[0]",
        "self.b == 1",
        "self.b + 1 > 2",
        "self.a.no.map(x, x)",
        "'x' in self.a.no",
        "lookup('Seed', '', 'x').spec.seedName",
        "self.a.list.map(x, self.b)",
        "self.b && self.a.list[0] == 1",
        "self.b ? 1 : 2",
        "[self.b]",
        "lookup('Seed', '', self.b)",
    ] {
        assert_eq!(
            evaluate(text, &object),
            Err(ExpressionError::Missing),
            "{text}"
        );
        let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
        scope.set("self", &object);
        assert_eq!(compile(text).holds(&scope), Ok(false), "{text}");
    }
    // What decides counts, on either side.
    for (text, value) in [
        ("self.b && false", false),
        ("false && self.b", false),
        ("self.b || true", true),
        ("true || self.b.c", true),
        ("[{}, {'x': true}].exists(e, e.x)", true),
        ("[{}, {'x': false}].all(e, e.x)", false),
        ("self.a.t || true", true),
    ] {
        assert_eq!(evaluate(text, &object), Ok(json!(value)), "{text}");
    }
}

#[test]
fn what_is_wrong_says_so() {
    let object = json!({"t": "x", "n": 1, "list": [1], "m": {}, "big": i64::MAX});
    for (text, words) in [
        ("self.t.x", "a string has no member `x`"),
        ("self.list.x", "a list has no member `x`"),
        ("self.list['x']", "a string can't be an index"),
        ("self.m[1]", "an integer can't be a member name"),
        ("self.t + 1", "`+` of a string and an integer"),
        ("self.n / 0", "`/` by zero"),
        ("self.big + 1", "a number is too large"),
        ("self.n.startsWith('x')", "`startsWith` with an integer"),
        ("self.t < 1", "a string and an integer can't be compared"),
        ("self.t ? 1 : 2", "expected true or false, found a string"),
        ("!self.n", "expected true or false, found an integer"),
        ("self.t.map(x, x)", "a string has no entries"),
        (
            "self.t.substring(2)",
            "`substring` ends after the end of the string",
        ),
        (
            "self.t.substring(1, 0)",
            "`substring` ends before it begins",
        ),
        ("{1: 2}", "an integer can't be the key of a map"),
        ("{'a': 1, 'a': 2}", "duplicate key `a`"),
        (
            "self.t.matches('(' + self.t)",
            "invalid pattern: unclosed group",
        ),
        ("object", "unknown name `object`"),
        (
            "get(self, self.t + '.', 1)",
            "invalid path `x.`: a member has no name",
        ),
    ] {
        assert_eq!(fails(text, &object), words, "{text}");
    }
    let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
    scope.set("self", &object);
    assert_eq!(
        compile("self.n").holds(&scope),
        Err(ExpressionError::Failed(
            "it is an integer, not true or false".to_owned()
        ))
    );
}

#[test]
fn faults_are_in_plain_words() {
    for (text, words) in [
        ("", "the expression is empty"),
        ("self.a +\n  self..b", "line 2, column 8: unexpected `..`"),
        ("self.a ==", "line 1, column 10: it ends too early"),
        ("size(self.a", "line 1, column 12: `)` is missing"),
        ("self.a # b", "line 1, column 8: unexpected `#`"),
        ("self.a b", "line 1, column 8: unexpected `b`"),
        (
            "slef.a",
            "line 1, column 1: unknown variable `slef`; did you mean `self`?",
        ),
        (
            "self.a &&\n other",
            "line 2, column 2: unknown variable `other`",
        ),
        (
            "self.list.filter(r, qq.x)",
            "line 1, column 21: unknown variable `qq`",
        ),
        (
            "self.a.startswith('x')",
            "line 1, column 18: unknown function `startswith`; did you mean `startsWith`?",
        ),
        (
            "timestamp(self.a)",
            "line 1, column 10: unknown function `timestamp`",
        ),
        (
            "lookup('Seed', self.a)",
            "line 1, column 7: `lookup` takes 3 arguments, not 2",
        ),
        (
            "self.a.lookup('Seed', '', 'x')",
            "line 1, column 14: `lookup` is not called on a value: write `lookup(...)`",
        ),
        (
            "startsWith(self.a, 'x')",
            "line 1, column 11: `startsWith` is called on a value, like `text.startsWith(...)`",
        ),
        (
            "self.a.filter(x)",
            "line 1, column 14: `filter` takes a name and an expression, like `list.filter(x, x.ready)`",
        ),
        (
            "self.a.matches('(')",
            "line 1, column 15: invalid pattern: unclosed group",
        ),
        (
            "get(self, 'a..b', 1)",
            "line 1, column 4: invalid path `a..b`: a member has no name",
        ),
        (
            "b'x'",
            "line 1, column 1: bytes are not supported: use a string",
        ),
        (
            "99999999999999999999",
            "line 1, column 1: invalid int literal",
        ),
        (
            "has(self)",
            "line 1, column 5: invalid argument to has() macro",
        ),
    ] {
        assert_eq!(wrong(text), words, "{text}");
    }
    let nested = "self.l.map(a, self.l.map(b, self.l.map(c, c)))";
    assert!(wrong(nested).contains("at most 2"), "{}", wrong(nested));
    assert!(Expression::compile("self.l.map(a, a.l.filter(b, b)).map(c, c)", &["self"]).is_ok());
}

#[test]
fn long_and_deep_texts_are_refused() {
    for text in [
        "(".repeat(2000) + "1" + &")".repeat(2000),
        "(".repeat(4000),
        "1+".repeat(2000) + "1",
        "self".to_owned() + &".b".repeat(2000),
        "!".repeat(4001) + "true",
        "-".repeat(4000) + "self",
        "true?1:".repeat(500) + "2",
        "self".to_owned() + &"[0]".repeat(1300),
        "[".repeat(2000) + &"]".repeat(2000),
        "size(".repeat(500) + &")".repeat(500),
        "'".to_owned() + &"x".repeat(4096) + "'",
        "self.a.matches('((a{1,100}){1,100}){1,100}')".to_owned(),
    ] {
        // `!!` and `--` cancel each other out in the parser.
        let compiled = Expression::compile(&text, &["self"]);
        let is_folded = text.starts_with('!') || text.starts_with('-');
        assert!(compiled.is_err() || is_folded, "{text}");
    }
}

#[test]
fn nothing_runs_away() {
    let list: Vec<Value> = (0..10_000)
        .map(|n| json!({"n": n, "t": "x".repeat(100)}))
        .collect();
    let object = json!({"list": list, "long": "y".repeat(1 << 20)});
    for (text, words) in [
        (
            "self.list.map(a, self.list.map(b, a.n + b.n))",
            "it takes too many steps",
        ),
        (
            "self.list.all(a, self.list.all(b, true))",
            "it takes too many steps",
        ),
        (
            "self.list.map(a, self.long + a.t)",
            "it makes too much text",
        ),
        ("self.list.map(a, self)", "its value is too large"),
        (
            "self.list.map(a, self) == self.list.map(a, self)",
            "it takes too many steps",
        ),
        (
            "self.list.map(a, self.long).join('')",
            "it makes too much text",
        ),
        (
            "self.list.filter(a, a.t.matches(string(a.n)))",
            "it takes too many steps",
        ),
        (
            "self.list.map(a, sha256(self.long))",
            "it takes too many steps",
        ),
        (
            "self.list.map(a, lookup('Seed', '', string(a.n)))",
            "it looks up more than 1000 objects",
        ),
    ] {
        assert_eq!(fails(text, &object), words, "{text}");
    }
    assert!(
        evaluate(
            "self.list.filter(a, a.n > 10 && a.t != '').map(a, a.n)",
            &object
        )
        .is_ok()
    );
}

#[test]
fn values_that_are_too_large_are_refused() {
    let long = json!({"list": vec![0; 10_001]});
    assert_eq!(
        fails("1 + 1", &long),
        "`self` is too large: a list of it has more than 10000 entries"
    );
    let mut deep = json!(1);
    for _ in 0..70 {
        deep = json!({"a": deep});
    }
    assert_eq!(
        fails("1 + 1", &deep),
        "`self` is too large: it is nested deeper than 64 levels"
    );
    assert_eq!(check_bounds(&json!({"list": vec![0; 10_000]})), Ok(()));
}

#[derive(Debug)]
struct Store;

impl Lookups for Store {
    fn find(&self, wanted: &Vertex) -> LookupResult {
        match wanted.name.as_str() {
            "there" => LookupResult::Object(Arc::new(json!({"spec": {"seedName": "s1"}}))),
            "failing" => LookupResult::Failed("no answer".to_owned()),
            name if name.starts_with("unread") => LookupResult::Unread,
            _ => LookupResult::Absent,
        }
    }
}

#[test]
fn other_objects_are_looked_up() {
    let wanted = |name: &str| Vertex {
        kind: "Shoot".to_owned(),
        namespace: "ns".to_owned(),
        name: name.to_owned(),
    };
    let object = json!({"names": ["unread1", "there", "unread2"], "until": "1970-01-01T01:00:00Z"});
    let mut scope = Scope::new(&Store, UNIX_EPOCH);
    scope.set("self", &object);
    let run = |text: &str| compile(text).evaluate(&scope);
    assert_eq!(
        run("lookup('Shoot', 'ns', 'there').spec.seedName"),
        Ok(json!("s1"))
    );
    assert_eq!(
        run("lookup('Shoot', 'ns', 'gone') == null"),
        Ok(json!(true))
    );
    assert_eq!(run("exists('Shoot', 'ns', 'there')"), Ok(json!(true)));
    assert_eq!(run("exists('Shoot', 'ns', '')"), Ok(json!(false)));
    assert_eq!(
        run("exists('Shoot', 'ns', 'failing')"),
        Err(ExpressionError::Unavailable("no answer".to_owned()))
    );
    let needs = Err(ExpressionError::Needs(vec![
        wanted("unread1"),
        wanted("unread2"),
    ]));
    for text in [
        "self.names.map(n, lookup('Shoot', 'ns', n))",
        "self.names.all(n, exists('Shoot', 'ns', n))",
        "exists('Shoot', 'ns', 'unread1') && exists('Shoot', 'ns', 'unread2')",
        "[lookup('Shoot', 'ns', 'unread1'), self.nothing, lookup('Shoot', 'ns', 'unread2')]",
        "lookup('Shoot', 'ns', 'unread1').x == lookup('Shoot', 'ns', 'unread2').x",
    ] {
        assert_eq!(run(text), needs, "{text}");
    }
    assert_eq!(
        run("exists('Shoot', 'ns', 'unread1') || true"),
        Ok(json!(true))
    );
    assert_eq!(run("expired(self.until)"), Ok(json!(false)));
    let depends = scope.depends();
    assert_eq!(depends.objects, vec![wanted("gone"), wanted("there")]);
    assert_eq!(depends.until, Some(UNIX_EPOCH + Duration::from_secs(3600)));
}

#[test]
fn what_is_read_is_known() {
    let reads = |text: &str| compile(text).reads("self");
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        reads("self.spec.seedName"),
        Some(vec![path("spec.seedName")])
    );
    assert_eq!(
        reads("has(self.a.b) && self['c'].d[0].e == object.x"),
        Some(vec![path("a.b"), path("c.d")])
    );
    assert_eq!(
        reads("self.l.filter(r, r.x == self.y).map(r, get(r, 'z', 1))"),
        Some(vec![path("l"), path("y")])
    );
    assert_eq!(reads("get(self, 'a.b', '')"), Some(vec![path("a.b")]));
    assert_eq!(reads("get(self, 'a.b', self.c)"), None);
    assert_eq!(reads("size(self) > 1"), None);
    assert_eq!(reads("'x' in self"), None);
    let expression =
        compile("exists('A', '', 'x') || lookup('B', '', 'x').y && exists(self.k, '', '')");
    let kinds: Vec<_> = expression
        .looks_up()
        .iter()
        .map(|l| (l.kind, l.wants_members))
        .collect();
    assert_eq!(kinds, [("A", false), ("B", true)]);
}

const TOKENS: &[&str] = &[
    "self", ".", "a", "(", ")", "[", "]", "{", "}", "'x'", "\"", "'", "1", "1.5", "1u", "-", "!",
    "&&", "||", "?", ":", ",", "==", "in", "+", "map", "filter", "exists", "has", "has(",
    ".map(a, ", "b'", "r'", "'''", "\\", "`", "null", "true", "0x", "1e", "//", "\n", ".?", "[?",
    "{?", "as", "package", "@", "e9", ".all(x,", "get(",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever the text is, it compiles or it doesn't.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = Expression::compile(&text, &["self"]);
    }

    /// The same, with texts that look more like expressions.
    #[test]
    fn any_tokens_are_read_or_refused(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..24)) {
        let text = tokens.concat();
        if let Ok(expression) = Expression::compile(&text, &["self"]) {
            let object = json!({"a": {"a": [1, "x"]}});
            let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
            scope.set("self", &object);
            let _ = expression.evaluate(&scope);
        }
    }
}

/// How long evaluations take: `cargo test --release -p portcullis-graph --lib expressions_take -- --ignored
/// --nocapture`.
#[test]
#[ignore = "a measurement: cargo test --release -p portcullis-graph --lib -- --ignored --nocapture"]
#[allow(clippy::print_stdout, reason = "a measurement")]
fn expressions_take() {
    let resources: Vec<Value> = (0..5)
        .map(|n| {
            let reference = json!({"kind": "Secret", "name": format!("r{n}"), "apiVersion": "v1"});
            json!({"name": n.to_string(), "resourceRef": reference})
        })
        .collect();
    let object = json!({
        "metadata": {"name": "sh1", "namespace": "garden-p1", "uid": "u", "annotations": {"a": "b"}},
        "spec": {"seedName": "s1", "resources": resources, "kubernetes": {"version": "1.30"}},
        "status": {"seedName": "s1"},
    });
    for text in [
        "self.spec.seedName",
        "self.spec.resources.filter(r, has(r.resourceRef)).map(r, r.resourceRef)",
        "[self.metadata.name + '.ca-cluster', self.metadata.name + '.ssh-keypair']",
        "!exists('Seed', '', self.metadata.name) || expired(lookup('Seed', '', self.metadata.name).status.expiry)",
    ] {
        let expression = compile(text);
        let times = 200_000_u32;
        let watch = portcullis_core::clock::Stopwatch::start();
        for _ in 0..times / 20 {
            let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
            scope.set("self", &object);
            for _ in 0..20 {
                std::hint::black_box(expression.evaluate(&scope).ok());
            }
        }
        println!("{text}: {:?}", watch.elapsed() / times);
    }
    let watch = portcullis_core::clock::Stopwatch::start();
    for _ in 0..100_000 {
        let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
        scope.set("self", std::hint::black_box(&object));
    }
    println!("a scope: {:?}", watch.elapsed() / 100_000);
}
