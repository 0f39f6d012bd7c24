#!/bin/sh
# The browser tests as CI runs them. What fails is run once more, because a page on a busy machine can be later than a test
# thought of; it is said aloud, and is a fault to mend. What fails twice stops the change.
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
run() {
  npm run test:files -- --test-concurrency=4 --test-rerun-failures="$results/results.json" "test/browser/*.test.ts"
}
run && exit
echo 'BROWSER TESTS: some failed, and are run once more. Each of them is a fault to mend.' >&2
run
