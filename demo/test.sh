#!/bin/sh
# Runs every test; says which one fails.
cd "$(dirname "$0")" || exit 1
for test in tests/*.sh; do
  TODO_FILE=$(mktemp) && export TODO_FILE
  if sh "$test"; then echo "ok   $test"; else echo "FAIL $test"; exit 1; fi
  rm -f "$TODO_FILE"
done
