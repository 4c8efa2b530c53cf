//! The picture as SVG: no external fonts or scripts, colours for light and for dark pages.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::layout::{BOX, Crate, Layout, WIDTH};

/// What a crate does with a request.
pub(crate) type Step = (&'static str, &'static str);

const STYLE: &str = "
  svg { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
  .page { fill: #ffffff; }
  .band { fill: #f3f5f8; }
  .box { fill: #ffffff; stroke: #8a94a3; }
  .way { stroke: #0b63c4; stroke-width: 2; }
  .name { fill: #1b2330; font-size: 13.5px; font-weight: 600; }
  .text { fill: #4b5666; font-size: 11px; }
  .level { fill: #6a7585; font-size: 12px; font-weight: 600; }
  .arrow { fill: none; stroke: #8a94a3; stroke-width: 1.3; }
  .head { fill: #8a94a3; }
  .badge { fill: #0b63c4; }
  .number { fill: #ffffff; font-size: 11px; font-weight: 700; text-anchor: middle; }
  .next { fill: none; stroke: #0b63c4; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    .band { fill: #151b24; }
    .box { fill: #1c2430; stroke: #6b7686; }
    .way { stroke: #58a6ff; }
    .name { fill: #e8edf4; }
    .text { fill: #aab4c2; }
    .level { fill: #8b96a6; }
    .arrow { stroke: #6b7686; }
    .head { fill: #6b7686; }
    .badge { fill: #58a6ff; }
    .number { fill: #0d1117; }
    .next { stroke: #58a6ff; }
  }
";

/// Height of the part that shows the way of a request.
const WAY: f64 = 134.0;

/// Most lines of text in a box.
const LINES: usize = 4;

pub(crate) fn draw(crates: &BTreeMap<String, Crate>, layout: &Layout, way: &[Step]) -> String {
    let height = layout.bottom + WAY;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\">\n<title>The crates of Portcullis by level, and the way of a request through them</title>\n\
         <style>{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path class=\"head\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    text(
        &mut svg,
        "level",
        16.0,
        26.0,
        "Crates by level; each uses only what stands below it",
    );
    for (level, y) in &layout.rows {
        let (y, band) = (y - 14.0, BOX.1 + 28.0);
        writeln!(svg, "<rect class=\"band\" x=\"8\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{band:.1}\" rx=\"8\"/>", WIDTH - 16.0).unwrap();
        text(&mut svg, "level", 18.0, y + 18.0, &format!("L{level}"));
    }
    for points in &layout.arrows {
        writeln!(
            svg,
            "<path class=\"arrow\" marker-end=\"url(#head)\" d=\"{}\"/>",
            curve(points)
        )
        .unwrap();
    }
    for (name, (x, y)) in &layout.boxes {
        let steps = (1..).zip(way).filter(|(_, (owner, _))| owner == name);
        let numbers: Vec<usize> = steps.map(|(number, _)| number).collect();
        boxed(
            &mut svg,
            (*x, *y),
            name,
            &crates[name].description,
            !numbers.is_empty(),
        );
        for (at, number) in numbers.iter().rev().enumerate() {
            badge(&mut svg, x + BOX.0 - 14.0 - 22.0 * at as f64, *y, *number);
        }
    }
    steps(&mut svg, layout.bottom, way);
    svg.push_str("</svg>\n");
    svg
}

/// The way of a request, from left to right.
fn steps(svg: &mut String, top: f64, way: &[Step]) {
    text(svg, "level", 16.0, top, "The way of a request");
    let room = (WIDTH - 32.0) / way.len() as f64;
    let (width, y) = (room - 20.0, top + 22.0);
    for (at, (name, does)) in way.iter().enumerate() {
        let x = 16.0 + at as f64 * room;
        writeln!(svg, "<rect class=\"box way\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"8\"/>", BOX.1).unwrap();
        let short = name.strip_prefix("portcullis-").unwrap_or(name);
        text(svg, "name", x + 12.0, y + 24.0, short);
        for (line, part) in (0..).zip(wrapped(does, width - 20.0)) {
            text(
                svg,
                "text",
                x + 12.0,
                y + 42.0 + 14.0 * f64::from(line),
                &part,
            );
        }
        badge(svg, x + width - 14.0, y, at + 1);
        if at + 1 < way.len() {
            let (from, middle) = (x + width, y + BOX.1 / 2.0);
            writeln!(
                svg,
                "<path class=\"next\" d=\"M{:.1} {middle:.1}h14m-5 -5l5 5l-5 5\"/>",
                from + 4.0
            )
            .unwrap();
        }
    }
}

fn boxed(svg: &mut String, (x, y): (f64, f64), name: &str, description: &str, on_the_way: bool) {
    let class = if on_the_way { "box way" } else { "box" };
    writeln!(svg, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/>", BOX.0, BOX.1).unwrap();
    text(svg, "name", x + 12.0, y + 23.0, name);
    for (line, part) in (0..).zip(wrapped(description, BOX.0 - 20.0)) {
        text(
            svg,
            "text",
            x + 12.0,
            y + 40.0 + 14.0 * f64::from(line),
            &part,
        );
    }
}

fn badge(svg: &mut String, x: f64, y: f64, number: usize) {
    writeln!(
        svg,
        "<circle class=\"badge\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9.5\"/>"
    )
    .unwrap();
    text(svg, "number", x, y + 4.0, &number.to_string());
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    )
    .unwrap();
}

/// Lines of a text of 11 pixels; the last one that fits ends with an ellipsis if more follows.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let fits = (width / 5.95) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1].push('…');
    }
    lines
}

/// A line through points that leaves and enters each of them upright.
fn curve(points: &[(f64, f64)]) -> String {
    let mut path = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        let middle = (y1 + y2) / 2.0;
        write!(
            path,
            "C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}"
        )
        .unwrap();
    }
    path
}
