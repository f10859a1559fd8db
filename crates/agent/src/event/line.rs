//! An event as it stands in its line, before anybody knows what is in it.

use serde::de::value::SeqDeserializer;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Event, EventData, KINDS, VERSION, version_1};

/// One line.
#[derive(Deserialize)]
struct Line {
    v: u32,
    seq: u64,
    ts: String,
    run_id: String,
    turn: u32,
    #[serde(rename = "type")]
    kind: String,
    data: Value,
    prev: String,
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Line { v, seq, ts, run_id, turn, kind, mut data, prev } =
            Line::deserialize(deserializer)?;
        if v < VERSION {
            version_1::upgrade(&kind, &mut data);
        }
        Ok(Self { v, seq, ts, run_id, turn, data: EventData::read(kind, data), prev })
    }
}

impl EventData {
    /// What a line says.
    fn read(kind: String, data: Value) -> Self {
        // In this order, so that the type is known before the data is looked at.
        let pair = [Value::String(kind.clone()), data];
        match Self::deserialize(SeqDeserializer::new(pair.iter())) {
            Ok(known) => known,
            Err::<_, serde_json::Error>(_) => {
                let [_, data] = pair;
                Self::Unknown(Unknown { kind, data })
            }
        }
    }
}

/// What this version of the program does not know: kept as it is, never acted on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unknown {
    #[serde(rename = "type")]
    kind: String,
    data: Value,
}

impl Unknown {
    /// The word for its type.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether this version knows the type, and yet cannot make sense of what the event says.
    pub fn is_garbled(&self) -> bool {
        KINDS.contains(&&*self.kind)
    }
}
