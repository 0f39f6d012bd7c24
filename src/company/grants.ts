import { readAndWrite, readOnly } from '../kernel/schema/grants.ts';

export const COMPANY_GRANTS = [
  ...readAndWrite('companies', 'advisers', 'cases', 'case_kinds', 'customers', 'custom_tags'),
  ...readAndWrite('tokens', 'clients', 'client_rotations', 'users', 'sessions'),
  ...readAndWrite('passkeys', 'user_links', 'sign_in_attempts', 'used_challenges'),
  ...readOnly('default_tags', 'challenge_keys'),
];
