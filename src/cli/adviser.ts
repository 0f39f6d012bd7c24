import { AdviserBody, CreateAdviserBody } from '../company/advisers/advisers.schema.ts';
import {
  changeAdviser,
  createAdviser,
  listAdvisers,
  removeAdviser,
  showAdviser,
} from '../company/advisers/advisers.ts';
import type { Desk } from '../company/office.ts';
import { notFound } from '../kernel/errors.ts';
import { readForm } from '../kernel/form.ts';
import { isUuid } from '../kernel/ids.ts';
import type { Command } from './command.ts';
import { deskCommand, deskList } from './records.ts';

const one = { argument: 'adviser', description: 'The adviser is named by identifier or email.' };
const EXAMPLE = 'alex@firm.example';

export const commands: Command[] = [
  deskCommand(
    {
      name: 'adviser create',
      summary: 'Add an adviser',
      body: CreateAdviserBody,
      examples: [`adviser create --email ${EXAMPLE} --name "Alex Adviser"`],
    },
    (desk, { form }) => createAdviser(desk, form),
  ),
  deskList(
    {
      name: 'adviser list',
      summary: 'List advisers',
      columns: ['id', 'email', 'name', 'active', 'video_provider'],
      examples: ['adviser list', 'adviser list --company "Smith & Partners" --search alex'],
    },
    listAdvisers,
  ),
  deskCommand(
    { ...one, name: 'adviser show', summary: 'Show an adviser', examples: [`adviser show ${EXAMPLE}`] },
    async (desk, { argument }) => showAdviser(desk, await find(desk, argument)),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser update',
      summary: 'Change an adviser',
      description: `${one.description} What is not given stays as it is.`,
      body: AdviserBody,
      examples: [`adviser update ${EXAMPLE} --name "Alexandra Adviser"`],
    },
    async (desk, { argument, form }) => changeAdviser(desk, await find(desk, argument), form),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser disable',
      summary: 'Let no new appointments be booked with an adviser',
      examples: [`adviser disable ${EXAMPLE}`],
    },
    (desk, { argument }) => activate(desk, argument, false),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser enable',
      summary: 'Let appointments be booked with an adviser again',
      examples: [`adviser enable ${EXAMPLE}`],
    },
    (desk, { argument }) => activate(desk, argument, true),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser remove',
      summary: 'Remove an adviser',
      description: `${one.description} Appointments keep what is written down in them.`,
      examples: [`adviser remove ${EXAMPLE}`],
    },
    async (desk, { argument }) => removeAdviser(desk, await find(desk, argument)),
  ),
];

const activate = async (desk: Desk, adviser: string, active: boolean) =>
  changeAdviser(desk, await find(desk, adviser), readForm(AdviserBody, { active }));

async function find(desk: Desk, adviser: string): Promise<string> {
  if (isUuid(adviser)) return adviser;
  const { json } = await listAdvisers(desk, { search: adviser, limit: 200, offset: 0 });
  const found: { id: string; email: string }[] = JSON.parse(json);
  const match = found.find(({ email }) => email.toLowerCase() === adviser.toLowerCase());
  if (!match) throw notFound('adviser');
  return match.id;
}
