#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use std::os::unix::fs::symlink;

use super::*;

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        world
            .write("secret", "private")
            .write("folder/a.txt", "one")
            .write("folder/sub/b.txt", "two");
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
        self
    }

    fn link(&self, path: &str, target: &str) -> &Self {
        symlink(target, self.path(path)).unwrap();
        self
    }

    fn copy(&self, inner: &str) -> Result<String, FolderError> {
        self.copy_with(inner, &mut Quota::default())
    }

    fn copy_with(&self, inner: &str, quota: &mut Quota) -> Result<String, FolderError> {
        let to = tempfile::tempdir().unwrap();
        let folder = Folder::open(&self.path("folder")).unwrap();
        let sum = folder.copy(Path::new(inner), &to.path().join("copy"), quota);
        let mut found = String::new();
        for path in Folder::open(to.path()).unwrap().files(Path::new("."), &mut Quota::default())? {
            found += &fs::read_to_string(to.path().join(path)).unwrap();
        }
        assert!(!found.contains("private"), "{inner}: {found}");
        sum
    }
}

#[test]
fn what_leads_out_is_not_copied() {
    for (path, target) in [
        ("link", "../secret"),
        ("link", "sub/../../secret"),
        ("link", ".."),
        ("link", "/etc"),
        ("link", "/etc/hostname"),
        ("sub/link", "../../secret"),
    ] {
        let world = World::new();
        world.link(&format!("folder/{path}"), target);
        for inner in [".", path] {
            let error = world.copy(inner).unwrap_err();
            assert!(matches!(error, FolderError::LeadsOut { .. }), "{path} -> {target}: {error}");
        }
    }
    let world = World::new();
    for path in ["../secret", "sub/../../secret", "/etc/hostname"] {
        let error = world.copy(path).unwrap_err();
        assert!(matches!(error, FolderError::LeadsOut { .. }), "{path}: {error}");
    }
}

#[test]
fn links_inside_are_followed_and_those_to_nothing_are_left_out() {
    let world = World::new();
    let before = world.copy(".").unwrap();
    world.link("folder/nothing", "gone");
    assert_eq!(world.copy(".").unwrap(), before);
    world.link("folder/again", "sub/b.txt").link("folder/more", "sub");
    assert_ne!(world.copy(".").unwrap(), before);
    assert_eq!(world.copy("again").unwrap(), world.copy("sub/b.txt").unwrap());
    assert_eq!(world.copy("more").unwrap(), world.copy("sub").unwrap());
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let world = World::new();
    let (mode, kind) = (rustix::fs::Mode::RWXU, rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(rustix::fs::CWD, world.path("folder/pipe"), kind, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.path("folder/socket")).unwrap();
    for inner in ["pipe", "socket"] {
        let error = world.copy(inner).unwrap_err();
        assert!(matches!(error, FolderError::NoFile { .. }), "{inner}: {error}");
        assert!(open_regular(&world.path("folder").join(inner)).unwrap().is_none());
    }
    assert!(open_regular(Path::new("/dev/zero")).unwrap().is_none());
    assert!(open_regular(&world.path("folder/a.txt")).unwrap().is_some());
}

#[test]
fn there_is_an_end_to_what_is_taken() {
    let world = World::new();
    let too_much = |world: &World, quota: &mut Quota| {
        let error = world.copy_with(".", quota).unwrap_err();
        assert!(matches!(error, FolderError::TooMuch { .. }), "{error}");
    };
    too_much(&world, &mut Quota { entries: 2, ..Quota::default() });
    too_much(&world, &mut Quota { bytes: 5, ..Quota::default() });
    world.copy_with(".", &mut Quota { entries: 3, bytes: 6 }).unwrap();
    // Folders that lead into themselves.
    world.link("folder/loop", ".").link("folder/sub/loop", "..");
    too_much(&world, &mut Quota { entries: 5_000, ..Quota::default() });
    let folder = Folder::open(&world.path("folder")).unwrap();
    assert!(matches!(folder.read(Path::new("a.txt"), 2), Err(FolderError::TooMuch { .. })));
    assert_eq!(folder.read(Path::new("a.txt"), 3).unwrap(), b"one");
}

#[test]
fn the_hash_is_of_names_contents_and_modes() {
    let world = World::new();
    let mut seen = vec![world.copy(".").unwrap()];
    let mut differs = |world: &World, what: &str| {
        let hash = world.copy(".").unwrap();
        assert!(!seen.contains(&hash), "{what}");
        seen.push(hash);
    };
    world.write("folder/a.txt", "One");
    differs(&world, "content");
    fs::rename(world.path("folder/a.txt"), world.path("folder/c.txt")).unwrap();
    differs(&world, "name");
    fs::set_permissions(world.path("folder/c.txt"), fs::Permissions::from_mode(0o700)).unwrap();
    differs(&world, "mode");
    world.write("folder/.hidden", "");
    differs(&world, "a hidden file");
    fs::create_dir(world.path("folder/empty")).unwrap();
    differs(&world, "an empty folder");
    fs::rename(world.path("folder/sub/b.txt"), world.path("folder/sub.b.txt")).unwrap();
    differs(&world, "a move");
}
