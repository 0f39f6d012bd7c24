/** The texts of the page with all results of a search. */
export const text = {
  title: 'Search',
  label: 'A name, a number, a phone number, or words',
  search: 'Search',
  kinds: 'Kinds',
  all: 'Everything',
  kind: {
    case: 'Cases',
    customer: 'Clients',
    entry: 'People',
    interaction: 'Contacts',
    invoice: 'Invoices',
    appointment: 'Appointments',
  },
  one: {
    case: 'Case',
    customer: 'Client',
    entry: 'Person',
    interaction: 'Contact',
    invoice: 'Invoice',
    appointment: 'Appointment',
  },
  /** Contacts are known by their type, and appointments without one by their kind. */
  titles: {
    phone: 'Phone call',
    email: 'Email',
    letter: 'Letter',
    appointment: 'Appointment',
    video_conference: 'Video conference',
    other: 'Other contact',
  },
  begin: 'Search in all cases: for a client, a phone number, an invoice, or words of a note.',
  none: 'Nothing was found.',
  noneHint: 'A record is found if it has all of the words. Try fewer words, or only their beginnings.',
  everyKind: 'Search in everything',
  results: 'Results',
  count: (count: number, hasMore: boolean) =>
    `${hasMore ? 'The first ' : ''}${count === 1 ? '1 result' : `${count} results`}`,
  incomplete: 'The index of your company is being built, so records may be missing. Search again in a few minutes.',
};
