import { imageAuditLog } from '../../../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../../../kernel/sql/json.ts';
import { read, write } from '../../../../kernel/sql/statement.ts';

/** Templates have no id, but an event needs one, so it is derived from the message. */
export const templateAudit = imageAuditLog({
  record: 'message_template',
  actions: ['updated', 'reset'],
  access: 'manage',
  table: 'message_templates',
  as: 't',
  key: { id: 'md5(t.message)::uuid' },
  image: jsonObject({
    message: 't.message',
    subject: 't.subject',
    email_text: 't.email_text',
    sms_text: 't.sms_text',
    updated_at: isoTime('t.updated_at'),
  }),
});

const columns = `t.message, t.subject, t.email_text, t.sms_text, ${isoTime('t.updated_at')} AS updated_at`;

/** `message` is null for all. Messages without words of the company return no row. */
export const readTemplates = read('message_templates.read', {
  inputs: { company_id: 'uuid', message: 'text?' },
  sql: (input) => `
    SELECT ${columns} FROM message_templates t
     WHERE t.company_id = ${input.company_id} AND (${input.message} IS NULL OR t.message = ${input.message})`,
});

/** Until the transaction ends, no other one writes templates or test messages of the company. */
export const lockTemplates = write('message_templates.lock', {
  inputs: { company_id: 'uuid' },
  sql: (input) => `SELECT 1 FROM companies WHERE id = ${input.company_id} FOR NO KEY UPDATE`,
});

/** `texts` has those to change. Runs in a transaction that has locked the templates. */
export const storeTemplate = write('message_templates.store', {
  inputs: { company_id: 'uuid', message: 'text', texts: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT * FROM message_templates WHERE company_id = ${input.company_id} AND message = ${input.message}
    ), d AS (
      SELECT d.* FROM (SELECT 1) one
        LEFT JOIN message_templates m ON m.company_id = ${input.company_id} AND m.message = ${input.message}
       CROSS JOIN LATERAL json_populate_record(m, ${input.texts}) d
    ), t AS (
      INSERT INTO message_templates (company_id, message, subject, email_text, sms_text, updated_at)
      SELECT ${input.company_id}, ${input.message}, d.subject, d.email_text, d.sms_text, ${input.now} FROM d
      ON CONFLICT (company_id, message) DO UPDATE
         SET subject = excluded.subject, email_text = excluded.email_text, sms_text = excluded.sms_text,
             updated_at = excluded.updated_at
      RETURNING *
    ), event AS (
      ${templateAudit.insertEvent('updated', {
        from: 't',
        at: input.now,
        origin: input.origin,
        before: templateAudit.snapshotOf('old'),
      })}
    )
    SELECT ${columns} FROM t`,
});

export const resetTemplate = write('message_templates.reset', {
  inputs: { company_id: 'uuid', message: 'text', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH t AS (
      DELETE FROM message_templates t WHERE t.company_id = ${input.company_id} AND t.message = ${input.message}
      RETURNING *
    ), event AS (
      ${templateAudit.insertEvent('reset', {
        from: 't',
        at: input.now,
        origin: input.origin,
        before: templateAudit.image,
      })}
    )
    SELECT 1 FROM t`,
});
