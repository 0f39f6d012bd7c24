import type { InputNames, Inputs } from '../../kernel/sql/inputs.ts';
import { jsonObject } from '../../kernel/sql/json.ts';
import { writeVariants } from '../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, ofAppointment } from './appointment-key.sql.ts';
import { appointmentAudit } from './audit.sql.ts';
import { byPrecedence, shownDayBefore, shownState, shownVersion, storedStates } from './projection.sql.ts';
import { MESSAGE_EFFECTS, SIDE_EFFECT_INPUTS, sideEffectCtes } from './side-effects.sql.ts';

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

/**
 * The inputs of every update. `version` and `was` are those of the appointment when it was read; `end_time` is the wall
 * time of its end after the update.
 */
const UPDATE_INPUTS = {
  ...APPOINTMENT_KEY_INPUTS,
  version: 'int',
  was: 'json',
  now: 'timestamptz',
  origin: 'json',
  end_time: 'text',
} as const;

/** SQL: whether the meeting has failed. Confirmations that are requested later do not wait for it. */
const meetingFailed = `EXISTS (SELECT 1 FROM meetings g WHERE ${ofAppointment('g')} AND g.state = 'failed')`;

type UpdateOptions<I extends Inputs> = {
  action: Parameters<typeof appointmentAudit.insertEvent>[0];
  /** The inputs of `set`. */
  inputs: I;
  set: (input: InputNames<I>) => string;
  /** SQL on the row before the update: whether the meeting has to be created or updated. */
  needsMeeting: (input: InputNames<I>) => string;
  where: string;
  /** SQL: the response, as text. */
  answer: (sources: { endTime: string; states: 'states' | 'input' }) => string;
};

/**
 * Updates an appointment together with its messages and its meeting. Returns no row if `where` fails or the appointment
 * has another version by now.
 */
export const versionedUpdate = <const I extends Inputs>(
  name: string,
  { action, inputs, set, needsMeeting, where, answer }: UpdateOptions<I>,
) =>
  writeVariants(name, {
    inputs: { ...UPDATE_INPUTS, ...inputs },
    parts: SIDE_EFFECT_INPUTS,
    shown: [
      ['states'],
      ['meeting', 'states'],
      ['reminders', 'states'],
      ['reminders', 'meeting', 'states'],
      ['withdrawn'],
      ['confirmations'],
      ['renewed'],
      ['withdrawn', 'reminders', 'meeting'],
      ['withdrawn', 'cancellations', 'meeting'],
    ],
    // The lookup of the states would mix up messages of different appointments.
    batch: (has) => has('states'),
    fromInput: (input, inputTable, has) => {
      const pending = `, meeting_pending = a.video_meeting AND ${needsMeeting(input)}
                                         OR a.meeting_pending AND NOT ${meetingFailed}`;
      return `
    WITH ${inputTable}, ${appointmentAudit.update({
      action,
      set: `${set(input)}${has('meeting') ? pending : ''}`,
      where,
      read: { version: input.version, was: input.was },
    })}${sideEffectCtes(input, has)}`;
    },
    answer: (input, has) => {
      const states = has('states') ? 'input' : 'states';
      const lookup = has('states') ? '' : `, ${storedStates(...MESSAGE_EFFECTS.filter(has))}`;
      return {
        json: answer({ endTime: input.end_time, states }),
        version: shownVersion(states),
        from: `a JOIN input USING (nth)${lookup}`,
      };
    },
  });
