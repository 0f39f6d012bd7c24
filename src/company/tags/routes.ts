import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithList } from '../../http/operation/paging.ts';
import { ListQuery } from '../../kernel/validation/paging.ts';
import { CustomTag, CustomTagBody, CustomTagList, CustomTagRemoved, DefaultTagList } from './schema.ts';
import { createCustomTag, listCustomTags, listDefaultTags, removeCustomTag } from './verbs.ts';

const common = { extension: true, access: 'manage', tag: 'Tags' } as const;
const READ_ACCESS = ['address_book:read', 'manage'] as const;
const collection = '/manage/custom-tags';

export function tagRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listDefaultTags',
    access: READ_ACCESS,
    method: 'GET',
    path: '/manage/default-tags',
    summary: 'List default tags',
    description: 'The tags that every company has. They cannot be changed.',
    params: {},
    query: ListQuery,
    response: DefaultTagList,
    handle: (context, _params, _form, request) =>
      respondWithList(request, (listing) => listDefaultTags(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listCustomTags',
    access: READ_ACCESS,
    method: 'GET',
    path: collection,
    summary: 'List custom tags',
    description: "The company's own tags, in alphabetical order.",
    params: {},
    query: ListQuery,
    response: CustomTagList,
    handle: (context, _params, _form, request) =>
      respondWithList(request, (listing) => listCustomTags(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createCustomTag',
    method: 'POST',
    path: collection,
    summary: 'Create a custom tag',
    description: 'Address book entries can use it immediately.',
    params: {},
    body: CustomTagBody,
    response: CustomTag,
    handle: (context, _params, form) => createCustomTag(context, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'deleteCustomTag',
    method: 'DELETE',
    path: `${collection}/{tag}`,
    summary: 'Remove a custom tag',
    description: 'It can no longer be added to entries. Entries that have it keep it.',
    params: { tag: 'custom tag' },
    nonUuidParams: ['tag'],
    response: CustomTagRemoved,
    handle: (context, { tag }) => removeCustomTag(context, tag),
  });
}
