//! Processes, timed from their start to their end, in turns so that a busy moment hits all of them.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

/// Where the measured programs run.
pub(crate) struct Place {
    home: PathBuf,
    /// Emptied before every start without a cache.
    cold: PathBuf,
    warm: PathBuf,
}

impl Place {
    pub(crate) fn new(home: PathBuf, cache: PathBuf) -> Self {
        Self { home, cold: cache.join("cold"), warm: cache.join("warm") }
    }
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Floor,
    ListCold,
    ListWarm,
    SearchWarm,
    Version,
    Ripgrep,
}

/// A program with its arguments.
pub(crate) struct Contender {
    pub(crate) kind: Kind,
    pub(crate) label: &'static str,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Bytes it reads from `SKILL.md` files, where it says so.
    pub(crate) bytes_read: Option<u64>,
}

/// What was measured.
pub(crate) struct Sample {
    /// From start to end, sorted.
    pub(crate) times: Vec<Duration>,
    /// The least time that processors worked for it: what others do on the machine shows less in it.
    pub(crate) work: Duration,
    pub(crate) peak_bytes: u64,
}

impl Contender {
    /// Everything that can be measured on this machine.
    pub(crate) fn all(place: &Place, root: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let skillful = PathBuf::from(env!("CARGO_BIN_EXE_skillful"));
        let own = |kind, label, arguments: &[&str]| {
            let arguments = arguments.iter().map(OsString::from).collect();
            Self { kind, label, program: skillful.clone(), arguments, bytes_read: None }
        };
        let floor = Self {
            kind: Kind::Floor,
            label: "floor: 4 KiB of each file, 2 threads",
            program: std::env::current_exe()?,
            arguments: vec!["--floor".into(), root.into()],
            bytes_read: None,
        };
        let mut all = vec![
            floor,
            own(Kind::ListCold, "skillful list, no cache", &["list"]),
            own(Kind::ListWarm, "skillful list, warm cache", &["list"]),
            own(Kind::SearchWarm, "skillful search, warm cache", &["search", "zqd00042", "patch"]),
            own(Kind::Version, "skillful --version", &["--version"]),
        ];
        let found = Command::new("rg").arg("--version").stdout(Stdio::null()).status();
        if found.is_ok_and(|status| status.success()) {
            let arguments = ["-m1", "-g", "SKILL.md", "^description:"].map(OsString::from);
            all.push(Self {
                kind: Kind::Ripgrep,
                label: "rg -m1 '^description:'",
                program: "rg".into(),
                arguments: arguments.into_iter().chain([root.into()]).collect(),
                bytes_read: None,
            });
        }
        for contender in &mut all {
            contender.bytes_read = contender.count_bytes(place)?;
        }
        Ok(all)
    }

    fn command(&self, place: &Place) -> Command {
        let cache = if self.kind == Kind::ListCold { &place.cold } else { &place.warm };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &place.home).env("XDG_CACHE_HOME", cache);
        command.current_dir(&place.home);
        command
    }

    /// Puts everything in order for the next start.
    fn prepare(&self, place: &Place) -> io::Result<()> {
        match self.kind {
            Kind::ListCold if place.cold.exists() => fs::remove_dir_all(&place.cold),
            _ => Ok(()),
        }
    }

    /// What the program says it read; a cache that is not what it should be is an error.
    fn count_bytes(&self, place: &Place) -> Result<Option<u64>, Box<dyn Error>> {
        let expected = match self.kind {
            Kind::ListCold => "cold",
            Kind::ListWarm => "warm",
            _ => return Ok(None),
        };
        self.prepare(place)?;
        let listed = || -> io::Result<Value> {
            let output = self.command(place).arg("--json").stdout(Stdio::piped()).output()?;
            Ok(serde_json::from_slice(&output.stdout)?)
        };
        if self.kind == Kind::ListWarm {
            listed()?;
        }
        let report = &listed()?["report"];
        let cache = &report["roots"][0]["cache"];
        if cache != expected {
            return Err(format!("the cache of `{}` is {cache}", self.label).into());
        }
        Ok(report["bytes_read"].as_u64())
    }

    /// How long it takes, and how long processors work for it.
    fn time(&self, place: &Place) -> io::Result<(Duration, Duration)> {
        self.prepare(place)?;
        let mut command = self.command(place);
        let before = work_of_children()?;
        let clock = Instant::now();
        let status = command.status()?;
        let time = clock.elapsed();
        let work = work_of_children()? - before;
        if status.success() { Ok((time, work)) } else { Err(io::Error::other(self.label)) }
    }

    /// Its memory, as a process of its own that has no other children sees it.
    fn peak(&self, place: &Place) -> Result<u64, Box<dyn Error>> {
        self.prepare(place)?;
        let child = self.command(place);
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--peak").arg(child.get_program()).args(child.get_args());
        command.current_dir(&place.home).env_clear();
        command.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.stdin(Stdio::null()).output()?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }
}

/// Measures all contenders `rounds` times.
pub(crate) fn in_turns(
    place: &Place,
    contenders: &[Contender],
    rounds: usize,
) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut taken = vec![Vec::with_capacity(rounds); contenders.len()];
    // The first round fills caches and does not count.
    for round in 0..=rounds {
        for (contender, taken) in contenders.iter().zip(&mut taken) {
            let time = contender.time(place)?;
            if round > 0 {
                taken.push(time);
            }
        }
    }
    let measured = contenders.iter().zip(taken).map(|(contender, taken)| {
        let (mut times, work): (Vec<Duration>, Vec<Duration>) = taken.into_iter().unzip();
        times.sort_unstable();
        let work = work.into_iter().min().unwrap_or_default();
        Ok(Sample { times, work, peak_bytes: contender.peak(place)? })
    });
    measured.collect()
}

fn work_of_children() -> io::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let time = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(time.num_microseconds().unsigned_abs()))
}

/// Runs a program and prints the most memory it had.
pub(crate) fn print_peak(program: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    let kilobytes = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    println!("{}", kilobytes * 1_024);
    Ok(())
}
