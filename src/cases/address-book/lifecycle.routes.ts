import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { Deleted } from '../../kernel/validation/schema-types.ts';
import { deleteEntry, removeTag, restoreEntry } from './lifecycle.ts';
import { readEntry } from './reads.ts';
import { Entry } from './schema.ts';

const tag = 'Additions: address book';
const params = { caseId: 'case', entryID: 'address book entry' };
const withTag = { ...params, tag: 'tag on this entry' };

/** Both spellings, as the specified operations have them; here each stays in the group of the additions. */
export function entryLifeRoutes(app: FastifyInstance, services: Services): void {
  serveUnder('/cases/{caseId}/address-book/entry/{entryID}', '');
  serveUnder('/cases/{caseId}/address_book/entry/{entryID}', '_2');

  function serveUnder(one: string, suffix: string): void {
    registerOperation(app, services, {
      id: `readAddressBookEntry${suffix}`,
      method: 'GET',
      path: one,
      access: 'address_book:read',
      extension: true,
      tag,
      summary: 'Read one address book entry',
      description: 'The person as it stands in the address book, with its times.',
      params,
      response: Entry,
      record: { table: 'people', show: (context, { caseId, entryID }) => readEntry(context, caseId, entryID) },
      handle: (context, { caseId, entryID }) => readEntry(context, caseId, entryID),
    });

    registerOperation(app, services, {
      id: `deleteAddressBookEntry${suffix}`,
      method: 'DELETE',
      path: one,
      access: 'address_book:write',
      extension: true,
      tag,
      summary: 'Delete address book entry',
      description: 'The person and its address leave the address book and are unknown to every operation but restore.',
      params,
      response: Deleted,
      handle: (context, { caseId, entryID }) => deleteEntry(context, caseId, entryID),
    });

    registerOperation(app, services, {
      id: `restoreAddressBookEntry${suffix}`,
      method: 'POST',
      path: `${one}/restore`,
      access: 'address_book:write',
      extension: true,
      tag,
      summary: 'Restore a deleted address book entry',
      description: 'The address comes back with it. Refused with 400 when the entry is not deleted.',
      params,
      response: Entry,
      handle: (context, { caseId, entryID }) => restoreEntry(context, caseId, entryID),
    });

    registerOperation(app, services, {
      id: `removeTag${suffix}`,
      method: 'DELETE',
      path: `${one}/tags/{tag}`,
      access: 'address_book:write',
      extension: true,
      tag,
      summary: 'Remove a default tag from an entry',
      description: 'Answers with the entry; 404 when it does not have the tag.',
      params: withTag,
      nonUuidParams: ['tag'],
      response: Entry,
      handle: (context, { caseId, entryID, tag }) => removeTag(context, caseId, entryID, 'tags', tag),
    });

    registerOperation(app, services, {
      id: `removeCustomTag${suffix}`,
      method: 'DELETE',
      path: `${one}/custom-tags/{tag}`,
      access: 'address_book:write',
      extension: true,
      tag,
      summary: 'Remove a custom tag from an entry',
      description: 'Answers with the entry; 404 when it does not have the tag.',
      params: withTag,
      nonUuidParams: ['tag'],
      response: Entry,
      handle: (context, { caseId, entryID, tag }) => removeTag(context, caseId, entryID, 'custom_tags', tag),
    });
  }
}
