//! `grep`: lines that match a regular expression, in the order of their paths.
//!
//! Invariants: the result does not depend on which thread was faster, also when there is too much of
//! it; every file is opened beneath its root, whatever the walk was made to believe.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};
use permission::params::Grep;
use rustix::fs::fstat;

use crate::beneath;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::sight::Sight;
use crate::workspace::{Twins, Workspace, WorkspacePath, has_twin};
use found::Found;

mod found;

/// Searches a file or a directory.
pub(crate) fn grep(
    call: &Grep,
    workspace: &Workspace,
    sight: &Sight<'_>,
) -> Result<Outcome, ToolError> {
    let place = workspace.visible(&call.path)?;
    exists(&place)?;
    let search = Search {
        call,
        place,
        workspace,
        sight,
        matcher: matcher(call)?,
        glob: glob(call, place.seen_path())?,
        deadline: Instant::now() + workspace.limits.search_time,
        late: AtomicBool::new(false),
        files: AtomicUsize::new(0),
        found: Mutex::default(),
        twins: OnceLock::new(),
    };
    search.walk();
    if search.late.into_inner() {
        return Err(ToolError::Timeout { limit: workspace.limits.search_time });
    }
    let found = search.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(found.outcome(call, search.files.into_inner(), workspace))
}

/// A path that is not there should be an error, not an empty result.
fn exists(place: &WorkspacePath<'_>) -> Result<(), ToolError> {
    let opened = beneath::open_folder(place.folder(), place.path())
        .map(drop)
        .or_else(|_| beneath::open_file(place.folder(), place.path()).map(drop));
    opened.map_err(|source| ToolError::at(place.name, source))
}

fn matcher(call: &Grep) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(call.ignore_case)
        .line_terminator(Some(b'\n'))
        .build(&call.pattern)
        .map_err(|error| ToolError::Pattern { reason: error.to_string() })
}

fn glob(call: &Grep, root: &Path) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(root);
    let built = match &call.glob {
        Some(glob) => builder.add(glob).and_then(|builder| builder.build()),
        None => builder.build(),
    };
    built.map_err(|error| ToolError::Pattern { reason: error.to_string() })
}

struct Search<'s> {
    call: &'s Grep,
    place: WorkspacePath<'s>,
    workspace: &'s Workspace,
    sight: &'s Sight<'s>,
    matcher: RegexMatcher,
    glob: Override,
    deadline: Instant,
    late: AtomicBool,
    files: AtomicUsize,
    found: Mutex<Found>,
    /// Found out when the first file has more names than one.
    twins: OnceLock<Twins>,
}

impl Search<'_> {
    /// Walks from the root, so that the ignore files above the place count and those above the root do not.
    fn walk(&self) {
        let respected = !self.call.include_ignored;
        let mut builder = WalkBuilder::new(self.place.seen_path());
        builder.hidden(false).parents(false).git_global(false).require_git(false);
        builder.ignore(respected).git_ignore(respected).git_exclude(respected);
        let walk = builder.build_parallel();
        walk.run(|| {
            let mut searcher = SearcherBuilder::new()
                .line_number(true)
                .binary_detection(BinaryDetection::quit(0))
                .build();
            Box::new(move |entry| {
                entry.map_or(WalkState::Continue, |entry| self.visit(&entry, &mut searcher))
            })
        });
    }

    fn visit(&self, entry: &DirEntry, searcher: &mut Searcher) -> WalkState {
        if Instant::now() >= self.deadline {
            self.late.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        let Ok(inner) = entry.path().strip_prefix(self.place.seen_path()) else {
            return WalkState::Skip;
        };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if !self.reaches(inner, is_folder) {
            return WalkState::Skip;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file())
            && !self.glob.matched(entry.path(), false).is_ignore()
        {
            self.search(inner, searcher);
        }
        WalkState::Continue
    }

    /// Whether the walk should look at this at all.
    fn reaches(&self, inner: &Path, is_folder: bool) -> bool {
        let place = self.place.path();
        if place.starts_with(inner) {
            return inner == place || is_folder;
        }
        let name = inner.file_name().unwrap_or_default().as_encoded_bytes();
        let hidden = name.starts_with(b".") && (!self.call.include_hidden || name == b".git");
        inner.starts_with(place)
            && !hidden
            && self.workspace.secrets.matching_entry(&inner.to_string_lossy()).is_none()
    }

    /// Whether no other name of the file is hidden.
    fn is_open(&self, file: &File, name: &str) -> bool {
        fstat(file).is_ok_and(|stat| {
            let twins = || self.twins.get_or_init(|| Twins::find(self.workspace));
            !has_twin(&stat) || twins().check(&stat, name).is_ok()
        })
    }

    fn search(&self, inner: &Path, searcher: &mut Searcher) {
        let name = self.place.name_of(&inner.to_string_lossy());
        if !self.sight.shows(&name) {
            return;
        }
        let Ok(file) = beneath::open_file(self.place.folder(), inner) else { return };
        if !self.is_open(&file, &name) {
            return;
        }
        self.files.fetch_add(1, Ordering::Relaxed);
        let mut lines = Lines {
            name: &name,
            text: String::new(),
            count: 0,
            limit: self.workspace.limits.kept_bytes,
        };
        let reader = Timed { inner: file, deadline: self.deadline };
        match searcher.search_reader(&self.matcher, reader, &mut lines) {
            Ok(()) if lines.count > 0 => {
                let (text, count) = (lines.text, lines.count);
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.add(name, text, count, self.workspace.limits.kept_bytes);
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.late.store(true, Ordering::Relaxed)
            }
            // A file that cannot be read to its end is passed over, like one that cannot be opened.
            _ => {}
        }
    }
}

/// Collects the matching lines of one file.
struct Lines<'l> {
    name: &'l str,
    text: String,
    count: u64,
    limit: usize,
}

impl Sink for &mut Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = String::from_utf8_lossy(found.bytes());
        let number = found.line_number().unwrap_or_default();
        self.count += 1;
        let _ =
            writeln!(self.text, "{}:{number}:{}", self.name, line.trim_end_matches(['\n', '\r']));
        Ok(self.text.len() < self.limit)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if finish.binary_byte_offset().is_some() {
            self.count = 0;
        }
        Ok(())
    }
}

/// A file that cannot be read any more after the deadline.
struct Timed<R> {
    inner: R,
    deadline: Instant,
}

impl<R: Read> Read for Timed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.inner.read(buffer)
    }
}
