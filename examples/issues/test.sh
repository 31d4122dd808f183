# The quick tests: every greeting ends in a full stop, and says whom it greets once it can.
for file in src/*.txt; do
  grep -q '\.$' "$file" || { echo "FAIL $file: no full stop at its end"; exit 1; }
done
echo "all greetings end in a full stop"
