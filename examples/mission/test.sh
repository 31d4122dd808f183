# Every word says something, and ends its line.
failed=0
for word in words/*.sh; do
  [ -e "$word" ] || continue
  if [ "$(sh "$word" | wc -l)" -ne 1 ]; then
    echo "error: $word:1 does not say one line"
    failed=1
  fi
done
exit $failed
