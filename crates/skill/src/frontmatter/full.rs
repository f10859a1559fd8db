//! Any YAML, through a real parser's events.
//!
//! Building the value from events shows anchors, aliases, tags and duplicate keys as they occur, and
//! bounds the depth before a hostile document can cost anything.

use std::collections::HashSet;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, Span, StructureStyle};

use super::{Forbidden, FrontmatterError, Limits};
use crate::value::{Map, Scalar, Value};

/// The opening `---` stands on line 1 of the file.
const LINES_ABOVE: usize = 1;

pub(super) fn parse(yaml: &str, limits: &Limits) -> Result<Map, FrontmatterError> {
    let mut options = Options::default();
    options.disallow_directives = true;
    options.emit_unresolved_aliases = true;
    let mut builder = Builder { open: Vec::new(), root: None, limits };
    for event in Parser::new_from_str_with_options(yaml, options) {
        let (event, span) = event.map_err(|error| refused(&error, limits))?;
        builder.push(event, line_of(&span))?;
    }
    match builder.root {
        Some(Value::Map(map)) => Ok(map),
        _ => Err(FrontmatterError::NotAMapping),
    }
}

pub(super) fn has_flow_style(yaml: &str) -> bool {
    let is_flow = |event: &Event<'_>| {
        matches!(
            event,
            Event::SequenceStart(StructureStyle::Flow, ..)
                | Event::MappingStart(StructureStyle::Flow, ..)
        )
    };
    Parser::new_from_str(yaml).map_while(Result::ok).any(|(event, _)| is_flow(&event))
}

struct Builder<'a> {
    open: Vec<Open>,
    root: Option<Value>,
    limits: &'a Limits,
}

/// A collection that is still being filled.
enum Open {
    List(Vec<Value>),
    Map { entries: Map, keys: HashSet<String>, key: Option<String> },
}

impl Builder<'_> {
    fn push(&mut self, event: Event<'_>, line: usize) -> Result<(), FrontmatterError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                refuse_properties(anchor, tag.is_some(), line)?;
                let plain = style == ScalarStyle::Plain;
                self.node(Value::Scalar(Scalar { text: text.into_owned(), plain }), line)
            }
            Event::SequenceStart(_, anchor, tag) => {
                refuse_properties(anchor, tag.is_some(), line)?;
                self.enter(Open::List(Vec::new()), line)
            }
            Event::MappingStart(_, anchor, tag) => {
                refuse_properties(anchor, tag.is_some(), line)?;
                let (entries, keys) = (Map::default(), HashSet::new());
                self.enter(Open::Map { entries, keys, key: None }, line)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.node(Value::List(items), line),
                Some(Open::Map { entries, .. }) => self.node(Value::Map(entries), line),
                None => Ok(()),
            },
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(FrontmatterError::Forbidden { what: Forbidden::SecondDocument, line })
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                Err(FrontmatterError::Forbidden { what: Forbidden::Alias, line })
            }
            _ => Ok(()),
        }
    }

    fn enter(&mut self, collection: Open, line: usize) -> Result<(), FrontmatterError> {
        if self.open.len() >= self.limits.depth {
            return Err(FrontmatterError::TooDeep { limit: self.limits.depth, line });
        }
        self.open.push(collection);
        Ok(())
    }

    fn node(&mut self, value: Value, line: usize) -> Result<(), FrontmatterError> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map { entries, keys, key }) => match key.take() {
                Some(key) => entries.0.push((key, value)),
                None => *key = Some(new_key(keys, value, line)?),
            },
        }
        Ok(())
    }
}

fn new_key(
    keys: &mut HashSet<String>,
    value: Value,
    line: usize,
) -> Result<String, FrontmatterError> {
    let Value::Scalar(Scalar { text, .. }) = value else {
        let reason = "a key must be text".to_owned();
        return Err(FrontmatterError::InvalidYaml { line, column: 1, reason });
    };
    if text == "<<" {
        return Err(FrontmatterError::Forbidden { what: Forbidden::MergeKey, line });
    }
    if !keys.insert(text.clone()) {
        return Err(FrontmatterError::DuplicateKey { key: text, line });
    }
    Ok(text)
}

fn refuse_properties(anchor: usize, tagged: bool, line: usize) -> Result<(), FrontmatterError> {
    let what = match (anchor, tagged) {
        (0, false) => return Ok(()),
        (0, true) => Forbidden::Tag,
        _ => Forbidden::Anchor,
    };
    Err(FrontmatterError::Forbidden { what, line })
}

fn line_of(span: &Span) -> usize {
    span.start.line() + LINES_ABOVE
}

fn refused(error: &granit_parser::ScanError, limits: &Limits) -> FrontmatterError {
    let at = error.marker();
    let line = at.line() + LINES_ABOVE;
    // The parser looks ahead, so it may meet its own bound on depth first.
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return FrontmatterError::TooDeep { limit: limits.depth, line };
    }
    FrontmatterError::InvalidYaml { line, column: at.col() + 1, reason: error.info() }
}
