import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { write } from '../../kernel/sql/statement.ts';
import { interactionAudit } from './audit.sql.ts';
import { elementWithExternalId, joinDisplayType, version } from './projection.sql.ts';

/** Returns no row if the interaction does not exist, is deleted, or was changed by a concurrent update. */
export const deleteInteraction = write('interactions.delete', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${interactionAudit.update({
      action: 'deleted',
      set: `deleted_at = ${input.now}`,
      where: 'i.deleted_at IS NULL',
    })}`,
  answer: () => ({ json: `${jsonObject({ id: 'i.id', deleted_at: isoTime('i.deleted_at') })}::text`, from: 'i' }),
});

/** Returns no row if the interaction does not exist, is not deleted, or was changed by a concurrent update. */
export const restoreInteraction = write('interactions.restore', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', zone: 'text', now: 'timestamptz', origin: 'json' },
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${interactionAudit.update({
      action: 'restored',
      set: 'deleted_at = NULL',
      where: 'i.deleted_at IS NOT NULL',
    })}
    SELECT ${version}, ${elementWithExternalId(input.zone)} FROM i JOIN input USING (nth) ${joinDisplayType}`,
});
