import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { refuseTakenExternalId } from '../../kernel/external-ids/verbs.ts';
import { newId } from '../../kernel/ids.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type Instant, toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { appointmentIds } from './external-ids.sql.ts';
import type { OutcomeBody } from './lifecycle.schema.ts';
import * as sql from './lifecycle.sql.ts';
import { NO_MESSAGES, planCancellation, planReminders } from './message-plan.ts';
import { sideEffectsOf } from './side-effects.ts';
import { appointmentOf, type LoadedAppointment, notifyIfDue, updateInputs } from './versioned-update.ts';

export async function deleteAppointment(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const record = await retryOnConflict(
    () =>
      db.queryRecord(
        sql.deleteAppointment({
          company_id: company.id,
          case_id: caseId,
          id,
          cancellation_id: newId(),
          now: toSql(clock()),
          origin: auditOrigin(context),
        }),
      ),
    async () => {
      const loaded = await loadInAnyState(context, caseId, id);
      if (loaded.was.appointments.deleted_at !== null) throw notFound('appointment');
    },
  );
  notifyWorkers(db);
  return record;
}

export async function restoreAppointment(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  const { db, company, clock } = context;
  return retryOnConflict(async () => {
    const loaded = await loadInAnyState(context, caseId, id);
    const row = loaded.was.appointments;
    if (row.deleted_at === null) throw invalidState('deleted_at', 'the appointment is not deleted');
    const now = clock();
    const appointment = appointmentOf(row);
    const plan = planReminders(appointment, now, company);
    const inputs = updateInputs(context, caseId, id, loaded, now, appointment.end);
    const sideEffects = sideEffectsOf(plan, loaded.messages, loaded.has_meeting);
    const record = await db
      .queryRecord(sql.restoreAppointment(inputs, sideEffects))
      .catch(refuseTakenExternalId(appointmentIds));
    if (record) notifyIfDue(context, plan, now, row.video_meeting);
    return record;
  });
}

export async function setOutcome(
  context: Context,
  caseId: string,
  id: string,
  form: Form<OutcomeBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { body } = form;
  return retryOnConflict(async () => {
    const loaded = await loadInAnyState(context, caseId, id);
    const row = loaded.was.appointments;
    if (row.deleted_at !== null) throw notFound('appointment');
    const before = appointmentOf(row);
    const attended = body.attended === undefined ? row.attended === 1 : body.attended === true;
    const cancelled = body.cancelled === undefined ? before.cancelled : body.cancelled === true;
    const now = clock();
    checkNotBoth(form, attended, cancelled);
    checkStarted(form, before.start, now);
    form.check();
    const change = cancelled === before.cancelled ? 'other' : cancelled ? 'cancelled' : 'reinstated';
    const plan = {
      other: () => NO_MESSAGES,
      cancelled: () => planCancellation(now),
      reinstated: () => planReminders({ ...before, cancelled }, now, company),
    }[change]();
    const inputs = {
      ...updateInputs(context, caseId, id, loaded, now, before.end),
      attended: Number(attended),
      cancelled: Number(cancelled),
      type: body.type === undefined ? row.type : body.type,
    };
    const sideEffects = sideEffectsOf(plan, loaded.messages, loaded.has_meeting);
    const record = await db.queryRecord(sql.setOutcome[change](inputs, sideEffects));
    if (record) notifyIfDue(context, plan, now, row.video_meeting);
    return record;
  });
}

/** The fault names the field that was sent, and `cancelled` if both were. */
function checkNotBoth(form: Form<OutcomeBody>, attended: boolean, cancelled: boolean): void {
  if (!attended || !cancelled) return;
  const field = form.body.cancelled === true ? 'cancelled' : 'attended';
  form.addFault(field, 'invalid_state', 'an appointment cannot be both attended and cancelled');
}

/** Checks only what this request says: attendance that was recorded earlier stays when the start is moved. */
function checkStarted(form: Form<OutcomeBody>, start: Instant, now: Instant): void {
  if (form.body.attended !== true || Temporal.Instant.compare(start, now) <= 0) return;
  form.addFault('attended', 'invalid_state', 'the appointment has not started yet');
}

async function loadInAnyState({ db, company }: Context, caseId: string, id: string): Promise<LoadedAppointment> {
  const json = await db.queryJson(sql.loadAppointmentInAnyState({ company_id: company.id, case_id: caseId, id }));
  if (json === undefined) throw notFound('appointment');
  return JSON.parse(json);
}
