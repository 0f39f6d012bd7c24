import {
  isoTime,
  jsonObject,
  jsonObjectText,
  jsonString,
  jsonUnescaped,
  nullable,
  SPACED,
  wallTime,
} from '../../kernel/sql/json.ts';

/** What responses show of an interaction `i`. */

const common = {
  id: jsonUnescaped('i.id'),
  type: jsonUnescaped('i.type'),
  notes: jsonString('i.notes'),
  sender: nullable(jsonString('i.sender')),
  recipient: jsonString('i.recipient'),
  customer_case_id: jsonUnescaped('i.case_id'),
};

/** Changes with everything that an interaction shows. */
export const version = 'i.version::text';

/** The response of a create and an update, as text. */
export const record = jsonObjectText({ ...common, when: jsonUnescaped(isoTime('i.happened_at')) }, SPACED);

/** What events and histories show. */
export const image = jsonObject({
  ...common,
  external_id: 'i.external_id',
  when: isoTime('i.happened_at'),
  created_at: isoTime('i.created_at'),
  updated_at: isoTime('i.updated_at'),
  deleted_at: isoTime('i.deleted_at'),
});

/** The display form `d` of the type, which an element needs. */
export const joinDisplayType = `JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
  ('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
  ('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
  AS d (type, icon, formatted_type) ON d.type = i.type`;

export const elementFields = (zone: string) => ({
  ...common,
  when: jsonUnescaped(wallTime('i.happened_at', zone)),
  icon: jsonUnescaped('d.icon'),
  formatted_type: jsonUnescaped('d.formatted_type'),
});

/** The element of a list, as text. Its fields are specified. `zone` is a placeholder (`zonePlaceholder`). */
export const element = (zone: string) => jsonObjectText(elementFields(zone));

/** The response of the additional operations, as text. */
export const elementWithExternalId = (zone: string) =>
  jsonObjectText({ ...elementFields(zone), external_id: nullable(jsonString('i.external_id')) });
