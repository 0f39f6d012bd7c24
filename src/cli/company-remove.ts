import { join } from 'node:path';
import { showCompany } from '../company/companies/verbs.ts';
import { findDemoCompanyId } from '../company/demo.ts';
import { markDemoRemoved } from '../company/demo-file.ts';
import { InvalidRequestError } from '../kernel/errors.ts';
import { systemClock } from '../kernel/time/time.ts';
import { Type } from '../kernel/validation/type.ts';
import { type CompanyContents, countCompanyRows, removeCompany } from '../server/company-removal.ts';
import type { Command, CommandResult, Invocation } from './command.ts';
import { withOwner } from './database.ts';
import { findCompanyId } from './lookup.ts';
import { formatCell } from './table.ts';

/** The records that the command counts before it removes a company. */
const CONTENTS: readonly (readonly [table: keyof CompanyContents, one: string, several: string])[] = [
  ['cases', 'case', 'cases'],
  ['customers', 'customer', 'customers'],
  ['people', 'person in address books', 'people in address books'],
  ['interactions', 'interaction', 'interactions'],
  ['invoices', 'invoice', 'invoices'],
  ['payments', 'payment', 'payments'],
  ['appointments', 'appointment', 'appointments'],
  ['messages', 'message', 'messages'],
  ['advisers', 'adviser', 'advisers'],
  ['clients', 'API client', 'API clients'],
  ['tokens', 'key or token', 'keys and tokens'],
  ['webhook_endpoints', 'webhook endpoint', 'webhook endpoints'],
  ['events', 'event', 'events'],
];

export const commands: Command[] = [
  {
    name: 'company remove',
    argument: 'company',
    summary: 'Remove a company and everything that belongs to it, for good',
    description:
      'Says what will be removed, and asks for the name of the company. Messages that are due are not sent. Needs the ' +
      'role that owns the tables: DATABASE_OWNER_URL, if it is set. If it is interrupted, run it again.',
    flags: {
      confirm: {
        type: 'string',
        placeholder: 'name',
        description: 'The exact name of the company, instead of typing it when asked.',
      },
      'keep-meetings': {
        type: 'boolean',
        description: 'Leave the meetings with the provider, because the company was moved to another service.',
      },
    },
    resultSchema: Type.Object({ id: Type.String(), name: Type.String(), removed: Type.Object({}) }),
    examples: ['company remove "Demonstration & Partners"', 'company remove smith --confirm "Smith & Partners"'],
    run: (invocation) =>
      withOwner(invocation, async (db, owner): Promise<CommandResult> => {
        const admin = { db, clock: systemClock };
        const id = await findCompanyId(admin, invocation.argument);
        const { name }: { name: string } = JSON.parse(await showCompany(admin, id));
        const shown = formatCell(name);
        const contents = await countCompanyRows(owner, id);
        if (contents.connected_accounts > 0 && !invocation.flags['keep-meetings']) {
          throw new Error(
            `${shown} has ${contents.connected_accounts} connected video accounts, and their meetings would stay with the ` +
              'provider. Run "adviser disconnect" for each, wait until the meetings are gone, then try again. If the company ' +
              'was moved to another service, which has them now, add --keep-meetings.',
          );
        }
        await confirmRemoval(invocation, name, contents);
        const demoFile = join(invocation.config.DATA_DIR, 'demo.json');
        // The token that tells the demonstration company is deleted early, so its file is marked before.
        if ((await findDemoCompanyId(db, demoFile)) === id) await markDemoRemoved(demoFile, systemClock());
        const onTable = (table: string) => invocation.terminal.showProgress(`Removing ${table.replaceAll('_', ' ')} …`);
        await removeCompany(owner, id, { onTable });
        return {
          json: JSON.stringify({ id, name, removed: contents }),
          text: `${shown} was removed, with ${describeContents(contents)}.`,
        };
      }),
  },
];

const describeContents = (contents: CompanyContents): string =>
  CONTENTS.filter(([table]) => contents[table] > 0)
    .map(([table, one, several]) => `${contents[table]} ${contents[table] === 1 ? one : several}`)
    .join(', ') || 'no records';

/** Throws unless the person typed the name, or the flag has it. */
async function confirmRemoval({ flags, terminal }: Invocation, name: string, contents: CompanyContents): Promise<void> {
  const warning = `This removes ${formatCell(name)} for good, with ${describeContents(contents)}.`;
  if (flags.confirm === undefined && terminal.ask) {
    const typed = await terminal.ask(`${warning}\nType the name of the company to go on: `);
    if (typed === name.trim()) return;
    throw new Error('That is not the name of the company. Nothing was removed.');
  }
  if (flags.confirm === name) return;
  const message =
    flags.confirm === undefined
      ? `is required: it must be the name of the company. ${warning}`
      : `must be "${formatCell(name)}". Nothing was removed`;
  throw new InvalidRequestError(message, [{ field: 'confirm', code: 'required', message }]);
}
