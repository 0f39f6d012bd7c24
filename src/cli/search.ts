import { NotFoundError } from '../kernel/errors.ts';
import { rebuildIndex } from '../search/rebuild.ts';
import type { Command } from './command.ts';
import { findCompanyId } from './lookup.ts';
import { withAdminContext } from './records.ts';

export const commands: Command[] = [
  {
    name: 'search rebuild',
    summary: 'Have the index of searches built anew',
    description:
      'Workers build it from the records while searches go on with what the index has. Only needed if records are ' +
      'not found: upgrades, imports and restores need no command.',
    flags: {
      company: { type: 'string', placeholder: 'company', description: 'Only this company; all by default.' },
    },
    examples: ['search rebuild', 'search rebuild --company "Smith & Partners"'],
    run: (invocation) =>
      withAdminContext(invocation, async (admin) => {
        const { company } = invocation.flags;
        const companyId = typeof company === 'string' ? await findCompanyId(admin, company) : undefined;
        const companies = await rebuildIndex(admin.db, companyId);
        if (companyId && companies === 0)
          throw new NotFoundError('There is no such company, or it is not indexed yet.');
        return { json: JSON.stringify({ companies }) };
      }),
  },
];
