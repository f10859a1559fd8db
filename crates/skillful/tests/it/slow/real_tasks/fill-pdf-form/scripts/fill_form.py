#!/usr/bin/env python3
"""Fills the fields of a PDF form with the values of a JSON file."""
import json
import sys

from pypdf import PdfReader, PdfWriter
from pypdf.generic import BooleanObject, NameObject


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: fill_form.py FORM.pdf VALUES.json FILLED.pdf")
    form, values, filled = sys.argv[1:]
    reader = PdfReader(form)
    known = reader.get_fields() or {}
    with open(values, encoding="utf-8") as file:
        wanted = json.load(file)
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        sys.exit(f"no such field: {', '.join(unknown)}")

    writer = PdfWriter()
    writer.clone_document_from_reader(reader)
    texts = {name: str(value) for name, value in wanted.items() if not isinstance(value, bool)}
    for page in writer.pages:
        writer.update_page_form_field_values(page, texts)
        for annotation in page.get("/Annots", []):
            annotation = annotation.get_object()
            value = wanted.get(annotation.get("/T"))
            if isinstance(value, bool):
                states = annotation["/AP"]["/N"].keys()
                on = next(state for state in states if state != "/Off")
                state = NameObject(on if value else "/Off")
                annotation.update({NameObject("/V"): state, NameObject("/AS"): state})
    # Viewers draw the values anew.
    writer._root_object["/AcroForm"][NameObject("/NeedAppearances")] = BooleanObject(True)
    with open(filled, "wb") as file:
        writer.write(file)
    print(f"wrote {filled}: {len(wanted)} of {len(known)} fields")


main()
