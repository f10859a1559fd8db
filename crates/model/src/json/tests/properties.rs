//! What must hold for every document, every damage and every split.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::documents::{Document, Place, document};
use super::*;

const WATCHES: [(&str, Mode); 9] = [
    ("$", Value),
    ("$.a", Value),
    ("$.a", Deltas),
    ("$.*", Deltas),
    ("$[*].b", Value),
    ("$[1]", Value),
    ("$.é.b[*]", Deltas),
    ("$.a[*].*", Value),
    ("$.*.*.*", Deltas),
];

/// Whether a path leads to a place, in the simplest possible way.
fn leads_to(path: &str, places: &[Place]) -> bool {
    let path = path.replace('[', ".").replace(']', "");
    let steps: Vec<_> = path.split('.').skip(1).collect();
    steps.len() == places.len()
        && steps.iter().zip(places).all(|(step, place)| match place {
            _ if *step == "*" => true,
            Place::Key(key) => step == key,
            Place::Index(index) => *step == index.to_string(),
        })
}

/// The document's text, and what a caller must see in it.
fn expected(document: &Document) -> (String, Vec<Seen>) {
    let (mut text, mut seen) = (String::new(), Vec::new());
    document.write(&mut text, &mut Vec::new(), &mut |places, json, said| {
        let here = |mode| {
            let watches = WATCHES.iter().enumerate();
            watches
                .filter(move |(_, watch)| watch.1 == mode && leads_to(watch.0, places))
                .map(|(tag, _)| tag)
        };
        if let Some(said) = said {
            seen.extend(here(Deltas).map(|tag| Seen::Text(tag, said.clone())));
        }
        seen.extend(here(Value).map(|tag| Seen::Value(tag, json.to_owned())));
    });
    (text, seen)
}

fn cut<'a>(text: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<_> =
        cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([0, text.len()]).collect();
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// One damage to a text: bytes removed and others put in their place.
type Damage = (Index, usize, Vec<u8>);

fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop_oneof![
        proptest::sample::select(br#"{}[]",:\u0019eE+-.tfn d8DC"#.to_vec()),
        any::<u8>()
    ];
    (any::<Index>(), 0..3usize, vec(byte, 0..3))
}

fn damaged(text: &str, damages: Vec<Damage>) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, removed, added) in damages {
        let start = at.index(bytes.len() + 1);
        let end = (start + removed).min(bytes.len());
        bytes.splice(start..end, added);
    }
    bytes
}

proptest! {
    #[test]
    fn a_document_shows_its_watched_values_however_it_is_split(document in document(), cuts in vec(any::<Index>(), 0..20)) {
        let (text, seen) = expected(&document);
        prop_assert_eq!(run_split(&WATCHES, text.as_bytes()), (seen.clone(), Ok(())));
        prop_assert_eq!(run(&WATCHES, cut(text.as_bytes(), &cuts)), (seen, Ok(())));
    }

    #[test]
    fn values_and_deltas_are_what_serde_json_reads(document in document()) {
        let (text, _) = expected(&document);
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (seen, _) = run(&[("$", Value), ("$.a", Value), ("$.a", Deltas)], [text.as_bytes()]);
        let last_value = |wanted| seen.iter().rev().find_map(|seen| match seen {
            Seen::Value(tag, json) if *tag == wanted => Some(serde_json::from_str::<serde_json::Value>(json).unwrap()),
            _ => None,
        });
        prop_assert_eq!(last_value(0), Some(whole.clone()));
        prop_assert_eq!(last_value(1), whole.get("a").cloned());
        if let Some(serde_json::Value::String(text)) = whole.get("a") {
            let last = seen.iter().rev().find(|seen| matches!(seen, Seen::Text(2, _)));
            prop_assert_eq!(last, Some(&Seen::Text(2, text.clone())));
        }
    }

    #[test]
    fn a_damaged_document_gets_the_verdict_of_serde_json(
        document in document(),
        damages in vec(damage(), 1..3),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let text = damaged(&expected(&document).0, damages);
        let outcome = run_split(&WATCHES, &text);
        prop_assert_eq!(&run(&WATCHES, cut(&text, &cuts)), &outcome);
        let reference = serde_json::from_slice::<serde_json::Value>(&text);
        prop_assert_eq!(outcome.1.is_ok(), reference.is_ok(), "{:?} {:?}", outcome, reference);
    }

    #[test]
    fn a_document_that_is_cut_off_gets_the_verdict_of_serde_json(document in document()) {
        let (text, _) = expected(&document);
        for end in 0..text.len() {
            let prefix = &text.as_bytes()[..end];
            let reference = serde_json::from_slice::<serde_json::Value>(prefix);
            prop_assert_eq!(run(&WATCHES, [prefix]).1.is_ok(), reference.is_ok(), "{:?}", prefix);
        }
    }

    #[test]
    fn a_string_of_any_bytes_gets_the_verdict_of_serde_json(body in vec(any::<u8>(), 0..12), escaped in any::<bool>()) {
        let escape: &[u8] = if escaped { b"\\u" } else { b"" };
        let text = [b"\"", escape, &body, b"\""].concat();
        let (_, result) = run_split(&[("$", Deltas)], &text);
        prop_assert_eq!(result.is_ok(), serde_json::from_slice::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn a_number_gets_the_verdict_of_serde_json(text in "-?[0-9]{1,25}(\\.[0-9]{1,25})?([eE][+-]?(2[5-9][0-9]|3[0-4][0-9]|[0-9]{1,3}))?") {
        let (_, result) = run_split(&[("$", Value)], text.as_bytes());
        prop_assert_eq!(result.is_ok(), serde_json::from_slice::<serde_json::Value>(text.as_bytes()).is_ok());
    }
}
