use std::io::Write;
use std::sync::LazyLock;

use agent::action::{Action, Decision};
use agent::budget::Usage;
use agent::observation::{Details, Facts};
use agent::reply::Raw;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn redactor() -> &'static Redactor {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
        let secrets = ["hunter-2-hunter", "hunter-2-hunter-long", "short", "production", ""];
        Redactor::new(secrets, [r"ACME-\d{4}"]).unwrap()
    });
    &REDACTOR
}

/// `{b}` stands for letters and digits as they are drawn at random, `{h}` for hexadecimal ones; tokens are
/// put together here, so that no scanner takes this file for a leak.
fn filled(text: &str) -> String {
    text.replace("{b}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5")
        .replace("{h}", "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
}

#[test]
fn secrets_are_taken_out() {
    for (text, clean) in [
        ("key sk-{b} end", "key [redacted:api_key] end"),
        ("sk-ant-api03-{b}-{b}", "[redacted:api_key]"),
        ("sk-proj-{b}_{b}", "[redacted:api_key]"),
        ("sk-or-v1-{h}{h}", "[redacted:api_key]"),
        ("(sk-{h})", "([redacted:api_key])"),
        ("ghp_{b}", "[redacted:github_token]"),
        ("x=gho_{b};", "x=[redacted:github_token];"),
        ("github_pat_11AAAAAAA_{b}", "[redacted:github_token]"),
        ("glpat-{b}", "[redacted:gitlab_token]"),
        ("id AKIAABCDEFGHIJKLMNOP.", "id [redacted:aws_key]."),
        ("xoxb-1234567890-{b}", "[redacted:slack_token]"),
        ("AIza{b}", "[redacted:google_key]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{b}", "[redacted:jwt]"),
        ("Authorization: Bearer {b}", "Authorization: Bearer [redacted:bearer]"),
        ("authorization: bearer  {h}.x", "authorization: bearer  [redacted:bearer]"),
        ("https://me:s3cr3t@example.org/x", "https://me:[redacted:url_password]@example.org/x"),
        ("postgres://:pw@db:5432", "postgres://:[redacted:url_password]@db:5432"),
        ("password=hunter42", "password=[redacted:assignment]"),
        ("DB_PASSWORD: 'c0rrect-h0rse'", "DB_PASSWORD: '[redacted:assignment]'"),
        (r#"{"apiKey": "{h}"}"#, r#"{"apiKey": "[redacted:assignment]"}"#),
        (r#"{\"client_secret\":\"{h}\"}"#, r#"{\"client_secret\":\"[redacted:assignment]\"}"#),
        ("export API-KEY = {b}", "export API-KEY = [redacted:assignment]"),
        ("access_token={b}&x=1", "access_token=[redacted:assignment]"),
        (
            "my hunter-2-hunter-long and hunter-2-hunter",
            "my [redacted:environment] and [redacted:environment]",
        ),
        ("badge ACME-1234", "badge [redacted:configured]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{b}{b}\n{b}==\n-----END RSA PRIVATE KEY-----\nafter",
            "[redacted:private_key]\nafter",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\\n{b}\\n{b}\\nab==\\n-----END PRIVATE KEY-----",
            "[redacted:private_key]",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n{b}\n{b}", "[redacted:private_key]"),
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{b}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
            "[redacted:private_key]",
        ),
    ] {
        assert_eq!(redactor().text(&filled(text)), clean, "{text}");
    }
}

#[test]
fn what_only_resembles_a_secret_stays() {
    for text in [
        "",
        "plain text with nothing in it",
        "the task-list-of-things-to-do-before-2027-is-long",
        "sk-learn-something-new-every-day-of-2026",
        "sk-short",
        "ghp_short",
        "AKIA is a prefix; AKIAabcdefghijklmnop is none, nor is XAKIAABCDEFGHIJKLMNOP",
        "xoxo-love",
        "eyJ.eyJ.x",
        "Bearer of bad news, bearer authentication-scheme",
        "http://localhost:8080/x@y and http://host:8080",
        "mailto:me@example.org, git@example.org:a/b.git, 12:30@noon",
        "password=changeme",
        "password: ${DB_PASSWORD1}",
        "password=<your-passw0rd>",
        "api_key = os.environ['API_KEY_1']",
        "token: string, tokens: 123456789, max_tokens=200000, token_count = 12345678a",
        "token = make_token2(user), PWD=/home/user1/project",
        "secret: true; the secret: a well-kept one",
        "secret_url = https://example.org/abc123",
        "passwords: abcd1234efgh",
        "in production it is short, hunter",
        "-----BEGIN PRIVATE KEY----- is how it begins, and then follow many lines of text",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "observations/0f1e2d3c4b5a6978.txt 20261115_083000_k3f9",
    ] {
        assert!(matches!(redactor().text(text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

#[test]
fn a_secret_beside_its_name_is_found_in_data_too() {
    let mut data = json!({"headers": [{"X-Api-Key": "abcd1234efgh"}], "password": "hunter42x", "token": "a b c 1", "n": 1});
    assert!(redactor().value(&mut data));
    assert_eq!(
        data,
        json!({"headers": [{"X-Api-Key": "[redacted:assignment]"}], "password": "[redacted:assignment]", "token": "a b c 1", "n": 1})
    );
    assert!(!redactor().value(&mut json!({"text": "nothing", "list": [null, true]})));
}

fn replied(content: &str) -> Input {
    let decision = Decision {
        action: Action::FinalAnswer { content: content.to_owned() },
        plan_update: None,
        diagnostics: None,
    };
    Input::Replied(Reply::decided(decision, Usage::default(), Raw::default()))
}

fn observed(text: &str, facts: Value) -> Input {
    let facts = Facts { more: Details::of(&facts), ..Facts::default() };
    Input::Observed(Observation { facts, ..Observation::of(text) })
}

#[test]
fn an_input_has_no_secret_in_any_of_its_texts() {
    let secret = filled("ghp_{b}");
    for (input, clean) in [
        (replied(&format!("it is {secret}")), replied("it is [redacted:github_token]")),
        (
            observed(&secret, json!({"said": [secret]})),
            observed("[redacted:github_token]", json!({"said": ["[redacted:github_token]"]})),
        ),
        (
            Input::Answered(Answer::Reject { message: Some("use hunter-2-hunter".to_owned()) }),
            Input::Answered(Answer::Reject {
                message: Some("use [redacted:environment]".to_owned()),
            }),
        ),
        (Input::Cancelled, Input::Cancelled),
        (replied("nothing secret"), replied("nothing secret")),
    ] {
        assert_eq!(redactor().apply(input), clean);
    }
}

#[test]
fn what_cannot_be_understood_without_its_secrets_is_withheld() {
    let redactor = Redactor::new([], ["final_answer|ok_now"]).unwrap();
    let Input::Replied(Reply::Failed { code, .. }) = redactor.apply(replied("x")) else {
        panic!("not withheld");
    };
    assert_eq!(code, "Redacted");
    assert_eq!(
        redactor.apply(observed("ok_now", json!(1))),
        observed("[redacted:configured]", json!(1))
    );
}

#[test]
fn a_pattern_that_cannot_be_used_is_named() {
    let error = Redactor::new([], ["fine", "(?<open"]).unwrap_err();
    assert_eq!(error.to_string(), "cannot use the pattern `(?<open`");
    // One that matches nothing at all replaces nothing.
    assert_eq!(Redactor::new([], ["x*"]).unwrap().text("abxc"), "ab[redacted:configured]c");
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing_more(
        pieces in prop::collection::vec(prop_oneof![
            "[ -~\n]{0,20}",
            Just(filled("password={b}")), Just(filled("sk-{b}")), Just("://a:b1@".to_owned()),
            Just(filled("Bearer {b}")), Just("hunter-2-hunter".to_owned()), Just("token=\"".to_owned()),
        ], 0..8)
    ) {
        let redactor = redactor();
        let text = pieces.concat();
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once), once.as_str());
    }
}

#[test]
fn a_secret_that_arrives_in_pieces_never_shows() {
    let secret = "correct horse 42 battery staple";
    let redactor = Redactor::new([secret, "staple-and-more-0815"], []).unwrap();
    let token = "sk-proj-q8Zr4LmT0vXy2NcB7dKw9PfGh3Js";
    let text =
        format!("It is {secret}, not correct horse 43 or {token} – staple-and no more é{secret}");
    let whole = redactor.text(&text).into_owned();
    for size in 1..40 {
        let mut streamed = redactor.streamed();
        let letters: Vec<char> = text.chars().collect();
        let mut shown = String::new();
        for piece in letters.chunks(size) {
            shown.push_str(&streamed.push(&piece.iter().collect::<String>()));
            assert!(!shown.contains("horse 42"), "{shown}");
        }
        shown.push_str(&streamed.finish());
        assert_eq!(shown, whole, "in pieces of {size}");
    }
    let mut streamed = redactor.streamed();
    assert_eq!([streamed.push("plain words "), streamed.push("at once")], ["plain words ", "at "]);
}

/// However the bytes arrive, what is passed on is what is left of the whole.
fn check_filtered(redactor: &Redactor) {
    let key = filled("-----BEGIN PRIVATE KEY-----\n{b}\n")
        + &filled("{b}{b}\n").repeat(150)
        + "-----END PRIVATE KEY-----\n";
    let words = "plain wörds, or\nlines, ".repeat(900);
    let parts = [
        &filled("ghp_{b}"),
        &words,
        "\0 my hunter-2-hunter",
        &words,
        &key,
        &filled("password = {b}\n"),
        &"x".repeat(20_000),
        "a one 42\ntwo 43\nthree and one 42\ntwo",
        &filled(" Bearer {b}"),
    ];
    // Between them, what is not text.
    let whole = parts.map(str::as_bytes).join(&b"\xff\xc3"[..]);
    let clean = redactor.content(&whole).into_owned();
    assert_eq!(String::from_utf8_lossy(&clean).matches(MARK).count(), 6);
    for size in [13, 1_000, 8_192, 30_000, whole.len()] {
        let mut kept = Vec::new();
        let mut filtered = Filtered::new(redactor, &mut kept);
        whole.chunks(size).for_each(|piece| filtered.write_all(piece).unwrap());
        let passed = filtered.finish().unwrap();
        assert_eq!(
            (passed.bytes, passed.sha256),
            (clean.len() as u64, basics::sha256::Sha256::of(&clean))
        );
        assert!(kept == clean, "in pieces of {size}");
    }
}

#[test]
fn bytes_that_arrive_in_pieces_are_passed_on_without_secrets() {
    let secrets = ["hunter-2-hunter", "one 42\ntwo 43\nthree"];
    check_filtered(&Redactor::new(secrets, []).unwrap());
    check_filtered(&Redactor::new(secrets, [r"ACME-\d{4}"]).unwrap());
}

#[test]
fn a_line_is_passed_on_at_once_unless_a_secret_may_have_begun_in_it() {
    let redactor = Redactor::new(["one 42\ntwo 43\nthree"], []).unwrap();
    for (written, passed) in [
        ("a line\nand more", "a line\n"),
        ("a line, one 42\nt", "a line, "),
        ("a line, one 42\nthree\n", "a line, one 42\nthree\n"),
        ("the key:\n-----BEGIN PRIVATE KEY-----\n", "the key:\n"),
    ] {
        let mut kept = Vec::new();
        Filtered::new(&redactor, &mut kept).write_all(written.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(kept).unwrap(), passed);
    }
}

#[test]
fn a_mark_is_lost_on_a_secret_only_where_there_is_one() {
    let url = "a://me:s3cr3t@b";
    let seen = "a://me:[redacted:url_password]@b";
    for (present, written, lost) in [
        (url, seen, true),
        (url, "a://me:another@b", false),
        (seen, seen, false),
        ("nothing", seen, false),
        (&format!("{url} {seen}"), &format!("{seen} {seen}"), true),
        (&format!("{url} {seen}"), &format!("{url} {seen}"), false),
        (url, "[redacted:jwt]", false),
    ] {
        let found = redactor().lost(present, written);
        assert_eq!(found, lost.then_some("[redacted:url_password]"), "{present} / {written}");
    }
}

#[test]
fn words_of_the_environment_and_names_of_fields_are_secrets_too() {
    let secrets = ["correct-horse-batt", "hunterhunter", "production"];
    let redactor = Redactor::new(secrets, []).unwrap();
    let text = "correct-horse-batt hunterhunter production";
    let clean = "[redacted:environment] [redacted:environment] production";
    assert_eq!(redactor.text(text), clean, "a short word may be any word");
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let mut data = json!({"plan": {&key: 1, "other": 2}});
    assert!(redactor.value(&mut data));
    assert!(!data.to_string().contains(&key) && data["plan"]["other"] == 2, "{data}");
}

#[test]
fn what_is_learned_is_known_everywhere_from_then_on() {
    let redactor = Redactor::new(["hunter-2-hunter"], []).unwrap();
    let other = redactor.clone();
    let mut kept = Vec::new();
    let mut filtered = Filtered::new(&other, &mut kept);
    let mut streamed = other.streamed();
    assert!(redactor.learn(" tiny \"9\"\n"));
    let text = "a tiny \"9\" and {\"p\":\"tiny \\\"9\\\"\"}, hunter-2-hunter\n";
    let clean =
        "a [redacted:environment] and {\"p\":\"[redacted:environment]\"}, [redacted:environment]\n";
    assert_eq!(other.text(text), clean);
    text.as_bytes().chunks(3).for_each(|piece| filtered.write_all(piece).unwrap());
    filtered.finish().unwrap();
    assert_eq!(String::from_utf8(kept).unwrap(), clean);
    let mut shown: String = text.split_inclusive(' ').map(|piece| streamed.push(piece)).collect();
    shown.push_str(&streamed.finish());
    assert_eq!(shown, clean);
    assert!(!redactor.learn("a1 "), "it would be found everywhere");
    assert_eq!(redactor.text("a1"), "a1");
}
