# From a line of text or Markdown to its words and sentences.
# Invariant: text is UTF-8 read as bytes, so that every awk sees the same.

# What of a line is prose: front matter, fenced code and link definitions are not.
# Sets starts_block when the line cannot continue a sentence, ends_block when no
# other line can continue one that it leaves open.
function prose_of(text) {
    starts_block = ends_block = 0
    if (markdown) {
        if (in_front_matter(text) || in_fence(text)) return ""
        if (text ~ /^ *\[[^]]*\]: /) return ""
        if (text ~ /^ *(#+ |\|)/) starts_block = ends_block = 1
        if (text ~ /^ *#+ /) headings++
        gsub(/\]\([^)]*\)/, "] ", text)
        gsub(/<[\/!]?[A-Za-z-][^>]*>/, " ", text)
    }
    if (sub(/^[ \t>]*([-*+]|[0-9]+[.)])[ \t]+/, "", text)) starts_block = 1
    return text
}

function in_front_matter(text) {
    if (NR == 1 && text ~ /^---[ \t]*$/) front_matter = 1
    else if (NR == 2 && front_matter && text !~ /^[A-Za-z_-]+:/) front_matter = 0
    else if (front_matter && text ~ /^(---|\.\.\.)[ \t]*$/) { front_matter = 0; return 1 }
    return front_matter
}

function in_fence(text,    mark) {
    if (!match(text, /^[ \t>]*(```+|~~~+)/)) {
        code_lines += (fence != "")
        return fence != ""
    }
    mark = substr(text, 1, RLENGTH)
    gsub(/[ \t>]/, "", mark)
    text = substr(text, RLENGTH + 1)
    if (fence == "") {
        if (index(text, "`")) return 0      # code in a line of prose
        fence = mark
    } else if (index(mark, fence) == 1 && text ~ /^[ \t]*$/) fence = ""
    else code_lines++
    return 1
}

# Makes every sign outside ASCII what it is to the counts: a space, a full stop,
# or part of a word. Chinese and Japanese characters become words of their own.
function simplify(text) {
    if (text !~ /[\200-\377]/) return text
    gsub(/\342\200\231/, "\047", text)                            # apostrophe
    gsub(/\342\200\246|\343\200\202|\357\275\241/, ". ", text)    # ellipsis, ideographic stops
    gsub(/\357\274\201|\357\274\237/, "! ", text)                 # full-width ! and ?
    gsub(/\302\255|\357\273\277|\357\270\217/, "", text)          # soft hyphen, marks without width
    gsub(/\342[\200-\257][\200-\277]/, " ", text)                 # general punctuation, symbols
    gsub(/\302[\200-\251\253-\264\266-\271\273-\277]|\303[\227\267]/, " ", text)
    gsub(/\343\200[\200-\277]|\357\274[\200-\217\232-\240\273-\277]|\357\275[\200\233-\245]/, " ", text)
    gsub(/\360\237[\200-\277][\200-\277]/, " ", text)             # emoji
    gsub(/[\343-\351][\200-\277][\200-\277]|\360[\240-\257][\200-\277][\200-\277]/, " & ", text)
    return text
}

# Counts the words and sentences of a line. A line without words ends a block too,
# and the end of a block ends a sentence.
function add_prose(text,    n, i, token, word, any) {
    text = prose_of(text)
    if (starts_block) end_sentence()
    n = split(simplify(text), token, /[ \t]+/)
    for (i = 1; i <= n; i++) {
        word = token[i]
        gsub(/^[^A-Za-z0-9\200-\377]+|[^A-Za-z0-9\200-\377]+$/, "", word)
        if (word == "") {
            if (sentence_open && token[i] ~ /^[.!?]/) stopped = 1
            continue
        }
        any = 1
        add_word(word)
        if (stopped && word !~ /^[a-z]/) end_sentence()
        sentence_open = 1
        stopped = is_stop(token[i], tolower(word))
    }
    if (!any || ends_block) end_sentence()
}

# Not a stop: an initial (J.), an abbreviation with points (e.g.) or a common one.
function is_stop(token, word) {
    if (token !~ /[.!?][])"\047*_`}]*$/) return 0
    if (token ~ /[!?]/) return 1
    return !(word in abbreviations || word ~ /^[a-z](\.[a-z])*$/)
}

function end_sentence() {
    sentences += sentence_open
    sentence_open = stopped = 0
}
