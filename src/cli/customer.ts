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
import type { Command, FlagValues } from './command.ts';
import { companyCommand, companyListCommand, REMOVED_FLAG, requireId } from './records.ts';

const CASE = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const CUSTOMER = '01a1dedc-7a10-7000-8d1f-0c3b5a7e9f21';

const caseFlag = { type: 'string', value: 'case-id', description: 'The case of the customer.' } as const;
const inCase = { flags: { case: { ...caseFlag, required: true } } };
const target = { ...inCase, argument: 'customer-id' };
const requireCaseId = (flags: FlagValues) => requireId({ argument: String(flags.case) }, 'case');

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
    (context, { form, flags }) => createCustomer(context, requireCaseId(flags), form),
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
    (context, listRequest, { flags }) => {
      const request = { ...listRequest, removed: flags.removed === true };
      return flags.case === undefined
        ? listCustomers(context, request)
        : listCaseCustomers(context, requireCaseId(flags), request);
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
    (context, task) => showCustomer(context, requireCaseId(task.flags), requireId(task, 'customer')),
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
    (context, task) => updateCustomer(context, requireCaseId(task.flags), requireId(task, 'customer'), task.form),
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
    (context, task) => removeCustomer(context, requireCaseId(task.flags), requireId(task, 'customer')),
  ),
  companyCommand(
    {
      ...target,
      name: 'customer restore',
      resultSchema: CustomerRecord,
      summary: 'Restore a removed customer',
      examples: [`customer restore ${CUSTOMER} --case ${CASE}`],
    },
    (context, task) => restoreCustomer(context, requireCaseId(task.flags), requireId(task, 'customer')),
  ),
];
