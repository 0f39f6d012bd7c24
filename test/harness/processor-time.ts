/**
 * Milliseconds of processor time that the work took. Unlike the time on a clock, it does not grow while other processes
 * have the processors.
 */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
