import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { write } from '../../kernel/sql/statement.ts';
import { entryAudit } from './audit.sql.ts';
import { entry, version } from './projection.sql.ts';

const KEY_INPUTS = { company_id: 'uuid', case_id: 'uuid', id: 'uuid' } as const;
const CHANGE_INPUTS = { now: 'timestamptz', origin: 'json' } as const;

/**
 * The address is listed through its person, so it disappears with it. Returns no row if the entry does not exist, is
 * deleted, or was changed by a concurrent update.
 */
export const deleteEntry = write('address_book.delete', {
  inputs: { ...KEY_INPUTS, ...CHANGE_INPUTS },
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${entryAudit.update({
      action: 'deleted',
      set: `deleted_at = ${input.now}`,
      where: 'p.deleted_at IS NULL',
    })}`,
  answer: () => ({ json: `${jsonObject({ id: 'p.id', deleted_at: isoTime('p.deleted_at') })}::text`, from: 'p' }),
});

/** Returns no row if the entry does not exist, is not deleted, or was changed by a concurrent update. */
export const restoreEntry = write('address_book.restore', {
  inputs: { ...KEY_INPUTS, ...CHANGE_INPUTS },
  fromInput: (_input, inputTable) => `
    WITH ${inputTable}, ${entryAudit.update({
      action: 'restored',
      set: 'deleted_at = NULL',
      where: 'p.deleted_at IS NOT NULL',
    })}`,
  answer: () => ({ json: `${entry}::text`, version, from: 'p' }),
});

const removeFrom = (name: string, column: string, action: 'tag_removed' | 'custom_tag_removed') =>
  write(name, {
    inputs: { ...KEY_INPUTS, tag: 'text?', ...CHANGE_INPUTS },
    fromInput: (input, inputTable) => `
      WITH ${inputTable}, ${entryAudit.update({
        action,
        set: `${column} = array_remove(p.${column}, ${input.tag})`,
        where: `p.deleted_at IS NULL AND ${input.tag} = ANY (p.${column})`,
      })}`,
    answer: () => ({ json: `${entry}::text`, version, from: 'p' }),
  });

/** Returns no row if the entry does not exist, is deleted, does not have the tag, or a concurrent update won. */
export const removeTag = {
  tags: removeFrom('address_book.remove_tag', 'tags', 'tag_removed'),
  custom_tags: removeFrom('address_book.remove_custom_tag', 'custom_tags', 'custom_tag_removed'),
};
