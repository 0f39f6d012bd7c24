import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { refuseTakenExternalId } from '../../kernel/external-ids/verbs.ts';
import { toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import { interactionIds } from './external-ids.sql.ts';
import * as sql from './lifecycle.sql.ts';
import { findInteraction, requireInteraction } from './reads.ts';

export async function deleteInteraction(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const key = { company_id: company.id, case_id: caseId, id };
  return retryOnConflict(
    () => db.queryRecord(sql.deleteInteraction({ ...key, now: toSql(clock()), origin: auditOrigin(context) })),
    () => requireInteraction(context, caseId, id),
  );
}

export async function restoreInteraction(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const key = { company_id: company.id, case_id: caseId, id };
  const zone = zonePlaceholder(company.timeZone);
  return retryOnConflict(
    () =>
      db
        .queryRecord(sql.restoreInteraction({ ...key, zone, now: toSql(clock()), origin: auditOrigin(context) }))
        .catch(refuseTakenExternalId(interactionIds)),
    async () => {
      const found = await findInteraction(context, caseId, id);
      if (!found) throw notFound('interaction');
      if (!found.deleted) throw invalidState('deleted_at', 'the interaction is not deleted');
    },
  );
}
