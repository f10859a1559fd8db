//! `skillful search`

use insta::assert_snapshot;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.skill("home/.agent/skills/invoice-reader", "Read invoices from PDF files.");
    world.skill("home/.agent/skills/letters", "Write letters. Use for invoices, too.");
    world.skill("project/.agent/skills/bookkeeping", "Enter invoices into the books.");
    world
}

#[test]
fn the_best_hit_comes_first_with_its_reason() {
    assert_snapshot!(world().run("skillful search reading an invoice"), @"
    invoice-reader  user  name: invoice; description: reading, invoice
      Read invoices from PDF files.
    text-stats  builtin  description: reading
      Counts lines, words, characters and sentences of a text or Markdown file (.txt, .md, .markdown and other plain text), estimates the reading time, and lists the longest lines and the most frequent words. Use it when someone asks how many words, characters or lines a text has, for a word count or the length of a text, how long an article, essay, draft, README or document takes to read, which words are used too often, whether a text fits a limit, or which lines are too long.
    bookkeeping  project  description: invoice
      untrusted Enter invoices into the books.
    letters  user  description: invoice
      Write letters. Use for invoices, too.
    ");
}

#[test]
fn json_has_exactly_the_promised_fields() {
    let world = world();
    let mut found = world.json("skillful search --json --limit 1 'reading an invoice'");
    let score = found["hits"][0]["score"].take();
    assert!(score.as_f64().is_some_and(|score| score > 0.0), "{score}");
    assert_snapshot!(format!("{found:#}"), @r#"
    {
      "hits": [
        {
          "name": "invoice-reader",
          "score": null,
          "source": "user",
          "why": "name: invoice; description: reading, invoice"
        }
      ]
    }
    "#);
}

#[test]
fn hits_can_be_limited_by_number_and_source() {
    let world = world();
    assert_snapshot!(world.run("skillful search invoices --limit 1"), @"
    invoice-reader  user  name: invoices; description: invoices
      Read invoices from PDF files.
    ");
    assert_snapshot!(world.run("skillful search invoices --source project"), @"
    bookkeeping  project  description: invoices
      untrusted Enter invoices into the books.
    ");
    assert_snapshot!(world.run("skillful search invoices --limit 0"), @"
    [stderr]
    error: invalid value '0' for '--limit <N>': use 1 or more

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn no_hit_is_not_an_error() {
    let world = world();
    assert_snapshot!(world.run("skillful search zzz"), @"
    [stderr]
    No skill matches. `skillful list` shows them all.
    ");
    assert_snapshot!(world.run("skillful search zzz --quiet"), @"");
    assert_snapshot!(world.run_json("skillful search zzz --json"), @r#"
    {
      "hits": []
    }
    [stderr]
    No skill matches. `skillful list` shows them all.
    "#);
}

#[test]
fn a_query_is_needed() {
    let world = world();
    assert_snapshot!(world.run("skillful search"), @"
    [stderr]
    error: the following required arguments were not provided:
      <QUERY>...

    Usage: skillful search <QUERY>...

    For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful search --json"), @r#"
    {
      "error": {
        "code": "Usage",
        "details": null,
        "hint": "see `skillful --help`",
        "message": "the following required arguments were not provided: <QUERY>..."
      }
    }
    [exit 2]
    "#);
}

#[test]
fn every_skill_of_a_large_root_can_be_found() {
    let world = World::new();
    for number in 0..300 {
        let folder = format!("home/.agent/skills/skill-{number}");
        world.skill(&folder, &format!("One of many, with the word zq{number}."));
    }
    for number in [0, 150, 299] {
        for _ in ["first built", "then kept"] {
            let found = world.json(&format!("skillful search --json zq{number}"));
            assert_eq!(found["hits"][0]["name"], format!("skill-{number}"));
        }
    }
}

#[test]
fn bodies_are_searched_after_a_refresh_where_that_is_wanted() {
    let world = world();
    world.write(
        "home/.agent/skills/letters/SKILL.md",
        "---\nname: letters\ndescription: Write letters.\n---\nFor dunning and reminders.\n",
    );
    let search = "skillful search dunning";
    assert_snapshot!(world.run(&format!("skillful refresh >/dev/null; {search}")), @"
    [stderr]
    No skill matches. `skillful list` shows them all.
    ");
    world.write("home/.agent/config.json", r#"{"search": {"bodies": true}}"#);
    assert_snapshot!(world.run(search), @"
    [stderr]
    No skill matches. `skillful list` shows them all.
    ");
    assert_snapshot!(world.run(&format!("skillful refresh >/dev/null; {search}")), @"
    letters  user  body
      Write letters.
    ");
    world.write("home/.agent/config.json", "{}");
    world.write("project/.agent/config.json", r#"{"search": {"bodies": true}}"#);
    assert_snapshot!(world.run(search), @"
    [stderr]
    warning: `search.bodies` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_SEARCH_BODIES`
    No skill matches. `skillful list` shows them all.
    ");
}
