import { requireEmail } from '../../kernel/validation/contact.ts';
import { brokenConstraint } from '../../kernel/database/postgres-errors.ts';
import { invalidRequest, notFound, notPossible } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { newId } from '../../kernel/ids.ts';
import { requireName } from '../../kernel/validation/single-line.ts';
import type { PageOfJson, RemovableListing } from '../../kernel/validation/paging.ts';
import { originOf } from '../../kernel/audit/audit-log.ts';
import { requireRoom } from '../../kernel/database/row-limit.ts';
import { toSql } from '../../kernel/time/time.ts';
import { untilWritten } from '../../kernel/database/optimistic-retry.ts';
import { readPage } from '../list.ts';
import type { Desk } from '../admin-context.ts';
import type { AdviserBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const DEFAULTS: Record<string, unknown> = { active: true, video_provider: null };

export async function listAdvisers({ db, company }: Desk, listing: RemovableListing): Promise<PageOfJson> {
  return readPage(db, listing.removed ? sql.listRemovedAdvisers : sql.listAdvisers, [company.id], listing);
}

export async function showAdviser({ db, company }: Desk, id: string): Promise<string> {
  const record = await db.json(sql.showAdviser, [company.id, id]);
  if (record === undefined) throw notFound('adviser');
  return record;
}

export async function createAdviser(desk: Desk, form: Form<AdviserBody>): Promise<string> {
  const { db, company, clock } = desk;
  if (form.ok) await requireRoom(db, sql.adviserLimit, [company.id]);
  const adviser = JSON.stringify({ ...DEFAULTS, ...readAdviser(form) });
  const insertable = () => form.ok && form.body.video_provider !== 'zoom';
  const values = [company.id, newId(), adviser, toSql(clock()), originOf(desk)];
  return untilWritten(
    async () => insertable() && db.json(sql.insertAdviser, values),
    () => judge(desk, null, form),
  );
}

export async function changeAdviser(desk: Desk, id: string, form: Form<AdviserBody>): Promise<string> {
  const { db, company, clock } = desk;
  const values = [company.id, id, JSON.stringify(readAdviser(form)), toSql(clock()), originOf(desk)];
  return untilWritten(
    async () => form.ok && db.json(sql.updateAdviser, values).catch(unlessEmailTaken),
    () => judge(desk, id, form),
  );
}

export function removeAdviser(desk: Desk, id: string): Promise<string> {
  const { db, company, clock } = desk;
  return untilWritten(
    () => db.json(sql.removeAdviser, [company.id, id, toSql(clock()), originOf(desk)]),
    async () => {
      await showAdviser(desk, id);
    },
  );
}

/** As it was; the email must not have gone to another meanwhile. */
export function restoreAdviser(desk: Desk, id: string): Promise<string> {
  const { db, company, clock } = desk;
  return untilWritten(
    () => db.json(sql.restoreAdviser, [company.id, id, toSql(clock()), originOf(desk)]).catch(unlessEmailTaken),
    async () => {
      const judged = await db.first<{ removed: boolean; taken: boolean }>(sql.judgeRemoved, [company.id, id]);
      if (!judged) throw notFound('adviser');
      if (!judged.removed) throw notPossible('removed_at', 'the adviser is not removed');
      if (judged.taken) throw invalidRequest([{ field: 'email', ...EMAIL_TAKEN }]);
    },
  );
}

const EMAIL_TAKEN = { code: 'taken', message: 'is already used by another adviser of the company' } as const;

function unlessEmailTaken(error: unknown): undefined {
  if (brokenConstraint(error) !== 'advisers_email') throw error;
}

/** What was sent; null is the default. */
function readAdviser(form: Form<AdviserBody>): Record<string, unknown> {
  const { body } = form;
  form.read('email', body.email, requireEmail);
  form.read('name', body.name, requireName);
  return Object.fromEntries(
    sql.ADVISER_FIELDS.filter((name) => body[name] !== undefined).map((name) => [name, body[name] ?? DEFAULTS[name]]),
  );
}

/** Nothing was written: throws the reason, or returns where another change came between and it can be tried again. */
async function judge({ db, company }: Desk, id: string | null, form: Form<AdviserBody>): Promise<void> {
  const email = form.faulty('email') ? null : (form.body.email ?? null);
  const judged = await db.first<{ found: boolean; taken: boolean; zoom: boolean }>(sql.judgeAdviser, [
    company.id,
    id,
    email,
  ]);
  if (!judged?.found) throw notFound('adviser');
  if (judged.taken) form.fault('email', EMAIL_TAKEN.code, EMAIL_TAKEN.message);
  const { video_provider } = form.body;
  if (video_provider !== undefined && (video_provider === 'zoom') !== judged.zoom && !form.faulty('video_provider')) {
    form.fault('video_provider', 'not_possible', 'Zoom is connected and disconnected as a video account');
  }
  form.check();
}
