import { readAndWrite, readOnly } from '../kernel/schema/grants.ts';

export const COMPANY_GRANTS = [
  ...readAndWrite('companies', 'advisers', 'cases', 'customers', 'custom_tags'),
  ...readAndWrite('tokens', 'clients', 'client_rotations', 'users', 'sessions'),
  ...readOnly('default_tags'),
];
