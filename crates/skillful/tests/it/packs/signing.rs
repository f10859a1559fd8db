//! Who signed a pack, and whether that counts.

use std::process::Command;

use insta::assert_snapshot;

use crate::world::packs::{key, packed, refusal, skill, works};

/// Whether these programs are here; says which is not.
fn installed(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| Command::new(name).arg("-v").output().is_err());
    if let Some(name) = missing {
        let words = format!("skipped: `{name}` is not installed (apt-get install {name})\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), words.as_bytes());
    }
    missing.is_none()
}

#[test]
fn only_trusted_keys_count() {
    let world = packed();
    let (ours, theirs) = (key(&world, "ours"), key(&world, "theirs"));
    world.run("skillful pack demo -o ours.zip --sign ours.sec && skillful pack demo -o theirs.zip --sign theirs.sec");
    assert_eq!(refusal(&world, "install ours.zip"), ("UnknownKey".to_owned(), 4));
    works(&world, "trust key ours.pub --name us --for 'de*'");
    works(&world, "trust key theirs.pub --name them --for 'acme/*' --for other");
    assert_eq!(refusal(&world, "install theirs.zip"), ("KeyNotForName".to_owned(), 4));
    let installed = works(&world, "install ours.zip");
    assert_eq!(installed["installed"][0]["signer"]["key"], ours.as_str());
    assert_eq!(works(&world, "verify demo")["signer"]["name"], "us");
    works(&world, "trust key theirs.pub --name them");
    assert_eq!(refusal(&world, "install theirs.zip --force"), ("OtherSigner".to_owned(), 4));
    assert_eq!(refusal(&world, "install demo.zip --force"), ("BecameUnsigned".to_owned(), 4));
    works(&world, "install theirs.zip --force --allow OtherSigner");
    works(&world, &format!("untrust --key {theirs}"));
    assert_eq!(refusal(&world, "install theirs.zip --force"), ("RevokedKey".to_owned(), 4));
    assert_eq!(
        refusal(&world, "install theirs.zip --force --allow UnknownKey"),
        ("RevokedKey".to_owned(), 4)
    );
    assert_eq!(refusal(&world, "verify demo --scope user"), ("RevokedKey".to_owned(), 4));
    assert_eq!(refusal(&world, "trust key theirs.pub --name them"), ("RevokedKey".to_owned(), 4));
}

#[test]
fn a_signature_is_of_one_pack() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    skill(&world, "project/other", "other", "1.0.0", "# Other");
    world.run("skillful pack demo -o a.zip && skillful pack other -o b.zip && skillful sign a.zip --key k.sec --detached");
    assert_eq!(works(&world, "verify a.zip")["signer"]["name"], "us");
    world.run("cp a.zip.sig b.zip.sig");
    assert_eq!(refusal(&world, "verify b.zip"), ("ForeignSignature".to_owned(), 4));
    skill(&world, "project/demo", "demo", "1.0.0", "# Something else");
    world.run("skillful pack demo -o c.zip && cp a.zip.sig c.zip.sig");
    assert_eq!(refusal(&world, "verify c.zip"), ("WrongSignature".to_owned(), 4));
    works(&world, "sign c.zip --key k.sec");
    world.run("rm c.zip.sig");
    assert_eq!(works(&world, "verify c.zip")["signer"]["name"], "us");
}

#[test]
fn signatures_can_be_required() {
    let world = packed().with("SKILLFUL_INSTALL_REQUIRE_SIGNATURE", "always");
    assert_eq!(refusal(&world, "install demo.zip"), ("SignatureRequired".to_owned(), 4));
    assert_eq!(refusal(&world, "verify demo.zip"), ("SignatureRequired".to_owned(), 4));
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    works(&world, "sign demo.zip --key k.sec");
    works(&world, "install demo.zip");
}

#[test]
fn the_standard_tool_agrees() {
    if !installed(&["minisign", "unzip"]) {
        return;
    }
    let world = packed();
    key(&world, "ours");
    world.run("minisign -G -W -p theirs.pub -s theirs.sec");
    works(&world, "trust key theirs.pub --name them");
    works(&world, "trust key ours.pub --name us");
    // It accepts ours, in the pack and of the installed skill.
    works(&world, "sign demo.zip --key ours.sec");
    world.run("unzip -qo demo.zip manifest.json manifest.json.minisig");
    let verified = world.run("minisign -Vm manifest.json -p ours.pub");
    assert!(verified.contains("Trusted comment: demo@1.0.0"), "{verified}");
    works(&world, "install demo.zip");
    let verified =
        world.run("minisign -Vm ../home/.agent/skills/.packs/*/manifest.json -p ours.pub");
    assert!(verified.starts_with("Signature and comment signature verified"), "{verified}");
    // We accept its, with its own key and with its own comment.
    world.run("skillful pack demo -o plain.zip && unzip -qo plain.zip manifest.json && minisign -Sm manifest.json -s theirs.sec -x plain.zip.sig");
    assert_eq!(works(&world, "verify plain.zip")["signer"]["name"], "them");
    works(&world, "pack demo -o theirs.zip --sign theirs.sec");
    assert_eq!(works(&world, "verify theirs.zip")["signer"]["name"], "them");
    // And it signs with our key.
    world.run("minisign -Sm manifest.json -s ours.sec -x plain.zip.sig");
    assert_eq!(works(&world, "verify plain.zip")["signer"]["name"], "us");
}

#[test]
fn a_damaged_lockfile_says_nothing_about_who_signed() {
    let world = packed();
    works(&world, "install demo.zip");
    world.write("home/.agent/skills.lock", "{}");
    assert_snapshot!(world.run("skillful why demo"), @"
    demo is [world]/home/.agent/skills/demo
      from unknown: `[world]/home/.agent/skills.lock` is damaged: missing field `format_version` at line 1 column 2
      costs 56 characters of the catalog (about 14 tokens)
    ");
    let known = works(&world, "why demo");
    assert_eq!(known["installed"].get("signer"), None, "{known}");
}
