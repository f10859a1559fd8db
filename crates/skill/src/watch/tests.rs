use std::fs;
use std::sync::mpsc::channel;

use basics::skill::Source;

use super::*;
use crate::index::IndexOptions;
use crate::roots::Surroundings;

#[test]
fn a_new_skill_is_announced_and_held_indexes_stay_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let surroundings = Surroundings {
        explicit: vec![folder.path().to_owned()],
        working_directory: folder.path().to_owned(),
        home: None,
        project_folders: Vec::new(),
        precedence: vec![Source::Explicit],
        compatibility_folders: false,
    };
    let (sender, announced) = channel();
    let every = Duration::from_millis(1);
    let build = move || Some(Index::build(&surroundings.roots(), &IndexOptions::default()));
    let first = Arc::new(build().unwrap());
    let watch = Watch::start(first, build, every, move |index| {
        sender.send(index.skills.len()).unwrap();
    });
    let before = watch.current();
    // The skill appears whole, so that there is one change to announce.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("SKILL.md"), "---\nname: fresh\ndescription: New.\n---\n")
        .unwrap();
    fs::rename(elsewhere.path(), folder.path().join("fresh")).unwrap();
    assert_eq!(announced.recv(), Ok(1));
    assert_eq!(before.skills.len(), 0);
    assert_eq!(watch.current().skills.len(), 1);
}
