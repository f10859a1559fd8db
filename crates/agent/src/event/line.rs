//! An event as it stands in its line, before anybody knows what is in it.

use serde::de::value::SeqDeserializer;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::{Event, EventData, KINDS, VERSION, version_1};

/// One line. Its data may refer to texts that are kept elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) v: u32,
    pub(crate) seq: u64,
    pub(crate) ts: String,
    pub(crate) run_id: String,
    pub(crate) turn: u32,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) data: Value,
    pub(crate) prev: String,
}

impl Line {
    /// Whether it is the end of a run.
    pub(crate) fn is_end(&self) -> bool {
        self.kind == "run_finished"
    }
}

impl From<&Event> for Line {
    fn from(event: &Event) -> Self {
        let Event { v, seq, ts, run_id, turn, data, prev } = event;
        let mut written = json!(data);
        Self {
            v: *v,
            seq: *seq,
            ts: ts.clone(),
            run_id: run_id.clone(),
            turn: *turn,
            kind: data.kind().to_owned(),
            data: written["data"].take(),
            prev: prev.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Line::deserialize(deserializer).map(Self::from)
    }
}

impl From<Line> for Event {
    fn from(line: Line) -> Self {
        let Line { v, seq, ts, run_id, turn, kind, mut data, prev } = line;
        if v < VERSION {
            version_1::upgrade(&kind, &mut data);
        }
        Self { v, seq, ts, run_id, turn, data: EventData::read(kind, data), prev }
    }
}

impl EventData {
    /// What a line says.
    pub(crate) fn read(kind: String, data: Value) -> Self {
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
