#!/usr/bin/env python3
"""Unpacks a docx into a folder."""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2])
    print(f"unpacked {len(archive.namelist())} files to {sys.argv[2]}")
