//! The figures side by side, with the targets they are held to.

use std::time::Duration;

use crate::measure::{Contender, Kind, Sample};

/// The number of skills that the targets are for.
const JUDGED: usize = 10_000;
const PEAK_BYTES: u64 = 60_000_000;
const BYTES_A_SKILL: f64 = 4_096.0;

pub(crate) fn print_head() {
    println!(
        "{:>6}  {:36} {:>9} {:>9} {:>7} {:>9} {:>8} {:>11}  targets",
        "skills", "", "median", "minimum", "× floor", "CPU", "peak MB", "bytes/skill"
    );
}

/// What one contender is judged by.
struct Figures {
    milliseconds: f64,
    to_floor: f64,
    to_list: f64,
    peak_bytes: u64,
    bytes_a_skill: Option<f64>,
}

pub(crate) fn print_rows(count: usize, contenders: &[Contender], samples: &[Sample]) {
    let least = |kind: Kind| {
        let place = contenders.iter().position(|contender| contender.kind == kind);
        place.map_or(f64::NAN, |place| milliseconds(samples[place].times[0]))
    };
    for (contender, Sample { times, work, peak_bytes }) in contenders.iter().zip(samples) {
        let minimum = milliseconds(times[0]);
        let figures = Figures {
            milliseconds: minimum,
            to_floor: minimum / least(Kind::Floor),
            to_list: minimum / least(Kind::ListWarm),
            peak_bytes: *peak_bytes,
            bytes_a_skill: contender.bytes_read.map(|bytes| bytes as f64 / count as f64),
        };
        println!(
            "{count:>6}  {:36} {:>6.2} ms {minimum:>6.2} ms {:>7.2} {:>6.1} ms {:>8.1} {:>11}  {}",
            contender.label,
            milliseconds(times[times.len() / 2]),
            figures.to_floor,
            milliseconds(*work),
            *peak_bytes as f64 / 1e6,
            figures.bytes_a_skill.map_or("-".to_owned(), |bytes| format!("{bytes:.0}")),
            if count == JUDGED { figures.verdict(contender.kind) } else { String::new() },
        );
    }
    println!();
}

pub(crate) fn print_foot() {
    println!(
        "Times are of whole processes; ratios are of minima, the targets for {JUDGED} skills. CPU is the \
         least time that both cores worked."
    );
}

impl Figures {
    fn verdict(&self, kind: Kind) -> String {
        let memory = ("≤ 60 MB", self.peak_bytes <= PEAK_BYTES);
        let targets = match kind {
            Kind::Floor | Kind::Ripgrep => Vec::new(),
            Kind::ListCold => vec![
                ("≤ 2.0 × floor", self.to_floor <= 2.0),
                memory,
                ("≤ 4 KiB a skill", self.bytes_a_skill.is_some_and(|it| it <= BYTES_A_SKILL)),
            ],
            Kind::ListWarm => vec![("≤ 0.7 × floor", self.to_floor <= 0.7), memory],
            Kind::SearchWarm => vec![("≤ 1.5 × list warm", self.to_list <= 1.5), memory],
            Kind::Version => vec![("≤ 5 ms", self.milliseconds <= 5.0)],
        };
        let judged = targets
            .into_iter()
            .map(|(target, met)| format!("{target} {}", if met { "pass" } else { "FAIL" }));
        judged.collect::<Vec<_>>().join(", ")
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
