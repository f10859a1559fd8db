#!/bin/sh
# Fails.
echo "no" >&2
exit 3
