use super::*;

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "only Linux has overlays")]
fn added_changed_and_deleted_files_are_found_applied_and_taken_back() {
    let mut world = World::new();
    world.file("a.txt", "old\n").file("b/c.txt", "c\n").file("b/d.txt", "d\n").file("same", "s");
    world.file("gone/one", "1").file("gone/deep/two", "2").file("replaced/x", "x");
    world.upper("a.txt", "new\n").upper("b/new.txt", "n").upper("same", "s");
    world.deletes("b/c.txt").deletes("gone").opaque("replaced").upper("replaced/y", "y");
    fs::create_dir(world.upper.join("empty")).unwrap();
    symlink("a.txt", world.upper.join("link")).unwrap();
    world.note();
    assert_eq!(
        world.shown(),
        "~a.txt -b/c.txt +b/new.txt +empty -gone -gone/deep -gone/deep/two -gone/one +link \
         -replaced/x +replaced/y"
    );
    let before = world.snapshot();
    let applied = world.apply(&Disk::default()).unwrap();
    assert_eq!(applied.number, 1);
    assert_eq!(fs::read(world.workspace.join("a.txt")).unwrap(), b"new\n");
    assert!(!world.workspace.join("gone").exists());
    assert_eq!(world.shown(), "", "after applying nothing is left");
    assert_ne!(world.snapshot(), before);
    world.undo(1, &Disk::default()).unwrap();
    assert_eq!(world.snapshot(), before);
    assert!(matches!(world.undo(1, &Disk::default()), Err(ChangesError::NotApplied { number: 1 })));
}

#[test]
fn files_folders_and_links_replace_each_other() {
    let mut world = World::new();
    world.file("file", "f").file("folder/inner/x", "x").file("other/y", "y");
    symlink("file", world.workspace.join("link")).unwrap();
    world.upper("file/inner", "1").upper("folder", "now a file").upper("link", "plain");
    symlink("file", world.upper.join("other")).unwrap();
    world.note();
    let before = world.snapshot();
    world.apply(&Disk::default()).unwrap();
    assert_eq!(world.shown(), "");
    assert_eq!(fs::read(world.workspace.join("file/inner")).unwrap(), b"1");
    assert_eq!(fs::read(world.workspace.join("folder")).unwrap(), b"now a file");
    assert!(!world.workspace.join("link").is_symlink());
    assert!(world.workspace.join("other").is_symlink());
    world.undo(1, &Disk::default()).unwrap();
    assert_eq!(world.snapshot(), before);
}

