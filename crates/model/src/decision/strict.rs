//! JSON in which no object has a key twice: `serde_json` alone silently takes the last.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Problem;
use super::problem::{around, quoted};
use crate::json::{Event, JsonError, Parser};

/// Reads one JSON value that is all of the text.
pub(super) fn read(text: &str) -> Result<Value, Problem> {
    let duplicate = RefCell::new(None);
    let strict =
        Strict { place: JsonPath { parent: None, step: Step::Root }, duplicate: &duplicate };
    let mut json = serde_json::Deserializer::from_str(text);
    let value = strict.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    match (value, duplicate.take()) {
        (Ok(value), None) => Ok(value),
        (Ok(_), Some(path)) => Err(Problem::DuplicateKey { path }),
        (Err(error), _) => Err(explained(text, &error)),
    }
}

/// The push parser refuses the same texts and says more about them.
fn explained(text: &str, error: &serde_json::Error) -> Problem {
    match first_error(text) {
        Some(error) => {
            let offset = usize::try_from(error.offset).unwrap_or(usize::MAX).min(text.len());
            Problem::Syntax { error, near: around(text, offset) }
        }
        None => Problem::Unreadable { reason: error.to_string() },
    }
}

fn first_error(text: &str) -> Option<JsonError> {
    let mut parser = Parser::<()>::new(&[]).ok()?;
    let ignore = &mut |_: Event<'_, ()>| {};
    parser.push(text.as_bytes(), ignore).and_then(|()| parser.finish(ignore)).err()
}

/// Where a value stands. Linked, not joined: a path is only written out when something is wrong with it.
#[derive(Clone, Copy)]
struct JsonPath<'a> {
    parent: Option<&'a JsonPath<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl fmt::Display for JsonPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(formatter)?;
        }
        match (self.step, self.parent.map(|parent| parent.step)) {
            (Step::Root, _) => Ok(()),
            (Step::Key(key), Some(Step::Root) | None) => formatter.write_str(&quoted(key)),
            (Step::Key(key), _) => write!(formatter, ".{}", quoted(key)),
            (Step::Index(index), _) => write!(formatter, "[{index}]"),
        }
    }
}

struct Strict<'a> {
    place: JsonPath<'a>,
    /// The first key found twice.
    duplicate: &'a RefCell<Option<String>>,
}

impl Strict<'_> {
    fn inner<'b>(&'b self, step: Step<'b>) -> Strict<'b> {
        Strict { place: JsonPath { parent: Some(&self.place), step }, duplicate: self.duplicate }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(element) =
            elements.next_element_seed(self.inner(Step::Index(array.len())))?
        {
            array.push(element);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let member = self.inner(Step::Key(&key));
            if object.contains_key(&key) {
                self.duplicate.borrow_mut().get_or_insert_with(|| member.place.to_string());
            }
            let value = members.next_value_seed(member)?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}
