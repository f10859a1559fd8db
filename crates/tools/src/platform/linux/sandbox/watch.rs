//! Follows a running sandbox from outside: takes its output, answers its supervised calls, and sees
//! to the end of the whole tree.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstatvfs;
use rustix::io::Errno;
use rustix::process::Signal;

use super::capture::Capture;
use super::launch::Launched;
use super::patrol::Patrol;
use super::plan::Plan;
use super::report::{self, Report, Stage};
use super::supervise::Supervisor;
use crate::containment::{Captured, Confinement, Ending, Invocation, Output, Reason, SandboxError};

/// A sandbox that is being followed.
pub(super) struct Watch<'a> {
    launched: &'a Launched,
    plan: &'a Plan,
    confinement: &'a Confinement,
    invocation: &'a Invocation,
    /// Where it fills the disk.
    watched: &'a [PathBuf],
    supervisor: Option<Supervisor>,
    /// The sandbox's own `/dev/shm`.
    shared_memory: Option<OwnedFd>,
    /// Whether the program is there, and not a copy of us that is going to become it.
    running: bool,
    /// Whether the warden may still have something to say.
    reporting: bool,
    killed: Option<Reason>,
    failed: Option<SandboxError>,
    status: Option<i32>,
}

/// One of the program's streams.
struct Stream<'p, 's> {
    pipe: BorrowedFd<'p>,
    open: bool,
    capture: Capture<'s>,
}

