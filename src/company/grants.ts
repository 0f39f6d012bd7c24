import { readAndWrite, readOnly } from '../kernel/schema/grants.ts';

export const COMPANY_GRANTS = [
  ...readAndWrite('companies', 'advisers', 'cases', 'case_kinds', 'customers', 'custom_tags'),
  ...readAndWrite('tokens', 'clients', 'client_rotations'),
  ...readOnly('default_tags'),
];
