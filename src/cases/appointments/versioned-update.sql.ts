import { forSeveral, type GivenChange, ONE, type Texts } from '../../kernel/sql/batch-statement.ts';
import { statementVariants } from '../../kernel/sql/statement.ts';
import { appointmentLog } from './audit.sql.ts';
import { ofAppointment } from './messages/calendar-recipients.sql.ts';
import { givenWords, storedWords, WORDS } from './projection.sql.ts';
import { PARTS, type Part } from './side-effects.sql.ts';

/**
 * What is decided on: the appointment with its version, and all that its messages depend on. `start` is the one that it is
 * to have.
 */
export const foundAppointment = (start = 'a.start_at') => ({
  was: appointmentLog.snapshot,
  // One that is no longer wished for may still have to be taken down.
  has_meeting: `EXISTS (SELECT 1 FROM meetings g WHERE ${ofAppointment('g')})`,
  // From the oldest to the newest, each in a few words: see `StoredMessage`.
  messages: `ARRAY(SELECT m.channel || ' ' || m.kind || ' ' || m.state || ' ' || m.day_before || ' ' || (m.start_at = ${start})
      || ' ' || (m.resend_of IS NOT NULL) FROM messages m WHERE ${ofAppointment('m')} ORDER BY m.id)`,
});

/** A meeting that was given up is not waited for by what is asked for later. */
const meetingFailed = `EXISTS (
  SELECT 1 FROM meetings g WHERE g.company_id = $1 AND g.case_id = $2 AND g.appointment_id = $3 AND g.state = 'failed')`;

type Change = {
  verb: Parameters<typeof appointmentLog.insertEvent>[0];
  set: string;
  /** The types of the parameters that it takes. */
  takes: string[];
  meets: string;
  where: string;
  answer: (zone: string) => string;
};

/**
 * A change of an appointment together with that of its messages and its meeting: $1 company, $2 case, $3 id, $4 the version that was
 * read, $5 now, $6 zone, $7 origin, $8 what was read, from $9 on what `set` takes, then what each of the parts takes. `meets`:
 * whether a meeting has to be made or told of it, on the row as it was. Nothing where another change came between.
 */
export const change = (name: string, options: Change) =>
  statementVariants<Part>(name, (parts) => changeText(options, parts));

const COMMON = ['uuid', 'uuid', 'uuid', 'int', 'timestamptz', 'text', 'text', 'text'];

function changeText({ verb, set, takes, meets, where, answer }: Change, parts: readonly Part[]): string | Texts {
  const types = [...COMMON, ...takes];
  const besides: string[] = [];
  let words: string | undefined;
  for (const part of parts) {
    const before = types.length;
    if (part === 'words') {
      types.push(...WORDS);
      words = givenWords(before + 1);
    } else {
      types.push(...PARTS[part].takes);
      besides.push(`, ${PARTS[part].sql((place) => `$${before + place}`)}`);
    }
  }
  const written = parts.filter((part) => part !== 'cancellations' && part !== 'meeting');
  const pending = parts.includes('meeting')
    ? `, meeting_pending = a.video_meeting AND ${meets} OR a.meeting_pending AND NOT ${meetingFailed}`
    : '';
  const text = (given: GivenChange) => `WITH ${appointmentLog.auditedUpdate({
    verb,
    set: `${set}${pending}`,
    where,
    read: { version: '$4', was: '$8' },
    at: '$5',
    origin: '$7',
    given,
  })}${given.behind(besides.join(''))}
    SELECT ${given.whose}${given.behind(`${answer('$6')}::text FROM a, ${words ?? storedWords(...written)}`)}`;
  // What was written beside it is looked through for the words as if it were all of one appointment.
  return words === undefined ? text(ONE) : forSeveral('a', types, text);
}
