use std::time::Instant;
use super::*;
#[test]
fn timing() {
    let files = corpus::files();
    let scanner = Scanner::new();
    let take: Vec<_> = files.iter().take(600).collect();
    let bytes: usize = take.iter().map(|f| f.1.len()).sum();
    let mut times = Vec::new();
    for (i, p) in scanner.patterns.iter().enumerate() {
        let t = Instant::now();
        let n: usize = take.iter().map(|f| p.regex.find_iter(&f.1).count()).sum();
        times.push((t.elapsed(), n, i, p.rule.id, p.regex.as_str().chars().take(60).collect::<String>()));
    }
    times.sort_by(|a,b| b.cmp(a));
    for t in &times { println!("{t:?}"); }
    println!("{bytes} total {:?}", times.iter().map(|t| t.0).sum::<std::time::Duration>());
}
