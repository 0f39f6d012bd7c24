import type { FastifyInstance } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { ExternalIdBody, ExternalIdRecord } from '../../kernel/external-ids/schema.ts';
import type { ExternalIds } from '../../kernel/external-ids/statements.sql.ts';
import { putByExternalId, requireExternalId, setExternalId } from '../../kernel/external-ids/verbs.ts';
import type { Access } from '../../kernel/scopes.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { isCreateOnly } from './etag.ts';
import { registerOperation, type Services } from './operation.ts';

type Shown = ShownRecord | string;
type Verbs<B> = {
  read: (context: Context, caseId: string, id: string) => Promise<Shown>;
  create: (context: Context, caseId: string, form: Form<B>, externalId: string) => Promise<Shown>;
  update: (context: Context, caseId: string, id: string, form: Form<B>) => Promise<Shown>;
};

type ExternalIdOperations<B extends TObject> = {
  /** The record in the names of the operations, such as `Invoice`. */
  name: string;
  ids: ExternalIds;
  /** The path at which records are created. */
  collection: string;
  /** The same path in another spelling. */
  alias?: string;
  /** The path parameter of a record below that path. */
  idParam: string;
  tag: string;
  access: { read: Access; write: Access };
  /** SQL: the version of the record; undefined if its tag is a hash. */
  currentVersion?: string;
  body: B;
  responses: { read: TSchema; created: TSchema; updated: TSchema };
  /** What a caller must know about the body. */
  remark?: string;
  verbs: Verbs<Static<B>>;
};

/** Registers the operations on external ids: read by it, create or update by it, and set it on an existing record. */
export function externalIdRoutes<B extends TObject>(
  app: FastifyInstance,
  services: Services,
  {
    name,
    ids,
    collection,
    alias,
    idParam,
    tag,
    access,
    currentVersion,
    body,
    responses,
    remark,
    verbs,
  }: ExternalIdOperations<B>,
): void {
  const path = `${collection}/by-external-id/{externalId}`;
  const aliasPath = alias && `${alias}/by-external-id/{externalId}`;
  const inCase = collection.includes('{caseId}');
  // A collection outside of cases has no caseId; its verbs ignore it.
  const params: Record<string, string> = {
    ...(inCase && { caseId: 'case' }),
    externalId: `external id of the ${ids.noun}, percent-encoded`,
  };
  const common = { extension: true, tag, path, params, nonUuidParams: ['externalId'] } as const;
  const keyOf = ({ caseId, externalId = '' }: Record<string, string>) => ({
    caseId: inCase ? caseId : undefined,
    externalId,
  });
  const show = async (context: Context, sent: Record<string, string>) =>
    verbs.read(context, sent.caseId as string, await requireExternalId(context, ids, keyOf(sent)));

  registerOperation(app, services, {
    ...common,
    id: `read${name}ByExternalId`,
    method: 'GET',
    ...(aliasPath && { aliases: [['GET', aliasPath]] }),
    access: access.read,
    summary: `Read the ${ids.noun} with an external id`,
    description: `The same as by its own id.`,
    response: responses.read,
    record: {
      table: ids.table,
      ...(currentVersion !== undefined && { currentVersion }),
      show,
      lockRow: ({ company }, { externalId = '' }) => ids.lock({ company_id: company.id, external_id: externalId }),
    },
    handle: show,
  });

  registerOperation(app, services, {
    ...common,
    id: `put${name}ByExternalId`,
    method: 'PUT',
    ...(aliasPath && { aliases: [['PUT', aliasPath]] }),
    access: access.write,
    summary: `Create or update the ${ids.noun} with an external id`,
    description: [
      'Creates it with this external id (201), or updates it (200) if there is one; a field that is not sent then stays as it is.',
      'The rules and the answer are those of the operation that creates, or of the one that updates.',
      'Of concurrent requests exactly one creates.',
      inCase && 'An external id that is used in another case of the company is refused.',
      remark,
    ]
      .filter(Boolean)
      .join(' '),
    body,
    response: responses.updated,
    createdResponse: responses.created,
    handle: async (context, sent, form, request) => {
      const key = keyOf(sent);
      const caseId = sent.caseId as string;
      const { record, created } = await putByExternalId(context, ids, key, {
        form,
        createOnly: isCreateOnly(request),
        create: () => verbs.create(context, caseId, form, key.externalId),
        update: (id) => verbs.update(context, caseId, id, form),
      });
      return created ? { created: record } : record;
    },
  });

  registerOperation(app, services, {
    extension: true,
    tag,
    id: `set${name}ExternalId`,
    method: 'PUT',
    path: `${collection}/{${idParam}}/external-id`,
    ...(alias && { aliases: [['PUT', `${alias}/{${idParam}}/external-id`]] }),
    access: access.write,
    summary: `Set the external id of the ${ids.noun}`,
    description: 'Null removes it. For a record that was created without one, or with a wrong one.',
    params: { ...(inCase && { caseId: 'case' }), [idParam]: ids.noun } as Record<string, string>,
    body: ExternalIdBody,
    response: ExternalIdRecord,
    handle: (context, sent, form) => {
      const id = sent[idParam] as string;
      return setExternalId(context, ids, { caseId: inCase ? (sent.caseId as string) : id, id }, form);
    },
  });
}
