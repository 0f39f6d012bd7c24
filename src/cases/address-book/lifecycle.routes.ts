import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { Deleted } from '../../kernel/validation/schema-types.ts';
import { deleteEntry, removeTag, restoreEntry } from './lifecycle.ts';
import { currentVersion, readEntry } from './reads.ts';
import { Entry } from './schema.ts';

const tag = 'Address book';
const one = '/cases/{caseId}/address-book/entry/{entryID}';
const oneToo = '/cases/{caseId}/address_book/entry/{entryID}';
const params = { caseId: 'case', entryID: 'address book entry' };
const withTag = { ...params, tag: 'tag on this entry' };

/** Each path is served in both spellings, as the specified operations are. */
export function entryLifecycleRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'readAddressBookEntry',
    method: 'GET',
    path: one,
    aliases: [['GET', oneToo]],
    access: 'address_book:read',
    extension: true,
    tag,
    summary: 'Read one address book entry',
    description: 'The person as the address book lists it, with the times of creation and of the last update.',
    params,
    response: Entry,
    record: {
      table: 'people',
      currentVersion,
      show: (context, { caseId, entryID }) => readEntry(context, caseId, entryID),
    },
    handle: (context, { caseId, entryID }) => readEntry(context, caseId, entryID),
  });

  registerOperation(app, services, {
    id: 'deleteAddressBookEntry',
    method: 'DELETE',
    path: one,
    aliases: [['DELETE', oneToo]],
    access: 'address_book:write',
    extension: true,
    tag,
    summary: 'Delete address book entry',
    description:
      'Removes the person and its address from the address book. Every operation except restore then answers 404.',
    params,
    response: Deleted,
    handle: (context, { caseId, entryID }) => deleteEntry(context, caseId, entryID),
  });

  registerOperation(app, services, {
    id: 'restoreAddressBookEntry',
    method: 'POST',
    path: `${one}/restore`,
    aliases: [['POST', `${oneToo}/restore`]],
    access: 'address_book:write',
    extension: true,
    tag,
    summary: 'Restore a deleted address book entry',
    description: 'Restores the person and its address. Returns 400 if the entry is not deleted.',
    params,
    response: Entry,
    handle: (context, { caseId, entryID }) => restoreEntry(context, caseId, entryID),
  });

  registerOperation(app, services, {
    id: 'removeTag',
    method: 'DELETE',
    path: `${one}/tags/{tag}`,
    aliases: [['DELETE', `${oneToo}/tags/{tag}`]],
    access: 'address_book:write',
    extension: true,
    tag,
    summary: 'Remove a default tag from an entry',
    description: 'Returns the entry, or 404 if it does not have the tag.',
    params: withTag,
    nonUuidParams: ['tag'],
    response: Entry,
    handle: (context, { caseId, entryID, tag }) => removeTag(context, caseId, entryID, 'tags', tag),
  });

  registerOperation(app, services, {
    id: 'removeCustomTag',
    method: 'DELETE',
    path: `${one}/custom-tags/{tag}`,
    aliases: [['DELETE', `${oneToo}/custom-tags/{tag}`]],
    access: 'address_book:write',
    extension: true,
    tag,
    summary: 'Remove a custom tag from an entry',
    description: 'Returns the entry, or 404 if it does not have the tag.',
    params: withTag,
    nonUuidParams: ['tag'],
    response: Entry,
    handle: (context, { caseId, entryID, tag }) => removeTag(context, caseId, entryID, 'custom_tags', tag),
  });
}
