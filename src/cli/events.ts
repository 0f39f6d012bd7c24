import { type Event, EventList, EventQuery } from '../events/schema.ts';
import { eventReader } from '../events/verbs.ts';
import { readForm } from '../kernel/validation/form.ts';
import { AUDIT_LOGS } from '../server/audit-logs.ts';
import type { Command } from './command.ts';
import { atDesk, COMPANY_FLAG } from './records.ts';
import { bodyOf } from './schema-flags.ts';
import { table } from './table.ts';

const COLUMNS = ['id', 'at', 'type', 'record', 'actor', 'changed'];
const ID = 'evt_3q2-7wE9mXr0cVb1kqvJ5w';

export const commands: Command[] = [
  {
    name: 'events',
    summary: 'List what happened in a company',
    description: 'Every change of every record, in the order in which they happened; --json shows it before and after.',
    flags: COMPANY_FLAG,
    body: EventQuery,
    answer: EventList,
    examples: ['events --types adviser.*,api_key.created --limit 20', `events --after ${ID} --json`],
    run: (call) =>
      atDesk(call, async (desk) => {
        const query = readForm(EventQuery, bodyOf(EventQuery, call.flags));
        const { json, next } = await eventReader(AUDIT_LOGS).ofCompany(desk, query);
        const rows = (JSON.parse(json) as Event[]).map((event) => ({ ...event, record: event.record.id }));
        return { json, text: table(rows, COLUMNS), note: `what follows: --after ${next}` };
      }),
  },
];
