import type { Demo } from './deployment.ts';

/** The kinds of writes. Each write has a unique stamp, both in its values and in its request id. */

export type WriteKind = {
  name: string;
  /** The type of the record in the event log. */
  record: string;
  verb: string;
  /** Relative frequency. */
  weight: number;
  /** The type of record that is changed; the same caller must have created one. */
  requires?: string;
  creates?: boolean;
  deletes?: boolean;
  /** Whether the record contains the stamp afterwards. */
  stamped: boolean;
  request(demo: Demo, stamp: string, path: string): { method: string; path: string; body?: unknown };
};

const casePath = (demo: Demo) => `/cases/${demo.case_id}`;
const INTERACTION = { type: 'phone', recipient: 'Jo Doe', when: '2026-03-20 14:30:00' };

export const invoice = (stamp: string) => ({
  invoice_number: stamp,
  sender_id: '0b6ff6ea-3b8e-4d0e-9e5c-1a8f6b1f3c77',
  date_created: '2026-03-01 09:00:00',
  date_due: '2026-03-31 09:00:00',
  vat: 20,
  sub_total: 200,
  total: 240,
  items: [1, 2].map((n) => ({ description: `${stamp} ${n}`, quantity: '1', rate: '100', amount: '120' })),
});

const appointment = (demo: Demo, stamp: string) => {
  const day = 1 + (Number.parseInt(stamp.slice(-4), 36) % 28);
  const date = `2090-01-${String(day).padStart(2, '0')}`;
  return {
    start_time: `${date} 10:00:00`,
    end_time: `${date} 11:00:00`,
    email_recipient: demo.customers[0]?.email,
    sms_recipient: demo.customers[0]?.phone,
    email_notification: true,
    sms_notification: true,
    notes: stamp,
  };
};

const entry = (stamp: string) => ({
  entity_id: 'person',
  title: 'Ms',
  first_names: 'Jo',
  last_name: stamp,
  address: { address_1: stamp },
});

const creation = (name: string, record: string, weight: number, request: WriteKind['request']): WriteKind => ({
  name: `${name} created`,
  record,
  verb: 'created',
  weight,
  creates: true,
  stamped: true,
  request,
});

export const WRITE_KINDS: readonly WriteKind[] = [
  creation('interaction', 'interaction', 6, (demo, notes) => ({
    method: 'POST',
    path: `${casePath(demo)}/interactions`,
    body: { ...INTERACTION, notes },
  })),
  {
    name: 'interaction updated',
    record: 'interaction',
    verb: 'updated',
    weight: 4,
    requires: 'interaction',
    stamped: true,
    request: (_demo, notes, path) => ({ method: 'PATCH', path, body: { ...INTERACTION, type: 'email', notes } }),
  },
  {
    name: 'interaction deleted',
    record: 'interaction',
    verb: 'deleted',
    weight: 1,
    requires: 'interaction',
    deletes: true,
    stamped: false,
    request: (_demo, _stamp, path) => ({ method: 'DELETE', path }),
  },
  creation('entry', 'address_book_entry', 3, (demo, stamp) => ({
    method: 'POST',
    path: `${casePath(demo)}/address-book/entry`,
    body: entry(stamp),
  })),
  {
    name: 'entry updated',
    record: 'address_book_entry',
    verb: 'updated',
    weight: 2,
    requires: 'address_book_entry',
    stamped: true,
    request: (_demo, stamp, path) => ({ method: 'PATCH', path, body: entry(stamp) }),
  },
  creation('invoice', 'invoice', 3, (demo, stamp) => ({
    method: 'POST',
    path: `${casePath(demo)}/invoices`,
    body: invoice(stamp),
  })),
  {
    name: 'payment',
    record: 'invoice',
    verb: 'payment_recorded',
    weight: 3,
    requires: 'invoice',
    stamped: true,
    request: (_demo, reference, path) => ({
      method: 'POST',
      path: `${path}/payments`,
      body: { amount: '1.00', reference },
    }),
  },
  creation('appointment', 'appointment', 2, (demo, stamp) => ({
    method: 'POST',
    path: `${casePath(demo)}/appointments`,
    body: {
      ...appointment(demo, stamp),
      adviser_email: demo.advisers[1]?.email,
      email_confirmation: true,
      sms_confirmation: true,
    },
  })),
  {
    name: 'appointment moved',
    record: 'appointment',
    verb: 'updated',
    weight: 2,
    requires: 'appointment',
    stamped: true,
    request: (demo, stamp, path) => ({ method: 'PATCH', path, body: appointment(demo, stamp) }),
  },
  {
    name: 'appointment deleted',
    record: 'appointment',
    verb: 'deleted',
    weight: 1,
    requires: 'appointment',
    deletes: true,
    stamped: false,
    request: (_demo, _stamp, path) => ({ method: 'DELETE', path }),
  },
  creation('customer', 'customer', 1, (demo, last_name) => ({
    method: 'POST',
    path: `/manage${casePath(demo)}/customers`,
    body: { last_name, email: `${last_name}@client.example` },
  })),
  creation('adviser', 'adviser', 1, (_demo, name) => ({
    method: 'POST',
    path: '/manage/advisers',
    body: { name, email: `${name}@company.example` },
  })),
  // Rare, because a company may have at most fifty; a hundred rounds create about thirty.
  creation('endpoint', 'webhook_endpoint', 0.05, (_demo, description) => ({
    method: 'POST',
    path: '/webhooks/endpoints',
    body: { url: 'https://receiver.example/none', types: ['company.updated'], description },
  })),
];

/** Returns the path of a single record. */
export const recordPath = (demo: Demo, record: string, id: string): string =>
  ({
    interaction: `${casePath(demo)}/interactions/${id}`,
    address_book_entry: `${casePath(demo)}/address-book/entry/${id}`,
    invoice: `${casePath(demo)}/invoices/${id}`,
    appointment: `${casePath(demo)}/appointments/${id}`,
    customer: `/manage${casePath(demo)}/customers/${id}`,
    adviser: `/manage/advisers/${id}`,
    webhook_endpoint: `/webhooks/endpoints/${id}`,
  })[record] as string;

/** Statements that find stamps in the tables, independently of the event log. */
export const FIND_STAMPS: Record<string, string> = {
  interaction: 'SELECT notes AS stamp FROM interactions WHERE notes = ANY ($1)',
  address_book_entry: 'SELECT last_name AS stamp FROM people WHERE last_name = ANY ($1)',
  invoice: 'SELECT invoice_number AS stamp FROM invoices WHERE invoice_number = ANY ($1)',
  payment: 'SELECT reference AS stamp FROM payments WHERE reference = ANY ($1)',
  appointment: 'SELECT notes AS stamp FROM appointments WHERE notes = ANY ($1)',
  customer: 'SELECT last_name AS stamp FROM customers WHERE last_name = ANY ($1)',
  adviser: 'SELECT name AS stamp FROM advisers WHERE name = ANY ($1)',
  webhook_endpoint: 'SELECT description AS stamp FROM webhook_endpoints WHERE description = ANY ($1)',
};
