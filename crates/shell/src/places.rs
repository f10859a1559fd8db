//! Places from which programs take what they run: who writes there decides what a harmless command does later.

use crate::names::Names;
use crate::word::Word;

pub(crate) const WHY: &str = "programs take from there what they run";

/// Files and folders from which programs take what they run.
const DECIDING: Names = Names(
    "\
    .git .gitconfig .gitattributes .gitmodules .config .local .ssh .profile .bashrc .bash_profile
    .bash_login .bash_logout .bash_aliases .inputrc .zshrc .zshenv .zprofile .zlogin .kshrc .mkshrc
    .npmrc .yarnrc .yarnrc.yml .cargo .rustup .gnupg .vimrc .exrc .nanorc .emacs .emacs.d .lesskey
    .lessfilter .mailcap .wgetrc .curlrc .netrc .sqliterc .psqlrc .gdbinit .lldbinit .perldb .irbrc .pryrc
    .pythonrc .screenrc .tmux.conf .xinitrc .xsession .hgrc .envrc .tool-versions .docker .kube .aws
    .husky .direnvrc .rpmmacros .subversion .ansible.cfg",
);

/// Whether a word leads there, or could.
pub(crate) fn decides_what_runs(word: &Word) -> bool {
    if !word.text.contains(['.', '[']) {
        return false;
    }
    let is_open = |part: &str| word.is_glob && part.contains(['*', '?', '[']);
    // `of=x`, `--output=x`.
    let mut parts = word.text.split(['/', '=']);
    parts.any(|part| {
        part.starts_with('.') && DECIDING.contains(&part.to_ascii_lowercase())
            || part.starts_with(['.', '[']) && is_open(part)
    })
}
