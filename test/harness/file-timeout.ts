/**
 * `--test-timeout` bounds each test, but not a file whose process stays alive after its last test or hangs before its
 * first. Loaded by `--import` into the process of each file, this ends such a process, so that the run fails and names
 * the file.
 */

const FILE_TIMEOUT_MS = 15 * 60_000;

// The process of the runner loads this module too, and runs for longer.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(', ');
    console.error(`${process.argv[1]} has not ended after ${FILE_TIMEOUT_MS / 60_000} minutes. Open: ${resources}`);
    process.exit(1);
  }, FILE_TIMEOUT_MS).unref();
}
