#!/usr/bin/env python3
"""Prints the calculated values of a workbook, and fails if a cell has an error or no value."""
import sys

from openpyxl import load_workbook

values = load_workbook(sys.argv[1], data_only=True)
formulas = load_workbook(sys.argv[1])
bad = 0
for sheet in values:
    for row in sheet.iter_rows():
        print("\t".join("" if cell.value is None else str(cell.value) for cell in row))
        for cell in row:
            formula = formulas[sheet.title][cell.coordinate].value
            is_formula = isinstance(formula, str) and formula.startswith("=")
            if is_formula and (cell.value is None or str(cell.value).startswith("#")):
                print(f"{sheet.title}!{cell.coordinate}: {formula} gives {cell.value}", file=sys.stderr)
                bad += 1
sys.exit(1 if bad else 0)
