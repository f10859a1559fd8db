use super::{clip, columns, missing, wrap};

fn check_clipped(text: &str, room: usize, expected: &str) {
    assert_eq!(clip(text, Some(room)), expected);
    assert!(columns(&clip(text, Some(room))) <= room.max(1));
}

#[test]
fn text_that_fits_is_left_alone() {
    check_clipped("four", 4, "four");
    check_clipped("", 0, "");
    assert_eq!(clip("as long as it likes", None), "as long as it likes");
}

#[test]
fn what_is_cut_ends_in_an_ellipsis() {
    check_clipped("summary", 4, "sum…");
    check_clipped("one two", 5, "one…");
    check_clipped("no room", 0, "…");
}

#[test]
fn wide_letters_count_twice_and_marks_not_at_all() {
    check_clipped("表格摘要", 8, "表格摘要");
    check_clipped("表格摘要", 7, "表格摘…");
    check_clipped("表格摘要", 6, "表格…");
    check_clipped("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}");
    assert_eq!(missing("表格", 6), 2);
    assert_eq!(missing("too long", 3), 0);
}

#[test]
fn lines_break_between_words() {
    assert_eq!(wrap("one two three", Some(7), 0), "one two\nthree");
    assert_eq!(wrap("one two three", Some(8), 0), "one two\nthree");
    assert_eq!(wrap("one two three", None, 0), "one two three");
    assert_eq!(wrap("", Some(7), 0), "");
}

#[test]
fn lines_after_the_first_are_indented() {
    assert_eq!(wrap("one two three", Some(9), 2), "one two\n  three");
}

#[test]
fn a_word_longer_than_the_line_stays_whole() {
    assert_eq!(wrap("see /a/long/path now", Some(5), 0), "see\n/a/long/path\nnow");
    assert_eq!(wrap("表格 摘要", Some(5), 0), "表格\n摘要");
    assert_eq!(wrap("a b", Some(0), 4), "a\n    b");
}

#[test]
fn a_command_stays_on_one_line() {
    let hint = "edit it, then run `skillful trust project weekly-report`.";
    let wrapped = "edit it, then run\n`skillful trust project weekly-report`.";
    assert_eq!(wrap(hint, Some(50), 0), wrapped);
    assert_eq!(wrap(hint, Some(20), 0), wrapped, "even where it is longer than the line");
}
