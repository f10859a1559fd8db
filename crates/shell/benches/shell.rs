//! How long it takes to read a line: the target is 1 ms for 20 commands.
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::hint::black_box;
use std::time::Instant;

use skillful_shell::{Command, LONGEST, read};

fn main() {
    println!("{:<44} {:>10}", "a line", "µs");
    row("git log --oneline -5 | head", 1_000, "git log --oneline -5 | head");
    let twenty = (0..20)
        .map(|number| format!("git log --oneline -5 src/file{number}.rs"))
        .collect::<Vec<_>>();
    row("20 commands", 500, &twenty.join(" && "));
    row("20 commands in `sh -c`", 200, &format!("sh -c '{}'", twenty.join("; ")));
    row("400 pipes that lead nowhere", 20, &"a|".repeat(399));
    row("64 KiB of words", 10, &"a ".repeat(LONGEST / 2));
    row("64 KiB of `$(`", 10, &"$(".repeat(LONGEST / 2));
    row("64 KiB of `( `", 10, &"( ".repeat(LONGEST / 2));
}

fn row(name: &str, rounds: u32, line: &str) {
    let start = Instant::now();
    for _ in 0..rounds {
        let read = read(black_box(line));
        black_box((read.commands.iter().map(Command::text).collect::<Vec<_>>(), read.shadows()));
    }
    println!("{name:<44} {:>10.2}", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
}
