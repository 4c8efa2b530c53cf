//! Invalid command lines.

use crate::harness::run;

#[test]
fn what_makes_no_sense_says_what_would() {
    for (line, told) in [
        ("graph", "Usage"),
        ("graph nosuch", "unrecognized subcommand"),
        ("graph path Seed:a", "<TO>"),
        ("graph path Seed:a Seedb", "Kind:namespace/name"),
        ("graph path Seed:a Seed:/b", "Kind:namespace/name"),
        ("graph neighbors Seed:a/b/c", "Kind:namespace/name"),
        ("graph export", "--dot"),
        ("graph export --dot --json", "cannot be used with"),
        ("graph export -o yaml", "possible values: json, dot"),
        ("graph path Seed:a Seedb", "invalid vertex `Seedb`"),
        ("graph export --json --objects x", "--profile"),
        (
            "graph export --json --config x --server http://127.0.0.1:1",
            "cannot be used with",
        ),
        (
            "graph export --json --token x",
            "--token and --ca are for a server",
        ),
        ("graph check", "FILE|NAME"),
        ("can-i", "VERB|ACTION"),
        ("can-i get pods", "needs --as USER"),
        ("can-i get --as u", "there is no RESOURCE"),
        (
            "can-i get pods --as u --tenant t",
            "--tenant is for `can-i ACTION`",
        ),
        ("can-i get pods/ --as u", "invalid resource"),
        (
            "can-i list pods --as u --selector a=b,",
            "invalid label selector `a=b,`",
        ),
        ("can-i list pods --as u --field-selector a", "FIELD=VALUE"),
        ("can-i read --root", "--claims FILE or --anonymous"),
        (
            "can-i read --root --anonymous --authorizer x",
            "--authorizer is for `can-i VERB RESOURCE`",
        ),
    ] {
        let ran = run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(2), "{line}: {}{}", ran.out, ran.err);
        ran.says(&[told]);
    }
}

#[test]
fn help_shows_both_forms_of_can_i() {
    let ran = run(&["can-i", "--help"]);
    assert_eq!(ran.code, Some(0));
    for text in [
        "portcullis can-i <VERB> <RESOURCE>[.<GROUP>][/<NAME>] --as <USER>",
        "portcullis can-i <ACTION> --tenant <TENANT> --claims <FILE|->",
        "--field-selector",
        "PORTCULLIS_SERVER",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn the_manual_knows_the_commands() {
    let ran = run(&["man"]);
    assert!(
        ran.out.contains("portcullis\\-graph\\-neighbors"),
        "{}",
        ran.out
    );
}
