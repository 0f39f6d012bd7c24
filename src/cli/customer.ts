import type { CompanyContext } from '../company/admin-context.ts';
import {
  CreateCustomerBody,
  CustomerBody,
  CustomerList,
  CustomerRecord,
  CustomerRemoved,
} from '../company/customers/schema.ts';
import {
  createCustomer,
  listCaseCustomers,
  listCustomers,
  removeCustomer,
  restoreCustomer,
  showCustomer,
  updateCustomer,
} from '../company/customers/verbs.ts';
import type { Command, Invocation } from './command.ts';
import { findCaseId, findCustomerId } from './lookup.ts';
import { companyCommand, companyListCommand, REMOVED_FLAG } from './records.ts';

const CASE = '"Smith, wills"';
const CUSTOMER = '"John Smith"';

const caseFlag = { type: 'string', placeholder: 'case', description: 'The case of the customer.' } as const;
const inCase = { flags: { case: { ...caseFlag, required: true } } };
const target = { ...inCase, argument: 'customer' };

const caseOf = (context: CompanyContext, { flags }: Invocation) => findCaseId(context, String(flags.case));

/** Passes the identifiers of the case and of the customer to `work`. */
async function withCustomer(
  context: CompanyContext,
  invocation: Invocation,
  work: (caseId: string, customerId: string) => Promise<string>,
  { removed = false } = {},
): Promise<string> {
  const caseId = await caseOf(context, invocation);
  return work(caseId, await findCustomerId(context, { caseId, word: invocation.argument, removed }));
}

export const commands: Command[] = [
  companyCommand(
    {
      ...inCase,
      name: 'customer create',
      resultSchema: CustomerRecord,
      summary: 'Add a customer to a case',
      body: CreateCustomerBody,
      examples: [
        `customer create --case ${CASE} --title Mr --first-names John --last-name Smith --email john@client.example`,
      ],
    },
    async (context, task) => createCustomer(context, await caseOf(context, task), task.form),
  ),
  companyListCommand(
    {
      name: 'customer list',
      resultSchema: CustomerList,
      summary: 'List customers of a case or of the company',
      flags: { case: { ...caseFlag, description: 'Only the customers of this case.' }, ...REMOVED_FLAG },
      columns: ['id', 'title', 'first_names', 'last_name', 'email', 'phone', 'case_id'],
      examples: ['customer list --search smith', `customer list --case ${CASE}`],
    },
    async (context, listRequest, invocation) => {
      const request = { ...listRequest, removed: invocation.flags.removed === true };
      return invocation.flags.case === undefined
        ? listCustomers(context, request)
        : listCaseCustomers(context, await caseOf(context, invocation), request);
    },
  ),
  companyCommand(
    {
      ...target,
      name: 'customer show',
      resultSchema: CustomerRecord,
      summary: 'Show a customer',
      examples: [`customer show ${CUSTOMER} --case ${CASE}`],
    },
    (context, task) => withCustomer(context, task, (caseId, id) => showCustomer(context, caseId, id)),
  ),
  companyCommand(
    {
      ...target,
      name: 'customer update',
      resultSchema: CustomerRecord,
      summary: 'Change a customer',
      description: 'Fields that are not given keep their values.',
      body: CustomerBody,
      examples: [`customer update ${CUSTOMER} --case ${CASE} --phone "07400 123456"`],
    },
    (context, task) => withCustomer(context, task, (caseId, id) => updateCustomer(context, caseId, id, task.form)),
  ),
  companyCommand(
    {
      ...target,
      name: 'customer remove',
      resultSchema: CustomerRemoved,
      summary: 'Remove a customer from a case',
      description: "Records that refer to the customer keep the customer's details.",
      examples: [`customer remove ${CUSTOMER} --case ${CASE}`],
    },
    (context, task) => withCustomer(context, task, (caseId, id) => removeCustomer(context, caseId, id)),
  ),
  companyCommand(
    {
      ...target,
      name: 'customer restore',
      resultSchema: CustomerRecord,
      summary: 'Restore a removed customer',
      examples: [`customer restore ${CUSTOMER} --case ${CASE}`],
    },
    (context, task) =>
      withCustomer(context, task, (caseId, id) => restoreCustomer(context, caseId, id), { removed: true }),
  ),
];
