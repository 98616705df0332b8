#!/bin/sh
# Runs every fuzzer for SECONDS each, from fresh seeds and what earlier runs found:
#   fuzz/run.sh SECONDS [NAME ...]
# The corpora grow in build/fuzz/corpus; an input that fails is kept in build/fuzz/findings.
set -eu

cd "$(dirname "$0")/.."
seconds=${1:?usage: fuzz/run.sh SECONDS [NAME ...]}
shift
build=${STRONGROOM_FUZZ_BUILD:-build/fuzz}

if [ ! -f "$build/build.ninja" ]; then cmake --preset fuzz; fi
cmake --build "$build"
mkdir -p "$build/findings"
python3 fuzz/make_seeds.py "$build/seeds"

if [ $# -eq 0 ]; then set -- $(cd fuzz && ls *.cpp | sed "s/\.cpp$//"); fi

failed=
for name in "$@"; do
  mkdir -p "$build/corpus/$name" "$build/seeds/$name"
  printf '%-16s ' "$name"
  if "$build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="$build/findings/$name-" \
    "$build/corpus/$name" "$build/seeds/$name" >"$build/findings/$name.log" 2>&1; then
    sed -n 's/^stat::number_of_executed_units: */executions /p' "$build/findings/$name.log"
  else
    echo "FAILED: $build/findings/$name.log"
    failed="$failed $name"
  fi
done
if [ -n "$failed" ]; then
  echo "failed:$failed"
  exit 1
fi
