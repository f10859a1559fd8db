#!/usr/bin/env python3
"""Packs a folder into a docx, as Word wants it: the list of types first."""
import pathlib
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
files = sorted(path for path in folder.rglob("*") if path.is_file())
files.sort(key=lambda path: path.name != "[Content_Types].xml")
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
    for path in files:
        archive.write(path, path.relative_to(folder))
print(f"packed {len(files)} files into {sys.argv[2]}")
