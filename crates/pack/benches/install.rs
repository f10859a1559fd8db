//! Installing and verifying a large pack, beside `unzip` and `sha256sum` over the same files in the same run.
//!
//! `PACK_BENCH_ROUNDS` sets how often each is measured; the fastest counts. `PACK_BENCH_FOLDER` sets where: on
//! which device decides much, since an install waits until everything is on it, and `unzip` does not.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made ends there"
)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use skill::metadata::ReadOptions;
use skill::trust::TrustStore;
use skillful_pack::accept::{Concerns, Likeness, Terms, accept};
use skillful_pack::check::{Rules, check};
use skillful_pack::disk::Disk;
use skillful_pack::install::{Plan, Record, Replace, Root, state_of};
use skillful_pack::make::{manifest_of, write};
use skillful_pack::material::{Limits, Material};
use skillful_pack::source::{Fetching, Source};

const FILES: usize = 9_999;
const BYTES: usize = 10_400;

fn main() {
    let rounds: usize =
        std::env::var("PACK_BENCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let place = std::env::var("PACK_BENCH_FOLDER");
    let place = place.unwrap_or_else(|_| env!("CARGO_TARGET_TMPDIR").to_owned());
    let folder = tempfile::tempdir_in(place).unwrap();
    let world = folder.path();
    let pack = world.join("pack.zip");
    make(world, &pack);
    println!("a pack of {} files and {} MB", FILES + 1, fs::metadata(&pack).unwrap().len() >> 20);
    println!("fastest of {rounds}, in milliseconds\n");
    let unzip = fastest(rounds, world, |world| {
        shell(world, "unzip -q pack.zip -d unzipped");
    });
    shell(world, "unzip -q pack.zip -d unzipped && cd unzipped && find . -type f > ../list");
    let hashing = fastest(rounds, world, |world| {
        shell(&world.join("unzipped"), "xargs -a ../list sha256sum > /dev/null")
    });
    let installing = fastest(rounds, world, |world| install(world, &pack));
    let root = Root::new(world.join(".agent/skills"));
    let locked = root.lockfile().unwrap().skills()[0].clone();
    let verifying = fastest(rounds, Path::new("/nonexistent"), |_| {
        assert!(state_of(&root, &locked).unwrap().refusals.is_empty());
    });
    let verifying_pack = fastest(rounds, Path::new("/nonexistent"), |_| {
        let rules =
            Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
        check(open(&pack), None, &rules, None, &|_| ()).unwrap();
    });
    let line =
        |name: &str, time: Duration| println!("{name:<40} {:>8.1}", time.as_secs_f64() * 1e3);
    line("unzip", unzip);
    line("sha256sum", hashing);
    line("install", installing);
    line("verify the installed skill", verifying);
    line("verify the pack", verifying_pack);
    let ratio = |name: &str, one: Duration, other: Duration, limit: f64| {
        println!("{name:<40} {:>8.2}  (at most {limit})", one.as_secs_f64() / other.as_secs_f64());
    };
    println!();
    ratio("install / (unzip + sha256sum)", installing, unzip + hashing, 1.5);
    ratio("verify installed / sha256sum", verifying, hashing, 1.3);
    ratio("verify pack / sha256sum", verifying_pack, hashing, 1.3);
}

/// Runs `act` several times, each time without what the time before left in `world`.
fn fastest(rounds: usize, world: &Path, act: impl Fn(&Path)) -> Duration {
    let once = |_| {
        if world.join("list").exists() && !world.join("unzipped").exists() {
            shell(world, "unzip -q pack.zip -d unzipped");
        }
        if !world.join("list").exists() {
            let _ = fs::remove_dir_all(world.join("unzipped"));
        }
        let _ = fs::remove_dir_all(world.join(".agent"));
        // What others have written must not be waited for.
        shell(Path::new("/"), "sync");
        let clock = Instant::now();
        act(world);
        clock.elapsed()
    };
    let fastest = (0..rounds).map(once).min().unwrap();
    if !world.join("list").exists() {
        let _ = fs::remove_dir_all(world.join("unzipped"));
    }
    fastest
}

fn shell(folder: &Path, line: &str) {
    let status = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{line}");
}

fn open(pack: &Path) -> Material {
    Material::zip(File::open(pack).unwrap(), Limits::default()).unwrap()
}

fn install(world: &Path, pack: &Path) {
    let (root, disk) = (Root::new(world.join(".agent/skills")), Disk::default());
    let mut opened = root.open(&disk, "bench").unwrap();
    let rules =
        Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
    let staged = opened.stage(open(pack), None, &rules, &|_| ()).unwrap();
    let plan = Plan {
        keep: Default::default(),
        replace: Replace::Never,
        label: "20260101T000000Z".to_owned(),
        record: Record::New {
            source: "pack.zip".to_owned(),
            resolved: None,
            now: "2026-01-01T00:00:00Z".to_owned(),
        },
    };
    let skills: Vec<_> = staged.skills.iter().collect();
    let terms = Terms {
        rules,
        needs_signature: false,
        lockfile: &opened.lockfile,
        likeness: Likeness::Successor,
    };
    let agreement = Concerns::of(&staged, &skills).unwrap().agree();
    let accepted = accept(&staged, skills, &terms, &agreement).unwrap();
    opened.install(&accepted, &plan).unwrap();
}

/// Text that is no easier to compress than real text.
fn make(world: &Path, pack: &Path) {
    let skill = world.join("source/large");
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + (state >> 28) as u8
    };
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: large\ndescription: Large.\n---\n").unwrap();
    for number in 0..FILES {
        let folder = skill.join(format!("references/{:02}", number % 100));
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(format!("{number}.md")),
            (0..BYTES).map(|_| next()).collect::<Vec<u8>>(),
        )
        .unwrap();
    }
    let fetching = Fetching {
        limits: Limits::default(),
        read: ReadOptions::default(),
        time: Duration::from_secs(60),
        commit: None,
        environment: Vec::new(),
    };
    let fetched = Source::Folder(skill).fetch(&fetching).unwrap();
    let rules =
        Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
    let checked = check(fetched.material, None, &rules, None, &|_| ()).unwrap();
    write(
        &checked,
        &manifest_of(&checked).to_bytes(),
        None,
        std::io::BufWriter::new(File::create(pack).unwrap()),
    )
    .unwrap();
    fs::remove_dir_all(world.join("source")).unwrap();
}
