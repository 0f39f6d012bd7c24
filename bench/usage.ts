import { readdirSync, readFileSync } from 'node:fs';

/** CPU time and memory of processes, read from /proc; undefined on systems without it. */

/** The same on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

type ProcessStat = { pid: number; parent: number; ownTicks: number; endedChildrenTicks: number };

/** Parses /proc/<pid>/stat after the name, which may contain spaces; see proc(5). */
function readStat(pid: number | string): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const sum = (from: number) => Number(fields[from]) + Number(fields[from + 1]);
    return { pid: Number(pid), parent: Number(fields[1]), ownTicks: sum(11), endedChildrenTicks: sum(13) };
  } catch {
    return undefined; // there is no /proc, or the process has ended
  }
}

/** Returns the CPU seconds of a process, its children, and its children that have ended. */
export function cpuSecondsOfTree(pid: number): number | undefined {
  const root = readStat(pid);
  if (!root) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readStat)
    .filter((stat) => stat?.parent === pid);
  const ticks = children.reduce((sum, stat) => sum + (stat?.ownTicks ?? 0), root.ownTicks + root.endedChildrenTicks);
  return ticks / TICKS_PER_SECOND;
}

export type MemoryMegabytes = { resident: number; peak: number };

export function readMemory(pid: number): MemoryMegabytes | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    const megabytes = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024);
    return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') };
  } catch {
    return undefined;
  }
}
