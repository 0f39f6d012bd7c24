import { auditOrigin } from '../../../../kernel/audit/audit-log.ts';
import type { RequestOrigin } from '../../../../kernel/context.ts';
import type { Executor } from '../../../../kernel/database/database.ts';
import { notFound } from '../../../../kernel/errors.ts';
import { type Clock, toSql } from '../../../../kernel/time/time.ts';
import type { Form } from '../../../../kernel/validation/form.ts';
import type { OwnTexts } from '../message.ts';
import { TEMPLATE_NAMES, TEXT_NAMES, type TemplateName } from './defaults.ts';
import { FIELDS } from './fields.ts';
import { defaultText, readOwnTexts } from './own-text.ts';
import type { TemplateBody } from './schema.ts';
import * as sql from './statements.sql.ts';

/** The context of a verb that manages the templates of a company. Every `Context` is one. */
export type TemplateContext = {
  db: Executor;
  clock: Clock;
  company: { id: string; timeZone: string; phoneRegion: string };
} & RequestOrigin;

type TemplateRow = OwnTexts & { message: TemplateName; updated_at: string };

export async function listTemplates({ db, company }: Pick<TemplateContext, 'db' | 'company'>): Promise<string> {
  const rows = await db.queryRows<TemplateRow>(sql.readTemplates({ company_id: company.id, message: null }));
  const shown = TEMPLATE_NAMES.map((message) =>
    shownTemplate(
      message,
      rows.find((row) => row.message === message),
    ),
  );
  return JSON.stringify(shown);
}

export async function readTemplate(context: Pick<TemplateContext, 'db' | 'company'>, name: string): Promise<string> {
  const message = requireMessage(name);
  return JSON.stringify(shownTemplate(message, await findOwnTexts(context, message)));
}

export const listFields = (): string =>
  JSON.stringify(Object.entries(FIELDS).map(([field, { description, sample }]) => ({ field, description, sample })));

/** Texts that are not sent stay as they are; null resets a text to the default. */
export async function updateTemplate(
  context: TemplateContext,
  name: string,
  form: Form<TemplateBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const message = requireMessage(name);
  const texts = readOwnTexts(form, message);
  form.check();
  if (Object.keys(texts).length === 0) return readTemplate(context, message);
  const row = await db.transaction(async (tx) => {
    await tx.queryRows(sql.lockTemplates({ company_id: company.id }));
    return tx.queryFirst<TemplateRow>(
      sql.storeTemplate({
        company_id: company.id,
        message,
        texts: JSON.stringify(texts),
        now: toSql(clock()),
        origin: auditOrigin(context),
      }),
    );
  });
  return JSON.stringify(shownTemplate(message, row));
}

/** Returns the default, which is in force again. */
export async function resetTemplate(context: TemplateContext, name: string): Promise<string> {
  const { db, company, clock } = context;
  const message = requireMessage(name);
  await db.queryRows(
    sql.resetTemplate({ company_id: company.id, message, now: toSql(clock()), origin: auditOrigin(context) }),
  );
  return JSON.stringify(shownTemplate(message, undefined));
}

export async function findOwnTexts(
  { db, company }: Pick<TemplateContext, 'db' | 'company'>,
  message: TemplateName,
): Promise<TemplateRow | undefined> {
  return db.queryFirst<TemplateRow>(sql.readTemplates({ company_id: company.id, message }));
}

export function requireMessage(name: string): TemplateName {
  const message = TEMPLATE_NAMES.find((known) => known === name);
  if (!message) throw notFound('message');
  return message;
}

function shownTemplate(message: TemplateName, row: TemplateRow | undefined) {
  const defaults = Object.fromEntries(TEXT_NAMES.map((name) => [name, defaultText(message, name)]));
  const own = TEXT_NAMES.filter((name) => row?.[name] != null);
  const texts = Object.fromEntries(TEXT_NAMES.map((name) => [name, row?.[name] ?? defaults[name]]));
  return { message, ...texts, own, defaults, updated_at: own.length > 0 ? row?.updated_at : null };
}
