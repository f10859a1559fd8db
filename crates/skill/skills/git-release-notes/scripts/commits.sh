#!/bin/sh
# Prints the commits of a release, oldest first. Needs POSIX sh and git, and only reads.
# Exit status: 0 the commits were printed, 1 git failed, 2 wrong usage or no such commit.

usage="usage: commits.sh [SINCE [UNTIL]]

Prints the commits after SINCE up to UNTIL. SINCE is the last tag before UNTIL
if it is left out, UNTIL is HEAD. Run it in the repository."

most=300 # commits that are printed

fail() {
    printf 'commits.sh: %s\n' "$1" >&2
    exit 2
}

case ${1-} in
-h | --help)
    printf '%s\n' "$usage"
    exit 0
    ;;
-?*) fail "unknown option \`$1\` (try --help)" ;;
esac
[ $# -le 2 ] || fail "at most two arguments (try --help)"

command -v git >/dev/null 2>&1 || fail "git is not installed"
GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat LC_ALL=C
export GIT_OPTIONAL_LOCKS GIT_PAGER LC_ALL
said=$(git rev-parse --git-dir 2>&1) || fail "not in a Git repository: $said"

commit() {
    git rev-parse --verify --quiet --end-of-options "$1^{commit}" >/dev/null
}

until=${2:-HEAD}
commit "$until" || fail "no such commit, or no commits yet: \`$until\`"
since=${1-}
if [ -n "$since" ]; then
    commit "$since" || fail "no such tag or commit: \`$since\` (\`git tag\` lists the tags)"
else
    # The tag of the release itself is not the one before it.
    since=$(git describe --tags --abbrev=0 "$until^" 2>/dev/null) || since=''
fi

range=${since:+$since..}$until
count=$(git rev-list --count "$range" --) || exit 1
case $since in
'') printf '# All commits up to %s\n\n' "$until" ;;
*) printf '# Commits after %s up to %s\n\n' "$since" "$until" ;;
esac
printf 'Commits: %s' "$count"
[ "$count" -le "$most" ] || printf ' (the newest %s are shown; give SINCE for fewer)' "$most"
printf '\n\n'
git -c log.showSignature=false log --reverse --max-count="$most" --date=short --no-color \
    --format='- %h %ad %s%n%w(0,2,2)%b' "$range" -- | sed '/^ *$/d'