#[test]
fn modes_count_and_bits_that_change_the_user_do_not() {
    let mut world = World::new();
    world.file("run.sh", "x").file("d/f", "f").upper("run.sh", "x").upper("tool", "t");
    fs::create_dir(world.upper.join("d")).unwrap();
    set_mode(&world.upper.join("run.sh"), 0o755);
    set_mode(&world.upper.join("tool"), 0o6755);
    set_mode(&world.upper.join("d"), 0o500);
    world.note();
    let before = world.snapshot();
    assert_eq!(world.shown(), "~d ~run.sh +tool !tool");
    world.apply(&Disk::default()).unwrap();
    let mode = |name: &str| fs::metadata(world.workspace.join(name)).unwrap().mode() & 0o7777;
    assert_eq!((mode("run.sh"), mode("tool"), mode("d")), (0o755, 0o755, 0o500));
    world.undo(1, &Disk::default()).unwrap();
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_file_that_somebody_else_changed_is_a_conflict() {
    let mut world = World::new();
    world.file("a", "1\n2\n3\n4\n5\n").file("b", "b").file("c", "c").file("dir/x", "x");
    world.upper("a", "one\n2\n3\n4\n5\n").upper("b", "ours").upper("c", "c").upper("n", "ours");
    world.deletes("dir");
    world.note();
    world.file("a", "1\n2\n3\n4\nfive\n").file("b", "theirs").file("c", "theirs").file("n", "new");
    world.file("dir/later", "theirs");
    assert_eq!(world.shown(), "~a ~b -dir -dir/later -dir/x ~n ?a ?b ?dir/later ?n");
    let before = world.snapshot();
    let refused = world.apply(&Disk::default());
    assert!(matches!(refused, Err(ChangesError::Conflict { conflicts }) if conflicts.len() == 4));
    assert_eq!(world.snapshot(), before);
    let apply = |way, paths: &[&str]| {
        let paths: Vec<LayerPath> = paths.iter().map(|text| path(text)).collect();
        let plan = world.plan(&Selection { paths: &paths, way })?;
        apply(&plan, &world.store(), (&world.layer(), &world.workspace), &Disk::default())
    };
    assert!(matches!(apply(Way::Merge, &["b"]), Err(ChangesError::Conflict { .. })));
    apply(Way::Merge, &["a"]).unwrap();
    assert_eq!(fs::read(world.workspace.join("a")).unwrap(), b"one\n2\n3\n4\nfive\n");
    apply(Way::Ours, &["b"]).unwrap();
    assert_eq!(fs::read(world.workspace.join("b")).unwrap(), b"ours");
    apply(Way::Theirs, &["dir"]).unwrap();
    assert_eq!(fs::read_dir(world.workspace.join("dir")).unwrap().count(), 1);
}

#[test]
fn what_was_changed_during_the_action_is_uncertain() {
    let mut world = World::new();
    world.file("a", "1").file("b", "same").upper("a", "2").upper("b", "same");
    let layer = Layer::Overlay { upper: &world.upper };
    let long_ago = SystemTime::UNIX_EPOCH;
    world.base.note(&layer, &world.workspace, long_ago, (&world.rules, &world.run)).unwrap();
    assert_eq!(world.shown(), "~a ?a");
}

#[test]
fn a_file_of_the_layer_that_is_swapped_after_it_was_shown_is_not_applied() {
    let mut world = World::new();
    world.file("a", "1").upper("a", "2").upper("b", "3");
    world.note();
    let plan = world.plan(&Selection::default()).unwrap();
    world.upper("a", "4");
    let before = world.snapshot();
    let places = (&world.layer(), &*world.workspace);
    let refused = apply(&plan, &world.store(), places, &Disk::default());
    assert!(matches!(refused, Err(ChangesError::Changed { path }) if path.to_string() == "a"));
    assert_eq!(world.snapshot(), before);
    assert_eq!(world.store().list().unwrap(), []);
}

#[test]
fn undo_refuses_where_a_file_is_not_what_was_applied() {
    let mut world = World::new();
    world.file("a", "1").upper("a", "2").upper("b/c", "3");
    world.note();
    world.apply(&Disk::default()).unwrap();
    world.file("b/theirs", "4");
    let before = world.snapshot();
    assert!(matches!(world.undo(1, &Disk::default()), Err(ChangesError::Conflict { .. })));
    world.file("a", "5");
    assert!(matches!(world.undo(1, &Disk::default()), Err(ChangesError::Conflict { .. })));
    world.file("a", "2");
    fs::remove_file(world.workspace.join("b/theirs")).unwrap();
    drop(before);
    world.undo(1, &Disk::default()).unwrap();
    assert_eq!(fs::read(world.workspace.join("a")).unwrap(), b"1");
    assert!(!world.workspace.join("b").exists());
}

#[test]
fn a_part_brings_the_folders_that_it_needs() {
    let mut world = World::new();
    world.upper("x/y/one", "1").upper("x/y/two", "2").upper("z", "3");
    world.note();
    let paths = [path("x/y/one")];
    let plan = world.plan(&Selection { paths: &paths, way: Way::Refuse }).unwrap();
    apply(&plan, &world.store(), (&world.layer(), &world.workspace), &Disk::default()).unwrap();
    assert!(world.workspace.join("x/y/one").exists());
    assert_eq!(world.shown(), "+x/y/two +z");
    let unknown = [path("nothing")];
    let refused = world.plan(&Selection { paths: &unknown, way: Way::Refuse });
    assert!(matches!(refused, Err(ChangesError::NotChanged { .. })));
}

#[test]
fn names_may_hold_any_bytes_and_come_back() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut world = World::new();
    let odd = OsStr::from_bytes(b"o\xffdd \\ \n\xe2\x80\xae\xc3\xa4");
    fs::write(world.upper.join(odd), "x").unwrap();
    world.note();
    assert_eq!(world.shown(), "+o\\xffdd \\\\ \\x0a\\u{202e}ä");
    let found = world.collect().changes[0].path.clone();
    assert_eq!(path(&found.to_string()), found);
    assert_eq!(found.as_bytes(), odd.as_bytes());
    world.apply(&Disk::default()).unwrap();
    assert!(world.workspace.join(odd).exists());
    world.undo(1, &Disk::default()).unwrap();
    for text in ["", ".", "a/../b", "/a", "a//b", "a/", "\\q", "\\x0", "a\\x00"] {
        assert!(text.parse::<LayerPath>().is_err(), "{text}");
    }
}

