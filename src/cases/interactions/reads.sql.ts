import { sameKey } from '../../kernel/sql/input-table.ts';
import { read } from '../../kernel/sql/statement.ts';
import { caseLists } from '../list.sql.ts';
import { element, elementWithExternalId, joinDisplayType, version } from './projection.sql.ts';

export const interactionLists = caseLists('interactions', {
  table: 'interactions',
  alias: 'i',
  joins: () => joinDisplayType,
  defaultFilter: 'i.deleted_at IS NULL',
  elementInputs: { zone: 'text' },
  filterInputs: { type: 'text?', from: 'timestamptz?', to: 'timestamptz?', deleted: 'boolean?' },
  matches: (input) => `(${input.type} IS NULL OR i.type = ${input.type})
    AND (${input.from} IS NULL OR i.happened_at >= ${input.from}) AND (${input.to} IS NULL OR i.happened_at < ${input.to})
    AND (i.deleted_at IS NOT NULL) = coalesce(${input.deleted}, false)`,
  element: (input) => element(input.zone),
  order: 'i.happened_at DESC, i.created_at DESC, i.id DESC',
  batch: true,
});

/** SQL: the version that `readInteraction` would show for the key in `input`. */
export const currentVersion = `(
        SELECT ${version} FROM interactions i WHERE ${sameKey('i', 'input')} AND i.deleted_at IS NULL)`;

/** Also returns a deleted interaction. */
export const findInteraction = read('interactions.find', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT deleted_at IS NOT NULL AS deleted FROM interactions
     WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND id = ${input.id}`,
});

export const readInteraction = read('interactions.read', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', zone: 'text' },
  sql: (input) => `
    SELECT ${version}, ${elementWithExternalId(input.zone)} FROM interactions i ${joinDisplayType}
     WHERE i.company_id = ${input.company_id} AND i.case_id = ${input.case_id} AND i.id = ${input.id}
       AND i.deleted_at IS NULL`,
});
