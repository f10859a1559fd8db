//! `skillful export`: the pack that a skill came from.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::world::packs::{key, packed, refusal, skill, works};
use crate::zip::{item, zip};

#[test]
fn an_export_is_the_pack_it_came_from() {
    let world = packed();
    key(&world, "k");
    for pack in ["demo.zip", "signed.zip"] {
        world.run("skillful trust key k.pub --name us; skillful pack demo -o signed.zip --sign k.sec --force");
        works(&world, &format!("install {pack} --force --allow BecameUnsigned"));
        works(&world, "export demo -o out.zip --force");
        let out = fs::read(world.path("project/out.zip")).unwrap();
        assert_eq!(out, fs::read(world.path(&format!("project/{pack}"))).unwrap(), "{pack}");
    }
    // A changed skill is another pack, without the signature.
    world.write("home/.agent/skills/demo/references/a.md", "B");
    let output = world.output("skillful export demo -o out.zip --force");
    let warned = "warning: demo was signed, but the export is not";
    assert!(String::from_utf8_lossy(&output.stderr).starts_with(warned), "{output:?}");
    assert_eq!(works(&world, "verify out.zip")["signer"], Value::Null);
}

#[test]
fn an_export_has_the_signature_where_the_pack_had_it() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    works(&world, "sign demo.zip --key k.sec --detached");
    works(&world, "install demo.zip");
    assert_eq!(works(&world, "export demo -o out.zip")["signed"], true);
    let same = |one: &str, other: &str| {
        let read = |path: &str| fs::read(world.path(&format!("project/{path}"))).unwrap();
        assert_eq!(read(one), read(other), "{one} {other}");
    };
    same("out.zip", "demo.zip");
    same("out.zip.sig", "demo.zip.sig");
    // A signature in the way is not written over.
    world.run("rm out.zip && echo mine > out.zip.sig");
    assert_eq!(refusal(&world, "export demo -o out.zip"), ("AlreadyExists".to_owned(), 1));
    assert!(!world.path("project/out.zip").exists());
    works(&world, "export demo -o out.zip --force");
    same("out.zip.sig", "demo.zip.sig");
    let output = world.output("skillful export demo -o - > piped.zip");
    assert!(String::from_utf8_lossy(&output.stderr).contains("use -o FILE"), "{output:?}");
    same("piped.zip", "demo.zip");
    // With a new key of one's own it is in the pack.
    works(&world, "export demo -o own.zip --sign k.sec");
    assert_eq!(works(&world, "verify own.zip")["signer"]["name"], "us");
    assert!(!world.path("project/own.zip.sig").exists());
}

#[test]
fn an_export_has_the_folder_that_the_pack_had() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    // A pack of another program, whose folder has not the skill's name.
    let text = world.read("project/demo/SKILL.md");
    let files = [item("folder/SKILL.md", text), item("folder/a.md", "A")];
    world.write("project/foreign.zip", zip(&files));
    works(&world, "sign foreign.zip --key k.sec");
    works(&world, "install foreign.zip");
    assert_eq!(works(&world, "export demo -o out.zip")["signed"], true);
    let read = |path: &str| fs::read(world.path(path)).unwrap();
    assert_eq!(read("project/out.zip"), read("project/foreign.zip"));
}

#[test]
fn an_export_of_one_skill_of_several_is_not_signed() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    skill(&world, "project/other", "other", "1.0.0", "# Other");
    world.run("skillful pack demo other -o both.zip --sign k.sec");
    works(&world, "install both.zip");
    assert_snapshot!(world.run("skillful export demo -o out.zip | tail -n 1"), @"
      demo@1.0.0, 2 files
    [stderr]
    warning: demo was signed, but the export is not: its signature covers other files, or several skills
    ");
    assert_eq!(works(&world, "verify out.zip")["signer"], Value::Null);
}
