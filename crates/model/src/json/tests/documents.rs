//! Random JSON documents that know how they are spelt.

use proptest::collection::vec;
use proptest::prelude::*;

/// A document whose strings, numbers and white space have a chosen spelling.
#[derive(Clone, Debug)]
pub(super) enum Document {
    /// A literal or number, as written.
    Plain(String),
    Text(Text),
    Array(Vec<(Space, Document)>),
    Object(Vec<(Text, Space, Document)>),
}

/// Characters, each with its spelling.
pub(super) type Text = Vec<(char, String)>;
type Space = &'static str;

pub(super) fn document() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![plain().prop_map(Document::Plain), text().prop_map(Document::Text)];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            vec((space(), inner.clone()), 0..4).prop_map(Document::Array),
            vec((key(), space(), inner), 0..4).prop_map(Document::Object),
        ]
    })
}

fn plain() -> impl Strategy<Value = String> {
    let literal = prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned);
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?";
    prop_oneof![literal, number]
}

/// Mostly keys that the tests watch.
fn key() -> impl Strategy<Value = Text> {
    prop_oneof![
        4 => prop_oneof![Just('a'), Just('b'), Just('é')].prop_flat_map(|key| vec(character(Just(key)), 1)),
        1 => text(),
    ]
}

fn text() -> impl Strategy<Value = Text> {
    let any = prop_oneof![
        any::<char>(),
        prop::char::range(' ', '~'),
        Just('"'),
        Just('\\'),
        Just('\n'),
        Just('😀')
    ];
    vec(character(any), 0..12)
}

fn character(character: impl Strategy<Value = char>) -> impl Strategy<Value = (char, String)> {
    (character, 0..3u8).prop_map(|(character, how)| (character, spelling(character, how)))
}

fn spelling(character: char, how: u8) -> String {
    let short = match character {
        '"' | '\\' | '/' => Some(format!("\\{character}")),
        '\n' => Some("\\n".to_owned()),
        '\t' => Some("\\t".to_owned()),
        '\u{8}' => Some("\\b".to_owned()),
        _ => None,
    };
    let bare = character >= ' ' && character != '"' && character != '\\';
    match (how, short) {
        (0, _) if bare => character.to_string(),
        (1, Some(short)) => short,
        (2, _) => units(character, |unit| format!("\\u{unit:04X}")),
        _ => units(character, |unit| format!("\\u{unit:04x}")),
    }
}

fn units(character: char, spell: impl Fn(u16) -> String) -> String {
    character.encode_utf16(&mut [0; 2]).iter().map(|&unit| spell(unit)).collect()
}

fn space() -> impl Strategy<Value = Space> {
    prop_oneof![Just(""), Just(" "), Just("\r\n\t")]
}

/// A way down from the root.
#[derive(Clone)]
pub(super) enum Place {
    Key(String),
    Index(usize),
}

impl Document {
    /// Writes the document, and visits every value after it was written: its place, its JSON, and what it says if it is a string.
    pub(super) fn write(
        &self,
        output: &mut String,
        places: &mut Vec<Place>,
        visit: &mut impl FnMut(&[Place], &str, Option<String>),
    ) {
        let start = output.len();
        match self {
            Self::Plain(plain) => output.push_str(plain),
            Self::Text(text) => write_text(text, output),
            Self::Array(elements) => {
                output.push('[');
                for (index, (space, element)) in elements.iter().enumerate() {
                    output.push_str(if index == 0 { "" } else { "," });
                    output.push_str(space);
                    places.push(Place::Index(index));
                    element.write(output, places, visit);
                    places.pop();
                    output.push_str(space);
                }
                output.push(']');
            }
            Self::Object(members) => {
                output.push('{');
                for (index, (key, space, member)) in members.iter().enumerate() {
                    output.push_str(if index == 0 { "" } else { "," });
                    output.push_str(space);
                    write_text(key, output);
                    output.push_str(space);
                    output.push(':');
                    places.push(Place::Key(said(key)));
                    member.write(output, places, visit);
                    places.pop();
                }
                output.push('}');
            }
        }
        let text = if let Self::Text(text) = self { Some(said(text)) } else { None };
        visit(places, &output[start..], text);
    }
}

fn said(text: &Text) -> String {
    text.iter().map(|(character, _)| character).collect()
}

fn write_text(text: &Text, output: &mut String) {
    output.push('"');
    text.iter().for_each(|(_, spelling)| output.push_str(spelling));
    output.push('"');
}
