#!/bin/sh
# Prints a Markdown summary of a CSV file. Needs POSIX sh and awk, nothing else.
# Exit status: 0 the report was printed, 2 wrong usage or not a readable CSV file.

usage="usage: report.sh FILE [--delimiter CHAR]

FILE is looked up in the current folder, then in WORKSPACE_DIR; - is standard input.
CHAR is one character, or a name: comma, semicolon, tab, pipe, space.
Without it, the delimiter is found out from the first lines."

fail() {
    printf 'report.sh: %s\n' "$1" >&2
    exit 2
}

file='' delimiter='' options=yes
while [ $# -gt 0 ]; do
    case $options$1 in
    yes-h | yes--help)
        printf '%s\n' "$usage"
        exit 0
        ;;
    yes--delimiter)
        delimiter=${2-}
        [ -n "$delimiter" ] || fail "\`--delimiter\` needs a character"
        shift
        ;;
    yes--delimiter=?*) delimiter=${1#--delimiter=} ;;
    yes--) options=no ;;
    yes-?*) fail "unknown option \`$1\` (try --help)" ;;
    *)
        [ -z "$file" ] || fail "one file at a time, not \`$file\` and \`$1\`"
        file=$1
        ;;
    esac
    shift
done
[ -n "$file" ] || fail "no file given
$usage"

LC_ALL=C # bytes, and a decimal point, whatever the user's language
export LC_ALL

tab=$(printf '\t')
case $delimiter in
comma) delimiter=',' ;;
semicolon) delimiter=';' ;;
tab | '\t') delimiter=$tab ;;
pipe) delimiter='|' ;;
space) delimiter=' ' ;;
'"') fail 'a double quote cannot be the delimiter' ;;
'' | [\ -~] | "$tab") ;;
*) fail "\`$delimiter\` is not one plain character" ;;
esac

path=$file
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

case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac

REPORT_NAME=${file##*/} REPORT_DELIMITER=$delimiter \
    awk -f "$here/awk/read.awk" -f "$here/awk/values.awk" \
    -f "$here/awk/count.awk" -f "$here/awk/report.awk"

case $? in
0) ;;
3) fail "\`$file\` is UTF-16; convert it first, for example: iconv -f UTF-16 -t UTF-8" ;;
4) fail "\`$file\` is a spreadsheet, a PDF or an archive; export it as CSV first" ;;
*) exit 1 ;;
esac
