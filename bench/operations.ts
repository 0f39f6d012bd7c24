import { ADVISER, CUSTOM_TAG, CUSTOMER } from './fill.ts';
import type { World, WorldCase, WorldRecord } from './world.ts';

/** The twelve operations of the specification, and the request that each is measured with. */

export type Request = { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; token: string; body?: unknown };

export type Operation = {
  id: string;
  name: string;
  kind: 'read' | 'write';
  /** Uses up what it is about: one request per record and round. */
  once?: 'appointments';
  /** How many a connection sends at once, where the load is to leave the cores to the service. */
  ahead?: number;
  /** The nth request. Two that differ in n never get in each other's way. */
  request: (world: World, n: number) => Request;
};

/** Spread over the list without order, and the same in every run. */
const pick = <T>(list: readonly T[], n: number): T => list[(n * 7919) % list.length] as T;

const reading =
  (rest: string): Operation['request'] =>
  (world, n) => {
    const { id, token } = pick(world.reading, n);
    return { method: 'GET', path: `/cases/${id}/${rest}`, token };
  };

const creating =
  (rest: string, body: (one: WorldCase, n: number) => unknown): Operation['request'] =>
  (world, n) => {
    const one = pick(world.writing, n);
    return { method: 'POST', path: `/cases/${one.id}/${rest}`, token: one.token, body: body(one, n) };
  };

const changing =
  <K extends 'people' | 'interactions' | 'invoices' | 'appointments'>(
    kind: K,
    rest: string,
    body: (record: World[K][number], one: WorldCase, n: number) => unknown,
  ): Operation['request'] =>
  (world, n) => {
    const record = pick<WorldRecord>(world[kind], n) as World[K][number];
    const one = world.writing[record.case] as WorldCase;
    return {
      method: 'PATCH',
      path: `/cases/${one.id}/${rest}/${record.id}`,
      token: one.token,
      body: body(record, one, n),
    };
  };

const entry = ({ customer }: WorldCase) => ({
  entity_id: 'person',
  title: 'Mrs',
  first_names: 'Jane',
  last_name: 'Doe',
  tel_1: '07400 123456',
  email: 'jane.doe@client.example',
  dob: '31/01/1970',
  relationship: { [customer]: 'sister' },
  address: { address_1: '1 High Street', address_2: 'Anytown', postcode: 'AB1 2CD' },
  tags: ['executor', 'witness'],
  custom_tags: [CUSTOM_TAG],
});

const interaction = {
  type: 'phone',
  notes: 'Called about the draft will, and who is to witness it. Calls again on Friday.',
  when: '2026-03-20 14:30:00',
  recipient: 'Jo Doe',
  sender: 'Alex Adviser',
};

const invoice = (invoice_number: string) => ({
  invoice_number,
  sender_id: '0b6ff6ea-3b8e-4d0e-9e5c-1a8f6b1f3c77',
  date_created: '2026-03-01 09:00:00',
  date_due: '2026-03-31 09:00:00',
  vat: 20,
  sub_total: 300,
  vat_amount: 60,
  total: 360,
  payment_terms: '30 days',
  items: ['Mirror wills', 'Lasting power of attorney', 'Storage'].map((description) => ({
    description,
    quantity: '2',
    rate: '50.00',
    amount: '120.00',
  })),
});

/** An hour of a working day, another for every n: a reminder is seldom placed where one has been. */
const times = (n: number) => {
  const slot = n % 500_000;
  const day = new Date(Date.UTC(2040, 0, 1 + Math.floor(slot / 8))).toISOString().slice(0, 10);
  return { start_time: `${day} ${10 + (slot % 8)}:00:00`, end_time: `${day} ${11 + (slot % 8)}:00:00` };
};

export const OPERATIONS: readonly Operation[] = [
  { id: 'getCaseAddressBook', name: 'List address book', kind: 'read', request: reading('address-book') },
  {
    id: 'createCaseAddressBookEntry',
    name: 'Create entry',
    kind: 'write',
    request: creating('address-book/entry', entry),
  },
  {
    id: 'updateCaseAddressBookEntry',
    name: 'Update entry',
    kind: 'write',
    request: changing('people', 'address-book/entry', (_record, one) => entry(one)),
  },
  { id: 'getCaseInteractions', name: 'List interactions', kind: 'read', request: reading('interactions') },
  {
    id: 'createCaseInteraction',
    name: 'Create interaction',
    kind: 'write',
    request: creating('interactions', () => interaction),
  },
  {
    id: 'updateCaseInteraction',
    name: 'Update interaction',
    kind: 'write',
    request: changing('interactions', 'interactions', () => interaction),
  },
  { id: 'getCaseInvoices', name: 'List invoices', kind: 'read', request: reading('invoices') },
  {
    id: 'createCaseInvoice',
    name: 'Create invoice',
    kind: 'write',
    request: creating('invoices', (_one, n) => invoice(`B-${n}`)),
  },
  {
    id: 'updateCaseInvoice',
    name: 'Update invoice',
    kind: 'write',
    request: changing('invoices', 'invoices', ({ number }) => invoice(number)),
  },
  {
    id: 'createCaseAppointment',
    name: 'Create appointment',
    kind: 'write',
    request: creating('appointments', (_one, n) => ({
      adviser_email: ADVISER,
      ...times(n),
      email_recipient: CUSTOMER,
      email_confirmation: true,
      email_notification: true,
      notes: 'Bring the deeds.',
      location: '1 High Street, Anytown',
    })),
  },
  {
    id: 'updateCaseAppointment',
    name: 'Move appointment',
    kind: 'write',
    request: changing('appointments', 'appointments', (_record, _one, n) => ({ ...times(n), notes: 'Moved.' })),
  },
  {
    id: 'deleteCaseAppointment',
    name: 'Delete appointment',
    kind: 'write',
    once: 'appointments',
    request: (world, n) => {
      const { case: place, id } = pick(world.appointments, n);
      const { id: caseId, token } = world.writing[place] as WorldCase;
      return { method: 'DELETE', path: `/cases/${caseId}/appointments/${id}`, token };
    },
  },
];

/** Nothing but Node and the app: what several processes can share. */
export const WITHOUT_DATABASE: Operation = {
  id: 'healthz',
  name: 'No database',
  kind: 'read',
  ahead: 16,
  request: (world, n) => ({ method: 'GET', path: '/healthz', token: pick(world.reading, n).token }),
};
