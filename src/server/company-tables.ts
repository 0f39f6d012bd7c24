/**
 * Tables whose rows are made from those of other tables. They are removed first and never exported. Without its
 * progress a company is not followed, so no worker adds rows to those that are deleted.
 */
export const DERIVED_TABLES = ['search_progress', 'search_documents', 'invoice_sums_progress', 'invoice_sums'] as const;

/**
 * Every other table with rows of companies. Messages, webhooks and credentials come first, so that nothing is sent and no
 * caller writes any more; the others come before the tables that they refer to. Removal follows this order, export and
 * import the reverse. A test compares the list with the database.
 */
export const COMPANY_TABLES = [
  'messages',
  'test_messages',
  'message_templates',
  'webhook_notices',
  'webhook_deliveries',
  'webhook_endpoints',
  'tokens',
  'client_rotations',
  'clients',
  'sessions',
  'user_links',
  'passkeys',
  'users',
  'idempotency_keys',
  'meetings',
  'video_accounts',
  'appointments',
  'payments',
  'invoice_items',
  'invoices',
  'interactions',
  'relationships',
  'people',
  'addresses',
  'customers',
  'cases',
  'case_kinds',
  'advisers',
  'custom_tags',
  'events',
] as const;
export type CompanyTable = (typeof COMPANY_TABLES)[number];

type TableTraits = {
  /** SQL condition of the rows that are jobs without a result. */
  openJob?: string;
  /** Columns that refer to a table with references back to this one. */
  circular?: readonly string[];
  /** SQL: the order in which no row refers to a later one; by default the primary key. */
  order?: string;
  /** SQL by column: the value, from other columns of the row, that an import stores if an older file lacks the column. */
  filled?: Readonly<Record<string, string>>;
  /** Whether old rows are deleted after a time. */
  isPruned?: true;
  /** Whether callers are authenticated by it. */
  isCredential?: true;
  /** Whether it belongs to this service only, so that it is not exported. */
  isLocal?: true;
};

/** What an import needs to know about some of the tables. */
export const TABLE_TRAITS: Readonly<Partial<Record<CompanyTable, TableTraits>>> = {
  messages: {
    openJob: `state IN ('scheduled', 'sending')`,
    order: 'resend_of IS NOT NULL, created_at, id, case_id, appointment_id',
  },
  test_messages: { openJob: `state = 'scheduled'`, isPruned: true },
  webhook_notices: { openJob: `state = 'waiting'`, isPruned: true },
  webhook_deliveries: { openJob: `state = 'waiting'`, isPruned: true },
  // An endpoint is itself the job that turns events into deliveries.
  webhook_endpoints: { openJob: 'true', isPruned: true },
  meetings: { openJob: `state = 'pending'` },
  advisers: { circular: ['video_provider', 'video_account_id'] },
  cases: { filled: { opened_at: 'created_at' } },
  tokens: { isCredential: true, isPruned: true },
  client_rotations: { isCredential: true },
  clients: { isCredential: true },
  sessions: { isLocal: true },
  user_links: { openJob: `state = 'waiting'`, isLocal: true },
  passkeys: { isCredential: true },
  users: { isCredential: true },
  idempotency_keys: { isPruned: true },
  events: { isPruned: true },
};
