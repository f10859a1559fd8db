#!/usr/bin/env python3
"""Prints the fields of a PDF form as JSON."""
import json
import sys

from pypdf import PdfReader

KINDS = {"/Tx": "text", "/Btn": "checkbox", "/Ch": "choice"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: list_fields.py FORM.pdf")
    fields = []
    for name, field in sorted((PdfReader(sys.argv[1]).get_fields() or {}).items()):
        entry = {"name": name, "kind": KINDS.get(field.get("/FT"), "other"), "value": field.get("/V")}
        states = [state for state in field.get("/_States_", []) if state != "/Off"]
        if states:
            entry["ticked"] = states[0]
        fields.append(entry)
    json.dump(fields, sys.stdout, indent=2)
    print()


main()
