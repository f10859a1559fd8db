# Reads CSV records: finds the delimiter, joins quoted fields over line ends.
# Invariant: one pass; of a quoted field, little more than MAX_VALUE bytes and a line are held.

# The first lines wait in head[], so that the delimiter can be found before the
# rows are read. A file with bare carriage returns is one line to awk: split it.
function read_head(    text) {
    if ((getline text) <= 0) return
    refuse_other_formats(text)
    sub(/^\357\273\277/, "", text)
    if (index(substr(text, 1, length(text) - 1), "\r")) {
        sub(/\r$/, "", text)
        head_size = split(text, head, "\r")
    } else head[++head_size] = text
    while (head_size < HEAD && (getline text) > 0) head[++head_size] = text
    if (head[1] ~ /^[Ss][Ee][Pp]=.\r?$/) {
        # How spreadsheets announce a delimiter.
        announced = substr(head[1], 5, 1)
        skipped = 1
    }
}

function refuse_other_formats(text,    start) {
    start = substr(text, 1, 2)
    if (start == "\377\376" || start == "\376\377") exit 3
    if (start == "\037\213" || start == "\320\317") exit 4
    if (substr(text, 1, 3) == "PK\003" || substr(text, 1, 5) == "%PDF-") exit 4
}

# Without a given or announced one: the delimiter under which most of the first
# records are as wide as the first of them; of equals, the one with more columns.
function find_delimiter(given,    candidate, i, best, score, widest) {
    best = ","
    if (given != "") best = given
    else if (announced != "") best = announced
    else {
        candidate[1] = ","; candidate[2] = ";"; candidate[3] = "\t"; candidate[4] = "|"
        for (i = 1; i <= 4; i++) {
            agree(candidate[i])
            if (agreed > score || (agreed == score && width > widest)) {
                best = candidate[i]; score = agreed; widest = width
            }
        }
    }
    use_delimiter(best)
}

function agree(candidate,    n, records, same) {
    use_delimiter(candidate)
    sniffing = 1
    width = records = 0
    while (records < HEAD && (n = read_record()) >= 0) {
        if (n == 0 || unclosed) continue
        if (!width) width = n
        records++
        same += (n == width)
    }
    agreed = width > 1 ? same / records : 0
    sniffing = 0
}

function use_delimiter(character) {
    delimiter = character
    separator = character == " " ? "[ ]" : character
    head_at = line_number = skipped
    unclosed = 0
}

# Reads a record into field[1..n] and returns n: 0 for a blank line, -1 at the end.
# A quote is special only where a field begins, and inside a field that began so.
function read_record() {
    if (!next_line()) return -1
    record_line = line_number
    if (!index(line, "\"")) return split(line, field, separator)
    fields = quoted = closed = 0
    value = ""
    fresh = 1
    read_pieces()
    while (quoted) {
        keep("\n")
        if (!next_line()) { unclosed = opened; break }
        read_pieces()
    }
    field[++fields] = value
    return fields
}

function next_line() {
    if (head_at < head_size) line = head[++head_at]
    else if (sniffing || (getline line) <= 0) return 0
    line_number++
    if (substr(line, length(line)) == "\r") line = substr(line, 1, length(line) - 1)
    return 1
}

# Cuts a line at its quotes, and what is outside of quotes at its delimiters.
function read_pieces(    pieces, piece, parts, part, i, j) {
    pieces = split(line, piece, "\"")
    for (i = 1; i <= pieces; i++) {
        if (i > 1) read_quote()
        if (piece[i] == "") continue
        closed = 0
        if (quoted) { keep(piece[i]); continue }
        parts = split(piece[i], part, separator)
        keep(part[1])
        for (j = 2; j <= parts; j++) { field[++fields] = value; value = part[j] }
        fresh = parts > 1 && value == ""
    }
}

function read_quote() {
    if (quoted) { quoted = 0; closed = 1 }
    else if (closed) { keep("\""); quoted = 1; closed = 0 }
    else if (fresh) { quoted = 1; opened = line_number }
    else keep("\"")
    fresh = 0
}

function keep(text) {
    if (length(value) < MAX_VALUE) value = value text
}
