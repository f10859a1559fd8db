//! Tasks that people have, each with a skill as its author would write it, real programs and real files: from the
//! request to the user's files, and back.
//!
//! The folder `real_tasks` has a folder for each: the skill, what the user has (`inputs`, or what `make-inputs` makes),
//! and what a model says that does what the skill's text says (`turns.json`).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::turns::codes;
use crate::world::World;

/// A task by the name of its skill.
#[derive(Default)]
struct Task {
    skill: &'static str,
    request: &'static str,
    /// What must be installed, by the name of its package, and a line that fails where it is not.
    needs: &'static [(&'static str, &'static str)],
    /// Codes of what fails on the way, because it has to.
    failing: &'static [&'static str],
    /// What the run must change.
    changes: &'static [&'static str],
    /// How often the user is asked about changes.
    questions: usize,
}

const PYTHON: (&str, &str) = ("python3", "python3 --version");
const PYPDF: (&str, &str) = ("python3-pypdf", "python3 -c 'import pypdf'");
const REPORTLAB: (&str, &str) = ("python3-reportlab", "python3 -c 'import reportlab'");
const OPENPYXL: (&str, &str) = ("python3-openpyxl", "python3 -c 'import openpyxl'");
const POPPLER: (&str, &str) = ("poppler-utils", "command -v pdftotext");
const QPDF: (&str, &str) = ("qpdf", "qpdf --version");
const LIBREOFFICE: (&str, &str) =
    ("libreoffice-calc", "test -e /usr/lib/libreoffice/program/scalc && command -v soffice");
// Others call a program of theirs `convert` as well.
const IMAGEMAGICK: (&str, &str) = (
    "imagemagick",
    "convert --version | grep -q ImageMagick && command -v identify && command -v mogrify",
);
const ZIP: (&str, &str) = ("zip", "zip --version && command -v unzip");
const GIT: (&str, &str) = ("git", "git --version");
const CURL: (&str, &str) = ("curl", "curl --version");
const NPM: (&str, &str) = ("npm", "npm --version && node --test --version");

/// Every file, folder and link in the project but the records of runs, with its mode and content.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn snapshot(world: &World) -> Tree {
    let project = world.path("project");
    let mut tree = Tree::new();
    let mut waiting = vec![project.clone()];
    while let Some(path) = waiting.pop() {
        let inner = path.strip_prefix(&project).unwrap().to_owned();
        if inner == Path::new(".agent") {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        tree.insert(inner, (metadata.permissions().mode(), content));
    }
    tree
}

/// Paths by which two trees differ.
fn differing(one: &Tree, other: &Tree) -> Vec<String> {
    let all: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let differing = all.into_iter().filter(|path| one.get(*path) != other.get(*path));
    differing.map(|path| path.to_str().unwrap().to_owned()).collect()
}

fn same(world: &World, before: &Tree, when: &str) {
    let differing = differing(&snapshot(world), before);
    assert!(differing.is_empty(), "{when}: {differing:?}");
}

