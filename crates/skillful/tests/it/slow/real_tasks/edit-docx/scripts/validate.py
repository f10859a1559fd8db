#!/usr/bin/env python3
"""Checks that a docx can be opened: a sound archive, well-formed XML, and every part that is named is there."""
import posixpath
import sys
import xml.etree.ElementTree as xml
import zipfile

problems = []
with zipfile.ZipFile(sys.argv[1]) as archive:
    broken = archive.testzip()
    if broken:
        problems.append(f"{broken}: wrong checksum")
    names = archive.namelist()
    if names[0] != "[Content_Types].xml":
        problems.append(f"the first file is {names[0]}")
    for name in names:
        if name.endswith((".xml", ".rels")):
            try:
                root = xml.fromstring(archive.read(name))
            except xml.ParseError as error:
                problems.append(f"{name}: {error}")
                continue
            if name.endswith(".rels"):
                base = posixpath.dirname(posixpath.dirname(name))
                for relation in root:
                    part = posixpath.normpath(posixpath.join(base, relation.get("Target").lstrip("/")))
                    if relation.get("TargetMode") != "External" and part not in names:
                        problems.append(f"{name}: {part} is missing")
print("\n".join(problems) or "valid")
sys.exit(1 if problems else 0)
