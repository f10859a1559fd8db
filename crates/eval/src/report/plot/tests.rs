#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use super::*;

fn bar(label: &str, share: f64) -> Bar {
    Bar { label: label.to_owned(), share, value: format!("{share:.2}"), is_good: share > 0.5 }
}

/// The values of an attribute in all elements of a kind and class, in order.
fn values(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
    let elements = svg.split('<').filter(|part| part.starts_with(element));
    let value = |part: &str| {
        let (_, rest) = part.split_once(&format!(" {attribute}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    elements.filter_map(value).collect()
}

#[test]
fn bars_are_as_long_as_their_shares_and_the_mark_is_where_it_belongs() {
    let svg = bars("Rates", &[bar("all", 1.0), bar("half", 0.5), bar("more", 7.0)], Some(0.25));
    let room = WIDTH - LABEL - VALUE;
    assert_eq!(values(&svg, "rect class=\"good\"", "width"), [room, room], "never off the page");
    assert_eq!(values(&svg, "rect class=\"bad\"", "width"), [room / 2.0]);
    assert_eq!(values(&svg, "line class=\"mark\"", "x1"), [LABEL + room / 4.0]);
    assert_eq!(svg.matches("</svg>").count(), 1);
    for text in [">all</text>", ">half</text>", ">0.50</text>", "aria-label=\"Rates\""] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn labels_are_text_and_as_long_as_there_is_room() {
    let svg = bars("<b>", &[bar("\"><script>", 0.5), bar(&"ü".repeat(100), 0.5)], None);
    assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains("line"), "{svg}");
    assert!(svg.contains(&format!(">{}…</text>", "ü".repeat(29))), "{svg}");
}

#[test]
fn more_bars_than_anyone_reads_are_counted() {
    let many: Vec<Bar> = (0..75).map(|number| bar(&number.to_string(), 0.5)).collect();
    let svg = bars("Rates", &many, None);
    assert_eq!(values(&svg, "rect class=\"track\"", "y").len(), 60);
    assert!(svg.ends_with("<p>15 more are among the runs.</p>"), "{svg}");
}

#[test]
fn a_histogram_counts_every_value_once() {
    let svg = histogram("Time", &[0.0, 1.0, 2.0, 2.0, 10.0], "ms");
    let heights = values(&svg, "rect class=\"plain\"", "height");
    assert_eq!(heights, [60.0, 60.0, 120.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 60.0]);
    assert!(svg.contains(">0 ms</text>") && svg.contains(">10 ms</text>"), "{svg}");
    let same = histogram("Time", &[3.5, 3.5], "ms");
    assert_eq!(values(&same, "rect class=\"plain\"", "height")[0], 120.0);
    assert_eq!(histogram("Time", &[], "ms"), "");
}
