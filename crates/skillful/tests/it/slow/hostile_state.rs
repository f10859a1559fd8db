//! Folders of state as a stranger could hand them over, by the hundred, and every command that works there.
//!
//! A genuine `.agent` is spoiled in one place by one trick, or gets a forged record. Whatever the command says about
//! it: nothing outside is read into its output, written, removed or run, nothing is done that the rules of today
//! deny, no raw byte reaches the terminal, and it needs neither much time nor much memory.
//!
//! Each place meets some tricks, chosen by their numbers; with `HOSTILE_STATE=all` it meets all of them, and with
//! other words there only those whose description has them are tried.

mod commands;
mod forgeries;
mod places;
mod stage;
mod tricks;
mod watch;

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use forgeries::{FORGERIES, LARGE};
use places::{PLACES, Place, Reach};
use stage::{Genuine, Stage, User};
use tricks::{Trick, USED_RARELY};

/// What is wrong with one folder of state.
#[derive(Debug, Clone, Copy)]
enum Spoiled {
    /// Something else is in the place of something genuine.
    Place(&'static Place, Trick),
    /// There is a record that somebody else made.
    Record(&'static str),
}

impl Spoiled {
    fn describe(&self) -> String {
        match self {
            Self::Place(place, trick) => format!("{trick:?} at `{}`", place.path),
            Self::Record(name) => format!("record: {name}"),
        }
    }

    /// Answers with the run that the commands are about, if it is not the usual one.
    fn spoil(&self, stage: &Stage, genuine: &Genuine) -> Option<String> {
        match self {
            Self::Place(place, trick) => {
                trick.play(stage, place.kind, &genuine.fill_in(place.path));
                place.path.contains("{waiting}").then(|| genuine.waiting.clone())
            }
            Self::Record(name) => {
                let (_, forge) = FORGERIES.iter().find(|(known, _)| known == name).unwrap();
                Some(forge(stage, genuine))
            }
        }
    }

    fn lines(&self, run: &str) -> Vec<String> {
        match self {
            Self::Place(place, _) => commands::of(place.reach, run),
            Self::Record(name) if LARGE.contains(name) => commands::of(Reach::Large, run),
            Self::Record(_) => commands::of(Reach::Record, run),
        }
    }
}

/// Every folder of state that is tried.
fn all(wants_all: bool) -> Vec<Spoiled> {
    let mut all = Vec::new();
    for (number, place) in PLACES.iter().enumerate() {
        let fitting = tricks::fitting(place.kind);
        for (trick_number, trick) in fitting.into_iter().enumerate() {
            let is_chosen = match USED_RARELY.contains(&trick) {
                true => place.is_roomy,
                false => wants_all || (number + trick_number) % SHARE == 0,
            };
            if is_chosen {
                all.push(Spoiled::Place(place, trick));
            }
        }
    }
    all.extend(FORGERIES.iter().map(|(name, _)| Spoiled::Record(name)));
    all
}

/// Those that the environment asks for, and all of the usual ones where it does not.
fn wanted() -> Vec<Spoiled> {
    let wanted = std::env::var("HOSTILE_STATE").unwrap_or_default();
    let mut all = all(!wanted.is_empty());
    all.retain(|spoiled| wanted == "all" || spoiled.describe().contains(&wanted));
    all
}

/// Each place meets one of so many tricks, and each trick one of so many places.
const SHARE: usize = 3;

/// Runs the commands over all folders of state, as this user, and answers with what went wrong.
fn complaints(user: User) -> Vec<String> {
    let all = wanted();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(4);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let (stage, genuine) = Stage::new(user);
                while let Some(spoiled) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    stage.reset();
                    let run = spoiled.spoil(&stage, &genuine);
                    stage.hand_over();
                    let lines = spoiled.lines(run.as_deref().unwrap_or(&genuine.finished));
                    let wrong = watch::over(&stage, &lines);
                    for wrong in wrong {
                        let complaint = format!("{}: {wrong}", spoiled.describe());
                        // Also while others are still at it, for whoever looks.
                        #[allow(clippy::print_stderr, reason = "whoever looks should know")]
                        {
                            eprintln!("{complaint}");
                        }
                        found.lock().unwrap().push(complaint);
                    }
                }
                stage.reset();
            });
        }
    });
    found.into_inner().unwrap()
}

fn check(user: User) {
    let complaints = complaints(user);
    assert!(
        complaints.is_empty(),
        "{} broken promises:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn no_folder_of_state_gets_a_command_to_do_harm() {
    check(User::Current);
}

#[test]
fn nor_does_it_where_root_tries_as_an_ordinary_user() {
    match rustix::process::geteuid().is_root() {
        true => check(User::Ordinary),
        false => eprintln!("skipped: only root can become another user"),
    }
}

#[test]
fn there_are_hundreds_of_them_and_no_place_and_no_trick_is_left_out() {
    let all = all(false);
    assert!(all.len() >= 200, "{}", all.len());
    let of = |name: fn(&Place, Trick) -> String| -> BTreeSet<String> {
        let places = all.iter().filter_map(|spoiled| match spoiled {
            Spoiled::Place(place, trick) => Some(name(place, *trick)),
            Spoiled::Record(_) => None,
        });
        places.collect()
    };
    assert_eq!(of(|place, _| place.path.to_owned()).len(), PLACES.len());
    let tricks = of(|_, trick| format!("{trick:?}"));
    for kind in [places::Kind::File, places::Kind::Folder] {
        for trick in tricks::fitting(kind) {
            assert!(tricks.contains(&format!("{trick:?}")), "{trick:?}");
        }
    }
}