/// A world with the skill, and with what the user has.
fn prepared(task: &Task) -> Option<World> {
    let world = World::new();
    for (package, line) in task.needs {
        if !world.output(line).status.success() {
            eprintln!("skipped: {package} is not installed");
            return None;
        }
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/slow/real_tasks");
    let folder = tests.join(task.skill);
    let world = world.with("TASK", &folder);
    fs::create_dir_all(world.path("home/.agent/skills")).unwrap();
    let seen = world.run(&format!(
        "set -e
        skill=../home/.agent/skills/{}
        cp -r \"$TASK\" $skill
        rm -rf $skill/turns.json $skill/inputs $skill/make-inputs $skill/letter
        cp \"$TASK/turns.json\" ..
        [ ! -e \"$TASK/inputs\" ] || cp -r \"$TASK/inputs/.\" .
        [ ! -e \"$TASK/make-inputs\" ] || \"$TASK/make-inputs\"",
        task.skill
    ));
    assert_eq!(seen, "", "{}", task.skill);
    Some(world)
}

/// Does a task: nothing changes before the changes are applied, then everything is as `wanted`, and undone it is as it
/// was, byte for byte; the record holds all along.
///
/// `wanted` gets what a line of shell says in a copy of the user's files, where it may leave something.
fn check(task: &Task, wanted: impl FnOnce(&dyn Fn(&str) -> String)) {
    let Some(world) = prepared(task) else { return };
    let before = snapshot(&world);
    let line =
        format!("skillful run '{}' --model scripted:../turns.json --mode contained", task.request);
    let seen = world.run(&line);
    assert!(seen.ends_with("[exit 3]\n"), "{}: {seen}", task.skill);
    same(&world, &before, "before the changes were applied");
    let failed: Vec<Value> = codes(&world).into_iter().filter(|code| !code.is_null()).collect();
    let asked = ["ApprovalRequired"].repeat(task.questions);
    assert_eq!(json!(failed), json!([task.failing, &asked[..]].concat()), "{}", record(&world));

    let listed = world.json("skillful runs changes last --json");
    assert_eq!((&listed["held"], &listed["conflicts"]), (&json!([]), &json!([])));
    let listed = listed["changes"].as_array().unwrap().iter().map(|change| &change["path"]);
    let mut listed: Vec<&str> = listed.map(|path| path.as_str().unwrap()).collect();
    for path in task.changes {
        assert!(listed.contains(path), "{path} is not among {listed:?}");
    }
    works(&world, "runs apply last");
    if listed.iter().any(|path| path.starts_with(".git/")) {
        works(&world, "runs apply last .git");
    }
    let after = snapshot(&world);
    listed.sort_unstable();
    let mut changed = differing(&after, &before);
    changed.sort_unstable();
    assert_eq!(changed, listed, "what was applied is what was shown");
    modes(&world, &before, &after);
    works(&world, "runs changes last");
    let copied = world.run("cp -a . ../copy && rm -r ../copy/.agent");
    assert_eq!(copied, "");
    wanted(&|line| world.run(&format!("cd ../copy && {line}")));
    holds(&world);

    works(&world, "runs undo last");
    same(&world, &before, "after the changes were undone");
    holds(&world);
}

/// What is new can be read by whom the user lets read new files.
fn modes(world: &World, before: &Tree, after: &Tree) {
    let usual = world.run("umask").trim().to_owned();
    let usual = !u32::from_str_radix(&usual, 8).unwrap() & 0o444;
    for (path, (mode, _)) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        assert_eq!(mode & 0o444, usual, "{path:?} has the mode {mode:o}");
    }
}

fn works(world: &World, command: &str) -> String {
    let output = world.output(&format!("skillful {command}"));
    let seen = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{command}: {seen}{errors}");
    seen
}

/// The record is what was written, and leads to the same again.
fn holds(world: &World) {
    let verified = works(world, "runs verify last");
    assert!(verified.starts_with("intact"), "{verified}");
    let replayed = works(world, "runs replay last");
    assert!(replayed.starts_with("identical"), "{replayed}");
}

/// What programs said, for whoever has to find out why something failed.
fn record(world: &World) -> String {
    world.run("tail -n +1 .agent/runs/*/observations/*")
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_pdf_form_is_filled() {
    let task = Task {
        skill: "fill-pdf-form",
        request: "Fill in form.pdf for the member in member.md",
        needs: &[PYTHON, PYPDF, REPORTLAB, POPPLER],
        changes: &["filled.pdf", "values.json"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        let fields = shell(
            "python3 -c 'import pypdf
fields = pypdf.PdfReader(\"filled.pdf\").get_fields()
for name in sorted(fields): print(name, fields[name].get(\"/V\"))'",
        );
        assert_eq!(fields, "agree /Yes\ncity London\nemail \nname Ada Lovelace\n");
        let text = shell("pdftotext -layout filled.pdf -");
        assert!(text.contains("Membership application"), "{text}");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn pdfs_are_merged() {
    let task = Task {
        skill: "merge-pdfs",
        request: "Put the cover before the report",
        needs: &[QPDF, POPPLER, PYTHON, REPORTLAB],
        changes: &["merged.pdf"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        assert_eq!(
            shell("qpdf --check merged.pdf >/dev/null && qpdf --show-npages merged.pdf"),
            "4\n"
        );
        let text = shell("pdftotext merged.pdf - | tr -s '\\f\\n' '|'");
        assert_eq!(text, "Cover|Page one|Page two|Page three|");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_workbook_is_made_and_recalculated() {
    let task = Task {
        skill: "recalculate-spreadsheet",
        request: "Make a workbook with totals from sales.csv",
        needs: &[LIBREOFFICE, PYTHON, OPENPYXL],
        changes: &["sales.xlsx"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        let last_row = |values: &str| {
            shell(&format!(
                "python3 -c 'import openpyxl
sheet = openpyxl.load_workbook(\"sales.xlsx\", data_only={values}).active
print(*[cell.value for cell in sheet[5]])'"
            ))
        };
        assert_eq!(last_row("True"), "Total 2415 3000\n");
        assert_eq!(last_row("False"), "Total =SUM(B2:B4) =SUM(C2:C4)\n");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_word_document_is_edited() {
    let task = Task {
        skill: "edit-docx",
        request: "In letter.docx, extend the offer to 30 June; the firm is Miller & Sons Ltd. now",
        needs: &[ZIP, PYTHON],
        changes: &["letter.docx"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        let tested = shell("unzip -tq letter.docx");
        assert!(tested.starts_with("No errors detected"), "{tested}");
        assert_eq!(shell("unzip -Z1 letter.docx | head -1"), "[Content_Types].xml\n");
        let text = shell(
            "python3 -c 'import xml.etree.ElementTree as xml, zipfile
root = xml.fromstring(zipfile.ZipFile(\"letter.docx\").read(\"word/document.xml\"))
print(\"\".join(root.itertext()).strip())'",
        );
        assert_eq!(text, "OfferValid until 30 June, Miller & Sons Ltd.\n");
        assert_eq!(shell("ls"), "letter.docx\n");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_red_test_suite_becomes_green() {
    let task = Task {
        skill: "fix-tests",
        request: "The tests fail. Repair the code",
        needs: &[PYTHON],
        failing: &["ExitNonZero"],
        changes: &["prices.py"],
        questions: 1,
    };
    check(&task, |shell| {
        let tested = shell("python3 -m unittest discover -s tests 2>&1");
        assert!(tested.contains("Ran 2 tests") && tested.ends_with("OK\n"), "{tested}");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_server_is_started_tried_and_stopped() {
    let task = Task {
        skill: "try-server",
        request: "Start app.py and try its pages",
        needs: &[PYTHON, CURL],
        changes: &["report.md", "visits.json"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        let report = "/health 200\n/visit 200\n/visit 200\n/nowhere 404\n";
        assert_eq!(shell("cat report.md"), report);
        assert_eq!(shell("cat visits.json"), "2");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn pictures_are_converted() {
    let task = Task {
        skill: "convert-images",
        request: "Make thumbnails of the pictures, and halve wide.png",
        needs: &[IMAGEMAGICK],
        changes: &["thumbnails/tall.jpg", "thumbnails/wide.jpg", "wide.png"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        let sizes = shell("identify -format '%f %m %wx%h\\n' *.png thumbnails/*");
        let expected =
            "tall.png PNG 90x180\nwide.png PNG 160x100\ntall.jpg JPEG 32x64\nwide.jpg JPEG 64x40\n";
        assert_eq!(sizes, expected);
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_changelog_is_written_and_committed() {
    let task = Task {
        skill: "write-changelog",
        request: "Write the changelog for 1.1.0 and commit it",
        needs: &[GIT],
        changes: &["CHANGELOG.md", ".git/index", ".git/refs/heads/main"],
        // What Git keeps for itself is asked about on its own.
        questions: 2,
        ..Task::default()
    };
    check(&task, |shell| {
        assert_eq!(shell("git fsck --full --strict 2>&1"), "");
        let commits = shell("git log --format='%an %s' -2 && git log --oneline | wc -l");
        assert_eq!(commits, "Ada docs: changelog for 1.1.0\nAda feat: sort notes by date\n6\n");
        assert_eq!(shell("git show --format= --name-status"), "A\tCHANGELOG.md\n");
        assert_eq!(shell("git status --short"), "");
    });
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_node_project_is_set_up_offline() {
    let task = Task {
        skill: "scaffold-node",
        request: "Start a small package that greets people",
        needs: &[NPM],
        changes: &["package.json", "package-lock.json", "src/index.js", "dist/about.json"],
        questions: 1,
        ..Task::default()
    };
    check(&task, |shell| {
        assert_eq!(shell("cat dist/about.json"), "{\"name\":\"project\",\"version\":\"1.0.0\"}\n");
        assert_eq!(shell("npm run --silent build"), "built project 1.0.0\n");
        let tested = shell("npm test 2>&1");
        assert!(tested.contains("pass 1") && tested.contains("fail 0"), "{tested}");
    });
}
