import type { TestApp, TestCompany } from './app.ts';

/** A company with the cases of an ordinary week, for pictures and for checks of whole screens. */

/** A Monday afternoon in June: some of the day is over, and some is to come. */
const NOW = '2026-06-15T12:20:00Z';

const CASES = [
  { reference: 'Okafor, lasting power of attorney', kind: 'Powers of attorney', people: [['Mrs', 'Ada', 'Okafor']] },
  {
    reference: 'Brennan & Hale, mirror wills',
    kind: 'Wills',
    people: [
      ['Mr', 'Tom', 'Brennan'],
      ['Ms', 'Rosa', 'Hale'],
    ],
  },
  { reference: 'Estate of E. Whitcombe', kind: 'Probate', people: [['Mr', 'Julian', 'Whitcombe']] },
  { reference: 'Lindqvist, family trust', kind: 'Trusts', people: [['Dr', 'Maja', 'Lindqvist']] },
  {
    reference: 'Patel, will and trust',
    kind: 'Wills',
    people: [
      ['Mr', 'Arun', 'Patel'],
      ['Mrs', 'Leena', 'Patel'],
    ],
  },
  { reference: 'Castellano, lease extension', kind: 'Property', people: [['Mrs', 'Bianca', 'Castellano']] },
] as const;

export type ConsoleCompany = TestCompany & { caseIds: string[]; showcaseId: string };

export async function createConsoleCompany(app: TestApp): Promise<ConsoleCompany> {
  app.clock.set('2026-06-01T08:00:00Z');
  const company = await app.company();
  // The actor of the changes below.
  const nameKey = (name: string) =>
    app.sql('UPDATE tokens SET name = $2 WHERE company_id = $1', [company.companyId, name]);
  await nameKey('Nina Harrow');
  const { client } = company;
  await client.updateCompany({ body: { name: 'Harrow & Finch', currency: 'GBP' } });
  const { data: adviser } = await client.createAdviser({
    body: { email: 'nina.harrow@harrowfinch.example', name: 'Nina Harrow', video_provider: 'jitsi' },
  });
  await client.createAdviser({ body: { email: 'george.finch@harrowfinch.example', name: 'George Finch' } });
  const kinds = new Map<string, string>();
  for (const kind of new Set(CASES.map((one) => one.kind))) {
    kinds.set(kind, (await client.createCaseKind({ body: { name: kind } })).data.id);
  }
  const caseIds: string[] = [];
  for (const { reference, kind, people } of CASES) {
    app.clock.advance({ hours: 5, minutes: 12 });
    const customers = people.map(([title, first_names, last_name], i) => ({
      ...{ title, first_names, last_name },
      email: `${first_names.toLowerCase()}.${last_name.toLowerCase()}@client.example`,
      phone: `07700 90012${i}`,
    }));
    const body = { reference, kind_id: kinds.get(kind) ?? null, responsible_adviser_id: adviser.id, customers };
    const { data } = await client.createCase({ body });
    caseIds.push(data.id);
  }
  const [okafor = '', brennan = '', estate = '', lindqvist = ''] = caseIds;
  const showcase = await client.readCase({ caseId: brennan });
  const customer = showcase.data?.customers[0]?.id ?? '';
  const sender_id = company.companyId;

  await client.createCaseAddressBookEntry({
    caseId: brennan,
    body: {
      ...{ entity_id: 'person', title: 'Ms', first_names: 'Edith', last_name: 'Brennan', tel_1: '07700 900456' },
      email: 'edith.brennan@client.example',
      address: { address_1: '4 Orchard Lane', address_3: 'Wells', postcode: 'BA5 2PZ' },
      relationship: { [customer]: 'sister' },
      tags: ['executor', 'beneficiary'],
    },
  });
  const contacts = [
    [
      '2026-06-03 10:05',
      'phone',
      'Rang about guardians for the twins. Wants Edith as first choice.',
      'Tom Brennan',
      'Nina Harrow',
    ],
    ['2026-06-05 16:40', 'email', 'Sent the questionnaire and our terms.', 'Nina Harrow', 'Rosa Hale'],
    [
      '2026-06-09 09:15',
      'letter',
      'Signed terms came back, with copies of both passports.',
      'Rosa Hale',
      'Harrow & Finch',
    ],
    [
      '2026-06-12 14:30',
      'video_conference',
      'Went through the first draft. Two changes: the cottage goes to Rosa’s brother, and a gift to the lifeboats.',
      'Nina Harrow',
      'Tom Brennan',
    ],
    ['2026-06-15 11:10', 'phone', 'Asked when the wills can be signed. Offered Thursday.', 'Tom Brennan', 'Reception'],
  ] as const;
  for (const [when, type, notes, sender, recipient] of contacts) {
    app.clock.set(`${when.replace(' ', 'T')}:00Z`);
    await client.createCaseInteraction({ caseId: brennan, body: { type, when, notes, sender, recipient } });
  }
  app.clock.set('2026-06-03T09:00:00Z');
  const invoice = async (caseId: string, invoice_number: string, due: string, net: string, total: string) =>
    (
      await client.createCaseInvoice({
        caseId,
        body: {
          ...{ invoice_number, sender_id, vat: 20, sub_total: net, total },
          date_created: '2026-06-03 09:00',
          date_due: `${due} 12:00`,
          items: [{ description: 'Mirror wills, drafting and advice', quantity: 1, rate: net, amount: total }],
        },
      })
    ).data.id;
  const wills = await invoice(brennan, 'HF-2041', '2026-06-10', '620.00', '744.00');
  await invoice(okafor, 'HF-2038', '2026-06-08', '395.00', '474.00');
  await invoice(estate, 'HF-2035', '2026-07-03', '2150.00', '2580.00');
  app.clock.set('2026-06-11T10:00:00Z');
  await client.recordPayment({
    caseId: brennan,
    invoiceId: wills,
    body: { amount: '300.00', reference: 'Card, reception' },
  });

  app.clock.set('2026-06-14T09:00:00Z');
  const appointment = (caseId: string, day: string, [start, end]: readonly [string, string], location: string) =>
    client.createCaseAppointment({
      caseId,
      body: { adviser_email: adviser.email, start_time: `${day} ${start}`, end_time: `${day} ${end}`, location },
    });
  await appointment(okafor, '2026-06-15', ['09:30', '10:15'], 'Room 1');
  await appointment(lindqvist, '2026-06-15', ['11:00', '12:00'], 'Room 2');
  await appointment(estate, '2026-06-15', ['15:00', '16:00'], 'At the client’s home');
  await client.createCaseAppointment({
    caseId: brennan,
    body: {
      ...{ adviser_email: adviser.email, start_time: '2026-06-18 10:00', end_time: '2026-06-18 11:00' },
      location: 'Room 1',
      notes: 'Signing. Two witnesses from the office.',
      email_recipient: 'tom.brennan@client.example',
      email_confirmation: true,
      email_notification: true,
    },
  });
  app.clock.set(NOW);
  await nameKey('Website form');
  return { ...company, caseIds, showcaseId: brennan };
}
