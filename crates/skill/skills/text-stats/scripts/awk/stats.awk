# Counts the lines and characters, remembers the words, prints the tables.
# Invariant: no more than MAX_WORDS different words and LONGEST lines are remembered.

BEGIN {
    MAX_WORDS = 50000; LONGEST = 5; TOP = 15; SHOWN = 60
    WORDS_A_MINUTE = 230; CHARACTERS_A_MINUTE = 500     # silent reading; the latter in Chinese and Japanese
    markdown = ENVIRON["STATS_MARKDOWN"] + 0
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    set("mr mrs ms dr prof st vs fig eq vol ca approx inc ltd co jr sr", abbreviations)
    set("a about after all also am an and any are as at be because been before being but by can could did do does for from" \
        " get had has have he her here him his how i if in into is it its just like may me more most my no not now of on one" \
        " only or other our out over own said same she should so some such than that the their them then there these they" \
        " this those through to too under up upon use used very was we were what when where which while who will with would" \
        " you your it's don't i'm", common)
    make_lower_case()
}

NR == 1 { refuse_other_formats($0); sub(/^\357\273\277/, "") }
{
    sub(/\r$/, "")
    add_line($0)
    add_prose($0)
}

END {
    if (refused) exit refused
    end_sentence()
    report()
}

function set(text, array,    n, i, item) {
    n = split(text, item, " ")
    for (i = 1; i <= n; i++) array[item[i]] = 1
}

function refuse_other_formats(text,    start) {
    start = substr(text, 1, 2)
    if (start == "\377\376" || start == "\376\377") refused = 3
    if (start == "\037\213" || start == "\320\317") refused = 4
    if (substr(text, 1, 3) == "PK\003" || substr(text, 1, 5) == "%PDF-") refused = 4
    if (refused) exit refused
}

function add_line(text,    size) {
    if (text ~ /[\200-\377]/) {
        gsub(/[\302-\337][\200-\277]|[\340-\357][\200-\277][\200-\277]|[\360-\364][\200-\277][\200-\277][\200-\277]/, "x", text)
        if (text ~ /[\200-\377]/) not_utf8 = 1
    }
    size = length(text)
    characters += size
    spaces += gsub(/[ \t]/, "", text)
    if (text == "") blank_lines++
    else if (size > longest_size[LONGEST] + 0) add_longest(size)
}

function add_longest(size,    r) {
    for (r = LONGEST; r > 1 && size > longest_size[r - 1] + 0; r--) {
        longest_size[r] = longest_size[r - 1]
        longest_line[r] = longest_line[r - 1]
        longest_text[r] = longest_text[r - 1]
    }
    longest_size[r] = size
    longest_line[r] = NR
    longest_text[r] = substr($0, 1, SHOWN * 4 + 1)
}

function add_word(word) {
    words++
    if (length(word) <= 4 && word ~ /^[\343-\351\360]/) { characters_as_words++; return }
    if (length(word) < 3 || length(word) > 60) return
    word = tolower(word)
    if (word in common) return
    if (word in seen) seen[word]++
    else if (different < MAX_WORDS) { seen[word] = 1; different++ }
    else more = 1
}

# Upper to lower case for Latin, Greek and Cyrillic letters in two bytes.
function make_lower_case(    i) {
    for (i = 128; i < 159; i++) if (i != 151) pair(195, i, 195, i + 32)
    for (i = 145; i < 160; i++) pair(206, i, 206, i + 32)
    for (i = 160; i < 170; i++) pair(206, i, 207, i - 32)
    for (i = 144; i < 160; i++) pair(208, i, 208, i + 32)
    for (i = 160; i < 176; i++) pair(208, i, 209, i - 32)
    for (i = 128; i < 144; i++) pair(208, i, 209, i + 16)
}

function pair(a, b, c, d) {
    lower_case[sprintf("%c%c", a, b)] = sprintf("%c%c", c, d)
}

function lower(word,    i, out, two) {
    if (word !~ /[\303\316\320]/) return word
    for (i = 1; i <= length(word); i++) {
        two = substr(word, i, 2)
        if (two in lower_case) { out = out lower_case[two]; i++ }
        else out = out substr(word, i, 1)
    }
    return out
}

function rank_words(    word, r, n) {
    for (word in seen) folded[lower(word)] += seen[word]
    for (word in folded) {
        n = folded[word]
        for (r = TOP; r >= 1 && (n > top_count[r] + 0 || (n == top_count[r] && word < top_word[r])); r--) {
            top_count[r + 1] = top_count[r]
            top_word[r + 1] = top_word[r]
        }
        top_count[r + 1] = n
        top_word[r + 1] = word
    }
}

function report(    r) {
    print "# Text report: " show(ENVIRON["STATS_NAME"]) "\n"
    print "| Measure | Value |\n| --- | ---: |"
    row("Lines", NR)
    row("Blank lines", blank_lines + 0)
    row("Words", words + 0)
    row("Characters", characters + 0)
    row("Characters without spaces", characters - spaces)
    row("Sentences", sentences + 0)
    row("Words per sentence", sentences ? sprintf("%.1f", words / sentences) : 0)
    row("Reading time", reading_time())
    if (markdown) { row("Headings", headings + 0); row("Lines of code", code_lines + 0) }
    if (longest_size[1]) print "\n## Longest lines\n\n| Line | Characters | Text |\n| ---: | ---: | --- |"
    for (r = 1; r <= LONGEST && longest_size[r]; r++)
        print "| " longest_line[r] " | " longest_size[r] " | " show(longest_text[r]) " |"
    rank_words()
    if (top_count[1] > 1) print "\n## Most frequent words\n\n| Word | Count |\n| --- | ---: |"
    for (r = 1; r <= TOP && top_count[r] > 1; r++) print "| " show(top_word[r]) " | " top_count[r] " |"
    if (more) print "\nOnly the first " MAX_WORDS " different words were counted here."
    if (not_utf8) print "\nSome text is not UTF-8; its characters were counted as bytes and are shown as `?`."
}

function row(measure, value) {
    print "| " measure " | " value " |"
}

function reading_time(    minutes) {
    minutes = int((words - characters_as_words) / WORDS_A_MINUTE + characters_as_words / CHARACTERS_A_MINUTE + 0.5)
    return minutes < 1 ? "under 1 minute" : minutes == 1 ? "1 minute" : minutes " minutes"
}

# A piece of text as a code span that is safe in a table and on a terminal: one
# line, whole characters, no more than SHOWN of them.
function show(text,    i, size, byte, out, shown) {
    for (i = 1; i <= length(text) && shown < SHOWN; i += size) {
        byte = substr(text, i, 1)
        size = utf8_size(text, i)
        if (size > 1) out = out substr(text, i, size)
        else if (size == 0) { out = out "?"; size = 1 }
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
