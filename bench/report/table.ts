export type Table = { title: string; head: string[]; rows: string[][] };

/** Formats a text table: the first column aligned left, the others right. */
export function formatTable(head: string[], rows: string[][]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row: string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ');
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** Formats a Markdown table, aligned in the same way. A star would begin an emphasis. */
export function formatMarkdown({ head, rows }: Pick<Table, 'head' | 'rows'>): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.trim().replaceAll('*', '\\*')).join(' | ')} |`;
  return [line(head), `|---${'|--:'.repeat(head.length - 1)}|`, ...rows.map(line)].join('\n');
}

export const formatNumber = (value: number | undefined, digits: number): string => value?.toFixed(digits) ?? '–';
