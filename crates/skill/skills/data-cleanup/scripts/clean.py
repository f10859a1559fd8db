#!/usr/bin/env python3
"""Cleans a CSV file in place. Needs Python 3.8 or newer, nothing else.

Exit status: 0 the file is clean, 1 it cannot be written, 2 wrong usage or not a CSV file.
"""

import argparse
import csv
import datetime
import io
import os
import re
import sys

NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
ORDERS = {"ymd": "%Y-%m-%d", "dmy": "%d-%m-%Y", "mdy": "%m-%d-%Y"}
SHOWN = 10


def fail(message, status=2):
    print(f"clean.py: {message}", file=sys.stderr)
    sys.exit(status)


def read(path):
    """The text, what comes before it, and how its lines end."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        fail(f"cannot read `{path}`: {error.strerror}")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        fail(f"`{path}` is UTF-16; convert it first, for example: iconv -f UTF-16 -t UTF-8")
    if data[:4] in (b"PK\x03\x04", b"%PDF") or b"\0" in data:
        fail(f"`{path}` is a spreadsheet, a PDF or an archive; export it as CSV first")
    mark = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
    try:
        text = data[len(mark.encode()):].decode("utf-8")
    except UnicodeDecodeError as error:
        fail(f"`{path}` is not UTF-8 (byte {error.start + 1}); convert it first, for example: iconv -f LATIN1 -t UTF-8")
    return text, mark, "\r\n" if "\r\n" in text else "\n"


def delimiter_of(text, wanted):
    if wanted:
        wanted = NAMES.get(wanted, wanted)
        return wanted if len(wanted) == 1 else fail(f"`{wanted}` is not one character")
    first = text.split("\n", 1)[0]
    return max(NAMES.values(), key=first.count)


def pair(text, what):
    left, sign, right = text.partition("=")
    return (left, right) if sign and left else fail(f"`{text}` is not {what}")


def number(text, decimal):
    thousands = "." if decimal == "comma" else ","
    point = "," if decimal == "comma" else "."
    plain = text.replace(" ", "").replace("\u00a0", "").replace("'", "")
    whole = rf"[+-]?(\d+|\d{{1,3}}({re.escape(thousands)}\d{{3}})+)({re.escape(point)}\d+)?"
    if not re.fullmatch(whole, plain):
        return None
    return plain.replace(thousands, "").replace(point, ".")


def date(text, order):
    plain = re.sub(r"[./\s]+", "-", text.strip())
    for form in (ORDERS[order], ORDERS[order].replace("%Y", "%y"), ORDERS["ymd"]):
        try:
            return datetime.datetime.strptime(plain, form).strftime("%Y-%m-%d")
        except ValueError:
            continue
    return None


class Cleaning:
    def __init__(self, header):
        self.header, self.counts, self.doubts = header, {}, []

    def count(self, what, by=1):
        self.counts[what] = self.counts.get(what, 0) + by

    def column(self, name):
        if name not in self.header:
            fail(f"no column `{name}`; there are: {', '.join(self.header)}")
        return self.header.index(name)

    def convert(self, rows, name, how, what):
        """Converts the values of a column; those that it does not understand stay, and are named."""
        at = self.column(name)
        for line, row in rows:
            if len(row) != len(self.header) or not row[at]:
                continue
            new = how(row[at])
            if new is None:
                self.doubts.append(f"line {line}: `{row[at]}` in `{name}` is not {what}")
            elif new != row[at]:
                row[at] = new
                self.count(f"values of `{name}` written as {what}")


def clean(rows, options):
    """Cleans rows, which are pairs of their line and their values; the header is the first."""
    trimmed = 0
    for _, row in rows:
        for at, value in enumerate(row):
            if value != value.strip():
                row[at] = value.strip()
                trimmed += 1
    (_, header), rows = rows[0], rows[1:]
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        fail(f"two columns are called `{doubled[0]}`; rename one in the file first")
    work = Cleaning(header)
    work.count("values trimmed", trimmed)
    full = [(line, row) for line, row in rows if any(row)]
    work.count("empty rows removed", len(rows) - len(full))
    rows = full
    missing = {word.casefold() for words in options.missing for word in words.split(",")}
    for line, row in rows:
        if len(row) != len(header):
            work.doubts.append(f"line {line}: {len(row)} fields, {len(header)} expected; left as it is")
        for at, value in enumerate(row):
            if value and value.casefold() in missing:
                row[at] = ""
                work.count("values that mean “missing” emptied")
    for choice in options.numbers:
        name, decimal = pair(choice, "COLUMN=point or COLUMN=comma")
        if decimal not in ("point", "comma"):
            fail(f"`{decimal}` is neither `point` nor `comma`")
        work.convert(rows, name, lambda value: number(value, decimal), "a number")
    for choice in options.dates:
        name, order = pair(choice, "COLUMN=dmy, COLUMN=mdy or COLUMN=ymd")
        if order not in ORDERS:
            fail(f"`{order}` is none of {', '.join(ORDERS)}")
        work.convert(rows, name, lambda value: date(value, order), "a date")
    for choice in options.fill:
        name, value = pair(choice, "COLUMN=VALUE")
        at = work.column(name)
        for _, row in rows:
            if len(row) == len(header) and not row[at]:
                row[at] = value
                work.count(f"empty values of `{name}` filled")
    if options.drop_duplicates:
        seen = {}
        for line, row in rows:
            seen.setdefault(tuple(row), (line, row))
        work.count("duplicate rows removed", len(rows) - len(seen))
        rows = list(seen.values())
    for choice in options.rename:
        old, new = pair(choice, "OLD=NEW")
        at = work.column(old)
        if new in header:
            fail(f"there is a column `{new}` already")
        header[at] = new
        work.count("columns renamed")
    return [header] + [row for _, row in rows], work


def numbered(text, delimiter):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, line = [], 1
    try:
        for row in reader:
            rows.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        fail(f"line {reader.line_num}: {error}; repair it first")
    return rows


def main():
    csv.field_size_limit(1 << 24)
    parser = argparse.ArgumentParser(
        prog="clean.py", description="Trims values and removes empty rows of a CSV file in place, and does what the options say.")
    parser.add_argument("file")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, write nothing")
    parser.add_argument("--delimiter", help="one character, or comma, semicolon, tab, pipe")
    parser.add_argument("--missing", action="append", default=[], metavar="WORDS", help="empty these values, as in n/a,null,-")
    parser.add_argument("--numbers", action="append", default=[], metavar="COLUMN=point|comma", help="plain numbers, by the decimal mark that the file has")
    parser.add_argument("--dates", action="append", default=[], metavar="COLUMN=dmy|mdy|ymd", help="dates as 2026-03-01, by the order that the file has")
    parser.add_argument("--fill", action="append", default=[], metavar="COLUMN=VALUE", help="fill empty values")
    parser.add_argument("--drop-duplicates", action="store_true", help="keep the first of equal rows")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="rename a column, last of all")
    options = parser.parse_args()
    path = options.file
    if not os.path.isfile(path):
        fail(f"no such file: `{path}`")
    text, mark, ending = read(path)
    delimiter = delimiter_of(text, options.delimiter)
    rows = numbered(text, delimiter)
    if not any(row for _, row in rows):
        fail(f"`{path}` is empty")
    before = len(rows) - 1
    cleaned, work = clean(rows, options)
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=ending).writerows(cleaned)
    result = mark + out.getvalue()
    is_same = result == mark + text
    if not is_same and not options.dry_run:
        try:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(result)
        except OSError as error:
            fail(f"cannot write `{path}`: {error.strerror}", 1)
    verb = "is clean already" if is_same else "would be cleaned" if options.dry_run else "was cleaned"
    print(f"`{os.path.basename(path)}` {verb}: {before} rows before, {len(cleaned) - 1} after.\n")
    for what, count in work.counts.items():
        if count:
            print(f"- {count} {what}")
    if work.doubts:
        print(f"\nLeft as they are, {len(work.doubts)} in all:\n")
        for doubt in work.doubts[:SHOWN]:
            print(f"- {doubt}")
        if len(work.doubts) > SHOWN:
            print(f"- … and {len(work.doubts) - SHOWN} more")


main()
