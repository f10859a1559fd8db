//! How long one decision takes with 1,000 rules: the target is 20 µs.
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::hint::black_box;
use std::time::Instant;

use serde_json::Value;
use skillful_permission::{Configuration, Effect, Engine, Permission, Request, Risk, Rule, Rules};

#[derive(Clone)]
struct Wish(Vec<String>, Permission);

impl Request for Wish {
    fn permission(&self) -> Permission {
        self.1
    }
    fn patterns(&self) -> Vec<String> {
        self.0.clone()
    }
    fn shadows(&self) -> Vec<String> {
        let is_line = self.1 == Permission::RunCommand;
        let lines = self.0.iter().filter(|_| is_line);
        lines
            .flat_map(|text| ["timeout 5 ", "env A=b "].map(|before| format!("{before}{text}")))
            .collect()
    }
    fn risk(&self) -> Risk {
        Risk::Medium
    }
    fn effect(&self) -> String {
        String::new()
    }
    fn params(&self) -> Value {
        Value::Null
    }
}

fn main() {
    let script = "pdf-form-filler/scripts/fill.py".to_owned();
    println!("{:<44} {:>10}", "1,000 rules, none matches before the default", "µs");
    row("other permissions", &script, |number| ("write_file".into(), format!("src/{number}/*")));
    row("literal patterns", &script, |number| {
        ("run_script".into(), format!("pdf-{number}/scripts/fill.py"))
    });
    row("one wildcard, differs at the start", &script, |number| {
        ("run_script".into(), format!("skill-{number}/*"))
    });
    row("wildcards around a word", &script, |number| {
        ("run_script".into(), format!("*word{number}*"))
    });
    row("wildcards, differs at the end", &script, |number| {
        ("run_*".into(), format!("pdf-*/scripts/*.p{number}"))
    });
    row("questions and wildcards", &script, |number| {
        ("run_script".into(), format!("*s?ript{number}*.py"))
    });
    row("the same letters in another order", &script, |_| {
        ("run_script".into(), "*fillscr*ipts*.py".into())
    });
    row("the same pairs of letters, too", &script, |_| ("run_script".into(), "*form-form*".into()));
    let long = "a".repeat(4_000) + "b.py";
    row("a text of 4,000 bytes", &long, |number| ("run_script".into(), format!("*a*b{number}*")));
    line("20 commands and 40 shadows", |number| format!("git sub{number} *"));
    line("20 commands, wildcards around a word", |number| format!("*word{number}*"));
    line("20 commands, rules that almost match", |number| {
        format!("git log --oneline * file{number}.r")
    });
}

/// A line of commands; the target is 1 ms.
fn line(name: &str, pattern: impl Fn(usize) -> String) {
    let commands = (0..20)
        .map(|number| format!("git log --oneline -5 src/file{number}.rs"))
        .collect::<Vec<_>>();
    measure(name, Wish(commands, Permission::RunCommand), |number| {
        ("run_command".into(), pattern(number))
    });
}

fn row(name: &str, subject: &str, rule: impl Fn(usize) -> (String, String)) {
    measure(name, Wish(vec![subject.to_owned()], Permission::RunScript), rule);
}

fn measure(name: &str, wish: Wish, rule: impl Fn(usize) -> (String, String)) {
    let rules = (0..1_000).map(|number| {
        let (permission, pattern) = rule(number);
        Rule::new(&*permission, &*pattern, Effect::Deny)
    });
    let user = Rules(rules.collect());
    let engine = Engine::new("/project", Configuration { user, ..Configuration::default() });
    let rounds = 2_000;
    let start = Instant::now();
    for _ in 0..rounds {
        black_box(engine.decide(black_box(&wish).clone(), None));
    }
    println!("{name:<44} {:>10.2}", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
}
