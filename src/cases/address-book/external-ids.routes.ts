import type { FastifyInstance } from 'fastify';
import { externalIdRoutes } from '../../http/operation/external-id-routes.ts';
import type { Services } from '../../http/operation/operation.ts';
import { currentVersion, entryIds, readEntry } from './reads.ts';
import { Entry, EntryBody, EntryCreated, EntryUpdated } from './schema.ts';
import { createEntry, updateEntry } from './writes.ts';

export function entryExternalIdRoutes(app: FastifyInstance, services: Services): void {
  externalIdRoutes(app, services, {
    name: 'AddressBookEntry',
    ids: entryIds,
    collection: '/cases/{caseId}/address-book/entry',
    alias: '/cases/{caseId}/address_book/entry',
    idParam: 'entryID',
    tag: 'Address book',
    access: { read: 'address_book:read', write: 'address_book:write' },
    currentVersion,
    body: EntryBody,
    responses: { read: Entry, created: EntryCreated, updated: EntryUpdated },
    verbs: { read: readEntry, create: createEntry, update: updateEntry },
  });
}
