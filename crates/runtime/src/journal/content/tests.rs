use std::fs;

use tempfile::TempDir;

use super::*;

fn contents() -> (TempDir, Contents) {
    let folder = TempDir::new().unwrap();
    let contents = Contents::new(&run(&folder)).unwrap();
    (folder, contents)
}

fn run(folder: &TempDir) -> Folder {
    Folder::at(folder.path()).unwrap()
}

#[test]
fn content_is_kept_once_and_read_back_whatever_its_bytes() {
    let (folder, mut contents) = contents();
    let bytes = [0, 255, b'\n', 128];
    let kept = contents.put(&bytes).unwrap();
    assert_eq!(kept.name, reference(&kept.sha256));
    assert_eq!(read(&run(&folder), &kept.name).unwrap(), bytes);
    assert_eq!(contents.put(&bytes).unwrap(), kept);
    contents.settle(Durability::Sync).unwrap();
    assert_eq!(fs::read_dir(folder.path().join("observations")).unwrap().count(), 1);
}

#[test]
fn content_that_another_process_kept_is_taken_as_it_is() {
    let (folder, mut contents) = contents();
    let kept = contents.put(b"the same").unwrap();
    assert_eq!(Contents::new(&run(&folder)).unwrap().put(b"the same").unwrap(), kept);
}

#[test]
fn a_file_that_a_power_failure_spoilt_is_written_again() {
    let (folder, mut contents) = contents();
    let name = reference(&Sha256::of(b"whole"));
    fs::write(folder.path().join(&name), b"").unwrap();
    assert_eq!(contents.put(b"whole").unwrap().name, name);
    assert_eq!(read(&run(&folder), &name).unwrap(), b"whole");
}

#[test]
fn content_whose_short_name_is_taken_gets_a_long_one() {
    let (folder, mut contents) = contents();
    let sha256 = Sha256::of(b"second");
    contents.known.insert(
        reference(&sha256),
        format!("{}{}", &sha256.to_string()[..16], "0".repeat(48)).parse().unwrap(),
    );
    let kept = contents.put(b"second").unwrap();
    assert_eq!(kept.name, format!("observations/{sha256}.txt"));
    assert_eq!(read(&run(&folder), &kept.name).unwrap(), b"second");
    assert!(is_named(&kept.name, &sha256));
}

#[test]
fn only_names_that_are_made_here_are_references() {
    for name in [
        "/etc/passwd",
        "observations/../../x.txt",
        "observations/0123456789abcdeg.txt",
        "observations/0123456789ABCDEF.txt",
        "observations/0123456789abcdef",
        "0123456789abcdef.txt",
        "observations/.txt",
    ] {
        assert_eq!(digits(name), None, "{name}");
    }
    assert_eq!(digits("observations/0123456789abcdef.txt"), Some("0123456789abcdef"));
}

#[test]
fn what_is_no_plain_file_is_not_read() {
    let (folder, _) = contents();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("observations/endless")).unwrap();
    assert!(read(&run(&folder), "observations/endless").is_err());
    assert!(read(&run(&folder), "observations").is_err());
}
