import { rowAuditLog } from '../../kernel/audit/row-audit-log.ts';
import { forSeveral } from '../../kernel/sql/batch-statement.ts';
import {
  isoTime,
  jsonObject,
  jsonObjectText,
  jsonString,
  jsonUnescaped,
  nullable,
  statement,
  wallTime,
} from '../../kernel/sql/statement.ts';
import { caseLists } from '../list.sql.ts';

const common = {
  id: jsonUnescaped('i.id'),
  type: jsonUnescaped('i.type'),
  notes: jsonString('i.notes'),
  sender: nullable(jsonString('i.sender')),
  recipient: jsonString('i.recipient'),
  customer_case_id: jsonUnescaped('i.case_id'),
};
const record = jsonObject({ ...common, when: isoTime('i.happened_at') });

export const interactionLog = rowAuditLog({
  record: 'interaction',
  verbs: ['created', 'updated', 'deleted', 'restored'],
  path: '/cases/{caseId}/interactions/{interactionId}',
  params: { caseId: 'case', interactionId: 'interaction' },
  access: 'interactions:read',
  table: 'interactions',
  as: 'i',
  image: () =>
    jsonObject({
      ...common,
      when: isoTime('i.happened_at'),
      created_at: isoTime('i.created_at'),
      updated_at: isoTime('i.updated_at'),
      deleted_at: isoTime('i.deleted_at'),
    }),
});

const icons = `(VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'), ('SMS', 'comment', 'SMS'),
  ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
  ('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other')) AS d (type, icon, formatted_type)`;
const element = (zone: string) =>
  jsonObjectText({
    ...common,
    when: jsonUnescaped(wallTime('i.happened_at', zone)),
    icon: jsonUnescaped('d.icon'),
    formatted_type: jsonUnescaped('d.formatted_type'),
  });

/** The element's own: zone. Filters: type, from, to, deleted. */
export const interactionLists = caseLists('interactions', {
  table: 'interactions',
  alias: 'i',
  beside: `JOIN ${icons} ON d.type = i.type`,
  usual: 'i.deleted_at IS NULL',
  asked: (
    $,
  ) => `(${$(1)}::text IS NULL OR i.type = ${$(1)}) AND (${$(2)}::timestamptz IS NULL OR i.happened_at >= ${$(2)})
    AND (${$(3)}::timestamptz IS NULL OR i.happened_at < ${$(3)}) AND (i.deleted_at IS NOT NULL) = coalesce(${$(4)}::boolean, false)`,
  own: ['text'],
  filters: 4,
  element: element('$3'),
  order: 'i.happened_at DESC, i.created_at DESC, i.id DESC',
});

const WRITTEN = ['uuid', 'uuid', 'uuid', 'text', 'text', 'timestamptz', 'text', 'text', 'timestamptz', 'text'];

/** $1 company, $2 case, $3 id, $4 type, $5 notes, $6 when, $7 sender, $8 recipient, $9 now, $10 origin */
export const insertInteraction = statement(
  'interactions.insert',
  forSeveral(
    'i',
    WRITTEN,
    (given) => `WITH ${given.insert(
      (first) => `INSERT INTO interactions
           (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at)
         SELECT c.company_id, c.id, $3, $4, $5, $6, $7, $8, $9, $9 FROM ${first}cases c
          WHERE c.company_id = $1 AND c.id = $2
         RETURNING *`,
    )}, e AS (
       ${given.behind(interactionLog.entry('created', { from: 'i', at: '$9', origin: '$10' }))}
     )
     SELECT ${given.whose}${record}::text FROM i`,
  ),
);

/**
 * As above; null leaves what is there, but for the sender, which $11 says was sent. Nothing where another change came
 * between.
 */
export const updateInteraction = statement(
  'interactions.update',
  forSeveral(
    'i',
    [...WRITTEN, 'boolean'],
    (given) => `WITH ${interactionLog.auditedUpdate({
      verb: 'updated',
      set: `type = $4, notes = coalesce($5, i.notes), happened_at = coalesce($6, i.happened_at),
            sender = CASE WHEN $11 THEN $7 ELSE i.sender END, recipient = coalesce($8, i.recipient)`,
      where: 'i.deleted_at IS NULL',
      at: '$9',
      origin: '$10',
      given,
    })}
     SELECT ${given.whose}${record}::text FROM i`,
  ),
);

/** $1 company, $2 case, $3 id. A deleted one is found too. */
export const findInteraction = statement(
  'interactions.find',
  `SELECT deleted_at IS NOT NULL AS deleted FROM interactions WHERE company_id = $1 AND case_id = $2 AND id = $3`,
);

/** $1 company, $2 case, $3 id, $4 zone */
export const readInteraction = statement(
  'interactions.read',
  `SELECT ${element('$4')} FROM interactions i JOIN ${icons} ON d.type = i.type
    WHERE i.company_id = $1 AND i.case_id = $2 AND i.id = $3 AND i.deleted_at IS NULL`,
);

/** $1 company, $2 case, $3 id, $4 now, $5 origin. Nothing where another change came between. */
export const deleteInteraction = statement(
  'interactions.delete',
  `WITH ${interactionLog.auditedUpdate({
    verb: 'deleted',
    set: 'deleted_at = $4',
    where: 'i.deleted_at IS NULL',
    at: '$4',
    origin: '$5',
  })}
   SELECT ${jsonObject({ id: 'i.id', deleted_at: isoTime('i.deleted_at') })}::text FROM i`,
);

/** $1 company, $2 case, $3 id, $4 zone, $5 now, $6 origin. Nothing where it is not deleted. */
export const restoreInteraction = statement(
  'interactions.restore',
  `WITH ${interactionLog.auditedUpdate({
    verb: 'restored',
    set: 'deleted_at = NULL',
    where: 'i.deleted_at IS NOT NULL',
    at: '$5',
    origin: '$6',
  })}
   SELECT ${element('$4')} FROM i JOIN ${icons} ON d.type = i.type`,
);
