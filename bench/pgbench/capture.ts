import { appendFileSync } from 'node:fs';
import pg from 'pg';

/** Loaded before the service: writes each prepared statement and its values to a file. */

export type CapturedStatement = { name: string; text: string; values: (string | null)[] };

type Bind = { statement?: string; values?: unknown[]; valueMapper?: (value: unknown, i: number) => unknown };
type Prototype = { parse(query: { name?: string; text: string }): void; bind(config: Bind): void };

const file = process.env.BENCH_CAPTURE_FILE ?? '';
const texts = new Map<string, string>();
const { prototype } = (pg as unknown as { Connection: { prototype: Prototype } }).Connection;
const { parse, bind } = prototype;

prototype.parse = function (query) {
  if (query.name) texts.set(query.name, query.text);
  parse.call(this, query);
};

prototype.bind = function (config) {
  bind.call(this, config);
  const { statement: name = '', values = [], valueMapper = (value) => value } = config;
  const text = texts.get(name);
  if (text === undefined) return;
  const captured: CapturedStatement = { name, text, values: values.map((value, i) => toText(valueMapper(value, i))) };
  appendFileSync(file, `${JSON.stringify(captured)}\n`);
};

const toText = (value: unknown): string | null =>
  value === null || value === undefined ? null : Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value);
