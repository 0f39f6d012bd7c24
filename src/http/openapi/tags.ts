/** The groups of operations, in the order in which the reference shows them. */

const ADDITIONS = 'Operations other than the specified ones are additions.';

const GROUPS: Record<string, Record<string, string>> = {
  'Records of a case': {
    'Address book': `People related to a case, and their addresses. ${ADDITIONS}`,
    Interactions: `The log of contacts with the case's client. ${ADDITIONS}`,
    Invoices: `Invoices with their items. ${ADDITIONS}`,
    Appointments: `Appointments with confirmations, reminders and video meetings. ${ADDITIONS}`,
  },
  'Related to the records': {
    Payments: 'Payments of an invoice. An addition to the specification.',
    Messages: 'Sent, waiting and failed messages of appointments. An addition to the specification.',
    Meetings: 'Video meetings of appointments. An addition to the specification.',
    Events: 'Which credential changed which record, and the state before. An addition to the specification.',
    Webhooks: 'Events sent to your own address. An addition to the specification.',
  },
  'The company': {
    Company: 'The settings of the company. An addition to the specification.',
    Cases: 'The cases of the company. An addition to the specification.',
    Customers: 'The customers of a case. An addition to the specification.',
    Advisers: 'The advisers that appointments are booked with. An addition to the specification.',
    'Video accounts': 'The accounts that create the video meetings of an adviser. An addition to the specification.',
    Tags: 'The tags of address book entries. An addition to the specification.',
    'API keys': 'Bearer tokens that work until they are revoked. An addition to the specification.',
    'API clients': 'Programs that exchange a secret for access tokens. An addition to the specification.',
    'Access tokens': 'OAuth 2.0 for API clients. An addition to the specification.',
  },
  'The installation': {
    Companies: 'All companies, for the operator of the service. An addition to the specification.',
  },
};

export const TAGS = Object.values(GROUPS).flatMap((tags) =>
  Object.entries(tags).map(([name, description]) => ({ name, description })),
);

/** Redocly's extension, which the reference page reads too. */
export const TAG_GROUPS = Object.entries(GROUPS).map(([name, tags]) => ({ name, tags: Object.keys(tags) }));
