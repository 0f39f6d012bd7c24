import { auditOrigin } from '../audit/audit-log.ts';
import type { Company, RequestOrigin } from '../context.ts';
import type { Executor, ShownRecord } from '../database/database.ts';
import { retryOnConflict } from '../database/optimistic-retry.ts';
import { violatedConstraint } from '../database/postgres-errors.ts';
import { InvalidValue, invalidRequest, NotFoundError, notFound, PreconditionFailedError } from '../errors.ts';
import { type Clock, toSql } from '../time/time.ts';
import type { Form } from '../validation/form.ts';
import { assertExternalId, type ExternalIdBody } from './schema.ts';
import type { ExternalIds } from './statements.sql.ts';

/** Create or update by the id that a record has in another system. The verbs of the records do the writing. */

type CompanyDatabase = { db: Executor; company: Company };

/** `caseId` is undefined for a record outside of cases. */
type Key = { caseId: string | undefined; externalId: string };

type Found = { id: string; case_id: string | null };

/** A create wrote nothing, because another record got the external id since it was looked up. */
export class ExternalIdTakenError extends Error {}

/**
 * For a create that wrote nothing: another request may have been faster with the same record. Asked before the other reasons,
 * because what that request wrote, such as an invoice number, would be one.
 */
export async function requireFreeExternalId(
  context: CompanyDatabase,
  ids: ExternalIds,
  form: Form<unknown>,
  externalId: string | undefined,
): Promise<void> {
  if (externalId === undefined || !form.ok) return;
  if (await find(context, ids, externalId)) throw new ExternalIdTakenError();
}

/** Handles the error of a write that violates the unique index: a restore, or a change of the external id. */
export const refuseTakenExternalId =
  ({ constraint, noun }: ExternalIds) =>
  (error: unknown): never => {
    if (violatedConstraint(error) !== constraint) throw error;
    const message = `is already used by another ${noun} of the company`;
    throw invalidRequest([{ field: 'external_id', code: 'taken', message }]);
  };

/** The part of an insert for a record that gets an external id. */
export const externalIdPart = (externalId: string | undefined) =>
  externalId === undefined ? {} : { external_id: { external_id: externalId } };

/** Returns the id of the record of the case that has the external id. */
export async function requireExternalId(context: CompanyDatabase, ids: ExternalIds, key: Key): Promise<string> {
  const found = isPossible(key.externalId) ? await find(context, ids, key.externalId) : undefined;
  if (!found || !isIn(found, key.caseId)) throw notFound(ids.noun);
  return found.id;
}

type Put<T> = {
  form: Form<unknown>;
  /** Whether a record that exists is refused. */
  createOnly: boolean;
  create: () => Promise<T>;
  update: (id: string) => Promise<T>;
};

/** Updates the record that has the external id, or creates it. Of concurrent requests one creates, the others update. */
export function putByExternalId<T extends ShownRecord | string>(
  context: CompanyDatabase,
  ids: ExternalIds,
  { caseId, externalId }: Key,
  { form, createOnly, create, update }: Put<T>,
): Promise<{ record: T; created: boolean }> {
  form.read('external_id', externalId, assertExternalId);
  return retryOnConflict(async () => {
    const found = form.hasFault('external_id') ? undefined : await find(context, ids, externalId);
    if (found && isIn(found, caseId)) {
      if (createOnly) throw new PreconditionFailedError(`There is a record with this external id already.`);
      const record = await update(found.id).catch(undefinedIf(NotFoundError));
      return record && { record, created: false };
    }
    // The create then refuses the form with all its faults, or the case if there is none.
    if (found) form.addFault('external_id', 'taken', `is already used by another ${ids.noun} of the company`);
    const record = await create().catch(undefinedIf(ExternalIdTakenError));
    return record && { record, created: true };
  });
}

type WriteContext = CompanyDatabase & RequestOrigin & { clock: Clock };

/** Gives the record another external id, or none. For a case, `caseId` is its own id. */
export function setExternalId(
  context: WriteContext,
  ids: ExternalIds,
  { caseId, id }: { caseId: string; id: string },
  form: Form<ExternalIdBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { external_id } = form.body;
  form.read('external_id', external_id, assertExternalId);
  const key = { company_id: company.id, case_id: caseId, id };
  const set = () => db.queryRecord(ids.set({ ...key, external_id, now: toSql(clock()), origin: auditOrigin(context) }));
  return retryOnConflict(
    async () => form.ok && set().catch(refuseTakenExternalId(ids)),
    async () => {
      if (!(await db.queryFirst(ids.exists(key)))) throw notFound(ids.noun);
      form.check();
    },
  );
}

const isIn = ({ case_id }: Found, caseId: string | undefined) => case_id === (caseId?.toLowerCase() ?? null);

const find = ({ db, company }: CompanyDatabase, ids: ExternalIds, externalId: string): Promise<Found | undefined> =>
  db.queryFirst<Found>(ids.find({ company_id: company.id, external_id: externalId }));

function isPossible(externalId: string): boolean {
  try {
    assertExternalId(externalId);
    return true;
  } catch (error) {
    if (error instanceof InvalidValue) return false;
    throw error;
  }
}

/** Another request was faster, so the record is looked up again. */
const undefinedIf =
  (expected: new (...args: never[]) => Error) =>
  (error: unknown): undefined => {
    if (!(error instanceof expected)) throw error;
  };
