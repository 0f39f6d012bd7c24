import { read } from '../../../kernel/sql/statement.ts';
import { branchPerValue, companyLists, isExternalId } from '../../company-list.sql.ts';
import { APPOINTMENT_BYTES, companyAppointment, outcome, storedStates } from '../projection.sql.ts';

export const companyAppointments = companyLists('appointments', {
  table: 'appointments',
  alias: 'a',
  inputs: { zone: 'text', outcomes: 'text[]', adviser_id: 'uuid?', external_id: 'text?' },
  listed: 'a.deleted_at IS NULL',
  walks: {
    start_time: {
      key: 'a.start_at',
      keyType: 'timestamptz',
      branches: ({ outcomes }) => branchPerValue(outcomes, 3, (value) => `(${outcome}) = ${value}`),
    },
    adviser: {
      key: 'a.start_at',
      keyType: 'timestamptz',
      branches: ({ adviser_id }) => [`a.adviser_id = ${adviser_id}`],
    },
    external_id: {
      key: 'a.start_at',
      keyType: 'timestamptz',
      branches: ({ external_id }) => [`a.external_id = ${external_id}`],
    },
  },
  matches: ({ outcomes, adviser_id, external_id }) =>
    `${isExternalId('a', external_id)} AND (${outcome}) = ANY (${outcomes}) AND (${adviser_id} IS NULL OR a.adviser_id = ${adviser_id})`,
  joins: () => `CROSS JOIN ${storedStates()}`,
  element: (input) => `${companyAppointment(input)}::text`,
  bytes: () => APPOINTMENT_BYTES,
});

/** The adviser who has this address now. */
export const findAdviser = read('appointments.find_adviser_of_list', {
  inputs: { company_id: 'uuid', email: 'text' },
  sql: (input) => `
    SELECT d.id FROM advisers d
     WHERE d.company_id = ${input.company_id} AND lower(d.email) = lower(${input.email}) AND d.removed_at IS NULL`,
});
