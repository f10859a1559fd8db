use super::*;

fn line(data: &str) -> String {
    format!(
        r#"{{"v":1,"seq":1,"ts":"2026-11-15T08:30:00.000Z","run_id":"r","turn":0,"type":"error","data":{data},"prev":""}}"#
    )
}

#[test]
fn lines_end_with_a_newline() {
    let check = |text: &str| {
        let (lines, torn) = split(text.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (lines.into_iter().map(text).collect::<Vec<_>>(), text(torn))
    };
    assert_eq!(check(""), (vec![], String::new()));
    assert_eq!(check("a"), (vec![], "a".into()));
    assert_eq!(check("a\n"), (vec!["a".into()], String::new()));
    assert_eq!(check("a\n\nb"), (vec!["a".into(), String::new()], "b".into()));
}

#[test]
fn every_beginning_of_a_line_is_known_as_one() {
    let whole = line(r#"{"n":[-1.5e-7,true,null,0.1],"text":"a\"\\\u0007é😀"}"#);
    for end in 0..whole.len() {
        let error = parse(&whole.as_bytes()[..end]).unwrap_err();
        assert!(error.is_cut_off(), "{end}: {error}");
    }
    assert!(parse(whole.as_bytes()).is_ok());
    assert!(!parse(format!("{whole}x").as_bytes()).unwrap_err().is_cut_off());
}

#[test]
fn data_is_read_as_deep_as_it_is_written_and_no_deeper() {
    let nested = |levels: usize| line(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    assert!(parse(nested(DEPTH).as_bytes()).is_ok());
    assert!(matches!(parse(nested(DEPTH + 8).as_bytes()), Err(NoEvent::TooDeep)));
    assert!(matches!(parse("[".repeat(1_000_000).as_bytes()), Err(NoEvent::TooDeep)));
    let quoted = line(&format!(r#""{}\"{}""#, "[".repeat(1_000), "{".repeat(1_000)));
    assert!(parse(quoted.as_bytes()).is_ok());
}
