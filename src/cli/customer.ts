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
import { deskCommand, deskList, idOf, REMOVED_FLAG } from './records.ts';

const CASE = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const CUSTOMER = '01a1dedc-7a10-7000-8d1f-0c3b5a7e9f21';

const caseFlag = { type: 'string', value: 'case-id', description: 'The case of the customer.' } as const;
const inCase = { flags: { case: { ...caseFlag, required: true } } };
const one = { ...inCase, argument: 'customer-id' };
const caseIn = (flags: FlagValues) => idOf({ argument: String(flags.case) }, 'case');

export const commands: Command[] = [
  deskCommand(
    {
      ...inCase,
      name: 'customer create',
      answer: CustomerRecord,
      summary: 'Add a customer to a case',
      body: CreateCustomerBody,
      examples: [
        `customer create --case ${CASE} --title Mr --first-names John --last-name Smith --email john@client.example`,
      ],
    },
    (desk, { form, flags }) => createCustomer(desk, caseIn(flags), form),
  ),
  deskList(
    {
      name: 'customer list',
      answer: CustomerList,
      summary: 'List customers, of a case or of all',
      flags: { case: { ...caseFlag, description: 'Only the customers of this case.' }, ...REMOVED_FLAG },
      columns: ['id', 'title', 'first_names', 'last_name', 'email', 'phone', 'case_id'],
      examples: ['customer list --search smith', `customer list --case ${CASE}`],
    },
    (desk, listing, { flags }) => {
      const wanted = { ...listing, removed: flags.removed === true };
      return flags.case === undefined ? listCustomers(desk, wanted) : listCaseCustomers(desk, caseIn(flags), wanted);
    },
  ),
  deskCommand(
    {
      ...one,
      name: 'customer show',
      answer: CustomerRecord,
      summary: 'Show a customer',
      examples: [`customer show ${CUSTOMER} --case ${CASE}`],
    },
    (desk, task) => showCustomer(desk, caseIn(task.flags), idOf(task, 'customer')),
  ),
  deskCommand(
    {
      ...one,
      name: 'customer update',
      answer: CustomerRecord,
      summary: 'Change a customer',
      description: 'What is not given stays as it is.',
      body: CustomerBody,
      examples: [`customer update ${CUSTOMER} --case ${CASE} --phone "07400 123456"`],
    },
    (desk, task) => updateCustomer(desk, caseIn(task.flags), idOf(task, 'customer'), task.form),
  ),
  deskCommand(
    {
      ...one,
      name: 'customer remove',
      answer: CustomerRemoved,
      summary: 'Remove a customer from a case',
      description: 'Records that refer to the customer keep what is written down in them.',
      examples: [`customer remove ${CUSTOMER} --case ${CASE}`],
    },
    (desk, task) => removeCustomer(desk, caseIn(task.flags), idOf(task, 'customer')),
  ),
  deskCommand(
    {
      ...one,
      name: 'customer restore',
      answer: CustomerRecord,
      summary: 'Restore a removed customer',
      examples: [`customer restore ${CUSTOMER} --case ${CASE}`],
    },
    (desk, task) => restoreCustomer(desk, caseIn(task.flags), idOf(task, 'customer')),
  ),
];
