#!/usr/bin/env bash
# Opens a workbook with LibreOffice and saves it with all values calculated.
set -euo pipefail
book=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
soffice --headless --norestore "-env:UserInstallation=file://$work/profile" \
    --convert-to xlsx --outdir "$work/out" "$book" >&2
mv "$work/out/$(basename "$book")" "$book"
echo "recalculated $book"
