import * as addressBook from '../src/cases/address-book/writes.sql.ts';
import * as appointments from '../src/cases/appointments/writes.sql.ts';
import * as interactions from '../src/cases/interactions/writes.sql.ts';
import * as invoices from '../src/cases/invoices/writes.sql.ts';
import type { Statement } from '../src/kernel/sql/statement.ts';

/** Loaded before the service: removes the insert of events from its statements. The service has no such option. */

const EVENT_INSERT = /\be AS \(\s*INSERT INTO events\b/;

let changed = 0;
for (const module of [addressBook, appointments, interactions, invoices]) {
  for (const exported of Object.values(module)) {
    if (!isStatement(exported) || !EVENT_INSERT.test(exported.text)) continue;
    Object.assign(exported, { text: removeEventInsert(exported.text) });
    changed++;
  }
}
if (changed === 0) throw new Error('No statement writes an event.');

function isStatement(exported: unknown): exported is Statement {
  return typeof exported === 'object' && exported !== null && 'text' in exported && typeof exported.text === 'string';
}

/** The parameters stay in a CTE that is never read, so that the types and the number of parameters do not change. */
function removeEventInsert(text: string): string {
  const begin = EVENT_INSERT.exec(text)?.index ?? 0;
  let end = text.indexOf('(', begin);
  for (let depth = 0; ; end++) {
    if (text[end] === '(') depth++;
    if (text[end] === ')' && --depth === 0) break;
  }
  const parameters = [...new Set(text.slice(begin, end).match(/\$\d+::\w+/g))];
  return `${text.slice(0, begin)}e AS (SELECT ${parameters.join(', ')}${text.slice(end)}`;
}
