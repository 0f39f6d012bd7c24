import { CompanyBody, CompanyList, CompanyRecord, CreateCompanyBody } from '../company/companies/schema.ts';
import { createCompany, listCompanies, showCompany, updateCompany } from '../company/companies/verbs.ts';
import { InvalidRequestError } from '../kernel/errors.ts';
import type { Command } from './command.ts';
import { commands as removal } from './company-remove.ts';
import { commands as transfer } from './company-transfer.ts';
import { findCompanyId, findCompanyIdsByName } from './lookup.ts';
import { adminCommand, adminListCommand } from './records.ts';

const target = { argument: 'company' };
const NAME = '"Smith & Partners"';

export const commands: Command[] = [
  adminCommand(
    {
      name: 'company create',
      resultSchema: CompanyRecord,
      summary: 'Create a company',
      body: CreateCompanyBody,
      flags: { yes: { type: 'boolean', description: 'Create it even if another company has the same name.' } },
      examples: [
        `company create --name ${NAME}`,
        'company create --name "Müller AG" --time-zone Europe/Zurich --phone-region CH --only id',
      ],
    },
    async (context, { form, flags, terminal }) => {
      const { name } = form.body;
      const [sameName] = form.ok && !flags.yes ? await findCompanyIdsByName(context, name) : [];
      if (sameName !== undefined) {
        const question = `A company named "${name}" exists already (${sameName}). Create another one? [y/N] `;
        const answer = await terminal.ask?.(question);
        if (answer === undefined || !/^y(es)?$/i.test(answer)) {
          const message = `is the name of another company (${sameName}). Nothing was created; --yes creates a second one`;
          throw new InvalidRequestError(message, [{ field: 'name', code: 'taken', message }]);
        }
      }
      return createCompany(context, form);
    },
  ),
  adminListCommand(
    {
      name: 'company list',
      resultSchema: CompanyList,
      summary: 'List companies',
      columns: ['id', 'name', 'time_zone', 'created_at'],
      examples: ['company list', 'company list --search smith --json'],
    },
    listCompanies,
  ),
  adminCommand(
    {
      ...target,
      name: 'company show',
      resultSchema: CompanyRecord,
      summary: 'Show a company',
      examples: [`company show ${NAME}`, 'company show smith'],
    },
    async (context, { argument }) => showCompany(context, await findCompanyId(context, argument)),
  ),
  adminCommand(
    {
      ...target,
      name: 'company update',
      resultSchema: CompanyRecord,
      summary: "Change a company's settings",
      description: 'Fields that are not given keep their values.',
      body: CompanyBody,
      examples: [`company update ${NAME} --payment-terms "14 days"`],
    },
    async (context, { argument, form }) => updateCompany(context, await findCompanyId(context, argument), form),
  ),
  ...transfer,
  ...removal,
];
