//! What change sets cost: 10,000 files of 10 kB collected, applied and taken back, beside `cp -a` and a wait for each
//! file; and the difference of texts that are made to be hard to compare.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use skillful_tools::changes::{
    Base, Disk, Hashes, Layer, Plan, Rules, Selection, Store, apply, collect, diff, patch, summary,
    undo,
};
use state::{Access, Folder};

const FILES: usize = 10_000;
const BYTES: usize = 10_000;

fn main() {
    // On the disk that the build is on: memory waits for nothing.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = fs::canonicalize(place.path()).unwrap();
    println!("{FILES} files, {} MB", FILES * BYTES / 1_000_000);
    for (name, existing) in [("all new", false), ("all changed", true)] {
        println!("\n{name}");
        round(&place.join(name.replace(' ', "-")), existing);
    }
    println!("\ntexts that are hard to compare");
    hostile(&place.join("hostile"));
    let start = Instant::now();
    let copy = place.join("all-new/copy");
    assert!(
        Command::new("cp")
            .arg("-a")
            .arg(place.join("all-new/upper"))
            .arg(&copy)
            .status()
            .unwrap()
            .success()
    );
    wait_for_each(&copy);
    row("cp -a and fsync of each", start.elapsed());
    fs::remove_dir_all(&place).unwrap();
}

fn round(place: &Path, existing: bool) {
    let [workspace, upper, run] = ["workspace", "upper", "run"].map(|name| place.join(name));
    for folder in [&workspace, &upper, &run] {
        fs::create_dir_all(folder).unwrap();
    }
    if existing {
        fill(&workspace, 1);
    }
    fill(&upper, 2);
    sync();
    let run = Folder::at(&run).unwrap();
    let (layer, rules) = (Layer::Overlay { upper: &upper }, Rules::default());
    let later = SystemTime::now() + Duration::from_secs(60);
    let mut base = Base::default();
    timed("note", || base.note(&layer, &workspace, later, (&rules, &run)).unwrap());
    timed("save and load the base", || {
        base.save(&run).unwrap();
        assert!(Base::load(&run).unwrap() == base);
    });
    let mut hashes = Hashes::default();
    let mut collected = || collect(&layer, &workspace, (&base, &rules), &mut hashes).unwrap();
    let set = timed("collect", &mut collected);
    timed("collect again", &mut collected);
    timed("hash of the set", || set.sha256());
    timed("summary", || summary(&set, &workspace).unwrap());
    let mut text = Vec::new();
    timed("patch", || patch(&set, (&layer, &workspace), &rules, &mut text).unwrap());
    let store = Store::open(&run.create_folder("applied", Access::Private).unwrap()).unwrap();
    let plan = timed("plan", || {
        let about = (&base, &rules, &run);
        Plan::new(&set, &Selection::default(), (&layer, &workspace), about).unwrap()
    });
    let disk = Disk::default();
    timed("apply", || apply(&plan, &store, (&layer, &workspace), &disk).unwrap());
    timed("undo", || undo(&store, 1, (&workspace, &rules), &disk).unwrap());
}

fn hostile(place: &Path) {
    let [workspace, upper, run] = ["workspace", "upper", "run"].map(|name| place.join(name));
    for folder in [&workspace, &upper, &run] {
        fs::create_dir_all(folder).unwrap();
    }
    let (layer, rules) = (Layer::Overlay { upper: &upper }, Rules::default());
    fs::write(workspace.join("t"), noise(1)).unwrap();
    fs::write(upper.join("t"), noise(2)).unwrap();
    let base = Base::default();
    let set = collect(&layer, &workspace, (&base, &rules), &mut Hashes::default()).unwrap();
    timed("20,000 lines of two kinds", || {
        diff(&set.changes[0], (&layer, &workspace), &rules).unwrap()
    });
}

fn noise(seed: u64) -> String {
    let mut state = seed;
    let mut line = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if state >> 63 == 0 { "a\n" } else { "b\n" }
    };
    (0..20_000).map(|_| line()).collect()
}

fn fill(folder: &Path, seed: u8) {
    for number in 0..FILES {
        let inner = folder.join(format!("{:02}", number % 100));
        fs::create_dir_all(&inner).unwrap();
        let line = format!("{seed} {number} some text that is long enough to be a line\n");
        let text = line.repeat(BYTES / line.len() + 1);
        fs::write(inner.join(format!("{number}.txt")), &text[..BYTES]).unwrap();
    }
}

fn wait_for_each(folder: &Path) {
    let mut waiting: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => waiting.push(path),
                false => File::open(path).unwrap().sync_all().unwrap(),
            }
        }
        File::open(&next).unwrap().sync_all().unwrap();
    }
}

fn sync() {
    Command::new("sync").status().unwrap();
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    row(name, start.elapsed());
    result
}

fn row(name: &str, time: Duration) {
    println!("  {name:<28} {:>8.1} ms", time.as_secs_f64() * 1000.0);
}
