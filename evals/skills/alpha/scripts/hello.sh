#!/bin/sh
# Greets whoever is named, and leaves a file behind.
echo "hello ${1:-nobody}"
echo "hello ${1:-nobody}" > greeting.txt
