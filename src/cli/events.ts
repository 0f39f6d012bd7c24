import { type Event, EventList, EventQuery } from '../events/schema.ts';
import { eventReader } from '../events/verbs.ts';
import { readForm } from '../kernel/validation/form.ts';
import { AUDIT_LOGS } from '../server/audit-logs.ts';
import type { Command } from './command.ts';
import { COMPANY_FLAG, withCompanyContext } from './records.ts';
import { flagsToBody } from './schema-flags.ts';

const COLUMNS = ['id', 'at', 'type', 'record', 'actor', 'changed'];
const ID = 'evt_3q2-7wE9mXr0cVb1kqvJ5w';

export const commands: Command[] = [
  {
    name: 'events',
    summary: 'List the events of a company',
    description:
      'Every change of every record, oldest first; --json also shows each record before and after the change.',
    flags: COMPANY_FLAG,
    body: EventQuery,
    resultSchema: EventList,
    examples: ['events --types adviser.*,api_key.created --limit 20', `events --after ${ID} --json`],
    run: (invocation) =>
      withCompanyContext(invocation, async (context) => {
        const query = readForm(EventQuery, flagsToBody(EventQuery, invocation.flags));
        const { json, next } = await eventReader(AUDIT_LOGS).ofCompany(context, query);
        const rows = (JSON.parse(json) as Event[]).map((event) => ({ ...event, record: event.record.id }));
        return { json, columns: COLUMNS, rows, note: `next page: --after ${next}` };
      }),
  },
];
