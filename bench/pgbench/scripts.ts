import type { CapturedStatement } from './capture.ts';

/** Turns captured statements into a table of their values and a pgbench script that sends them with these values. */

/** A statement of an operation, with its values in each of the captured requests. */
export type SampledStatement = { name: string; text: string; samples: CapturedStatement['values'][] };

/**
 * Returns the statements that the requests have in common, with their values. A statement that only some requests send,
 * such as the one that looks up the caller every two seconds, is left out, and so is a request that sends others.
 */
export function sampleStatements(requests: CapturedStatement[][]): SampledStatement[] {
  const counts = new Map<string, number>();
  for (const { name } of requests.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts.keys()].filter((name) => (counts.get(name) ?? 0) > requests.length / 2);
  const regular = requests.filter((request) => names.every((name) => request.some((one) => one.name === name)));
  return names.map((name) => {
    const captured = regular.flatMap((request) => request.find((one) => one.name === name) ?? []);
    return { name, text: captured[0]?.text ?? '', samples: captured.map(({ values }) => values) };
  });
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const UUID_ARRAY = /^\{[0-9a-f,-]+\}$/;

/** Whether the text is an identifier, or an array of them, that was made after `since`: version 7 begins with a time. */
const isNewId = (text: string | null | undefined, since: number): boolean =>
  text !== null &&
  text !== undefined &&
  (text.length === 36 || UUID_ARRAY.test(text)) &&
  [...text.matchAll(UUID)].some(([id]) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) >= since);

const INPUT = /\binput AS NOT MATERIALIZED \(SELECT (.*?), 1 AS nth\)/;
const INPUT_COLUMN = /\$(\d+)::(\w+(?:\[\])?) AS (\w+)/g;
const MOVED_TIMES = ['start_at', 'end_at', 'new_start'];

/**
 * Returns the statement with its values read from row `:n` of `table`. A repeated request must do the same work, so it
 * has new identifiers and invoice numbers, the current version of its record, and, if it moves something, another time.
 */
export function toPgbenchSql({ name, text, samples }: SampledStatement, table: string, since: number): string {
  const [first] = samples;
  if (!first || !INPUT.test(text)) throw new Error(`${name} has no table expression "input".`);
  const resource = name.split('.')[0];
  const isMove = /\.(load|update)/.test(name);
  const value = (position: string, type: string, column: string): string => {
    const sample = first[Number(position) - 1];
    if (isNewId(sample, since)) {
      const count = sample?.split(',').length ?? 1;
      return type === 'uuid' ? 'uuidv7()' : `ARRAY[${Array(count).fill('uuidv7()').join(', ')}]`;
    }
    const stored = `r.v${position}::${type}`;
    if (column === 'version') {
      const key = 't.company_id = r.v1::uuid AND t.case_id = r.v2::uuid AND t.id = r.v3::uuid';
      return `(SELECT t.version FROM ${resource} t WHERE ${key})`;
    }
    if (column === 'invoice_number' && name.endsWith('.insert')) return `${stored} || '-' || @shift::int`;
    return isMove && MOVED_TIMES.includes(column) ? `${stored} + make_interval(hours => @shift)` : stored;
  };
  const sql = text.replace(INPUT, (_all, columns: string) => {
    const values = columns.replaceAll(INPUT_COLUMN, (_column, position: string, type: string, column: string) => {
      return `${value(position, type, column)} AS ${column}`;
    });
    return `input AS MATERIALIZED (SELECT ${values}, 1 AS nth FROM ${table} r WHERE r.n = @row)`;
  });
  return escapeColons(sql).replace('@row', ':n').replaceAll('@shift', ':shift');
}

/** pgbench takes ":MI" for a variable, also inside a literal. The planner folds the concatenation. */
const escapeColons = (sql: string): string =>
  sql.replaceAll(/\[:(?=\w)/g, '[: ').replaceAll(/(?<!:):(?=[A-Za-z_])/g, `' || chr(58) || '`);

/** Client c sends the samples c, c + clients and so on, so that no two clients address the same record. */
export const toScript = (statements: string[]): string =>
  [
    '\\set i :i + 1',
    '\\set n (:client_id + :clients * :i) % :samples',
    '\\set shift :first_shift + :i',
    ...statements.map((sql) => `${sql.trim().replace(/;$/, '')};`),
    '',
  ].join('\n');
