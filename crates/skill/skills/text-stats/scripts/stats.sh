#!/bin/sh
# Prints counts about a text or Markdown file. Needs POSIX sh and awk, nothing else.
# Exit status: 0 the counts were printed, 2 wrong usage or not a readable text file.

usage="usage: stats.sh FILE

FILE is looked up in the current folder, then in WORKSPACE_DIR; - is standard input."

fail() {
    printf 'stats.sh: %s\n' "$1" >&2
    exit 2
}

case ${1-} in
-h | --help)
    printf '%s\n' "$usage"
    exit 0
    ;;
--) shift ;;
-?*) fail "unknown option \`$1\` (try --help)" ;;
esac
[ $# -le 1 ] || fail "one file at a time, not \`$1\` and \`$2\`"
[ -n "${1-}" ] || fail "no file given
$usage"

file=$1 path=$1
case $file in
- | /*) ;;
*) [ -e "$file" ] || path=${WORKSPACE_DIR:-.}/$file ;;
esac
if [ "$file" = - ]; then
    file='standard input'
else
    [ -e "$path" ] || fail "no such file: \`$file\` (looked in the current folder and in WORKSPACE_DIR)"
    [ -f "$path" ] || fail "not a file: \`$file\`"
    [ -r "$path" ] || fail "cannot read \`$file\`: permission denied"
    exec <"$path"
fi

case $file in
*.[Mm][Dd] | *.[Mm][Aa][Rr][Kk][Dd][Oo][Ww][Nn]) markdown=1 ;;
*) markdown=0 ;;
esac

case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac

# LC_ALL=C: the awk programs read UTF-8 as bytes, whatever the user's language.
LC_ALL=C STATS_NAME=${file##*/} STATS_MARKDOWN=$markdown \
    awk -f "$here/awk/prose.awk" -f "$here/awk/stats.awk"

case $? in
0) ;;
3) fail "\`$file\` is UTF-16; convert it first, for example: iconv -f UTF-16 -t UTF-8" ;;
4) fail "\`$file\` is a document, a PDF or an archive; export it as text first" ;;
*) exit 1 ;;
esac
