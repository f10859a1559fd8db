//! Lines that are made to take long.

use std::time::{Duration, Instant};

use skillful_shell::{LONGEST, read};

#[test]
fn hostile_lines_are_read_quickly() {
    let units = [
        "(",
        "((",
        "( ",
        "[[",
        "[[ ",
        "$(",
        "`",
        "${",
        "\"$(",
        "{ ",
        "{",
        "if ",
        "while ",
        "for x in ",
        "case x in ",
        "<<E ",
        "<<E\n",
        "a;",
        "a|",
        "a&&",
        "a ",
        "'",
        "\"",
        "\\",
        "$'",
        "x=",
        "<(",
        "sh -c ",
        "env ",
        "find -exec ",
        "! ",
        "time ",
        "é",
        "a)",
        ";;",
        "*",
        "{a,b}",
        "\n",
        "a\n",
        "$((",
        "sh -c '",
        ">f ",
        "if a;then b;fi;",
        "(a);",
        "{ a;};",
        "case x in a)b;;esac;",
        "$x",
        "xargs ",
        "\\\n",
        "#\n",
        "a&",
    ];
    for unit in units {
        for length in [1_000, LONGEST, 100_000 * unit.len()] {
            let line = unit.repeat(length / unit.len());
            let start = Instant::now();
            let read = read(&line);
            let _ = (read.shadows(), read.doubts());
            let took = start.elapsed();
            assert!(took < Duration::from_secs(2), "{unit:?} × {}: {took:?}", length / unit.len());
            assert!(line.len() <= LONGEST || !read.is_clear());
        }
    }
}

#[test]
fn what_lies_too_deep_is_unclear() {
    let mut line = "ls".to_owned();
    for _ in 0..12 {
        line = format!("sh -c '{}'", line.replace('\'', r"'\''"));
    }
    assert!(!read(&line).is_clear());
    assert!(!read(&format!("{}ls{}", "( ".repeat(40), ")".repeat(40))).is_clear());
}
