import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import type { Instant } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { OutcomeBody } from './lifecycle.schema.ts';
import * as sql from './lifecycle.sql.ts';
import { NO_MESSAGES, planCancellation, planReminders } from './message-plan.ts';
import { appointmentOf, changeOf, type FoundAppointment, notice } from './versioned-update.ts';

/** Read, decide, and write onto the version that was read, as an update does. */

export async function restoreAppointment(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(async () => {
    const found = await findInAnyState(context, caseId, id);
    if (!found) throw notFound('appointment');
    const row = found.was.appointments;
    if (row.deleted_at === null) throw invalidState('deleted_at', 'the appointment is not deleted');
    const now = clock();
    const plan = planReminders(appointmentOf(row), now, company);
    const { parts, values } = changeOf(context, { caseId, id, found, now, plan });
    const record = await db.queryJson(sql.restoreAppointment(parts), values);
    if (record) notice(context, plan, now, row.video_meeting);
    return record;
  });
}

export async function setOutcome(
  context: Context,
  caseId: string,
  id: string,
  form: Form<OutcomeBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { type } = form.body;
  return retryOnConflict(async () => {
    const found = await findInAnyState(context, caseId, id);
    if (!found || found.was.appointments.deleted_at !== null) throw notFound('appointment');
    const row = found.was.appointments;
    const before = appointmentOf(row);
    const attended = form.body.attended === undefined ? row.attended === 1 : form.body.attended === true;
    const cancelled = form.body.cancelled === undefined ? before.cancelled : form.body.cancelled === true;
    const now = clock();
    requireOne(form, attended, cancelled);
    requireBegun(form, before.start, now);
    form.check();
    const what = cancelled === before.cancelled ? 'other' : cancelled ? 'cancelled' : 'reinstated';
    const plan = {
      other: () => NO_MESSAGES,
      cancelled: () => planCancellation(now),
      reinstated: () => planReminders({ ...before, cancelled }, now, company),
    }[what]();
    const { parts, values } = changeOf(context, { caseId, id, found, now, plan }, [
      Number(attended),
      Number(cancelled),
      type === undefined ? row.type : type,
    ]);
    const record = await db.queryJson(sql.setOutcome[what](parts), values);
    if (record) notice(context, plan, now, row.video_meeting);
    return record;
  });
}

/** The fault is that of the word which was sent; of the cancellation where both were. */
function requireOne(form: Form<OutcomeBody>, attended: boolean, cancelled: boolean): void {
  if (!attended || !cancelled) return;
  const field = form.body.cancelled === true ? 'cancelled' : 'attended';
  form.addFault(field, 'invalid_state', 'an appointment cannot be both attended and cancelled');
}

/** Who is said to have attended now must have been able to. What was said before stays where the start is moved. */
function requireBegun(form: Form<OutcomeBody>, start: Instant, now: Instant): void {
  if (form.body.attended !== true || Temporal.Instant.compare(start, now) <= 0) return;
  form.addFault('attended', 'invalid_state', 'the appointment has not begun yet');
}

async function findInAnyState(context: Context, caseId: string, id: string): Promise<FoundAppointment | undefined> {
  const found = await context.db.queryJson(sql.findInAnyState, [context.company.id, caseId, id]);
  return found === undefined ? undefined : JSON.parse(found);
}
