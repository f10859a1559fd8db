//! What `git` may be told without running another program: known subcommands with known options, and nothing else.

use crate::names::Names;
use crate::word::Word;

const RUNS: Option<&str> = Some("git can be told to run any other program this way");

/// A subcommand and the options of it that run nothing. None of them may be shortened.
struct Subcommand {
    names: &'static str,
    /// Letters without a value.
    flags: &'static str,
    /// Letters with one, which can be the rest of the word.
    valued: &'static str,
    long: &'static [Names],
    /// Whether it only looks. Others run the hooks of the repository.
    only_looks: bool,
}

/// Options for what is shown of a difference.
const DIFF: Names = Names(
    "\
    abbrev abbrev-commit all binary break-rewrites cached cc check color color-moved color-words compact-summary
    cumulative diff-algorithm diff-filter dirstat exit-code find-copies find-copies-harder find-renames
    follow full-index function-context histogram ignore-all-space ignore-blank-lines
    ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-submodules indent-heuristic
    inter-hunk-context irreversible-delete merge-base minimal name-only name-status no-abbrev no-color
    no-color-moved no-ext-diff no-index no-indent-heuristic no-patch no-prefix no-renames no-textconv numstat
    patch patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative shortstat staged stat
    submodule summary text unified word-diff word-diff-regex",
);

/// Options for which commits are shown, and how.
const LOG: Names = Names(
    "\
    after ancestry-path author author-date-order all-match basic-regexp before bisect boundary branches
    cherry cherry-mark cherry-pick committer count date date-order decorate decorate-refs encoding
    exclude extended-regexp first-parent fixed-strings format full-history glob graph grep
    invert-grep left-only left-right log-size max-count max-parents merge merges min-parents no-decorate
    no-expand-tabs no-mailmap no-max-parents no-merges no-min-parents no-notes no-walk not notes objects
    oneline parents perl-regexp pretty reflog regexp-ignore-case remotes remove-empty reverse right-only
    root simplify-by-decoration simplify-merges since skip source sparse tags timestamp topo-order until
    use-mailmap walk-reflogs email numbered",
);

