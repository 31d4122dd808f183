# Runs every test in tests/, and says of each what became of it.
echo 'TAP version 13'
number=0
failed=0
for test in tests/*.sh; do
  [ -e "$test" ] || continue
  number=$((number + 1))
  name=$(basename "$test" .sh)
  if said=$(sh "$test" 2>&1); then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    echo "  # $said"
    failed=1
  fi
done
echo "1..$number"
exit $failed
