#!/usr/bin/env python3
"""Makes a workbook from a CSV file: one row a line, a sum below each column of numbers."""
import csv
import sys

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

source, target = sys.argv[1:3]
book = Workbook()
sheet = book.active
sheet.title = "Data"
with open(source, newline="", encoding="utf-8") as file:
    rows = list(csv.reader(file))
for cell in rows[0]:
    sheet.cell(1, rows[0].index(cell) + 1, cell).font = Font(bold=True)
for number, row in enumerate(rows[1:], 2):
    for column, cell in enumerate(row, 1):
        try:
            sheet.cell(number, column, float(cell))
        except ValueError:
            sheet.cell(number, column, cell)
last = len(rows)
sheet.cell(last + 1, 1, "Total")
for column in range(2, len(rows[0]) + 1):
    letter = get_column_letter(column)
    sheet.cell(last + 1, column, f"=SUM({letter}2:{letter}{last})")
book.save(target)
print(f"wrote {target}: {last - 1} rows, formulas in row {last + 1}")
