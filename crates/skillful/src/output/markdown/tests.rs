use insta::assert_snapshot;

use super::{Look, Markdown};
use crate::output::fit;

fn page(text: &str, width: usize) -> String {
    lines(Markdown::new(Look::default()), text, width).join("\n")
}

fn lines(mut markdown: Markdown, text: &str, width: usize) -> Vec<String> {
    let mut lines = markdown.push(text, width);
    lines.extend(markdown.finish(width));
    lines
}

const DOCUMENT: &str = "# Sales\n\nThe **best** month was *March*, see [the report](https://example.com/r) and `sum.py`.\n\
Second line of it.\n\n- one\n- two with words that need another line at forty columns\n  - inner\n    1. deep\n- [x] done\n\n\
1. first\n\n   still first\n\n2. second\n\n> quoted text\n> goes on\n\n```python\ndef f(x):  # why\n\treturn \"y\"\n\n    x\n```\n\n\
| month | sum |\n| --- | ---: |\n| Jan | 1 |\n| February | 1234 |\n\n---\nThe end.";

#[test]
fn a_document_is_laid_out() {
    assert_snapshot!(page(DOCUMENT, 40), @r#"
    # Sales

    The best month was March, see the report
    (https://example.com/r) and `sum.py`.
    Second line of it.

    • one
    • two with words that need another line
      at forty columns
      • inner
        1. deep
    • [x] done

    1. first
       still first

    2. second

    │ quoted text
    │ goes on

      def f(x):  # why
          return "y"

          x

    month    │  sum
    ─────────┼─────
    Jan      │    1
    February │ 1234

    ────────────────────────────────────────

    The end.
    "#);
}

#[test]
fn styles_take_no_columns_and_are_closed() {
    let shown =
        lines(Markdown::new(Look::styled()), DOCUMENT, 40).join("\n").replace('\u{1b}', "␛");
    assert_snapshot!(shown, @r#"
    ␛[1m␛[36mSales␛[0m

    The ␛[1mbest␛[0m month was ␛[3mMarch␛[0m, see ␛[4mthe report␛[0m
    ␛[2m(https://example.com/r)␛[0m and ␛[36msum.py␛[0m.
    Second line of it.

    ␛[2m• ␛[0mone
    ␛[2m• ␛[0mtwo with words that need another line
    ␛[2m  ␛[0mat forty columns
    ␛[2m  ␛[0m␛[2m• ␛[0minner
    ␛[2m  ␛[0m␛[2m  ␛[0m␛[2m1. ␛[0mdeep
    ␛[2m• ␛[0m[x] done

    ␛[2m1. ␛[0mfirst
    ␛[2m   ␛[0mstill first

    ␛[2m2. ␛[0msecond

    ␛[2m│ ␛[0mquoted text
    ␛[2m│ ␛[0mgoes on

      ␛[35mdef␛[0m f(x):  ␛[2m# why␛[0m
          ␛[35mreturn␛[0m ␛[32m"y"␛[0m

          x

    ␛[1mmonth␛[0m   ␛[2m │ ␛[0m ␛[1msum␛[0m
    ␛[2m─────────┼─────␛[0m
    Jan     ␛[2m │ ␛[0m   1
    February␛[2m │ ␛[0m1234

    ␛[2m────────────────────────────────────────␛[0m

    The end.
    "#);
}

#[test]
fn pieces_give_the_same_lines_and_nothing_is_taken_back() {
    for width in [12, 40, 250] {
        let whole = page(DOCUMENT, width);
        for size in [1, 2, 3, 7, 50] {
            let mut markdown = Markdown::new(Look::default());
            let mut lines = Vec::new();
            let characters: Vec<char> = DOCUMENT.chars().collect();
            for piece in characters.chunks(size) {
                lines.extend(markdown.push(&piece.iter().collect::<String>(), width));
            }
            lines.extend(markdown.finish(width));
            assert_eq!(lines.join("\n"), whole, "width {width}, pieces of {size}");
        }
    }
}

#[test]
fn what_is_not_complete_can_be_looked_at() {
    let mut markdown = Markdown::new(Look::default());
    assert!(markdown.push("One **two", 40).is_empty());
    assert_eq!(markdown.pending(40), ["One **two"]);
    assert!(markdown.push("** three\n\n", 40).is_empty());
    assert_eq!(markdown.push("Next", 40), ["One two three"]);
    assert_eq!(markdown.pending(40), ["", "Next"]);
    assert_eq!(markdown.finish(40), ["", "Next"]);
}

#[test]
fn of_a_long_block_the_end_is_looked_at() {
    let mut markdown = Markdown::new(Look::default());
    let code: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
    assert!(markdown.push(&format!("```sh\n{code}"), 40).is_empty());
    let pending = markdown.pending(40);
    assert_eq!(pending.last().map(String::as_str), Some("  line 4999"));
    assert!(pending.len() < 1_000, "{}", pending.len());
    assert!(pending.iter().all(|line| line.starts_with("  line ")), "{pending:?}");
}

#[test]
fn a_table_fits_the_width() {
    let text = "| name | what it does |\n| --- | --- |\n| sales | sums up the sales of a whole year and more |\n| 表格 | 汇总任何表格文件的内容 |\n";
    let shown = page(text, 30);
    assert_snapshot!(shown, @"
    name  │ what it does
    ──────┼───────────────────────
    sales │ sums up the sales of a
          │ whole year and more
    表格  │ 汇总任何表格文件的内容
    ");
    assert!(shown.lines().all(|line| fit::columns(line) <= 30), "{shown}");
}

#[test]
fn wide_and_combining_letters_are_counted_as_they_are_seen() {
    let shown = page("表格摘要工具用于汇总任何表格文件的内容 e\u{301}e\u{301}e\u{301} end", 20);
    assert_snapshot!(shown, @"
    表格摘要工具用于汇总
    任何表格文件的内容
    ééé end
    ");
    assert!(shown.lines().all(|line| fit::columns(line) <= 20), "{shown}");
}

#[test]
fn nothing_acts_on_the_terminal() {
    let text = "# a\u{1b}[2J\n\nb\u{7}`c\u{9b}1m`\n\n```\n\u{1b}]0;x\u{7}\r\n```\n\n[x\u{202e}](http://e/\u{1b}[1m)\n\n| \u{1b} |\n| --- |\n| \u{200b} |\n\n<b\u{1b}>\n\n- \u{8}x &#27;[31m &#x9b;1m\n";
    for text in [text.to_owned(), text.replace('\n', " ")] {
        let shown = page(&text, 40);
        assert!(!shown.contains(|c: char| c != '\n' && basics::text::is_hidden(c)), "{shown:?}");
    }
}

#[test]
fn an_address_stays_whole() {
    let shown = page("See https://example.com/a/very/long/path/that/does/not/fit now", 20);
    assert!(
        shown.lines().any(|line| line == "https://example.com/a/very/long/path/that/does/not/fit"),
        "{shown}"
    );
}
