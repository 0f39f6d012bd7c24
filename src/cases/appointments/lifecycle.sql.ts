import { jsonObject, longStatement, statement } from '../../kernel/sql/statement.ts';
import { storedWords, whole } from './projection.sql.ts';
import { change, foundAppointment } from './versioned-update.sql.ts';

/** $1 company, $2 case, $3 id, $4 zone */
export const readAppointment = statement(
  'appointments.read',
  `SELECT ${whole('$4')}::text FROM appointments a, ${storedWords()}
    WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.deleted_at IS NULL`,
);

// Who has the address now: appointments follow the adviser and not what was written down at booking.
const advisers = (email: string) =>
  `SELECT d.id FROM advisers d WHERE d.company_id = $1 AND lower(d.email) = lower(${email}) AND d.removed_at IS NULL`;

/** Open ends are infinite, so that the index gives the range whichever of the two is sent. */
const within = (from: string, to: string, deleted: string) =>
  `a.start_at >= coalesce(${from}, '-infinity'::timestamptz) AND a.start_at < coalesce(${to}, 'infinity'::timestamptz)
   AND (${deleted}::boolean IS NULL OR (a.deleted_at IS NOT NULL) = ${deleted})`;

const list = (zone: string) => `coalesce(json_agg(${whole(zone)} ORDER BY a.start_at, a.id), '[]')::text`;

/**
 * $1 company, $2 case, $3 zone, $4 from, $5 to, $6 deleted ones, the others or (null) both, $7 adviser's email or null.
 * Nothing where there is no such adviser.
 */
export const listAppointments = longStatement(
  'appointments.list',
  `SELECT (
     SELECT ${list('$3')} FROM appointments a, ${storedWords()}
      WHERE a.company_id = c.company_id AND a.case_id = c.id AND ${within('$4', '$5', '$6')}
        AND ($7::text IS NULL OR a.adviser_id IN (${advisers('$7')})))
     FROM cases c
    WHERE c.company_id = $1 AND c.id = $2 AND ($7::text IS NULL OR EXISTS (${advisers('$7')}))`,
);

const diary = `appointments a
  WHERE a.company_id = $1 AND a.adviser_id IN (${advisers('$2')}) AND ${within('$4', '$5', '$6')}`;

/**
 * $1 company, $2 adviser's email, $3 to $6 as above, $7 limit, $8 offset. The messages are looked up for the page
 * alone. Nothing where there is no such adviser.
 */
export const listDiary = longStatement(
  'appointments.diary',
  `SELECT (SELECT ${list('$3')}
             FROM (SELECT a.* FROM ${diary} ORDER BY a.start_at, a.id LIMIT $7 OFFSET $8) a, ${storedWords()}) AS json,
          (SELECT count(*)::int FROM ${diary}) AS total
    WHERE EXISTS (${advisers('$2')})`,
);

/** $1 company, $2 case, $3 id. A deleted one is found too. */
export const findInAnyState = statement(
  'appointments.find_any',
  `SELECT ${jsonObject(foundAppointment())}::text
     FROM appointments a WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3`,
);

export const restoreAppointment = change('appointments.restore', {
  verb: 'restored',
  set: 'deleted_at = NULL',
  takes: [],
  meets: 'a.cancelled = 0',
  where: 'a.deleted_at IS NOT NULL',
  answer: whole,
});

const outcome = (name: string, verb: 'cancelled' | 'reinstated' | 'outcome_set') =>
  change(name, {
    verb,
    set: 'attended = $9, cancelled = $10, type = $11',
    takes: ['smallint', 'smallint', 'text'],
    meets: 'a.cancelled = 1 AND $10::smallint = 0',
    where: 'a.deleted_at IS NULL',
    answer: whole,
  });

/** $9 attended, $10 cancelled, $11 type. One and the same change, but for the name that the log has for it. */
export const setOutcome = {
  cancelled: outcome('appointments.cancel', 'cancelled'),
  reinstated: outcome('appointments.reinstate', 'reinstated'),
  other: outcome('appointments.outcome', 'outcome_set'),
};
