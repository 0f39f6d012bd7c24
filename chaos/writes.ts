import type { Demo } from './site.ts';

/** All kinds of writes, each with a stamp of its own in what it writes and in the id of its request. */

export type Kind = {
  name: string;
  /** The record in the event log. */
  record: string;
  verb: string;
  /** How often, beside the others. */
  weight: number;
  /** A change is of a record that the same lane has made. */
  of?: string;
  makes?: boolean;
  ends?: boolean;
  /** Whether the record shows the stamp afterwards. */
  stamped: boolean;
  request(demo: Demo, stamp: string, path: string): { method: string; path: string; body?: unknown };
};

const caseOf = (demo: Demo) => `/cases/${demo.case_id}`;
const RECEIVED = { type: 'phone', recipient: 'Jo Doe', when: '2026-03-20 14:30:00' };

const invoice = (stamp: string) => ({
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

const created = (name: string, record: string, weight: number, request: Kind['request']): Kind => ({
  name: `${name} made`,
  record,
  verb: 'created',
  weight,
  makes: true,
  stamped: true,
  request,
});

export const KINDS: readonly Kind[] = [
  created('interaction', 'interaction', 6, (demo, notes) => ({
    method: 'POST',
    path: `${caseOf(demo)}/interactions`,
    body: { ...RECEIVED, notes },
  })),
  {
    name: 'interaction changed',
    record: 'interaction',
    verb: 'updated',
    weight: 4,
    of: 'interaction',
    stamped: true,
    request: (_demo, notes, path) => ({ method: 'PATCH', path, body: { ...RECEIVED, type: 'email', notes } }),
  },
  {
    name: 'interaction deleted',
    record: 'interaction',
    verb: 'deleted',
    weight: 1,
    of: 'interaction',
    ends: true,
    stamped: false,
    request: (_demo, _stamp, path) => ({ method: 'DELETE', path }),
  },
  created('entry', 'address_book_entry', 3, (demo, stamp) => ({
    method: 'POST',
    path: `${caseOf(demo)}/address-book/entry`,
    body: entry(stamp),
  })),
  {
    name: 'entry changed',
    record: 'address_book_entry',
    verb: 'updated',
    weight: 2,
    of: 'address_book_entry',
    stamped: true,
    request: (_demo, stamp, path) => ({ method: 'PATCH', path, body: entry(stamp) }),
  },
  created('invoice', 'invoice', 3, (demo, stamp) => ({
    method: 'POST',
    path: `${caseOf(demo)}/invoices`,
    body: invoice(stamp),
  })),
  {
    name: 'payment',
    record: 'invoice',
    verb: 'payment_recorded',
    weight: 3,
    of: 'invoice',
    stamped: true,
    request: (_demo, reference, path) => ({
      method: 'POST',
      path: `${path}/payments`,
      body: { amount: '1.00', reference },
    }),
  },
  created('appointment', 'appointment', 2, (demo, stamp) => ({
    method: 'POST',
    path: `${caseOf(demo)}/appointments`,
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
    of: 'appointment',
    stamped: true,
    request: (demo, stamp, path) => ({ method: 'PATCH', path, body: appointment(demo, stamp) }),
  },
  {
    name: 'appointment deleted',
    record: 'appointment',
    verb: 'deleted',
    weight: 1,
    of: 'appointment',
    ends: true,
    stamped: false,
    request: (_demo, _stamp, path) => ({ method: 'DELETE', path }),
  },
  created('customer', 'customer', 1, (demo, last_name) => ({
    method: 'POST',
    path: `/manage${caseOf(demo)}/customers`,
    body: { last_name, email: `${last_name}@client.example` },
  })),
  created('adviser', 'adviser', 1, (_demo, name) => ({
    method: 'POST',
    path: '/manage/advisers',
    body: { name, email: `${name}@firm.example` },
  })),
  // Seldom: a company has fifty at most, and a hundred rounds make some thirty.
  created('endpoint', 'webhook_endpoint', 0.05, (_demo, description) => ({
    method: 'POST',
    path: '/webhooks/endpoints',
    body: { url: 'https://receiver.example/none', types: ['company.updated'], description },
  })),
];

/** Where a record is read by itself. */
export const pathOf = (demo: Demo, record: string, id: string): string =>
  ({
    interaction: `${caseOf(demo)}/interactions/${id}`,
    address_book_entry: `${caseOf(demo)}/address-book/entry/${id}`,
    invoice: `${caseOf(demo)}/invoices/${id}`,
    appointment: `${caseOf(demo)}/appointments/${id}`,
    customer: `/manage${caseOf(demo)}/customers/${id}`,
    adviser: `/manage/advisers/${id}`,
    webhook_endpoint: `/webhooks/endpoints/${id}`,
  })[record] as string;

/** Where a stamp is found in the tables, whatever the log says. */
export const STAMPED: Record<string, string> = {
  interaction: 'SELECT notes AS stamp FROM interactions WHERE notes = ANY ($1)',
  address_book_entry: 'SELECT last_name AS stamp FROM people WHERE last_name = ANY ($1)',
  invoice: 'SELECT invoice_number AS stamp FROM invoices WHERE invoice_number = ANY ($1)',
  payment: 'SELECT reference AS stamp FROM payments WHERE reference = ANY ($1)',
  appointment: 'SELECT notes AS stamp FROM appointments WHERE notes = ANY ($1)',
  customer: 'SELECT last_name AS stamp FROM customers WHERE last_name = ANY ($1)',
  adviser: 'SELECT name AS stamp FROM advisers WHERE name = ANY ($1)',
  webhook_endpoint: 'SELECT description AS stamp FROM webhook_endpoints WHERE description = ANY ($1)',
};
