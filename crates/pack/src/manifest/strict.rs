//! JSON without repeated keys, at any depth.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Why a document is not taken.
pub(crate) enum Problem {
    /// A key is there twice in one object.
    Repeated(String),
    /// It is not JSON.
    Syntax(serde_json::Error),
}

const REPEATED: &str = "repeated key ";

/// Reads the whole document only to see its keys.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Problem> {
    match serde_json::from_slice::<Keys>(bytes) {
        Ok(Keys) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let key = text.strip_prefix(REPEATED).filter(|_| error.is_data());
            // The position follows the key.
            let key =
                key.and_then(|key| key.rsplit_once(" at line ")).map(|(key, _)| key.to_owned());
            Err(key.map_or(Problem::Syntax(error), Problem::Repeated))
        }
    }
}

struct Keys;

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Keys)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<Keys>()?;
            if seen.contains(&key) {
                return Err(de::Error::custom(format!("{REPEATED}{key}")));
            }
            seen.insert(key);
        }
        Ok(Keys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Keys, A::Error> {
        while list.next_element::<Keys>()?.is_some() {}
        Ok(Keys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Keys, E> {
        Ok(Keys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Keys, E> {
        Ok(Keys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Keys, E> {
        Ok(Keys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Keys, E> {
        Ok(Keys)
    }

    fn visit_str<E>(self, _: &str) -> Result<Keys, E> {
        Ok(Keys)
    }

    fn visit_unit<E>(self) -> Result<Keys, E> {
        Ok(Keys)
    }
}
