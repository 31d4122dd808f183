# Every file says something.
for file in src/*.txt; do
  [ -s "$file" ] || { echo "$file is empty"; exit 1; }
done
