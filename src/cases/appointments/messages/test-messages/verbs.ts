import { invalidRequest } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import { notifyWorkers } from '../../../../kernel/jobs/notify-workers.ts';
import { toSql } from '../../../../kernel/time/time.ts';
import { requireEmail } from '../../../../kernel/validation/email.ts';
import type { Form } from '../../../../kernel/validation/form.ts';
import type { Page, PageOfJson } from '../../../../kernel/validation/paging.ts';
import { requirePhone } from '../../../../kernel/validation/phone.ts';
import { composePreview } from '../templates/preview.ts';
import type { TestBody } from '../templates/schema.ts';
import { lockTemplates } from '../templates/statements.sql.ts';
import { requireMessage, type TemplateContext } from '../templates/verbs.ts';
import * as sql from './statements.sql.ts';

/** Anyone can be the recipient, so a leaked credential must not be able to send many. */
export const MAX_TESTS = 50;
const TEST_WINDOW = { hours: 24 };

/** Queues the mail for the address and the SMS for the number, each marked as a test. */
export async function sendTest(context: TemplateContext, name: string, form: Form<TestBody>): Promise<string> {
  const { db, company, clock } = context;
  const message = requireMessage(name);
  const { email, phone } = form.body;
  form.read('email', email, requireEmail);
  const number = form.read('phone', phone, (text) => requirePhone(text, company.phoneRegion));
  if (!email && !phone && !form.hasFault('email') && !form.hasFault('phone')) {
    form.addFault('email', 'required', 'is required unless there is a phone');
  }
  const preview = await composePreview(context, message, form);
  const note = `This is a test of a message of ${preview.company}. It is about no appointment of yours.`;
  const mail = { channel: 'email', subject: `[Test] ${preview.subject}`, content: `${note}\n\n${preview.email_text}` };
  const sms = { channel: 'sms', subject: null, content: `TEST: ${preview.sms_text}` };
  const tests = [...(email ? [{ ...mail, recipient: email }] : []), ...(number ? [{ ...sms, recipient: number }] : [])];
  const now = clock();
  const records = await db.transaction(async (tx) => {
    await tx.queryRows(lockTemplates({ company_id: company.id }));
    const since = toSql(now.subtract(TEST_WINDOW));
    const sent = await tx.queryFirst<{ count: number }>(sql.countTestMessages({ company_id: company.id, since }));
    if ((sent?.count ?? 0) + tests.length > MAX_TESTS) throw tooManyTests();
    const inserted: (string | undefined)[] = [];
    for (const test of tests) {
      const key = { company_id: company.id, id: newId(), message };
      inserted.push(await tx.queryJson(sql.insertTestMessage({ ...key, ...test, now: toSql(now) })));
    }
    return inserted;
  });
  notifyWorkers(db);
  return `[${records.join(', ')}]`;
}

const tooManyTests = () =>
  invalidRequest([
    { field: 'body', code: 'too_many', message: `a company can send at most ${MAX_TESTS} test messages in 24 hours` },
  ]);

export async function listTestMessages(
  { db, company }: Pick<TemplateContext, 'db' | 'company'>,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const page = await db.queryFirst<PageOfJson>(sql.listTestMessages({ company_id: company.id, limit, offset }));
  return page ?? { json: '[]', total: 0 };
}
