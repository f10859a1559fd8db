//! Whatever a workspace and a layer are: applied, the workspace is what the run saw; taken back, it is what it was.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Thing {
    File(u8, bool),
    Link(u8),
    Folder(bool),
}

type Trees = BTreeMap<Vec<u8>, Thing>;

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        4 => (0_u8..4, any::<bool>()).prop_map(|(content, mode)| Thing::File(content, mode)),
        1 => (0_u8..3).prop_map(Thing::Link),
        2 => any::<bool>().prop_map(Thing::Folder),
    ]
}

fn edits(most: usize) -> impl Strategy<Value = Vec<(Vec<u8>, Option<Thing>)>> {
    let path = proptest::collection::vec(0_u8..3, 1..4);
    proptest::collection::vec((path, proptest::option::weighted(0.8, thing())), 0..most)
}

/// Puts things where they belong: what is in the way goes, and folders come.
fn edit(tree: &mut Trees, edits: &[(Vec<u8>, Option<Thing>)]) {
    for (path, thing) in edits {
        if !(matches!(thing, Some(Thing::Folder(_)))
            && matches!(tree.get(path), Some(Thing::Folder(_))))
        {
            tree.retain(|other, _| !other.starts_with(path));
        }
        let Some(thing) = thing else { continue };
        for end in 1..path.len() {
            let above = path[..end].to_vec();
            if !matches!(tree.get(&above), Some(Thing::Folder(_))) {
                tree.insert(above, Thing::Folder(true));
            }
        }
        tree.insert(path.clone(), thing.clone());
    }
}

fn real(root: &Path, path: &[u8]) -> PathBuf {
    path.iter().fold(root.to_owned(), |folder, name| folder.join(["a", "a-b", "c"][*name as usize]))
}

fn make(place: &Path, thing: &Thing) {
    match thing {
        Thing::File(content, mode) => {
            fs::write(place, [b'0' + content]).unwrap();
            set_mode(place, if *mode { 0o644 } else { 0o755 });
        }
        Thing::Link(target) => symlink(["a", "..", "/nowhere"][*target as usize], place).unwrap(),
        Thing::Folder(mode) => {
            fs::create_dir(place).unwrap();
            set_mode(place, if *mode { 0o755 } else { 0o700 });
        }
    }
}

/// Makes the layer that turns one tree into the other, in one of the ways that the kernel could.
fn layer(world: &World, (old, new): (&Trees, &Trees), coins: &[bool]) {
    let mut coins = coins.iter().copied().cycle();
    let mut coin = || coins.next().unwrap_or_default();
    let mut waiting = vec![(Vec::new(), false)];
    while let Some((folder, is_cut)) = waiting.pop() {
        for name in 0..3 {
            let path = [&folder[..], &[name]].concat();
            let place = real(&world.upper, &path);
            match (old.get(&path), new.get(&path)) {
                (None, None) => {}
                (Some(_), None) => {
                    if !is_cut || coin() {
                        whiteout(&place);
                    }
                }
                (was, Some(thing @ Thing::Folder(_))) => {
                    make(&place, thing);
                    let was_folder = matches!(was, Some(Thing::Folder(_)));
                    let cuts = was_folder && coin();
                    if cuts {
                        mark(&place, "user.overlay.opaque", b"y");
                    }
                    waiting.push((path, is_cut || cuts || !was_folder));
                }
                (was, Some(thing)) => {
                    if is_cut || was != Some(thing) || coin() {
                        make(&place, thing);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(any(portable, not(target_os = "linux")), ignore = "only Linux has overlays")]
    fn what_the_run_saw_is_applied_and_taken_back(
        first in edits(10),
        second in edits(8),
        coins in proptest::collection::vec(any::<bool>(), 8),
    ) {
        let mut world = World::new();
        let (mut old, expected) = (Trees::new(), World::new());
        edit(&mut old, &first);
        let mut new = old.clone();
        edit(&mut new, &second);
        for (path, thing) in &old {
            make(&real(&world.workspace, path), thing);
        }
        for (path, thing) in &new {
            make(&real(&expected.workspace, path), thing);
        }
        layer(&world, (&old, &new), &coins);
        world.note();
        let before = world.snapshot();
        let timeless = |snapshot: Snapshot| -> Vec<_> {
            snapshot.into_iter().map(|(path, (mode, content, _))| (path, mode, content)).collect()
        };
        let set = world.collect();
        prop_assert_eq!(&set.held, &vec![]);
        prop_assert_eq!(&set.conflicts, &vec![]);
        world.apply(&Disk::default()).unwrap();
        prop_assert_eq!(timeless(world.snapshot()), timeless(expected.snapshot()));
        prop_assert_eq!(world.shown(), "");
        world.undo(1, &Disk::default()).unwrap();
        prop_assert_eq!(world.snapshot(), before);
    }
}
