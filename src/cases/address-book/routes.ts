import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithCaseList } from '../../http/operation/paging.ts';
import { readForm } from '../../kernel/validation/form.ts';
import { listAddressBook } from './reads.ts';
import { AddressBook, AddressBookQuery, EntryBody, EntryCreated, EntryUpdated } from './schema.ts';
import { createEntry, updateEntry } from './writes.ts';

const tag = 'Address book';
const book = '/cases/{caseId}/address-book';
const bookToo = '/cases/{caseId}/address_book';

export function addressBookRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'getCaseAddressBook',
    method: 'GET',
    path: book,
    aliases: [['GET', bookToo]],
    access: 'address_book:read',
    tag,
    summary: 'Get case address book',
    description:
      'Every person and every address of the case, oldest first. The parameters are not part of the specification.',
    params: { caseId: 'case' },
    query: AddressBookQuery,
    response: AddressBook,
    handle: (context, { caseId }, _form, request) =>
      respondWithCaseList(request, listAddressBook(context, caseId, readForm(AddressBookQuery, request.query))),
  });

  registerOperation(app, services, {
    id: 'createCaseAddressBookEntry',
    method: 'POST',
    path: `${book}/entry`,
    aliases: [['POST', `${bookToo}/entry`]],
    access: 'address_book:write',
    tag,
    summary: 'Create case address book entry',
    description:
      'Also creates the address as an item of its own, empty if none was sent; `data.address` is its identifier.',
    params: { caseId: 'case' },
    body: EntryBody,
    response: EntryCreated,
    handle: (context, { caseId }, form) => createEntry(context, caseId, form),
  });

  registerOperation(app, services, {
    id: 'updateCaseAddressBookEntry',
    method: 'PATCH',
    path: `${book}/entry/{entryID}`,
    aliases: [
      ['POST', `${book}/entry/{entryID}`],
      ['PATCH', `${bookToo}/entry/{entryID}`],
      ['POST', `${bookToo}/entry/{entryID}`],
    ],
    access: 'address_book:write',
    tag,
    summary: 'Update case address book entry',
    description: 'Fields that are not sent stay as they are, null clears an optional field, tags are only added.',
    params: { caseId: 'case', entryID: 'address book entry' },
    body: EntryBody,
    response: EntryUpdated,
    handle: (context, { caseId, entryID }, form) => updateEntry(context, caseId, entryID, form),
  });
}
