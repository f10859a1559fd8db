//! What was kept comes back in the order in which it went, however fast that was.

use skillful_pack::disk::Disk;
use skillful_pack::install::{KeptAs, Replace};

use crate::support::{World, install};

const NOW: &str = "20260101T000000Z";

fn uninstall(world: &World) {
    let (root, disk) = (world.root(), Disk::default());
    let mut opened = root.open(&disk, "change").unwrap();
    opened.uninstall("beta", false, NOW).unwrap();
}

/// The kinds and labels of what is kept, the newest first.
fn kept(world: &World) -> Vec<(KeptAs, String)> {
    let kept = world.root().list_kept("beta").unwrap();
    kept.into_iter().map(|kept| (kept.kept_as, kept.label)).collect()
}

#[test]
fn the_last_one_that_went_in_a_second_comes_first() {
    let world = World::new();
    world.skill("past", "beta", "1.0.0");
    // So many that their numbers have two digits.
    for _ in 0..11 {
        install(&world, &Disk::default(), "past", Replace::Backup, NOW).unwrap();
    }
    uninstall(&world);
    let found = kept(&world);
    assert_eq!(found[0], (KeptAs::Trash, format!("{NOW}-11")));
    assert_eq!(found[1], (KeptAs::Backup, format!("{NOW}-10")));
    assert_eq!(found[10], (KeptAs::Backup, NOW.to_owned()));
}

#[test]
fn a_place_that_became_free_is_not_taken_again() {
    let world = World::new();
    world.skill("past", "beta", "1.0.0");
    for _ in 0..3 {
        install(&world, &Disk::default(), "past", Replace::Backup, NOW).unwrap();
    }
    std::fs::remove_dir_all(world.path(&format!(".agent/skills/.backup/beta/{NOW}"))).unwrap();
    uninstall(&world);
    assert_eq!(kept(&world)[0], (KeptAs::Trash, format!("{NOW}-3")));
}
