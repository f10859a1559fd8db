# Tells numbers and dates from text.

# Sets number; grouped and decimal_comma say how its commas were read, and doubtful
# is the text if its point may separate thousands.
# Leading zeros, or more than 15 digits before the point, make an identifier:
# arithmetic would change it.
function read_number(text) {
    grouped = decimal_comma = 0
    doubtful = delimiter == ";" && text ~ /^[-+]?[1-9][0-9]?[0-9]?\.[0-9][0-9][0-9]$/ ? text : ""
    if (index(text, ",")) {
        if (delimiter == ";" && text ~ /^[-+]?[0-9]+(\.[0-9][0-9][0-9])*,[0-9]+$/) {
            decimal_comma = 1
            gsub(/\./, "", text)
            sub(/,/, ".", text)
        } else if (delimiter != ";" && text ~ /^[-+]?[0-9][0-9]?[0-9]?(,[0-9][0-9][0-9])+(\.[0-9]*)?$/) {
            grouped = 1
            gsub(/,/, "", text)
        } else return 0
    }
    if (text !~ /^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$/) return 0
    if (length(text) > 15 && text ~ /^[-+]?[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]/) return 0
    number = text + 0
    return number < HUGE && number > -HUGE
}

# Sets year, month, day and time. The year comes first, or last with four digits.
# 03/04/2025 has two readings; it is taken as day first, and two_readings says so.
function read_date(text,    at, sign, part) {
    if (text !~ /^[0-9]+[-\/.][0-9][0-9]?[-\/.][0-9]+/) return 0
    at = match(text, /[T ]/)
    time = ""
    if (at) {
        if (!read_time(substr(text, at + 1))) return 0
        text = substr(text, 1, at - 1)
    }
    match(text, /[^0-9]/)
    sign = substr(text, RSTART, 1)
    if (split(text, part, sign == "." ? "[.]" : sign) != 3) return 0
    two_readings = 0
    if (length(part[1]) == 4 && length(part[3]) <= 2) {
        year = part[1]; month = plain(part[2]); day = plain(part[3])
    } else if (length(part[1]) <= 2 && length(part[3]) == 4) {
        year = part[3]; month = plain(part[2]); day = plain(part[1])
        two_readings = (sign != ".")
    } else return 0
    if (day < 1 || month < 1) return 0
    return (month <= 12 && day <= 31) || (two_readings && month <= 31 && day <= 12)
}

function read_time(text,    hour) {
    if (text !~ /^[0-9][0-9]?:[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)? ?([AaPp][Mm]|Z|[-+][0-9][0-9]:?[0-9][0-9])?$/) return 0
    hour = plain(substr(text, 1, index(text, ":") - 1))
    if (text ~ /[Mm]$/) hour = hour % 12 + (text ~ /[Pp][Mm]$/ ? 12 : 0)
    sub(/^[0-9]+/, "", text)
    sub(/ ?[AaPp][Mm]$/, "", text)
    time = sprintf(" %02d", hour) text
    return hour < 24
}

# Some awks read 010 as eight.
function plain(digits) {
    sub(/^0+/, "", digits)
    return digits + 0
}

