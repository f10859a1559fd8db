//! x
#![allow(clippy::print_stdout)]
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap().replace("\\n", "\n");
        let start = std::time::Instant::now();
        let read = skillful_shell::read(&line);
        let t = start.elapsed();
        println!("{line:?} {t:?}");
        for c in &read.commands { println!("    {}   always={:?} harmless={} shadows={:?}", c.text(), c.always(), c.is_harmless(), c.shadows()); }
        for u in &read.unclear { println!("  ? {u}"); }
    }
}