/// Where something can happen.
#[derive(Clone, Copy)]
enum Source {
    Output(usize),
    Report,
    Calls,
    /// Nobody is left who could make one.
    NoMoreCalls,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        launched: &'a Launched,
        plan: &'a Plan,
        confinement: &'a Confinement,
        invocation: &'a Invocation,
        watched: &'a [PathBuf],
    ) -> Self {
        Self {
            launched,
            plan,
            confinement,
            invocation,
            watched,
            supervisor: None,
            shared_memory: None,
            running: false,
            reporting: true,
            killed: None,
            failed: None,
            status: None,
        }
    }

    /// Waits for the end of the tree.
    pub(super) fn run(
        mut self,
        output: Output<'_>,
        cancelled: &AtomicBool,
    ) -> Result<(Ending, Captured, Captured), SandboxError> {
        let limits = &self.confinement.limits;
        let mut patrol = Patrol::new(self.plan, limits, self.launched.process, self.watched);
        let (stdout, stderr) = (self.launched.stdout.as_fd(), self.launched.stderr.as_fd());
        let mut streams =
            [(stdout, output.stdout), (stderr, output.stderr)].map(|(pipe, store)| Stream {
                pipe,
                open: true,
                capture: Capture::new(store, limits.kept),
            });
        let mut piece = vec![0; 64 << 10];
        while self.reporting || streams.iter().any(|stream| stream.open) {
            for source in self.wait(&streams, patrol.time_left()) {
                match source {
                    Source::Output(index) => self.take_output(&mut streams, index, &mut piece),
                    Source::Report => self.take_report(),
                    Source::Calls => self.take_call(),
                    Source::NoMoreCalls => self.supervisor = None,
                }
            }
            if cancelled.load(Ordering::Relaxed) {
                self.kill(Reason::Cancelled);
            } else if self.killed.is_none()
                && let Some(reason) = patrol.look(self.shared_bytes())
            {
                self.kill(reason);
            }
        }
        self.launched.reap();
        let [stdout, stderr] = streams.map(|stream| stream.capture.finish());
        let ending = self.ending()?;
        let store = |source| SandboxError::Store { source };
        Ok((ending, stdout.map_err(store)?, stderr.map_err(store)?))
    }

    /// Sleeps until something happens or `time` is over, and says where.
    fn wait(&self, streams: &[Stream<'_, '_>], time: Duration) -> Vec<Source> {
        let open = streams.iter().enumerate().filter(|(_, stream)| stream.open);
        let open = open.map(|(index, stream)| (Source::Output(index), stream.pipe));
        let report = self.reporting.then(|| (Source::Report, self.launched.report.as_fd()));
        let calls =
            self.supervisor.as_ref().map(|supervisor| (Source::Calls, supervisor.listener.as_fd()));
        let (sources, mut awaited): (Vec<_>, Vec<_>) = open
            .chain(report)
            .chain(calls)
            .map(|(source, file)| (source, PollFd::from_borrowed_fd(file, PollFlags::IN)))
            .unzip();
        let time = Timespec::try_from(time).ok();
        if poll(&mut awaited, time.as_ref()).is_err() {
            return Vec::new();
        }
        let ready = sources.into_iter().zip(awaited).filter(|(_, file)| !file.revents().is_empty());
        let over = PollFlags::HUP | PollFlags::ERR;
        ready
            .map(|(source, file)| match source {
                Source::Calls if over.contains(file.revents()) => Source::NoMoreCalls,
                source => source,
            })
            .collect()
    }

    fn take_output(&mut self, streams: &mut [Stream<'_, '_>; 2], index: usize, piece: &mut [u8]) {
        let taken: u64 = streams.iter().map(|stream| stream.capture.bytes()).sum();
        let room = self.confinement.limits.output.saturating_sub(taken);
        let stream = &mut streams[index];
        let length = match rustix::io::read(stream.pipe, &mut *piece) {
            Err(Errno::AGAIN | Errno::INTR) => return,
            Ok(0) | Err(_) => {
                stream.open = false;
                return;
            }
            Ok(length) => length,
        };
        let wanted = usize::try_from(room).map_or(length, |room| room.min(length));
        if wanted < length {
            self.kill(Reason::Output);
        }
        if self.failed.is_none()
            && let Err(source) = stream.capture.push(&piece[..wanted])
        {
            self.failed = Some(SandboxError::Store { source });
            self.kill(Reason::Output);
        }
    }

    fn take_report(&mut self) {
        match report::receive(self.launched.report.as_fd()) {
            // Only a builder says the last two.
            Ok(Some(Report::Started | Report::Made(..) | Report::NotApart)) => {}
            Ok(Some(Report::Failed(stage, number))) => {
                self.failed = Some(self.failure(stage, number))
            }
            Ok(Some(Report::Supervise(listener))) => {
                let process = self.launched.process;
                self.supervisor = Some(Supervisor::new(listener, process, self.confinement));
            }
            Ok(Some(Report::Running)) => self.running = true,
            Ok(Some(Report::SharedMemory(folder))) => self.shared_memory = Some(folder),
            Ok(Some(Report::Ended(status))) => self.status = Some(status),
            Ok(Some(Report::Crowded)) => self.kill(Reason::Processes),
            Ok(None) | Err(_) => self.reporting = false,
        }
    }

    fn failure(&self, stage: Stage, number: i32) -> SandboxError {
        let source = io::Error::from_raw_os_error(number);
        match stage {
            Stage::Execute => {
                SandboxError::Execute { program: self.invocation.program.clone(), source }
            }
            stage => SandboxError::Setup { what: stage.purpose(), source },
        }
    }

    fn take_call(&mut self) {
        if let Some(supervisor) = &mut self.supervisor
            && !supervisor.serve()
        {
            self.supervisor = None;
        }
    }

    /// How much shared memory the program was given, mapped or not; none before it runs.
    fn shared_bytes(&self) -> Option<u64> {
        let mapped = self.supervisor.as_ref().map_or(0, |supervisor| supervisor.shared);
        let files = self.shared_memory.as_ref().and_then(|folder| fstatvfs(folder).ok());
        let files = files.map_or(0, |disk| {
            disk.f_blocks.saturating_sub(disk.f_bfree).saturating_mul(disk.f_frsize)
        });
        self.running.then(|| mapped.saturating_add(files))
    }

    fn kill(&mut self, reason: Reason) {
        if self.killed.is_some() {
            return;
        }
        self.killed = Some(reason);
        self.launched.stop();
    }

    fn ending(self) -> Result<Ending, SandboxError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some(reason) = self.killed {
            return Ok(Ending::Killed(reason));
        }
        // A warden that cannot say how it ended was itself killed, for want of memory.
        let status = ExitStatus::from_raw(self.status.unwrap_or(Signal::KILL.as_raw()));
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or_default()),
        })
    }
}
