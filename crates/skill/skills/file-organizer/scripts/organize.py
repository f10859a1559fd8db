#!/usr/bin/env python3
"""Plans and carries out moves of files. Needs Python 3.8 or newer, nothing else.

Exit status: 0 done, 1 a move failed and all were taken back, 2 wrong usage or an unusable plan.
"""

import argparse
import datetime
import os
import shutil
import sys

KINDS = {
    "Archives": "7z bz2 gz rar tar tgz xz zip",
    "Audio": "aac flac m4a mp3 ogg opus wav",
    "Code": "c cpp css go h html java js json php py rb rs sh sql toml ts xml yaml yml",
    "Documents": "doc docx md odt pdf rtf tex txt",
    "Images": "avif bmp gif heic jpeg jpg png svg tif tiff webp",
    "Presentations": "key odp ppt pptx",
    "Tables": "csv ods tsv xls xlsx",
    "Videos": "avi m4v mkv mov mp4 webm",
}
KIND_OF = {end: kind for kind, ends in KINDS.items() for end in ends.split()}
SHOWN = 50


def fail(message, status=2):
    print(f"organize.py: {message}", file=sys.stderr)
    sys.exit(status)


def plan(folder, by):
    """Prints a move for each file that lies in the folder itself."""
    if not os.path.isdir(folder):
        fail(f"no such folder: `{folder}`")
    names = sorted(os.listdir(folder))
    files = [name for name in names if os.path.isfile(os.path.join(folder, name))]
    for name in files:
        if name.startswith(".") or os.path.islink(os.path.join(folder, name)):
            continue
        end = os.path.splitext(name)[1][1:].lower()
        if by == "extension":
            to = end or "none"
        elif by == "month":
            changed = os.path.getmtime(os.path.join(folder, name))
            to = datetime.datetime.fromtimestamp(changed).strftime("%Y-%m")
        else:
            to = KIND_OF.get(end, "Other")
        print(f"{os.path.normpath(os.path.join(folder, name))}\t"
              f"{os.path.normpath(os.path.join(folder, to, name))}")


def read(lines):
    """The moves of a plan and what is wrong with its lines."""
    moves, problems = [], []
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            problems.append(f"line {number}: not `OLD<tab>NEW`: {line!r}")
            continue
        for part in parts:
            steps = part.replace("\\", "/").split("/")
            if os.path.isabs(part) or ".." in steps:
                problems.append(f"line {number}: `{part}` leads out of this folder")
            elif any(step in (".git", ".agent") for step in steps):
                problems.append(f"line {number}: `{part}` belongs to Git or to the agent")
        old, new = (os.path.normpath(part) for part in parts)
        if old != new:
            moves.append((old, new))
    return moves, problems


def check(moves):
    """Everything that keeps the moves from being carried out as a whole."""
    problems, sources, targets = [], set(), {}
    for old, new in moves:
        if not os.path.lexists(old):
            problems.append(f"`{old}` does not exist")
        if old in sources:
            problems.append(f"`{old}` is moved twice")
        if new.startswith(old + os.sep):
            problems.append(f"`{old}` cannot be moved into itself")
        sources.add(old)
        # Two names that differ in case alone are one file on many systems.
        if targets.setdefault(new.casefold(), old) != old:
            problems.append(f"`{targets[new.casefold()]}` and `{old}` would both become `{new}`")
    for old, new in moves:
        if os.path.lexists(new) and new not in sources and not same(old, new):
            problems.append(f"`{new}` is there already")
        for above in parents(old):
            if above in sources:
                problems.append(f"`{old}` is in `{above}`, which is moved itself")
        for above in parents(new):
            if os.path.lexists(above) and not os.path.isdir(above):
                problems.append(f"`{above}` is a file, so `{new}` cannot be in it")
    return problems


def parents(path):
    while os.path.dirname(path):
        path = os.path.dirname(path)
        yield path


def same(one, other):
    return os.path.lexists(one) and os.path.samefile(one, other)


def carry_out(moves):
    """Moves everything aside first, so that names can be swapped; takes all back where a step fails."""
    done = []

    def move(old, new):
        if os.path.dirname(new):
            os.makedirs(os.path.dirname(new), exist_ok=True)
        shutil.move(old, new)
        done.append((new, old))

    try:
        aside = []
        for number, (old, new) in enumerate(moves):
            between = os.path.join(os.path.dirname(old), f".organize-{os.getpid()}-{number}")
            move(old, between)
            aside.append((between, new))
        for between, new in aside:
            move(between, new)
    except OSError as error:
        for new, old in reversed(done):
            shutil.move(new, old)
        fail(f"nothing was moved: {error}", 1)


def main():
    parser = argparse.ArgumentParser(prog="organize.py", description="Plans and carries out moves of files.")
    commands = parser.add_subparsers(dest="command", required=True)
    planning = commands.add_parser("plan", help="print a plan for the files of a folder; changes nothing")
    planning.add_argument("folder")
    planning.add_argument("--by", choices=["kind", "extension", "month"], default="kind")
    moving = commands.add_parser("move", help="carry out the plan on standard input: lines OLD<tab>NEW")
    moving.add_argument("--dry-run", action="store_true", help="check the plan, move nothing")
    arguments = parser.parse_args()
    if arguments.command == "plan":
        return plan(arguments.folder, arguments.by)
    moves, problems = read(sys.stdin)
    problems += check(moves)
    if problems:
        more = f"\n  … and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        fail("nothing was moved, the plan cannot be carried out:\n  " + "\n  ".join(problems[:SHOWN]) + more)
    if not moves:
        return print("Nothing to move.")
    if not arguments.dry_run:
        carry_out(moves)
    print(f"{'Would move' if arguments.dry_run else 'Moved'} {len(moves)}:\n")
    for old, new in moves[:SHOWN]:
        print(f"- `{old}` → `{new}`")
    if len(moves) > SHOWN:
        print(f"- … and {len(moves) - SHOWN} more")


main()