const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        names: "log show diff whatchanged diff-tree diff-index diff-files rev-list shortlog reflog range-diff",
        flags: "psuzwbRatrmcvqiEFPgWen0123456789",
        valued: "nSGUMCBLl",
        long: &[DIFF, LOG],
        only_looks: true,
    },
    Subcommand {
        names: "status",
        flags: "sbvzh",
        valued: "uM",
        long: &[Names(
            "short branch porcelain long verbose untracked-files ignore-submodules ignored column no-column
            ahead-behind no-ahead-behind renames no-renames find-renames show-stash null",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "blame annotate",
        flags: "bcltfpnesw",
        valued: "LMC",
        long: &[Names(
            "porcelain line-porcelain date root show-name show-number show-email abbrev incremental reverse
            first-parent color-lines color-by-age",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "rev-parse",
        flags: "q",
        valued: "",
        long: &[Names(
            "show-toplevel git-dir abbrev-ref short verify quiet is-inside-work-tree is-inside-git-dir
            is-bare-repository is-shallow-repository show-prefix show-cdup symbolic symbolic-full-name all
            branches tags remotes absolute-git-dir git-common-dir show-superproject-working-tree git-path
            path-format show-object-format",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "ls-files ls-tree",
        flags: "cdmostuzkfvirl",
        valued: "xX",
        long: &[Names(
            "cached deleted modified others stage exclude-standard exclude error-unmatch full-name directory
            eol unmerged killed ignored deduplicate name-only name-status long full-tree abbrev object-only
            format no-empty-directory",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "cat-file",
        flags: "tspe",
        valued: "",
        long: &[Names("batch batch-check batch-all-objects")],
        only_looks: true,
    },
    Subcommand {
        names: "describe name-rev merge-base show-ref for-each-ref cherry count-objects check-ignore check-attr
            check-ref-format show-branch verify-pack version var",
        flags: "aqdsvznHh",
        valued: "",
        long: &[Names(
            "tags all always long abbrev dirty match exact-match contains first-parent candidates exclude
            is-ancestor octopus fork-point independent name-only refs heads branches hash verify dereference
            head sort format count points-at merged no-merged no-contains stdin no-index verbose quiet
            non-matching human-readable normalize allow-onelevel build-options ignore-case",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "grep",
        flags: "nilwvchHEFGPLaIrozqpW0123456789",
        valued: "efABCm",
        long: &[Names(
            "line-number ignore-case files-with-matches files-without-match name-only word-regexp count
            extended-regexp fixed-strings perl-regexp basic-regexp cached untracked no-index heading break
            color no-color context after-context before-context max-depth recursive no-recursive null
            only-matching quiet and or not all-match show-function function-context max-count column threads
            text invert-match full-name exclude-standard no-exclude-standard",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "config",
        flags: "lz",
        valued: "",
        long: &[Names(
            "get list get-all get-regexp show-origin show-scope name-only null global local system worktree
            type bool int includes no-includes default",
        )],
        only_looks: true,
    },
    Subcommand {
        names: "branch tag",
        flags: "avrdDmMcCfqiltn0123456789",
        valued: "umF",
        long: &[Names(
            "all list verbose remotes delete move copy force contains no-contains merged no-merged sort
            points-at format show-current column no-column color no-color track no-track set-upstream-to
            unset-upstream ignore-case abbrev no-abbrev annotate message file quiet no-sign",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "remote",
        flags: "vnfp",
        valued: "mt",
        long: &[Names("verbose tags no-tags prune all push add delete mirror dry-run")],
        only_looks: false,
    },
    Subcommand {
        names: "stash",
        flags: "uakqSs0123456789",
        valued: "m",
        long: &[
            Names("include-untracked keep-index no-keep-index index message staged only-untracked"),
            DIFF,
            LOG,
        ],
        only_looks: false,
    },
    Subcommand {
        names: "add rm mv clean apply",
        flags: "AnvufrdxXqkRN3",
        valued: "p",
        long: &[Names(
            "all update dry-run verbose force intent-to-add ignore-removal renormalize chmod cached recursive
            quiet ignore-unmatch check stat numstat summary reverse index 3way recount unidiff-zero whitespace
            refresh ignore-errors no-all exclude sparse",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "commit",
        flags: "aqvsn",
        valued: "mFC",
        long: &[Names(
            "all message file amend no-edit quiet verbose signoff no-verify allow-empty allow-empty-message
            author date dry-run fixup reuse-message only include short porcelain no-gpg-sign reset-author
            no-signoff trailer squash",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "checkout switch restore reset",
        flags: "bBqfdtlmcCSWN",
        valued: "s",
        long: &[Names(
            "force quiet detach track no-track orphan ours theirs merge create force-create discard-changes
            guess no-guess source staged worktree soft mixed hard keep no-refresh overlay no-overlay
            progress no-progress ignore-other-worktrees",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "merge cherry-pick revert rebase",
        flags: "qvnf",
        valued: "m",
        long: &[Names(
            "ff no-ff ff-only squash no-squash commit no-commit no-edit abort continue quit skip message quiet
            verbose stat no-stat no-verify allow-unrelated-histories autostash no-autostash mainline signoff
            allow-empty onto force-rebase rebase-merges keep-base root update-refs no-update-refs
            fork-point no-fork-point autosquash no-autosquash no-gpg-sign keep-empty",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "fetch pull",
        flags: "apPtnqvfr46",
        valued: "j",
        long: &[Names(
            "all prune prune-tags tags no-tags depth deepen unshallow force quiet verbose dry-run progress
            no-progress jobs append multiple set-upstream shallow-since ff no-ff ff-only rebase no-rebase
            autostash no-autostash commit no-commit no-edit stat no-stat ipv4 ipv6 no-recurse-submodules",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "push",
        flags: "qvnfdu46",
        valued: "",
        long: &[Names(
            "all force force-with-lease force-if-includes set-upstream tags delete dry-run quiet verbose
            follow-tags no-follow-tags porcelain progress no-progress atomic no-verify prune mirror ipv4 ipv6",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "ls-remote",
        flags: "htqb",
        valued: "",
        long: &[Names("heads tags branches refs quiet exit-code get-url sort symref")],
        only_looks: false,
    },
    Subcommand {
        names: "clone init",
        flags: "qvnls46",
        valued: "boj",
        long: &[Names(
            "depth branch single-branch no-single-branch no-checkout bare mirror quiet verbose progress
            shallow-since no-tags filter sparse origin local no-local no-hardlinks shared jobs
            initial-branch ipv4 ipv6",
        )],
        only_looks: false,
    },
    Subcommand {
        names: "worktree submodule bisect archive symbolic-ref notes gc prune fsck",
        flags: "bBfdvqln",
        valued: "o",
        long: &[Names(
            "porcelain detach force no-checkout track verbose quiet recursive cached prefix output list short
            format auto dry-run full no-progress",
        )],
        only_looks: false,
    },
];

/// Why `git` with these arguments cannot be vouched for.
pub(crate) fn doubt(arguments: &[Word]) -> Option<&'static str> {
    let Some(at) = subcommand_at(arguments.iter().map(|word| word.text.as_str())) else {
        return RUNS;
    };
    let (subcommand, rest) = arguments[at..].split_first()?;
    if !subcommand.is_literal() {
        return RUNS;
    }
    let name = subcommand.text.as_str();
    let Some(known) = known(name) else { return RUNS };
    // A file can have the name of an option; those of `add` run nothing.
    if name != "add" && rest.iter().any(|word| word.is_glob && !word.is_anchored()) {
        return RUNS;
    }
    let texts = || rest.iter().map(|word| word.text.as_str());
    let first = || texts().next().unwrap_or_default();
    let is_known = match name {
        "config" => {
            let asks =
                |text| matches!(text, "--get" | "--list" | "-l" | "--get-all" | "--get-regexp");
            texts().any(asks)
        }
        "bisect" => {
            matches!(first(), "start" | "good" | "bad" | "old" | "new" | "skip" | "reset" | "log")
        }
        "submodule" => matches!(first(), "" | "status" | "summary" | "init" | "sync"),
        "worktree" => {
            matches!(first(), "list" | "add" | "remove" | "prune" | "lock" | "unlock" | "move")
        }
        "notes" => matches!(first(), "" | "list" | "show"),
        _ => true,
    };
    // `--` does not end the options where it is the value of one.
    let is_known = is_known && texts().all(|text| known.takes(text));
    if !is_known
        || texts().any(|text| text.contains("ext::"))
        || is_remote(name) && !texts().all(is_plain_address)
    {
        return RUNS;
    }
    None
}

/// Whether it only looks, so that no hook runs.
pub(crate) fn only_looks(arguments: &[String]) -> bool {
    let texts = || arguments.iter().map(String::as_str);
    let Some(at) = subcommand_at(texts()) else { return false };
    let words: Vec<&str> = texts().skip(at).collect();
    match words[..] {
        [] => true,
        ["stash", "list" | "show", ..] | ["remote" | "branch" | "tag"] | ["remote", "-v"] => true,
        ["branch", ref rest @ ..] | ["tag", ref rest @ ..] => {
            let shows = |word: &&str| {
                matches!(
                    *word,
                    "-a" | "-r" | "-v" | "-vv" | "-av" | "-avv" | "-l" | "--list" | "--all"
                ) || *word == "--show-current"
            };
            rest.iter().all(shows)
        }
        [name, ..] => known(name).is_some_and(|known| known.only_looks),
    }
}

/// Where the subcommand stands; nothing where an option before it is not known.
fn subcommand_at<'a>(texts: impl Iterator<Item = &'a str>) -> Option<usize> {
    let mut at = 0;
    let mut is_value = false;
    for text in texts {
        if !is_value && !text.starts_with('-') {
            break;
        }
        at += 1;
        let known = "-P --no-pager --bare --no-optional-locks --literal-pathspecs --version -v
            --no-replace-objects --icase-pathspecs";
        is_value = match text {
            _ if is_value => false,
            "-C" => true,
            _ if Names(known).contains(text) => false,
            _ => return None,
        };
    }
    Some(at)
}

fn known(name: &str) -> Option<&'static Subcommand> {
    SUBCOMMANDS.iter().find(|known| Names(known.names).contains(name))
}

impl Subcommand {
    /// Whether a word runs nothing: no option, or a known one.
    fn takes(&self, text: &str) -> bool {
        let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
            return true;
        };
        if let Some(long) = option.strip_prefix('-') {
            let name = long.split('=').next().unwrap_or_default();
            return long.is_empty() || self.long.iter().any(|names| names.contains(name));
        }
        for letter in option.chars() {
            if self.flags.contains(letter) {
                continue;
            }
            return self.valued.contains(letter);
        }
        true
    }
}

fn is_remote(name: &str) -> bool {
    matches!(
        name,
        "clone" | "fetch" | "pull" | "push" | "ls-remote" | "remote" | "submodule" | "archive"
    )
}

/// Not an address for which git would look for a program.
fn is_plain_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    !text.contains("::")
        && scheme.is_none_or(|scheme| matches!(scheme, "http" | "https" | "ssh" | "git" | "file"))
}
