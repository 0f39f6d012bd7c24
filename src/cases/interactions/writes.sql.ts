import { EXTERNAL_ID_INPUT, unlessTaken } from '../../kernel/external-ids/statements.sql.ts';
import { insertedWithInput } from '../../kernel/sql/input-table.ts';
import { write, writeVariants } from '../../kernel/sql/statement.ts';
import { interactionAudit } from './audit.sql.ts';
import { record, version } from './projection.sql.ts';

/** Returns no row if the case does not exist, or if another interaction has the external id. */
export const insertInteraction = writeVariants('interactions.insert', {
  inputs: {
    company_id: 'uuid',
    case_id: 'uuid',
    id: 'uuid',
    type: 'text',
    notes: 'text',
    happened_at: 'timestamptz',
    sender: 'text?',
    recipient: 'text',
    now: 'timestamptz',
    origin: 'json',
  },
  parts: { external_id: EXTERNAL_ID_INPUT },
  batch: true,
  fromInput: (input, inputTable, has) => `
    WITH ${inputTable}, inserted AS (
      INSERT INTO interactions
        (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at${has('external_id') ? ', external_id' : ''})
      SELECT c.company_id, c.id, ${input.id}, ${input.type}, ${input.notes}, ${input.happened_at}, ${input.sender},
             ${input.recipient}, ${input.now}, ${input.now}${has('external_id') ? `, ${input.external_id}` : ''}
        FROM input JOIN cases c ON c.company_id = ${input.company_id} AND c.id = ${input.case_id}${has('external_id') ? unlessTaken : ''}
      RETURNING *
    ), ${insertedWithInput('i')}, event AS (
      ${interactionAudit.insertEvent('created', { from: 'i', at: 'i.now', origin: 'i.origin' })}
    )`,
  answer: () => ({ json: record, version, from: 'i' }),
});

/**
 * Null leaves a column as it is; `set_sender` tells whether the sender is set. Returns no row if the interaction does not
 * exist, is deleted, or was changed by a concurrent update.
 */
export const updateInteraction = write('interactions.update', {
  inputs: {
    company_id: 'uuid',
    case_id: 'uuid',
    id: 'uuid',
    type: 'text',
    notes: 'text?',
    happened_at: 'timestamptz?',
    sender: 'text?',
    set_sender: 'boolean',
    recipient: 'text?',
    now: 'timestamptz',
    origin: 'json',
  },
  batch: true,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${interactionAudit.update({
      action: 'updated',
      set: `type = ${input.type}, notes = coalesce(${input.notes}, i.notes),
            happened_at = coalesce(${input.happened_at}, i.happened_at),
            sender = CASE WHEN ${input.set_sender} THEN ${input.sender} ELSE i.sender END,
            recipient = coalesce(${input.recipient}, i.recipient)`,
      where: 'i.deleted_at IS NULL',
    })}`,
  answer: () => ({ json: record, version, from: 'i' }),
});
