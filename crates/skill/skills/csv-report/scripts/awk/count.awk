# What is remembered of each column.
# Invariant: bounded by MAX_DISTINCT values a column and MAX_BYTES of them in all.

function read_header(n,    c) {
    width = n
    for (c = 1; c <= n; c++) {
        name[c] = trim(field[c])
        if (name[c] == "") unnamed++
        else if (named[name[c]]++ && repeats++ < TOP) repeated = repeated (repeats > 1 ? ", " : "") show(name[c])
        if (read_number(name[c]) || read_date(name[c])) data_names++
    }
}

function add_row(n,    c) {
    if (n == 0) { blank_lines++; return }
    rows++
    if (n < width && !short_rows++) short_line = record_line
    if (n > width && !long_rows++) long_line = record_line
    for (c = 1; c <= n && c <= width; c++)
        if (field[c] != "") add_value(c, trim(field[c]))
}

function trim(text) {
    if (length(text) > MAX_VALUE) text = substr(text, 1, MAX_VALUE)
    if (text ~ /^[ \t\n]|[ \t\n]$/) {
        sub(/^[ \t\n]+/, "", text)
        sub(/[ \t\n]+$/, "", text)
    }
    return text
}

function add_value(c, text) {
    if (text == "") return
    filled[c]++
    if ((c, text) in count) count[c, text]++
    else if (distinct[c] < MAX_DISTINCT && bytes < MAX_BYTES) {
        count[c, text] = 1
        distinct[c]++
        bytes += length(text) + 40      # what an awk needs besides the text
    } else more[c] = 1
    if (text ~ /^[-+]?\.?[0-9]/) {
        if (read_number(text)) { add_number(c, number); except(c, "dates", text); return }
        if (read_date(text)) { add_date(c); except(c, "numbers", text); return }
    }
    except(c, "numbers", text)
    except(c, "dates", text)
}

# The first value that is not what the rest of its column may be.
function except(c, what, text) {
    if ((c, what) in exception) return
    exception[c, what] = text
    exception_line[c, what] = record_line
}

# lost[] keeps what rounding takes from the sum, so that long columns of cents add up.
function add_number(c, x,    total) {
    if (!numbers[c]++) {
        low[c] = high[c] = x
        sum[c] = lost[c] = 0
    } else if (x < low[c]) low[c] = x
    else if (x > high[c]) high[c] = x
    if (grouped) any_grouped[c] = 1
    if (decimal_comma) any_comma[c] = 1
    if (doubtful != "" && !(c in any_doubtful)) any_doubtful[c] = doubtful
    total = sum[c] + x
    if (magnitude(sum[c]) >= magnitude(x)) lost[c] += (sum[c] - total) + x
    else lost[c] += (x - total) + sum[c]
    sum[c] = total
}

function magnitude(x) {
    return x < 0 ? -x : x
}

# A date with two readings widens both ranges; the report uses the one that the
# column's other dates allow.
function add_date(c) {
    dates[c]++
    if (month <= 12) widen(c, "day", date_key(month, day))
    if (!two_readings) widen(c, "month", date_key(month, day))
    else {
        if (day <= 12) widen(c, "month", date_key(day, month))
        if (day > 12) day_first[c] = 1
        else if (month > 12) month_first[c] = 1
        else either[c] = 1
    }
}

function date_key(m, d) {
    return year sprintf("-%02d-%02d", m, d) time
}

function widen(c, reading, key) {
    if (!((c, reading) in first)) first[c, reading] = last[c, reading] = key
    else if (key < first[c, reading]) first[c, reading] = key
    else if (key > last[c, reading]) last[c, reading] = key
}

function kind(c) {
    if (!filled[c]) return "empty"
    if (numbers[c] == filled[c]) return "number"
    return dates[c] == filled[c] ? "date" : "text"
}

# The most frequent values of the text columns; equals in alphabetical order, so
# that the result does not depend on how an awk orders its arrays.
function rank_values(    key, at, c, text, r) {
    for (key in count) {
        at = index(key, SUBSEP)
        c = substr(key, 1, at - 1) + 0
        if (c > LISTED || kind(c) != "text") continue
        text = substr(key, at + 1)
        for (r = TOP; r >= 1 && ahead(count[key], text, c, r); r--) {
            top_count[c, r + 1] = top_count[c, r]
            top_text[c, r + 1] = top_text[c, r]
        }
        top_count[c, r + 1] = count[key]
        top_text[c, r + 1] = text
    }
}

function ahead(n, text, c, r) {
    return n > top_count[c, r] + 0 || (n == top_count[c, r] && text < top_text[c, r])
}
