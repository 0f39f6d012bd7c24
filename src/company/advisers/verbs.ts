import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { violatedConstraint } from '../../kernel/database/postgres-errors.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { invalidRequest, invalidState, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toSql } from '../../kernel/time/time.ts';
import { requireEmail } from '../../kernel/validation/email.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { PageOfJson, RemovableListRequest } from '../../kernel/validation/paging.ts';
import { assertVisible } from '../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../admin-context.ts';
import { readListPage } from '../list.ts';
import type { AdviserBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const DEFAULTS: Record<string, unknown> = { active: true, video_provider: null };

export async function listAdvisers(
  { db, company }: CompanyContext,
  request: RemovableListRequest,
): Promise<PageOfJson> {
  const statements = request.removed ? sql.listRemovedAdvisers : sql.listAdvisers;
  return readListPage(db, statements, { company_id: company.id }, request);
}

export async function showAdviser({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showAdviser({ company_id: company.id, id }));
  if (record === undefined) throw notFound('adviser');
  return record;
}

export async function createAdviser(context: CompanyContext, form: Form<AdviserBody>): Promise<string> {
  const { db, company, clock } = context;
  if (form.ok) await assertBelowLimit(db, sql.adviserLimit, { company_id: company.id });
  const values = {
    company_id: company.id,
    id: newId(),
    fields: JSON.stringify({ ...DEFAULTS, ...readAdviser(form) }),
    now: toSql(clock()),
    origin: auditOrigin(context),
  };
  return retryOnConflict(
    async () => form.ok && form.body.video_provider !== 'zoom' && db.queryJson(sql.insertAdviser(values)),
    () => explainRejection(context, null, form),
  );
}

export async function updateAdviser(context: CompanyContext, id: string, form: Form<AdviserBody>): Promise<string> {
  const { db, company, clock } = context;
  const values = {
    company_id: company.id,
    id,
    fields: JSON.stringify(readAdviser(form)),
    now: toSql(clock()),
    origin: auditOrigin(context),
  };
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.updateAdviser(values)).catch(rethrowUnlessEmailTaken),
    () => explainRejection(context, id, form),
  );
}

export function removeAdviser(context: CompanyContext, id: string): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () =>
      db.queryJson(
        sql.removeAdviser({ company_id: company.id, id, now: toSql(clock()), origin: auditOrigin(context) }),
      ),
    async () => {
      await showAdviser(context, id);
    },
  );
}

/** Restores the adviser unchanged, unless another adviser has the email by now. */
export function restoreAdviser(context: CompanyContext, id: string): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () =>
      db
        .queryJson(
          sql.restoreAdviser({ company_id: company.id, id, now: toSql(clock()), origin: auditOrigin(context) }),
        )
        .catch(rethrowUnlessEmailTaken),
    async () => {
      const rejection = await db.queryFirst<{ removed: boolean; email_taken: boolean }>(
        sql.explainRestoreRejection({ company_id: company.id, id }),
      );
      if (!rejection) throw notFound('adviser');
      if (!rejection.removed) throw invalidState('removed_at', 'the adviser is not removed');
      if (rejection.email_taken) throw invalidRequest([{ field: 'email', ...EMAIL_TAKEN }]);
    },
  );
}

const EMAIL_TAKEN = { code: 'taken', message: 'is already used by another adviser of the company' } as const;

function rethrowUnlessEmailTaken(error: unknown): undefined {
  if (violatedConstraint(error) !== 'advisers_email') throw error;
}

/** Returns the sent fields; null is replaced by the default. */
function readAdviser(form: Form<AdviserBody>): Record<string, unknown> {
  const { body } = form;
  form.read('email', body.email, requireEmail);
  form.read('name', body.name, assertVisible);
  return Object.fromEntries(
    sql.ADVISER_FIELDS.filter((name) => body[name] !== undefined).map((name) => [name, body[name] ?? DEFAULTS[name]]),
  );
}

/**
 * Throws the reason why nothing was written. Returns if a concurrent change was the reason, so the write is retried.
 */
async function explainRejection(
  { db, company }: CompanyContext,
  id: string | null,
  form: Form<AdviserBody>,
): Promise<void> {
  const email = form.hasFault('email') ? null : (form.body.email ?? null);
  const rejection = await db.queryFirst<{ found: boolean; email_taken: boolean; uses_zoom: boolean }>(
    sql.explainRejection({ company_id: company.id, id, email }),
  );
  if (!rejection?.found) throw notFound('adviser');
  if (rejection.email_taken) form.addFault('email', EMAIL_TAKEN.code, EMAIL_TAKEN.message);
  const { video_provider } = form.body;
  const changesZoom = video_provider !== undefined && (video_provider === 'zoom') !== rejection.uses_zoom;
  if (changesZoom && !form.hasFault('video_provider')) {
    form.addFault(
      'video_provider',
      'invalid_state',
      'cannot change to or from zoom here: connect or disconnect the video account',
    );
  }
  form.check();
}
