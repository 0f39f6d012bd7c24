import { CompanyBody, CompanyList, CompanyRecord, CreateCompanyBody } from '../company/companies/schema.ts';
import { createCompany, listCompanies, showCompany, updateCompany } from '../company/companies/verbs.ts';
import type { Command } from './command.ts';
import { idOf, officeCommand, officeList } from './records.ts';

const one = { argument: 'company-id' };

export const commands: Command[] = [
  officeCommand(
    {
      name: 'company create',
      answer: CompanyRecord,
      summary: 'Set up a company',
      body: CreateCompanyBody,
      examples: [
        'company create --name "Smith & Partners"',
        'company create --name "Müller AG" --time-zone Europe/Zurich --phone-region CH --only id',
      ],
    },
    (office, { form }) => createCompany(office, form),
  ),
  officeList(
    {
      name: 'company list',
      answer: CompanyList,
      summary: 'List companies',
      columns: ['id', 'name', 'time_zone', 'phone_region', 'created_at'],
      examples: ['company list', 'company list --search smith --json'],
    },
    listCompanies,
  ),
  officeCommand(
    {
      ...one,
      name: 'company show',
      answer: CompanyRecord,
      summary: 'Show a company',
      examples: ['company show 01a1dedc-6c47-7000-b4be-5f8e3eb8d733'],
    },
    (office, task) => showCompany(office, idOf(task, 'company')),
  ),
  officeCommand(
    {
      ...one,
      name: 'company update',
      answer: CompanyRecord,
      summary: "Change a company's settings",
      description: 'What is not given stays as it is.',
      body: CompanyBody,
      examples: ['company update 01a1dedc-6c47-7000-b4be-5f8e3eb8d733 --payment-terms "14 days"'],
    },
    (office, task) => updateCompany(office, idOf(task, 'company'), task.form),
  ),
];
