//! Plots as inline SVG: bars and histograms that follow the page's colours.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use super::html::escape;

/// One bar: what it is, how long, and what stands behind it.
pub(super) struct Bar {
    pub(super) label: String,
    /// Between 0 and 1.
    pub(super) share: f64,
    pub(super) value: String,
    pub(super) is_good: bool,
}

const WIDTH: f64 = 640.0;
const LABEL: f64 = 220.0;
const VALUE: f64 = 90.0;
const ROW: f64 = 24.0;
/// More bars than anyone reads; the rest is among the runs.
const BARS: usize = 60;

/// Bars below each other, with a line at `mark`.
pub(super) fn bars(title: &str, bars: &[Bar], mark: Option<f64>) -> String {
    let shown = &bars[..bars.len().min(BARS)];
    let height = ROW * shown.len() as f64 + 4.0;
    let room = WIDTH - LABEL - VALUE;
    let mut svg = open(title, height);
    for (place, bar) in shown.iter().enumerate() {
        let top = ROW * place as f64;
        let (base, class) = (top + 16.0, if bar.is_good { "good" } else { "bad" });
        let label = clipped(&bar.label);
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{}</text><rect class=\"track\" x=\"{LABEL}\" y=\"{}\" width=\"{room}\" height=\"14\"/><rect class=\"{class}\" x=\"{LABEL}\" y=\"{}\" width=\"{:.1}\" height=\"14\"/><text x=\"{}\" y=\"{base}\">{}</text>",
            LABEL - 8.0,
            escape(&label),
            top + 4.0,
            top + 4.0,
            room * bar.share.clamp(0.0, 1.0),
            LABEL + room + 8.0,
            escape(&bar.value)
        );
    }
    if let Some(mark) = mark {
        let x = LABEL + room * mark;
        let _ =
            write!(svg, "<line class=\"mark\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{height}\"/>");
    }
    svg.push_str("</svg>");
    if bars.len() > BARS {
        let _ = write!(svg, "<p>{} more are among the runs.</p>", bars.len() - BARS);
    }
    svg
}

/// How often values fall into each of ten equal steps.
pub(super) fn histogram(title: &str, values: &[f64], unit: &str) -> String {
    const STEPS: usize = 10;
    const TALL: f64 = 120.0;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() || !high.is_finite() {
        return String::new();
    }
    let step = (high - low) / STEPS as f64;
    let mut counts = [0_usize; STEPS];
    for value in values {
        let place = if step > 0.0 { ((value - low) / step) as usize } else { 0 };
        counts[place.min(STEPS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let wide = WIDTH / STEPS as f64;
    let mut svg = open(title, TALL + 36.0);
    for (place, count) in counts.iter().enumerate() {
        let tall = TALL * *count as f64 / most;
        let (x, y) = (wide * place as f64, 14.0 + TALL - tall);
        let _ = write!(
            svg,
            "<rect class=\"plain\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            x + 2.0,
            wide - 4.0
        );
        if *count > 0 {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{count}</text>",
                x + wide / 2.0,
                y - 3.0
            );
        }
    }
    let base = TALL + 30.0;
    let _ = write!(
        svg,
        "<text x=\"0\" y=\"{base}\">{} {unit}</text><text x=\"{WIDTH}\" y=\"{base}\" text-anchor=\"end\">{} {unit}</text></svg>",
        short(low),
        short(high)
    );
    svg
}

/// As much of a label as there is room for.
fn clipped(label: &str) -> String {
    const ROOM: usize = 30;
    if label.chars().count() <= ROOM {
        return label.to_owned();
    }
    label.chars().take(ROOM - 1).chain(['…']).collect()
}

fn short(value: f64) -> String {
    if value.abs() >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

fn open(title: &str, height: f64) -> String {
    let title = escape(title);
    format!(
        "<h3>{title}</h3><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\" xmlns=\"http://www.w3.org/2000/svg\">"
    )
}
