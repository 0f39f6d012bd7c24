/** The groups of operations, in the order in which the reference shows them. */

const GROUPS: Record<string, Record<string, string>> = {
  'Records of a case': {
    'Address book': 'People related to a case, and their addresses.',
    Interactions: "The log of contacts with the case's client.",
    Invoices: 'Invoices with their items.',
    Appointments: 'Appointments with confirmations, reminders and video meetings.',
  },
  'Across cases': {
    Search: 'Find records of all cases by words, names and numbers.',
  },
  'Related to the records': {
    Payments: 'Payments of an invoice.',
    Messages: 'Sent, waiting and failed messages of appointments.',
    Meetings: 'Video meetings of appointments.',
    Events: 'Which credential changed which record, and the state before.',
    Webhooks: 'Events sent to your own address.',
  },
  'The company': {
    Company: 'The settings of the company.',
    Cases: 'The cases of the company.',
    'Kinds of case': "The company's own list of kinds.",
    Customers: 'The customers of a case.',
    Advisers: 'The advisers that appointments are booked with.',
    'Video accounts': 'The accounts that create the video meetings of an adviser.',
    'Message templates': "The messages to clients in the company's own words.",
    Tags: 'The tags of address book entries.',
    Users: 'People of the company, who sign in.',
    'Sign-in': 'How a person begins a session in a browser.',
    Account: 'The ways to sign in of a person who has signed in.',
    Sessions: 'The sessions of a person who has signed in.',
    'API keys': 'Bearer tokens that work until they are revoked.',
    'API clients': 'Programs that exchange a secret for access tokens.',
    'Access tokens': 'OAuth 2.0 for API clients.',
  },
  'The installation': {
    Companies: 'All companies, for the operator of the service.',
  },
};

export const TAGS = Object.values(GROUPS).flatMap((tags) =>
  Object.entries(tags).map(([name, description]) => ({ name, description })),
);

/** Redocly's extension, which the reference page reads too. */
export const TAG_GROUPS = Object.entries(GROUPS).map(([name, tags]) => ({ name, tags: Object.keys(tags) }));