#[test]
fn a_base_comes_back_as_it_was() {
    let mut world = World::new();
    world.file("a", "1").file("d/x", "x").upper("a", "2").upper("new", "n").deletes("d");
    symlink("a", world.workspace.join("l")).unwrap();
    world.deletes("l");
    world.note();
    assert_eq!(Base::load(&world.run).unwrap(), Base::default());
    world.base.save(&world.run).unwrap();
    assert_eq!(Base::load(&world.run).unwrap(), world.base);
    write(&world.run.path().join("layer-base"), b"nonsense");
    assert!(matches!(Base::load(&world.run), Err(ChangesError::Damaged { .. })));
}

#[test]
fn changes_in_a_private_copy_are_those_that_the_run_made() {
    let mut world = World::new();
    world.file("a", "1").file("b", "2").file("d/x", "x").file("d/left/out", "o").file(".env", "s");
    for (name, content) in [("a", "1"), ("b", "2"), ("d/x", "x")] {
        write(&world.upper.join(name), content.as_bytes());
    }
    let later = SystemTime::now() + std::time::Duration::from_secs(60);
    world.base = Base::of_copy(&world.upper, &world.workspace, later).unwrap();
    world.upper("a", "changed").upper("new", "n");
    fs::remove_dir_all(world.upper.join("d")).unwrap();
    world.file("b", "theirs").file("later", "theirs");
    let layer = Layer::Copy { copy: &world.upper };
    world.base.note(&layer, &world.workspace, later, (&world.rules, &world.run)).unwrap();
    let about = (&world.base, &world.rules);
    let set = collect(&layer, &world.workspace, about, &mut Hashes::default()).unwrap();
    let paths: Vec<String> = set.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["a", "d/x", "new"]);
    assert_eq!((set.held, set.conflicts), (vec![], vec![]));
}

#[test]
fn a_layer_beyond_its_limits_is_an_error() {
    let mut world = World::new();
    world.upper("a", "12345").upper("b", "12345");
    world.rules.limits = LayerLimits { files: 1, bytes: 100 };
    let about = (&world.base, &world.rules);
    let collected = collect(&world.layer(), &world.workspace, about, &mut Hashes::default());
    assert!(matches!(collected, Err(ChangesError::TooLarge { what: "files", .. })));
    world.rules.limits = LayerLimits { files: 10, bytes: 9 };
    let about = (&world.base, &world.rules);
    let collected = collect(&world.layer(), &world.workspace, about, &mut Hashes::default());
    assert!(matches!(collected, Err(ChangesError::TooLarge { what: "bytes", .. })));
}

#[test]
fn a_folder_that_became_a_link_is_settled() {
    let mut world = World::new();
    world.file("d/x", "x").upper("e/x", "x");
    symlink("e", world.upper.join("d")).unwrap();
    world.note();
    let applied = world.apply(&Disk::default()).unwrap();
    world.base.settle(&world.workspace, &applied.paths).unwrap();
    assert_eq!(world.shown(), "");
}

/// Who may read everything sees what is in it.
#[test]
fn a_folder_that_nobody_may_read_stays_held_back() {
    let mut world = World::new();
    world.upper("d/x", "x").upper("y", "y");
    set_mode(&world.upper.join("d"), 0o000);
    if fs::read_dir(world.upper.join("d")).is_err() {
        world.note();
        assert_eq!(world.shown(), "+d +y !d");
        let applied = world.apply(&Disk::default()).unwrap();
        world.base.settle(&world.workspace, &applied.paths).unwrap();
        assert_eq!(world.shown(), "!d", "so the layer is kept");
        set_mode(&world.workspace.join("d"), 0o700);
    }
    set_mode(&world.upper.join("d"), 0o700);
    assert_eq!(fs::read(world.upper.join("d/x")).unwrap(), b"x");
}
