import type { Dataset, DatasetCase, DatasetRecord, RecordKind } from './dataset.ts';
import { ADVISER, CUSTOM_TAG, CUSTOMER } from './seed.ts';

/** The twelve operations of the specification, and the request that each is measured with. */

export type Request = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** The parameters in the path, by the names that the typed client has for them. */
  params: Record<string, string>;
  token: string;
  body?: unknown;
};

export type Operation = {
  id: string;
  name: string;
  kind: 'read' | 'write';
  /** The kind of record that the operation changes. Lists and creates change no existing record. */
  changes?: RecordKind;
  /** Whether each record can be requested only once per round. */
  consumes?: true;
  /** Requests that a connection sends together, so that the load generator needs less CPU time; 1 by default. */
  pipelineDepth?: number;
  /** Returns the nth request. Requests with different n do not conflict. */
  request: (dataset: Dataset, n: number) => Request;
};

/** Picks an element. The sequence looks random and is the same in every run. */
const pick = <T>(list: readonly T[], n: number): T => list[(n * 7919) % list.length] as T;

const listRequest =
  (path: string): Operation['request'] =>
  (dataset, n) => {
    const { id, token } = pick(dataset.readCases, n);
    return { method: 'GET', path: `/cases/${id}/${path}`, params: { caseId: id }, token };
  };

const createRequest =
  (path: string, body: (caseRow: DatasetCase, n: number) => unknown): Operation['request'] =>
  (dataset, n) => {
    const caseRow = pick(dataset.writeCases, n);
    const { id, token } = caseRow;
    return { method: 'POST', path: `/cases/${id}/${path}`, params: { caseId: id }, token, body: body(caseRow, n) };
  };

/** Returns the request that changes a record, and the kind of that record. */
const changeRequest = <K extends RecordKind>(
  changes: K,
  path: string,
  idParam: string,
  body?: (record: Dataset[K][number], caseRow: DatasetCase, n: number) => unknown,
): Pick<Operation, 'changes' | 'request'> => ({
  changes,
  request: (dataset, n) => {
    const record = pick<DatasetRecord>(dataset[changes], n) as Dataset[K][number];
    const caseRow = dataset.writeCases[record.caseIndex] as DatasetCase;
    return {
      method: body ? 'PATCH' : 'DELETE',
      path: `/cases/${caseRow.id}/${path}/${record.id}`,
      params: { caseId: caseRow.id, [idParam]: record.id },
      token: caseRow.token,
      ...(body && { body: body(record, caseRow, n) }),
    };
  },
});

const entry = ({ customer }: DatasetCase) => ({
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

/** Returns a different hour for every n, so that a reminder is rarely moved to the time of an earlier one. */
const appointmentTimes = (n: number) => {
  const slot = n % 500_000;
  const day = new Date(Date.UTC(2040, 0, 1 + Math.floor(slot / 8))).toISOString().slice(0, 10);
  return { start_time: `${day} ${10 + (slot % 8)}:00:00`, end_time: `${day} ${11 + (slot % 8)}:00:00` };
};

export const OPERATIONS: readonly Operation[] = [
  { id: 'getCaseAddressBook', name: 'List address book', kind: 'read', request: listRequest('address-book') },
  {
    id: 'createCaseAddressBookEntry',
    name: 'Create entry',
    kind: 'write',
    request: createRequest('address-book/entry', entry),
  },
  {
    id: 'updateCaseAddressBookEntry',
    name: 'Update entry',
    kind: 'write',
    ...changeRequest('people', 'address-book/entry', 'entryID', (_record, caseRow) => entry(caseRow)),
  },
  { id: 'getCaseInteractions', name: 'List interactions', kind: 'read', request: listRequest('interactions') },
  {
    id: 'createCaseInteraction',
    name: 'Create interaction',
    kind: 'write',
    request: createRequest('interactions', () => interaction),
  },
  {
    id: 'updateCaseInteraction',
    name: 'Update interaction',
    kind: 'write',
    ...changeRequest('interactions', 'interactions', 'interactionId', () => interaction),
  },
  { id: 'getCaseInvoices', name: 'List invoices', kind: 'read', request: listRequest('invoices') },
  {
    id: 'createCaseInvoice',
    name: 'Create invoice',
    kind: 'write',
    request: createRequest('invoices', (_case, n) => invoice(`B-${n}`)),
  },
  {
    id: 'updateCaseInvoice',
    name: 'Update invoice',
    kind: 'write',
    ...changeRequest('invoices', 'invoices', 'invoiceId', ({ number }) => invoice(number)),
  },
  {
    id: 'createCaseAppointment',
    name: 'Create appointment',
    kind: 'write',
    request: createRequest('appointments', (_case, n) => ({
      adviser_email: ADVISER,
      ...appointmentTimes(n),
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
    ...changeRequest('appointments', 'appointments', 'appointmentID', (_record, _case, n) => ({
      ...appointmentTimes(n),
      notes: 'Moved.',
    })),
  },
  {
    id: 'deleteCaseAppointment',
    name: 'Delete appointment',
    kind: 'write',
    consumes: true,
    ...changeRequest('appointments', 'appointments', 'appointmentID'),
  },
];

/** A request without the database: it shows how Node and the application scale with the number of processes. */
export const WITHOUT_DATABASE: Operation = {
  id: 'healthz',
  name: 'No database',
  kind: 'read',
  pipelineDepth: 16,
  request: (dataset, n) => ({ method: 'GET', path: '/healthz', params: {}, token: pick(dataset.readCases, n).token }),
};
