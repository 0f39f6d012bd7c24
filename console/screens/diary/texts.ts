import type { Notice } from './notices.ts';

const CHANNEL = { email: 'email', sms: 'SMS' };

/** The texts of the diary. */
export const text = {
  title: 'Diary',
  book: 'Book an appointment',
  day: 'Day',
  week: 'Week',
  view: 'View',
  today: 'Today',
  date: 'Date',
  adviser: 'Adviser',
  everyone: 'All advisers',
  earlier: { day: 'Day before', week: 'Week before' },
  later: { day: 'Day after', week: 'Week after' },
  choose: 'Choose a time with the arrow keys',
  count: (count: number) => (count === 0 ? 'No appointments' : count === 1 ? '1 appointment' : `${count} appointments`),
  tooMany: 'There are more appointments than can be shown. Choose an adviser or a day.',
  grid: 'Times. Press S to choose a time with the arrow keys.',
  free: 'No appointments',
  skipped: (from: string, to: string) => `Clocks go forward: ${from} to ${to} does not exist`,
  notRepeated: 'Only on the day on which clocks go back',
  hours: (hours: number) => `${hours} hours`,
  clocks: (hours: number) => `Clocks go ${hours < 24 ? 'forward' : 'back'}: ${hours} hours`,
  noAdviser: 'No adviser can be booked yet.',
  case: 'Case',
  ofCase: (reference: string | null) => reference ?? 'Appointment',
  states: { attended: 'Attended', cancelled: 'Cancelled', 'no-show': 'No-show', video: 'Video' },
  choosing: (when: string, who: string, others: number) =>
    `${when}${who && `, ${who}`}${others > 0 ? `, beside ${others === 1 ? 'another appointment' : `${others} others`}` : ''}`,
  chosenRole: 'time',
  movedRole: 'appointment to move',
  chooseHelp: 'Arrow keys move, Shift with an arrow changes the end, Enter books, Escape ends.',
  moveHelp: 'Arrow keys move, Shift with an arrow changes the end, Enter drops it, Escape leaves it where it was.',
  left: 'Left where it was.',

  caseSearch: 'Client or case',
  caseHint: 'A name, a number or a word',
  caseNone: 'No case was found.',
  caseFailed: 'The search failed.',
  caseMissing: 'Choose the case of the appointment',
  caseChange: 'Change the case',
  caseCount: (count: number) => (count === 1 ? '1 case was found' : `${count} cases were found`),
  bookingButton: 'Book',
  booked: 'The appointment is booked.',
  noCustomers: 'The case has no client with an email address.',
  noEmail: 'No email',
  second: (time: string) => `The second ${time}, after the clocks have gone back`,
  gap: (time: string) => `The clocks skip this time. It will be ${time}.`,
  replacing: (when: string, who: string) =>
    `An appointment keeps its adviser, so this books another one and deletes the one of ${when} with ${who}.`,
  notReplaced: 'The new appointment is booked, but the one before could not be deleted. Please look at it.',

  appointment: 'Appointment',
  was: (when: string) => `Now it is ${when}. Nothing has changed yet.`,
  saved: 'The appointment is saved.',
  deleted: 'The appointment is deleted.',
  restored: 'The appointment is back.',
  outcomeSaved: 'The outcome is saved.',
  join: 'Join the video meeting',
  meeting: {
    none: 'No video meeting',
    pending: 'The video meeting is being prepared.',
    ready: 'The video meeting is ready.',
    failed: 'The video meeting could not be made.',
    add: 'Add a video meeting',
    again: 'Try again',
    withdraw: 'Remove the video meeting',
  },
  outcome: 'Outcome',
  attended: 'The client came',
  noShow: 'Did not come',
  cancel: 'Cancel the appointment',
  undoOutcome: 'Undo the outcome',
  undoCancel: 'Undo the cancellation',
  remove: 'Delete',
  ending: 'Cancelling or deleting it',
  undoing: 'Undoing it schedules the reminders again. A confirmation goes out only if it is asked for.',
  messages: 'Messages',
  noMessages: 'Nothing has been sent, and nothing is waiting.',
  sending: 'What saving sends',
  move: 'Move with the arrow keys',
  confirmNow: { email: 'Send a confirmation by email now', sms: 'Send a confirmation by SMS now' },
  messageStates: { scheduled: 'Waiting', sent: 'Sent', failed: 'Failed', cancelled: 'Withdrawn', skipped: 'Skipped' },
  messageKinds: { confirmation: 'Confirmation', reminder: 'Reminder', cancellation: 'Cancellation' },
  byChannel: { email: 'by email', sms: 'by SMS' },
};

/** Says what a change will send. */
export function noticeText(notice: Notice, formatInstant: (at: number) => string): string {
  const by = 'channel' in notice ? CHANNEL[notice.channel] : '';
  switch (notice.kind) {
    case 'confirmation':
      return `A confirmation goes to ${notice.to} by ${by}.`;
    case 'again':
      return `A confirmation goes to ${notice.to} by ${by} once more.`;
    case 'change':
      return `A notice of the change goes to ${notice.to} by ${by}, with the old time and place.`;
    case 'waiting':
      return `The confirmation by ${by} to ${notice.to} has not gone out yet. It will say this.`;
    case 'not_told':
      return `${notice.to} knows the old time or place by ${by}, and is not told now.`;
    case 'cancellation':
      return `A cancellation goes to ${notice.to} by ${by}.`;
    case 'reminder':
      return notice.due === undefined
        ? `A reminder by ${by} goes to ${notice.to} before the appointment.`
        : `A reminder by ${by} goes to ${notice.to}: ${formatInstant(notice.due)}.`;
    case 'no_recipient':
      return `Nothing goes out by ${by}: there is no recipient.`;
    case 'over':
      return `No confirmation goes out by ${by}: the appointment is over.`;
    case 'is_cancelled':
      return `No confirmation goes out by ${by}: the appointment is cancelled.`;
    case 'no_time':
      return `No reminder goes out by ${by}: it would be less than an hour before.`;
    case 'reminder_off':
      return `The reminder by ${by} is withdrawn.`;
    case 'withdrawn':
      return notice.count === 1 ? 'A waiting message is withdrawn.' : `${notice.count} waiting messages are withdrawn.`;
    case 'nothing':
      return 'Nothing is sent.';
  }
}
