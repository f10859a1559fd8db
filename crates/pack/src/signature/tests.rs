use super::*;

const MANIFEST: &str = r#"{"format_version": "1", "skills": [{"name": "acme/a", "version": "1.0.0", "dir": "a"}], "files": []}"#;

fn store(keys: &Keys, names: &[&str]) -> TrustStore {
    let (id, public_key) = public_key(&keys.public).unwrap();
    assert_eq!(id, keys.id);
    let key = TrustedKey {
        name: "us".to_owned(),
        public_key,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        trusted_at: String::new(),
        revoked_at: None,
    };
    let mut store = TrustStore::default();
    store.keys.insert(id, key);
    store
}

fn checked(signature: &str, manifest: &str, store: &TrustStore) -> Result<String, Flaw> {
    let parsed = Manifest::parse(manifest.as_bytes()).unwrap();
    check(signature, manifest.as_bytes(), &parsed, store)
        .map(|signer| signer.name)
        .map_err(|refusal| refusal.flaw)
}

#[test]
fn a_signature_is_of_these_bytes_by_this_key_for_this_name() {
    let (ours, theirs) = (generate(&Password::None).unwrap(), generate(&Password::None).unwrap());
    let signature = sign(&ours.secret, &Password::None, MANIFEST.as_bytes()).unwrap();
    assert!(signature.contains("trusted comment: acme/a@1.0.0"), "{signature}");
    let us = Ok("us".to_owned());
    assert_eq!(checked(&signature, MANIFEST, &store(&ours, &["*"])), us);
    assert_eq!(checked(&signature, MANIFEST, &store(&ours, &["x", "acme/*"])), us);
    assert_eq!(checked(&signature, MANIFEST, &store(&ours, &["acme"])), Err(Flaw::KeyNotForName));
    assert_eq!(checked(&signature, MANIFEST, &store(&theirs, &["*"])), Err(Flaw::UnknownKey));
    let spaced = MANIFEST.replace(": \"1\"", ":  \"1\"");
    assert_eq!(checked(&signature, &spaced, &store(&ours, &["*"])), Err(Flaw::WrongSignature));
    let other = MANIFEST.replace("1.0.0", "2.0.0");
    assert_eq!(checked(&signature, &other, &store(&ours, &["*"])), Err(Flaw::ForeignSignature));
    let mut revoked = store(&ours, &["*"]);
    revoked.keys.values_mut().for_each(|key| key.revoked_at = Some("now".to_owned()));
    assert_eq!(checked(&signature, MANIFEST, &revoked), Err(Flaw::RevokedKey));
}

#[test]
fn a_changed_signature_is_refused_whatever_was_changed() {
    let keys = generate(&Password::None).unwrap();
    let signature = sign(&keys.secret, &Password::None, MANIFEST.as_bytes()).unwrap();
    let store = store(&keys, &["*"]);
    // The first line is what minisign calls an untrusted comment.
    let start = signature.find('\n').unwrap() + 1;
    for at in start..signature.trim_end().len() {
        let mut bytes = signature.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        assert!(checked(&changed, MANIFEST, &store).is_err(), "byte {at}: {changed}");
        assert!(checked(&signature[..at], MANIFEST, &store).is_err(), "cut at {at}");
    }
}

#[test]
fn what_is_no_key_is_said_to_be_none() {
    for text in ["", "x", "untrusted comment: x\nAAAA\n", "RWQ"] {
        assert!(matches!(public_key(text), Err(KeyError::Invalid { .. })), "{text}");
        assert!(needs_password(text).is_err(), "{text}");
    }
}

#[test]
fn wildcards_match_as_expected() {
    for (pattern, name, expected) in [
        ("*", "a", true),
        ("", "a", false),
        ("a", "a", true),
        ("a", "ab", false),
        ("a*", "ab", true),
        ("*b", "ab", true),
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*a", "a", false),
        ("acme/*", "acme/x", true),
        ("acme/*", "acme", false),
        ("*a*b*", "xaybz", true),
        ("*a*b*", "xbya", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}
