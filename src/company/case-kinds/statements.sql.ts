import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, rowLimit, write } from '../../kernel/sql/statement.ts';
import { anyContains, listStatements } from '../list.sql.ts';

const fields = {
  id: 'k.id',
  name: 'k.name',
  created_at: isoTime('k.created_at'),
  updated_at: isoTime('k.updated_at'),
};
const record = jsonObject(fields);

export const caseKindAudit = imageAuditLog({
  record: 'case_kind',
  actions: ['created', 'updated', 'removed', 'restored'],
  path: '/manage/case-kinds/{kindId}',
  params: { kindId: 'kind of case' },
  access: 'manage',
  table: 'case_kinds',
  as: 'k',
  image: jsonObject({ ...fields, removed_at: isoTime('k.removed_at') }),
});

type CompanyInput = { company_id: string };
const isPresent = ({ company_id }: CompanyInput) => `k.company_id = ${company_id} AND k.removed_at IS NULL`;
const isRemoved = ({ company_id }: CompanyInput) => `k.company_id = ${company_id} AND k.removed_at IS NOT NULL`;

const kindList = (name: string, where: (input: CompanyInput) => string) =>
  listStatements(name, {
    inputs: { company_id: 'uuid' },
    table: 'case_kinds',
    alias: 'k',
    where,
    element: record,
    order: 'lower(k.name), k.id',
    matches: anyContains('lower(k.name)'),
  });

export const listCaseKinds = kindList('case_kinds', isPresent);
export const listRemovedCaseKinds = kindList('removed_case_kinds', isRemoved);

export const showCaseKind = read('case_kinds.show', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT ${record}::text FROM case_kinds k WHERE ${isPresent(input)} AND k.id = ${input.id}`,
});

/** Counts removed kinds too, because they can be restored. */
export const caseKindLimit = rowLimit('kinds of case', 1_000, {
  inputs: { company_id: 'uuid' },
  rows: (input) => `FROM case_kinds WHERE company_id = ${input.company_id}`,
});

/** Returns no row if another kind has the name. */
export const insertCaseKind = write('case_kinds.insert', {
  inputs: { company_id: 'uuid', id: 'uuid', name: 'text', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH k AS (
      INSERT INTO case_kinds (company_id, id, name, created_at, updated_at)
      VALUES (${input.company_id}, ${input.id}, ${input.name}, ${input.now}, ${input.now})
      ON CONFLICT (company_id, lower(name)) WHERE removed_at IS NULL DO NOTHING
      RETURNING *
    ), event AS (
      ${caseKindAudit.insertEvent('created', { from: 'k', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM k`,
});

const CHANGE_INPUTS = { company_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' } as const;
type ChangeInput = { company_id: string; id: string; now: string; origin: string };

/** SQL: table expressions that change the kind and write the event. */
const change = (
  action: 'updated' | 'removed' | 'restored',
  input: ChangeInput,
  { where, set }: { where: string; set: string },
) => `
    WITH old AS (
      SELECT k.* FROM case_kinds k WHERE ${where} AND k.id = ${input.id} FOR NO KEY UPDATE
    ), k AS (
      UPDATE case_kinds k SET ${set}, updated_at = ${input.now}
        FROM old WHERE k.company_id = old.company_id AND k.id = old.id
      RETURNING k.*
    ), event AS (
      ${caseKindAudit.insertEvent(action, {
        from: 'k',
        at: input.now,
        origin: input.origin,
        before: caseKindAudit.snapshotOf('old'),
      })}
    )`;

/** Null leaves the name as it is. A name that another kind has violates `case_kinds_name`. */
export const updateCaseKind = write('case_kinds.update', {
  inputs: { ...CHANGE_INPUTS, name: 'text?' },
  sql: (input) => `${change('updated', input, {
    where: isPresent(input),
    set: `name = coalesce(${input.name}, k.name)`,
  })}
    SELECT ${record}::text FROM k`,
});

/** Returns no row if the kind does not exist. Cases keep it. */
export const removeCaseKind = write('case_kinds.remove', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `${change('removed', input, { where: isPresent(input), set: `removed_at = ${input.now}` })}
    SELECT ${jsonObject({ id: 'k.id', removed_at: isoTime('k.removed_at') })}::text FROM k`,
});

/** Returns no row if the kind is not removed. A name that another kind has by now violates `case_kinds_name`. */
export const restoreCaseKind = write('case_kinds.restore', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `${change('restored', input, { where: isRemoved(input), set: 'removed_at = NULL' })}
    SELECT ${record}::text FROM k`,
});

/** Finds removed kinds too. Tells whether another kind has the name, which is that of the kind itself if it is null. */
export const explainRejection = read('case_kinds.explain_rejection', {
  inputs: { company_id: 'uuid', id: 'uuid', name: 'text?' },
  sql: (input) => `
    SELECT r.removed_at IS NOT NULL AS removed,
           EXISTS (SELECT 1 FROM case_kinds k
                    WHERE ${isPresent(input)} AND lower(k.name) = lower(coalesce(${input.name}, r.name))
                      AND k.id <> r.id) AS name_taken
      FROM case_kinds r WHERE r.company_id = ${input.company_id} AND r.id = ${input.id}`,
});
