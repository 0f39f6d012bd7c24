import { readdirSync, readFileSync } from 'node:fs';

/** What processes have used, where the system shows it in /proc. */

/** The clock tick of every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

type Stat = { pid: number; parent: number; own: number; ofEnded: number };

/** Fields of /proc/<pid>/stat after the name, which may hold spaces: see proc(5). */
function statOf(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const sum = (from: number) => Number(fields[from]) + Number(fields[from + 1]);
    return { pid: Number(pid), parent: Number(fields[1]), own: sum(11), ofEnded: sum(13) };
  } catch {
    return undefined; // there is no /proc, or the process has ended
  }
}

/** Seconds of CPU of a process, of its children, and of those children that have ended. */
export function cpuOfTree(pid: number): number | undefined {
  const root = statOf(pid);
  if (!root) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.parent === pid);
  const ticks = children.reduce((sum, stat) => sum + (stat?.own ?? 0), root.own + root.ofEnded);
  return ticks / TICKS_PER_SECOND;
}

export type Memory = { resident: number; peak: number };

/** Megabytes. */
export function memoryOf(pid: number): Memory | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    const megabytes = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024);
    return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') };
  } catch {
    return undefined;
  }
}
