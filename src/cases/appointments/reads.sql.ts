import { sameKey } from '../../kernel/sql/input-table.ts';
import { wallTime } from '../../kernel/sql/json.ts';
import { read } from '../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, isAppointment } from './appointment-key.sql.ts';
import { companyAppointment, fullAppointment, shownVersion, storedStates } from './projection.sql.ts';

const shownAppointment = (zone: string) => fullAppointment({ endTime: wallTime('a.end_at', zone), states: 'states' });

/** Returns no row if the appointment does not exist or is deleted. */
export const readAppointment = read('appointments.read', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, zone: 'text' },
  sql: (input) => `
    SELECT ${shownVersion('states')}, ${shownAppointment(input.zone)}::text
      FROM appointments a, ${storedStates()}
     WHERE ${isAppointment(input)} AND a.deleted_at IS NULL`,
});

/** SQL: the version that `readAppointment` would show for the key in `input`. */
export const currentVersion = `(SELECT ${shownVersion('states')} FROM appointments a, ${storedStates()}
         WHERE ${sameKey('a', 'input')} AND a.deleted_at IS NULL)`;

/** SQL: the adviser who has this address now. An adviser's appointments stay theirs when the address changes. */
const adviserIds = (companyId: string, email: string) =>
  `SELECT d.id FROM advisers d
        WHERE d.company_id = ${companyId} AND lower(d.email) = lower(${email}) AND d.removed_at IS NULL`;

const FILTER_INPUTS = { from: 'timestamptz?', to: 'timestamptz?', deleted: 'boolean?' } as const;

/** SQL: missing bounds become infinite, so that the index can be used whichever of them is sent. */
const matches = ({ from, to, deleted }: Record<keyof typeof FILTER_INPUTS, string>) =>
  `a.start_at >= coalesce(${from}, '-infinity') AND a.start_at < coalesce(${to}, 'infinity')
             AND (${deleted} IS NULL OR (a.deleted_at IS NOT NULL) = ${deleted})`;

const listJson = (appointment: string) => `coalesce(json_agg(${appointment} ORDER BY a.start_at, a.id), '[]')::text`;

/** A filter that is null matches all. Returns no row if the case or the adviser does not exist. */
export const listAppointments = read('appointments.list', {
  inputs: { company_id: 'uuid', case_id: 'uuid', zone: 'text', ...FILTER_INPUTS, adviser_email: 'text?' },
  pool: 'search',
  sql: (input) => {
    const advisers = adviserIds(input.company_id, input.adviser_email);
    return `
    SELECT (
      SELECT ${listJson(shownAppointment(input.zone))}
        FROM appointments a, ${storedStates()}
       WHERE a.company_id = c.company_id AND a.case_id = c.id AND ${matches(input)}
         AND (${input.adviser_email} IS NULL OR a.adviser_id IN (${advisers})))
      FROM cases c
     WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}
       AND (${input.adviser_email} IS NULL OR EXISTS (${advisers}))`;
  },
});

/** Looks up messages only for the appointments of the page. Returns no row if the adviser does not exist. */
export const listDiary = read('appointments.diary', {
  inputs: {
    ...{ company_id: 'uuid', adviser_email: 'text', zone: 'text', ...FILTER_INPUTS, limit: 'int', offset: 'int' },
    reads_cases: 'boolean',
  },
  pool: 'search',
  sql: (input) => {
    const advisers = adviserIds(input.company_id, input.adviser_email);
    const diary = `appointments a
           WHERE a.company_id = ${input.company_id} AND a.adviser_id IN (${advisers}) AND ${matches(input)}`;
    return `
    SELECT (SELECT ${listJson(companyAppointment(input))}
              FROM (SELECT a.* FROM ${diary}
                     ORDER BY a.start_at, a.id LIMIT ${input.limit} OFFSET ${input.offset}) a,
                   ${storedStates()}) AS json,
           (SELECT count(*)::int FROM ${diary}) AS total
     WHERE EXISTS (${advisers})`;
  },
});
