import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../kernel/errors.ts';
import { externalIdPart, requireFreeExternalId } from '../../kernel/external-ids/verbs.ts';
import { isUuid, newId } from '../../kernel/ids.ts';
import { pgArrayLiteral } from '../../kernel/sql/inputs.ts';
import { parseBirthday, toSql } from '../../kernel/time/time.ts';
import { requireEmail } from '../../kernel/validation/email.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { entryIds } from './external-ids.sql.ts';
import type { EntryBody } from './schema.ts';
import * as sql from './writes.sql.ts';

export async function createEntry(
  context: Context,
  caseId: string,
  form: Form<EntryBody>,
  externalId?: string,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { address } = form.body;
  const draft = readDraft(context, form);
  const insert = () =>
    db.queryRecord(
      sql.insertEntry(
        {
          company_id: company.id,
          case_id: caseId,
          id: newId(),
          ...draft.person,
          tags: draft.tags,
          custom_tags: draft.customTags,
          ...relationshipInputs(draft.relationship ?? new Map()),
          address_id: newId(),
          address_1: address?.address_1 ?? '',
          address_2: address?.address_2 ?? '',
          address_3: address?.address_3 ?? '',
          postcode: address?.postcode ?? '',
          now: toSql(clock()),
          origin: auditOrigin(context),
        },
        externalIdPart(externalId),
      ),
    );
  return retryOnConflict(
    async () => form.ok && insert(),
    async () => {
      await requireFreeExternalId(context, entryIds, form, externalId);
      await explainRejection(context, caseId, null, form, draft);
    },
  );
}

/** An absent field stays as it is, null clears it; tags are only added; a relationship replaces the stored one. */
export async function updateEntry(
  context: Context,
  caseId: string,
  id: string,
  form: Form<EntryBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { address } = form.body;
  const draft = readDraft(context, form);
  const clearedFields = sql.PERSON_FIELDS.filter((field) => draft.person[field] === null);
  const update = () =>
    db.queryRecord(
      sql.updateEntry(
        {
          company_id: company.id,
          case_id: caseId,
          id,
          ...draft.person,
          tags: draft.tags,
          custom_tags: draft.customTags,
          now: toSql(clock()),
          origin: auditOrigin(context),
        },
        {
          cleared: clearedFields.length > 0 && { cleared_fields: pgArrayLiteral(clearedFields) },
          relationship: draft.relationship !== null && relationshipInputs(draft.relationship),
          address: address !== undefined && addressInputs(address),
        },
      ),
    );
  return retryOnConflict(
    async () => form.ok && update(),
    () => explainRejection(context, caseId, id, form, draft),
  );
}

/** The response shows the relationship as it was sent, so the database need not build it from its rows. */
const relationshipInputs = (relationship: Map<string, string>) => ({
  customer_ids: [...relationship.keys()],
  relationship_words: [...relationship.values()],
  relationship: JSON.stringify(Object.fromEntries(relationship)),
});

/** The columns of an address are never null: a cleared one is empty, an absent one stays as it is. */
function addressInputs(address: EntryBody['address']) {
  const input = (field: (typeof sql.ADDRESS_FIELDS)[number]) =>
    address === null || address?.[field] === null ? '' : address?.[field];
  return {
    address_1: input('address_1'),
    address_2: input('address_2'),
    address_3: input('address_3'),
    postcode: input('postcode'),
  };
}

type Draft = {
  /** Undefined for an absent field. */
  person: Record<sql.PersonField, string | null | undefined>;
  tags: string[];
  customTags: string[];
  /** The word for each customer; null if the request has no relationship. */
  relationship: Map<string, string> | null;
};

function readDraft({ company, clock }: Context, form: Form<EntryBody>): Draft {
  const { body } = form;
  form.read('email', body.email, requireEmail);
  const dob = form.read('dob', body.dob, (text) => parseBirthday(text, company.timeZone, clock()));
  return {
    person: {
      title: body.title,
      first_names: body.first_names,
      middle_names: body.middle_names,
      last_name: body.last_name,
      known_as: body.known_as,
      tel_1: body.tel_1,
      tel_2: body.tel_2,
      email: body.email,
      gender: body.gender,
      dob: dob ?? body.dob,
      marital_status: body.marital_status,
      occupation: body.occupation,
      preferred_name: body.preferred_name,
      alias: body.alias,
      them_pronoun: body.them_pronoun,
      they_pronoun: body.they_pronoun,
      their_pronoun: body.their_pronoun,
    },
    tags: readTags(form, 'tags'),
    customTags: readTags(form, 'custom_tags'),
    relationship: readRelationship(form),
  };
}

function readRelationship(form: Form<EntryBody>): Map<string, string> | null {
  const { relationship } = form.body;
  if (relationship === undefined) return null;
  const words = new Map<string, string>();
  if (typeof relationship !== 'object' || Array.isArray(relationship)) return words;
  for (const [key, word] of Object.entries(relationship ?? {})) {
    const field = `relationship.${key}`;
    if (!isUuid(key)) form.addFault(field, 'unknown', 'is not a customer of this case');
    else if (words.has(key.toLowerCase())) form.addFault(field, 'duplicate', 'names a customer twice');
    else words.set(key.toLowerCase(), word);
  }
  return words;
}

const readTags = (form: Form<EntryBody>, field: 'tags' | 'custom_tags'): string[] =>
  Array.isArray(form.body[field])
    ? [...new Set(form.body[field].filter((_tag, i) => !form.hasFault(`${field}[${i}]`)))]
    : [];

/** Throws why nothing was written. Returns if there is no reason but a concurrent update. */
async function explainRejection(
  { db, company }: Context,
  caseId: string,
  id: string | null,
  form: Form<EntryBody>,
  { tags, customTags, relationship }: Draft,
): Promise<void> {
  type Reasons = { found: boolean; tags: string[]; custom_tags: string[]; customers: string[] };
  const reasons = await db.queryFirst<Reasons>(
    sql.entryRejectionReasons({
      company_id: company.id,
      case_id: caseId,
      id,
      tags,
      custom_tags: customTags,
      customer_ids: relationship && [...relationship.keys()],
    }),
  );
  if (!reasons?.found) throw notFound(id === null ? 'case' : 'address book entry');
  for (const field of ['tags', 'custom_tags'] as const) {
    const kind = field === 'tags' ? 'default tag' : 'custom tag of the company';
    for (const tag of reasons[field]) {
      form.addFault(`${field}[${form.body[field]?.indexOf(tag)}]`, 'unknown', `"${tag}" is not a ${kind}`);
    }
  }
  for (const customer of reasons.customers) {
    form.addFault(`relationship.${customer}`, 'unknown', 'is not a customer of this case');
  }
  form.check();
}
