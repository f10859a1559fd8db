use super::*;

#[test]
fn characters_that_deceive_are_hidden() {
    for c in [
        '\0', '\u{7}', '\r', '\u{1B}', '\u{7F}', '\u{85}', '\u{9B}', '\u{AD}', '\u{61C}',
        '\u{180E}',
    ] {
        assert!(is_hidden(c), "{c:?}");
    }
    for range in [
        '\u{200B}'..='\u{200F}',
        '\u{2028}'..='\u{202E}',
        '\u{2060}'..='\u{206F}',
        '\u{FFF9}'..='\u{FFFB}',
        '\u{E0000}'..='\u{E007F}',
    ] {
        for c in range {
            assert!(is_hidden(c), "{c:?}");
        }
    }
    for c in ['\u{FEFF}', '\u{3164}', '\u{FFA0}', '\u{115F}', '\u{1160}', '\u{34F}', '\u{1D173}'] {
        assert!(is_hidden(c), "{c:?}");
    }
    for c in [
        '\n', '\t', ' ', '~', 'a', 'é', '漢', '🦀', '\u{A0}', '\u{3000}', '\u{FFFD}', '\u{200A}',
        '\u{2027}',
    ] {
        assert!(!is_hidden(c), "{c:?}");
    }
}

#[test]
fn hidden_characters_are_counted_as_they_are_removed() {
    assert_eq!(strip_hidden("plain\ttext\n"), ("plain\ttext\n".into(), 0));
    assert_eq!(strip_hidden("é"), ("é".into(), 0));
    assert_eq!(strip_hidden("\u{FEFF}a\u{200B}b\r\n"), ("ab\n".into(), 3));
    assert!(has_hidden("a\u{1B}") && !has_hidden("é\n"));
}

#[test]
fn a_terminal_is_shown_what_is_there() {
    assert_eq!(for_terminal("a\u{1B}[31m\u{202E}\nb\tc"), r"a\u{1b}[31m\u{202e}\nb\tc");
    assert_eq!(for_terminal_block("a\u{1B}\nb\tc\r"), "a\\u{1b}\nb\tc\\u{d}");
    assert!(matches!(for_terminal("plain é"), Cow::Borrowed("plain é")));
}

#[test]
fn one_line_folds_white_space() {
    assert_eq!(one_line("  a \n\t b\u{3000}c\u{200B} \r\n"), "a b c");
    assert_eq!(one_line("\u{200B} \n"), "");
}

#[test]
fn a_prefix_is_counted_in_characters() {
    assert_eq!(prefix("äöü", 2), "äö");
    assert_eq!(prefix("äöü", 3), "äöü");
    assert_eq!(prefix("äöü", 0), "");
    assert_eq!(prefix("", 5), "");
}
