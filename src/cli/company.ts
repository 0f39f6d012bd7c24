import { CompanyBody, CompanyList, CompanyRecord, CreateCompanyBody } from '../company/companies/schema.ts';
import { createCompany, listCompanies, showCompany, updateCompany } from '../company/companies/verbs.ts';
import type { Command } from './command.ts';
import { adminCommand, adminListCommand, requireId } from './records.ts';

const target = { argument: 'company-id' };

export const commands: Command[] = [
  adminCommand(
    {
      name: 'company create',
      resultSchema: CompanyRecord,
      summary: 'Create a company',
      body: CreateCompanyBody,
      examples: [
        'company create --name "Smith & Partners"',
        'company create --name "Müller AG" --time-zone Europe/Zurich --phone-region CH --only id',
      ],
    },
    (context, { form }) => createCompany(context, form),
  ),
  adminListCommand(
    {
      name: 'company list',
      resultSchema: CompanyList,
      summary: 'List companies',
      columns: ['id', 'name', 'time_zone', 'phone_region', 'created_at'],
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
      examples: ['company show 01a1dedc-6c47-7000-b4be-5f8e3eb8d733'],
    },
    (context, task) => showCompany(context, requireId(task, 'company')),
  ),
  adminCommand(
    {
      ...target,
      name: 'company update',
      resultSchema: CompanyRecord,
      summary: "Change a company's settings",
      description: 'Fields that are not given keep their values.',
      body: CompanyBody,
      examples: ['company update 01a1dedc-6c47-7000-b4be-5f8e3eb8d733 --payment-terms "14 days"'],
    },
    (context, task) => updateCompany(context, requireId(task, 'company'), task.form),
  ),
];
