//! How much memory a tree of processes holds, wherever it holds it.
//!
//! Besides pages of their own these are page tables, what was moved to swap, buffers of pipes and sockets,
//! and memory that is shared. Shared pages can be held by a process that does not map a single one of
//! them, so they are not looked for here: the caller knows how much was handed out.

use std::fs;

use super::open_files::OpenFiles;
use super::tree::{Process, parse};
use crate::containment::Network;

/// What a pipe holds at most, since it cannot be enlarged.
const PIPE: u64 = 64 << 10;

/// What a packet on its way may hold beyond the limit of its socket.
const PACKET: u64 = 64 << 10;

/// What the kernel says about one process.
struct Status {
    /// Where more is to be found.
    place: String,
    /// Pages of its own, in memory and in swap.
    private: u64,
    /// Pages of shared memory that it maps.
    shared: u64,
    /// Page tables.
    tables: u64,
    /// How many files it may have open by now.
    descriptors: u64,
}

/// The bytes that these processes hold, with `shared` bytes of shared memory that were handed out to them.
///
/// Up to `limit` it is an upper bound, which is cheap; beyond it is exact.
pub(super) fn used(processes: &[Process], shared: u64, socket: u64, limit: u64) -> u64 {
    let upper = Sums::of(processes, socket).upper(shared);
    if upper <= limit {
        return upper;
    }
    // Processes begin and end while they are looked at one after the other, and then what they have in common may
    // count twice. Not twice in a row.
    match Sums::of(processes, socket).exact(processes, shared) {
        once if once <= limit => once,
        once => once.min(Sums::of(processes, socket).exact(processes, shared)),
    }
}

/// What the kernel says about some processes, at one moment.
struct Sums {
    statuses: Vec<Status>,
    tables: u64,
    /// What the buffers of all files hold that they may have open.
    any_buffers: u64,
    /// What the buffers of one socket hold.
    socket: u64,
}

impl Sums {
    fn of(processes: &[Process], socket: u64) -> Self {
        let statuses: Vec<_> =
            processes.iter().filter_map(|process| process.places().find_map(status)).collect();
        let sum = |part: fn(&Status) -> u64| statuses.iter().map(part).sum::<u64>();
        Self {
            tables: sum(|status| status.tables),
            any_buffers: sum(|status| status.descriptors).saturating_mul(socket),
            statuses,
            socket,
        }
    }

    fn upper(&self, shared: u64) -> u64 {
        let mapped: u64 = self.statuses.iter().map(|status| status.private + status.shared).sum();
        mapped.saturating_add(self.tables).saturating_add(shared).saturating_add(self.any_buffers)
    }

    /// What processes have in common counts once.
    fn exact(&self, processes: &[Process], shared: u64) -> u64 {
        let (private, mapped) = self.statuses.iter().map(proportional).fold((0, 0), |sum, part| {
            let (private, mapped): (u64, u64) = sum;
            (private.saturating_add(part.0), mapped.saturating_add(part.1))
        });
        let open = OpenFiles::of(processes);
        let buffers = match open.complete {
            true => open
                .sockets
                .saturating_mul(self.socket)
                .saturating_add(open.pipes.saturating_mul(PIPE)),
            false => self.any_buffers,
        };
        private
            .saturating_add(self.tables)
            .saturating_add(mapped.max(shared))
            .saturating_add(buffers)
    }
}

/// What the buffers of a socket hold at most, since they cannot be enlarged; a connection has one for each way.
pub(super) fn of_a_socket(network: Network) -> u64 {
    let ways = if network == Network::Private { 2 } else { 1 };
    const USUAL: u64 = 212_992;
    let default = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
    default.and_then(|bytes| parse(bytes.trim())).unwrap_or(USUAL).saturating_mul(ways) + PACKET
}

/// Whether a process, or a thread, has memory; one that ends has none.
pub(super) fn has_memory(place: &str) -> bool {
    status(place.to_owned()).is_some()
}

/// The status of a process that has memory; one that ends has none.
fn status(place: String) -> Option<Status> {
    let text = fs::read_to_string(format!("{place}/status")).ok()?;
    let bytes = |label| kibibytes(&text, label);
    let descriptors = text.lines().find_map(|line| line.strip_prefix("FDSize:"));
    Some(Status {
        private: bytes("RssAnon:")? + bytes("VmSwap:").unwrap_or_default(),
        shared: bytes("RssShmem:").unwrap_or_default(),
        tables: bytes("VmPTE:").unwrap_or_default(),
        descriptors: descriptors.and_then(|count| parse(count.trim())).unwrap_or_default(),
        place,
    })
}

/// The private and the shared pages of a process, each page divided by how many processes map it.
fn proportional(status: &Status) -> (u64, u64) {
    let text = fs::read_to_string(format!("{}/smaps_rollup", status.place)).unwrap_or_default();
    let bytes = |label| kibibytes(&text, label);
    match (bytes("Pss_Anon:"), bytes("Pss_Shmem:")) {
        (Some(private), Some(shared)) => (private + bytes("SwapPss:").unwrap_or_default(), shared),
        // A process can hide this, and then it is not given the benefit of the doubt. One that ended meanwhile holds
        // nothing: what it had in common with others, they hold alone now, and it must not count twice.
        _ => match self::status(status.place.clone()) {
            Some(still) => (still.private, still.shared),
            None => (0, 0),
        },
    }
}

fn kibibytes(text: &str, label: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(label))?;
    parse::<u64>(value.trim().strip_suffix("kB")?.trim()).map(|kibibytes| kibibytes * 1024)
}
