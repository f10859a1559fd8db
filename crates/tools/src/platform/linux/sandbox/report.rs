//! What the processes in the sandbox tell the one outside, a fixed-size message each.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// What was being set up when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Stage {
    Identity,
    Processes,
    Mounts,
    Privileges,
    Start,
    Trace,
    Session,
    Limits,
    Folder,
    Streams,
    Landlock,
    Seccomp,
    Execute,
    Root,
    System,
    Layer,
    Grants,
    Closed,
    Network,
}

impl Stage {
    const ALL: [Self; 19] = [
        Self::Identity,
        Self::Processes,
        Self::Mounts,
        Self::Privileges,
        Self::Start,
        Self::Trace,
        Self::Session,
        Self::Limits,
        Self::Folder,
        Self::Streams,
        Self::Landlock,
        Self::Seccomp,
        Self::Execute,
        Self::Root,
        Self::System,
        Self::Layer,
        Self::Grants,
        Self::Closed,
        Self::Network,
    ];

    /// What could not be done, for people.
    pub(super) fn purpose(self) -> &'static str {
        match self {
            Self::Identity => "map the user into a new user namespace",
            Self::Processes => "make a private view of the processes",
            Self::Mounts => "make everything outside read-only",
            Self::Privileges => "give up privileges",
            Self::Start => "start the process",
            Self::Trace => "trace the process",
            Self::Session => "leave the session",
            Self::Limits => "set the resource limits",
            Self::Folder => "enter the working folder",
            Self::Streams => "connect the streams",
            Self::Landlock => "enter the Landlock ruleset",
            Self::Seccomp => "enter the system call filter",
            Self::Execute => "execute the program",
            Self::Root => "make a root folder for the run",
            Self::System => "show the system's folders",
            Self::Layer => "mount the run's layer over the workspace",
            Self::Grants => "show a granted folder",
            Self::Closed => "close what is hidden in the workspace",
            Self::Network => "prepare the private network",
        }
    }
}

/// One message.
#[derive(Debug)]
pub(super) enum Report {
    /// The warden lives and will die with its parent.
    Started,
    /// The walls could not be made; nothing ran.
    Failed(Stage, i32),
    /// Here is where the supervised calls arrive.
    Supervise(OwnedFd),
    /// Here is the shared memory that only the sandbox sees.
    SharedMemory(OwnedFd),
    /// The program runs; before it there was a copy of us.
    Running,
    /// The program ended with this wait status.
    Ended(i32),
    /// There were too many processes; all of them are dead.
    Crowded,
    /// Here is a namespace that was made, or what is in it; the number says which.
    Made(i32, OwnedFd),
    /// A folder of the system is shown with the sockets that somebody may listen at.
    NotApart,
}

const SIZE: usize = 12;

/// Sends a message, without allocating.
pub(super) fn send(socket: BorrowedFd<'_>, report: &Report) -> io::Result<()> {
    let (kind, first, second) = match report {
        Report::Started => (0, 0, 0),
        Report::Failed(stage, error) => (1, *stage as i32, *error),
        Report::Supervise(_) => (2, 0, 0),
        Report::Ended(status) => (3, *status, 0),
        Report::Crowded => (4, 0, 0),
        Report::SharedMemory(_) => (5, 0, 0),
        Report::Running => (6, 0, 0),
        Report::Made(which, _) => (7, *which, 0),
        Report::NotApart => (8, 0, 0),
    };
    let mut bytes = [0; SIZE];
    for (place, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([kind, first, second]) {
        *place = i32::to_ne_bytes(value);
    }
    let (Report::Supervise(file) | Report::SharedMemory(file) | Report::Made(_, file)) = report
    else {
        // Not as a message that could hold files: those are refused to the program, and it is the one
        // who says that it could not be executed.
        rustix::net::send(socket, &bytes, SendFlags::NOSIGNAL)?;
        return Ok(());
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [file.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a message; none when nobody is left to send one.
pub(super) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Report>> {
    let mut bytes = [0; SIZE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes != SIZE {
        return Ok(None);
    }
    let mut values = bytes.as_chunks::<4>().0.iter().map(|chunk| i32::from_ne_bytes(*chunk));
    let (Some(kind), Some(first), Some(second)) = (values.next(), values.next(), values.next())
    else {
        return Ok(None);
    };
    let file = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let stage = Stage::ALL.into_iter().find(|stage| *stage as i32 == first);
    Ok(match (kind, stage, file) {
        (0, ..) => Some(Report::Started),
        (1, Some(stage), _) => Some(Report::Failed(stage, second)),
        (2, _, Some(listener)) => Some(Report::Supervise(listener)),
        (3, ..) => Some(Report::Ended(first)),
        (4, ..) => Some(Report::Crowded),
        (5, _, Some(folder)) => Some(Report::SharedMemory(folder)),
        (6, ..) => Some(Report::Running),
        (7, _, Some(file)) => Some(Report::Made(first, file)),
        (8, ..) => Some(Report::NotApart),
        _ => return Err(io::ErrorKind::InvalidData.into()),
    })
}
