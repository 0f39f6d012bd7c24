import type { InputType } from '../../src/kernel/sql/inputs.ts';
import {
  batchOf,
  batchOfLists,
  columns,
  isoTime,
  jsonArray,
  jsonObject,
  jsonString,
  jsonUnescaped,
  nullableString,
  type Statement,
  toInstant,
  wallTime,
} from './sql.ts';

const common = {
  ...columns(jsonUnescaped, 'i', 'id', 'type'),
  ...columns(jsonString, 'i', 'notes', 'recipient'),
  sender: nullableString('i.sender'),
  customer_case_id: jsonUnescaped('i.case_id'),
};
const record = jsonObject({ ...common, when: isoTime('i.happened_at') });

const icons = `(VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'), ('SMS', 'comment', 'SMS'),
  ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
  ('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
  AS d (type, icon, formatted_type)`;

const element = jsonObject({
  ...common,
  when: wallTime('i.happened_at', '$3'),
  ...columns(jsonUnescaped, 'd', 'icon', 'formatted_type'),
});

const listText = `SELECT ${jsonArray(element, 'i.happened_at DESC, i.created_at DESC, i.id DESC')}
           FROM interactions i JOIN ${icons} ON d.type = i.type
          WHERE i.company_id = $1 AND i.case_id = $2 AND i.deleted_at IS NULL`;

/** $1 company, $2 case, $3 zone. */
export const list: Statement = {
  name: 'baseline.interactions',
  text: listText,
  batch: batchOfLists(['uuid', 'uuid', 'text'], listText),
};

const TYPES: InputType[] = ['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text', 'text'];

/** $1 company, $2 case, $3 id, $4 type, $5 notes, $6 when, $7 sender, $8 recipient, $9 zone. */
export const create: Statement = {
  name: 'baseline.create_interaction',
  text: `INSERT INTO interactions AS i (company_id, case_id, id, type, notes, happened_at, sender, recipient,
           created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, ${toInstant('$6', '$9')}, $7, $8, now(), now())
         RETURNING ${record}`,
  batch: batchOf(
    TYPES,
    `, i AS (
       INSERT INTO interactions (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at,
         updated_at)
       SELECT p1, p2, p3, p4, p5, ${toInstant('p6', 'p9')}, p7, p8, now(), now() FROM input
       RETURNING *
     )
     SELECT input.nth, ${record} FROM i JOIN input ON input.p3 = i.id`,
  ),
};

export const update: Statement = {
  name: 'baseline.update_interaction',
  text: `UPDATE interactions AS i
            SET type = $4, notes = $5, happened_at = ${toInstant('$6', '$9')}, sender = $7, recipient = $8,
                updated_at = now(), version = version + 1
          WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
         RETURNING ${record}`,
  batch: batchOf(
    TYPES,
    `UPDATE interactions AS i
        SET type = p4, notes = p5, happened_at = ${toInstant('p6', 'p9')}, sender = p7, recipient = p8,
            updated_at = now(), version = version + 1
       FROM input
      WHERE i.company_id = p1 AND i.case_id = p2 AND i.id = p3 AND i.deleted_at IS NULL
     RETURNING input.nth, ${record}`,
  ),
};
