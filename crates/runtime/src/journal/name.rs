//! Names for new runs.

use basics::run_id::RunId;

#[cfg(test)]
mod tests;

/// A name for a run that begins now, with something random at its end.
pub fn name_run(now: jiff::Timestamp, random: u32) -> RunId {
    let second = now.strftime("%Y%m%d_%H%M%S").to_string();
    RunId::new(&second, now.subsec_millisecond().unsigned_abs(), random)
}
