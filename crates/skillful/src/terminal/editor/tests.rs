use super::{Candidate, Completion, Editor, Rows, Typed};
use crate::output::Palette;
use crate::terminal::keys::{Decoder, Key};

fn press(editor: &mut Editor, keys: &str) -> Vec<Typed> {
    let (mut decoder, mut pressed) = (Decoder::default(), Vec::new());
    decoder.push(keys.as_bytes(), &mut pressed);
    decoder.pause(&mut pressed);
    let typed = pressed.into_iter().map(|key| editor.key(key));
    typed.filter(|typed| *typed != Typed::Nothing).collect()
}

/// What is sent after these keys.
fn sent(keys: &str) -> String {
    let mut editor = Editor::new(vec!["first".into(), "second try".into()], Box::new(complete));
    press(&mut editor, keys);
    match editor.key(Key::Enter) {
        Typed::Sent(text) => text,
        other => panic!("{other:?}"),
    }
}

fn complete(before: &str) -> Completion {
    let from = before.rfind(' ').map_or(0, |place| place + 1);
    let candidates = ["/help", "/model", "/mode", "@src/"].into_iter();
    let fitting =
        candidates.filter(|text| before.len() > from && text.starts_with(&before[from..]));
    let candidates = fitting.map(|text| Candidate { text: text.into(), hint: "hint".into() });
    Completion { from, candidates: candidates.collect() }
}

fn rows(editor: &Editor, width: usize, height: usize) -> Rows {
    editor.rows("> ", width, height, Palette::default())
}

#[test]
fn keys_edit_the_text() {
    for (keys, text) in [
        ("abc\x7fd", "abd"),
        ("abc\x1b[D\x1b[DX", "aXbc"),
        ("one two\x17three", "one three"),
        ("one two\x01zero \x05!", "zero one two!"),
        ("one two\x1b[1;5D\x0b1", "one 1"),
        ("one\x152", "2"),
        ("a\x1b\rb", "a\nb"),
        ("a\\\rb", "a\nb"),
        ("ab\x1b\rcd\x1b[AX\x1b[BY", "abX\ncdY"),
        ("e\u{301}x\x1b[D\x7fy", "yx"),
        ("表格\x7f", "表"),
        ("\x1b[A", "second try"),
        ("\x1b[A\x1b[A", "first"),
        ("new\x1b[A\x1b[A\x1b[B\x1b[B", "new"),
        ("\x12fir\r", "first"),
        ("\x12r\x12\r", "first"),
        ("typed\x12sec\x1b", "typed"),
        ("/h\t", "/help "),
        ("/m\t\t", "/model"),
        ("/m\t\t\t", "/mode"),
        ("see @s\tx", "see @src/x"),
        ("\u{f0000}a", "a"),
    ] {
        assert_eq!(sent(keys), text, "{keys:?}");
    }
}

#[test]
fn a_long_paste_is_a_mark_and_is_sent_whole() {
    let lines: String = (0..10_000).map(|number| format!("line {number}\n")).collect();
    let mut editor = Editor::default();
    press(&mut editor, &format!("look: \x1b[200~{lines}\x1b[201~ please"));
    assert_eq!(rows(&editor, 80, 5).rows, ["> look: [pasted 10000 lines] please"]);
    assert_eq!(press(&mut editor, "\r"), [Typed::Sent(format!("look: {lines} please"))]);
    press(&mut editor, "\x1b[A\x1b[200~x\x1b[201~");
    assert_eq!(rows(&editor, 80, 5).rows, ["> [pasted 10001 lines]x"]);
    press(&mut editor, "\x7f\x7f");
    assert!(editor.is_empty());
}

#[test]
fn a_short_paste_is_text() {
    assert_eq!(sent("\x1b[200~a\r\nb\x1b[201~c"), "a\nbc");
}

#[test]
fn keys_that_end_things() {
    let mut editor = Editor::default();
    assert_eq!(press(&mut editor, "\x03\x04\x1b"), [Typed::Interrupt, Typed::Leave, Typed::Escape]);
    assert_eq!(press(&mut editor, "a\x1b[D\x04"), []);
    assert!(editor.is_empty());
}

#[test]
fn text_is_wrapped_around_the_cursor() {
    let mut editor = Editor::default();
    press(&mut editor, "abcdefghij");
    assert_eq!(
        rows(&editor, 6, 9),
        Rows { rows: ["> abcd", "  efgh", "  ij"].map(str::to_owned).to_vec(), cursor: (2, 4) }
    );
    assert_eq!(rows(&editor, 6, 2).rows, ["  efgh", "  ij"]);
    press(&mut editor, "\x01");
    let top = rows(&editor, 6, 2);
    assert_eq!(
        (top.rows.as_slice(), top.cursor),
        (["> abcd", "  efgh"].map(str::to_owned).as_slice(), (0, 2))
    );
    let mut wide = Editor::default();
    press(&mut wide, "表格摘");
    assert_eq!(
        rows(&wide, 6, 9),
        Rows { rows: ["> 表格", "  摘"].map(str::to_owned).to_vec(), cursor: (1, 4) }
    );
}

#[test]
fn hidden_characters_are_seen_and_candidates_have_hints() {
    let mut editor = Editor::new(Vec::new(), Box::new(complete));
    press(&mut editor, "\x1b[200~a\x1bb\u{202e}\x1b[201~");
    assert_eq!(rows(&editor, 60, 5).rows, ["> a\\u{1b}b\\u{202e}"]);
    editor.clear();
    press(&mut editor, "/mo");
    assert_eq!(rows(&editor, 60, 5).rows, ["> /mo", "  /model  hint", "  /mode   hint"]);
    assert_eq!(rows(&editor, 10, 5).rows, ["> /mo", "  /model…", "  /mode…"]);
    press(&mut editor, "\x1b");
    assert_eq!(rows(&editor, 60, 5).rows, ["> /mo"]);
}

#[test]
fn a_text_that_comes_back_is_put_before_the_draft() {
    let mut editor = Editor::default();
    press(&mut editor, "draft");
    editor.give_back("queued");
    assert_eq!(press(&mut editor, "\r"), [Typed::Sent("queued\ndraft".to_owned())]);
}
