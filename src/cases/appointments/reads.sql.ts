import { longStatement, statement } from '../../kernel/sql/statement.ts';
import { fullAppointment, storedStates } from './projection.sql.ts';

/** $1 company, $2 case, $3 id, $4 zone. Returns no row for a deleted appointment. */
export const readAppointment = statement(
  'appointments.read',
  `SELECT ${fullAppointment('$4')}::text FROM appointments a, ${storedStates()}
    WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.deleted_at IS NULL`,
);

/** SQL: the adviser who has this address now. An adviser's appointments stay theirs when the address changes. */
const adviserIds = (email: string) =>
  `SELECT d.id FROM advisers d WHERE d.company_id = $1 AND lower(d.email) = lower(${email}) AND d.removed_at IS NULL`;

/** SQL: missing bounds become infinite, so that the index can be used whichever of them is sent. */
const matches = (from: string, to: string, deleted: string) =>
  `a.start_at >= coalesce(${from}, '-infinity'::timestamptz) AND a.start_at < coalesce(${to}, 'infinity'::timestamptz)
   AND (${deleted}::boolean IS NULL OR (a.deleted_at IS NOT NULL) = ${deleted})`;

const listJson = (zone: string) => `coalesce(json_agg(${fullAppointment(zone)} ORDER BY a.start_at, a.id), '[]')::text`;

/**
 * $1 company, $2 case, $3 zone, $4 from, $5 to, $6 whether deleted, or null for both, $7 adviser's email, or null for
 * all. Returns no row if the case or the adviser does not exist.
 */
export const listAppointments = longStatement(
  'appointments.list',
  `SELECT (
     SELECT ${listJson('$3')} FROM appointments a, ${storedStates()}
      WHERE a.company_id = c.company_id AND a.case_id = c.id AND ${matches('$4', '$5', '$6')}
        AND ($7::text IS NULL OR a.adviser_id IN (${adviserIds('$7')})))
     FROM cases c
    WHERE c.company_id = $1 AND c.id = $2 AND ($7::text IS NULL OR EXISTS (${adviserIds('$7')}))`,
);

const diary = `appointments a
  WHERE a.company_id = $1 AND a.adviser_id IN (${adviserIds('$2')}) AND ${matches('$4', '$5', '$6')}`;

/**
 * $1 company, $2 adviser's email, $3 zone, $4 from, $5 to, $6 whether deleted, or null for both, $7 limit, $8 offset.
 * Looks up messages only for the appointments of the page. Returns no row if the adviser does not exist.
 */
export const listDiary = longStatement(
  'appointments.diary',
  `SELECT (SELECT ${listJson('$3')}
             FROM (SELECT a.* FROM ${diary} ORDER BY a.start_at, a.id LIMIT $7 OFFSET $8) a, ${storedStates()}) AS json,
          (SELECT count(*)::int FROM ${diary}) AS total
    WHERE EXISTS (${adviserIds('$2')})`,
);
