# The report itself, and the limits that keep a huge file from filling the memory.

BEGIN {
    HEAD = 25; MAX_DISTINCT = 10000; MAX_BYTES = 20000000; MAX_VALUE = 1000
    LISTED = 100; SHOWN = 40; TOP = 5; HUGE = 1.7e308
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i

    read_head()
    find_delimiter(ENVIRON["REPORT_DELIMITER"])
    while ((n = read_record()) == 0) blank_lines++
    if (n > 0) read_header(n)
    while ((n = read_record()) >= 0) add_row(n)
    rank_values()
    report()
}

function report(    c) {
    listed = width < LISTED ? width : LISTED
    print "# CSV report: " show(ENVIRON["REPORT_NAME"])
    print "\n- Rows: " rows + 0 (width ? " (without the header)" : "")
    print "- Columns: " width + 0
    if (!width) { print "\nThe file is empty."; return }
    print "- Delimiter: " delimiter_name()
    print "\n## Columns\n\n| # | Column | Type | Filled | Empty | Distinct |\n| ---: | --- | --- | ---: | ---: | ---: |"
    for (c = 1; c <= listed; c++)
        print "| " c " | " title(c) " | " kind(c) " | " filled[c] + 0 " | " rows - filled[c] " | " distinct_label(c) " |"
    if (width > listed) print "\nOnly the first " listed " columns are listed here and below."
    report_numbers()
    report_dates()
    report_text()
    report_notes()
}

function delimiter_name() {
    if (delimiter == "\t") return "tab"
    if (delimiter == " ") return "space"
    return "`" delimiter "`"
}

function distinct_label(c) {
    return more[c] ? "over " distinct[c] : distinct[c] + 0
}

function section(heading) {
    if (section_of != heading) print "\n" heading
    section_of = heading
}

function report_numbers(    c, total) {
    for (c = 1; c <= listed; c++) {
        if (kind(c) != "number") continue
        section("## Numbers\n\n| Column | Min | Max | Mean | Sum |\n| --- | ---: | ---: | ---: | ---: |")
        total = sum[c] + lost[c]
        print "| " title(c) " | " exact(low[c]) " | " exact(high[c]) " | " rounded(total / filled[c]) " | " exact(total) " |"
    }
}

function exact(x) {
    if (!(x > -HUGE && x < HUGE)) return "too large"
    if (x == 0) return 0
    return sprintf("%.15g", x)
}

function rounded(x,    text) {
    if (!(x > -HUGE && x < HUGE)) return "too large"
    if (x == 0) return 0
    if ((x < 0.001 && x > -0.001) || x >= 1e15 || x <= -1e15) return sprintf("%.6g", x)
    text = sprintf("%.4f", x)
    sub(/\.?0+$/, "", text)
    return text
}

function report_dates(    c, reading) {
    for (c = 1; c <= listed; c++) {
        if (kind(c) != "date") continue
        section("## Dates\n\n| Column | Earliest | Latest |\n| --- | --- | --- |")
        reading = day_first[c] ? "day" : "month"
        if (date_doubt(c) != "") print "| " title(c) " | unknown | unknown |"
        else print "| " title(c) " | " first[c, reading] " | " last[c, reading] " |"
    }
}

function date_doubt(c) {
    if (day_first[c] && month_first[c]) return "some dates can only be day first, others only month first."
    if (either[c] && !day_first[c] && !month_first[c]) return "no value tells whether the day or the month comes first."
    return ""
}

function report_text(    c, r, text) {
    for (c = 1; c <= listed; c++) {
        if (kind(c) != "text") continue
        section("## Text: most frequent values\n")
        if (top_count[c, 1] == 1) text = "no value " (more[c] ? "was seen" : "occurs") " twice, for example " show(top_text[c, 1])
        else {
            text = show(top_text[c, 1]) " (" top_count[c, 1] ")"
            for (r = 2; r <= TOP && (c, r) in top_count && top_count[c, r] > 0; r++)
                text = text ", " show(top_text[c, r]) " (" top_count[c, r] ")"
        }
        print "- " title(c) ": " text (more[c] ? "; only the first " distinct[c] " different values were counted" : "")
    }
}

function note(text) {
    section("## Worth checking\n")
    print "- " text
}

function report_notes(    c) {
    if (unclosed) note("A quote opened on line " unclosed " is never closed: all that follows was read as one value.")
    if (short_rows) note("Rows with fewer fields than the header: " short_rows " (first: line " short_line "). What is missing counts as empty.")
    if (long_rows) note("Rows with more fields than the header: " long_rows " (first: line " long_line "). What is too much was left out.")
    if (blank_lines) note("Blank lines skipped: " blank_lines ".")
    if (unnamed) note("Columns without a name: " unnamed ".")
    if (repeats) note("Column names used more than once: " repeated (repeats > TOP ? " and " repeats - TOP " more" : "") ".")
    if (data_names * 2 > width) note("The first line looks like data; it was read as the header.")
    for (c = 1; c <= listed; c++) note_column(c)
    if (not_utf8) note("Some text is not UTF-8; its bytes are shown as `?`.")
}

function note_column(c,    type) {
    type = kind(c)
    if (type == "number" && any_grouped[c]) note(title(c) ": commas were read as thousands separators.")
    if (type == "number" && any_comma[c]) note(title(c) ": commas were read as decimal commas.")
    if (type == "number" && c in any_doubtful) note(title(c) ": " show(any_doubtful[c]) " was read as a decimal; if it means thousands, the figures are wrong.")
    if (type == "date" && date_doubt(c) != "") note(title(c) ": " date_doubt(c))
    if (type != "text") return
    note_exception(c, numbers[c] + 0, "numbers")
    note_exception(c, dates[c] + 0, "dates")
}

function note_exception(c, n, what) {
    if (n < filled[c] * 0.8) return
    note(title(c) ": " n " of " filled[c] " values are " what ", but not " show(exception[c, what]) " (line " exception_line[c, what] ").")
}

function title(c) {
    return name[c] == "" ? "(column " c ")" : show(name[c])
}

# A value as a code span that is safe in a table and on a terminal: one line,
# whole characters, no more than SHOWN of them.
function show(text,    i, size, byte, out, shown) {
    for (i = 1; i <= length(text) && shown < SHOWN; i += size) {
        byte = substr(text, i, 1)
        size = utf8_size(text, i)
        if (size > 1) out = out substr(text, i, size)
        else if (size == 0) { out = out "?"; size = not_utf8 = 1 }
        else if (byte < " " || byte == "\177") out = out " "
        else out = out (byte == "|" ? "\\|" : byte == "`" ? "\047" : byte)
        shown++
    }
    return "`" out (i <= length(text) ? "…" : "") "`"
}

# The length of the character that begins at i, 0 if it is not well formed.
function utf8_size(text, i,    lead, size, k, byte) {
    lead = code[substr(text, i, 1)]
    if (lead < 128) return 1
    size = lead < 194 ? 0 : lead < 224 ? 2 : lead < 240 ? 3 : lead < 245 ? 4 : 0
    for (k = 1; k < size; k++) {
        byte = code[substr(text, i + k, 1)]
        if (byte < 128 || byte > 191) return 0
    }
    return size
}
