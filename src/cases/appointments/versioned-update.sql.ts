import { forSeveral, type GivenChange, ONE, type Texts } from '../../kernel/sql/batch-statement.ts';
import { jsonObject, statementVariants } from '../../kernel/sql/statement.ts';
import { ofAppointment } from './appointment-key.sql.ts';
import { appointmentAudit } from './audit.sql.ts';
import { byPrecedence, inputStates, STATE_TYPES, shownDayBefore, shownState, storedStates } from './projection.sql.ts';
import { SIDE_EFFECTS, type SideEffect } from './side-effects.sql.ts';

/**
 * The fields that a change is decided on: the appointment with its version, whether it has a meeting, and its messages.
 * See `LoadedAppointment`. `newStart`: SQL of the start that the appointment is to have.
 */
export const loadForUpdate = (newStart = 'a.start_at') => ({
  was: appointmentAudit.snapshot,
  // A meeting that is no longer desired counts too: it may still have to be removed.
  has_meeting: `EXISTS (SELECT 1 FROM meetings g WHERE ${ofAppointment('g')})`,
  messages: `ARRAY(
    SELECT ${jsonObject({
      channel: 'm.channel',
      kind: 'm.kind',
      state: shownState,
      day_before: shownDayBefore,
      for_new_start: `m.start_at = ${newStart}`,
      resent: 'm.resend_of IS NOT NULL',
    })}
      FROM messages m WHERE ${ofAppointment('m')} ORDER BY ${byPrecedence(newStart)})`,
});

/** SQL: whether the meeting has failed. Confirmations that are requested later do not wait for it. */
const meetingFailed = `EXISTS (
  SELECT 1 FROM meetings g
   WHERE g.company_id = $1 AND g.case_id = $2 AND g.appointment_id = $3 AND g.state = 'failed')`;

type UpdateOptions = {
  verb: Parameters<typeof appointmentAudit.insertEvent>[0];
  set: string;
  /** The types of the parameters in `set`, from $9 on. */
  types: string[];
  /** SQL on the row before the update: whether the meeting has to be created or updated. */
  needsMeeting: string;
  where: string;
  answer: (zone: string) => string;
};

/**
 * Updates an appointment together with its messages and its meeting: $1 company, $2 case, $3 id, $4 the version that
 * was read, $5 now, $6 zone, $7 origin, $8 the snapshot that was read, from $9 on the parameters of `set`, then those
 * of the side effects in their order. Returns no row if the appointment has another version by now.
 */
export const versionedUpdate = (name: string, options: UpdateOptions) =>
  statementVariants<SideEffect>(name, (effects) => updateText(options, effects));

const COMMON_TYPES = ['uuid', 'uuid', 'uuid', 'int', 'timestamptz', 'text', 'text', 'text'];

function updateText(options: UpdateOptions, effects: readonly SideEffect[]): string | Texts {
  const { verb, set, needsMeeting, where, answer } = options;
  const types = [...COMMON_TYPES, ...options.types];
  const effectCtes: string[] = [];
  let states: string | undefined;
  for (const effect of effects) {
    const used = types.length;
    if (effect === 'states') {
      types.push(...STATE_TYPES);
      states = inputStates(used + 1);
    } else {
      types.push(...SIDE_EFFECTS[effect].types);
      effectCtes.push(`, ${SIDE_EFFECTS[effect].sql((number) => `$${used + number}`)}`);
    }
  }
  const writtenMessages = effects.filter((effect) => effect !== 'cancellations' && effect !== 'meeting');
  const pending = effects.includes('meeting')
    ? `, meeting_pending = a.video_meeting AND ${needsMeeting} OR a.meeting_pending AND NOT ${meetingFailed}`
    : '';
  const selected = `${answer('$6')}::text FROM a, ${states ?? storedStates(...writtenMessages)}`;
  const text = (given: GivenChange) => `WITH ${appointmentAudit.auditedUpdate({
    verb,
    set: `${set}${pending}`,
    where,
    read: { version: '$4', was: '$8' },
    at: '$5',
    origin: '$7',
    given,
  })}${given.behind(effectCtes.join(''))}
    SELECT ${given.whose}${given.behind(selected)}`;
  // The lookup of the states would mix up messages of different appointments, so a statement with it is not batchable.
  return states === undefined ? text(ONE) : forSeveral('a', types, text);
}
