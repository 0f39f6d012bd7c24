import { readAndWrite } from '../kernel/schema/grants.ts';

export const CASE_GRANTS = [
  ...readAndWrite('people', 'addresses', 'relationships'),
  ...readAndWrite('interactions'),
  ...readAndWrite('invoices', 'invoice_items', 'payments'),
  ...readAndWrite('invoice_sums_progress', 'invoice_sums'),
  ...readAndWrite('appointments', 'messages', 'meetings', 'video_accounts'),
  ...readAndWrite('message_templates', 'test_messages'),
];
