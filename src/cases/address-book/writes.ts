import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../kernel/errors.ts';
import { isUuid, newId } from '../../kernel/ids.ts';
import { parseBirthday, toSql } from '../../kernel/time/time.ts';
import { requireEmail } from '../../kernel/validation/contact.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { EntryBody } from './schema.ts';
import * as sql from './writes.sql.ts';

export async function createEntry(context: Context, caseId: string, form: Form<EntryBody>): Promise<string> {
  const { db, company, clock } = context;
  const { address } = form.body;
  const draft = readDraft(context, form);
  return retryOnConflict(
    async () =>
      form.ok &&
      db.queryJson(sql.insertEntry, [
        company.id,
        caseId,
        newId(),
        draft.tags,
        draft.customTags,
        draft.customers ?? [],
        draft.words ?? [],
        newId(),
        toSql(clock()),
        auditOrigin(context),
        ...sql.ADDRESS_FIELDS.map((field) => address?.[field] ?? ''),
        ...personColumns(draft),
        shownRelationship(draft),
      ]),
    () => judge(context, caseId, null, form, draft),
  );
}

/** What is not sent stays, null clears, tags are only ever added, a relationship that is sent replaces the old one. */
export async function updateEntry(
  context: Context,
  caseId: string,
  id: string,
  form: Form<EntryBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { address } = form.body;
  const draft = readDraft(context, form);
  const cleared = sql.fieldBits((field) => draft.person[field] === null);
  const statement = sql.updateEntry([
    cleared !== 0 && 'cleared',
    draft.customers !== null && 'relationship',
    address !== undefined && 'address',
  ]);
  return retryOnConflict(
    async () =>
      form.ok &&
      db.queryJson(statement, [
        company.id,
        caseId,
        id,
        draft.tags,
        draft.customTags,
        toSql(clock()),
        auditOrigin(context),
        ...personColumns(draft),
        ...(cleared === 0 ? [] : [cleared]),
        ...(draft.customers === null ? [] : [draft.customers, draft.words, shownRelationship(draft)]),
        ...(address === undefined ? [] : addressColumns(address)),
      ]),
    () => judge(context, caseId, id, form, draft),
  );
}

const personColumns = ({ person }: Draft): unknown[] => sql.PERSON_FIELDS.map((field) => person[field]);

/** What was sent is what is shown, which the database would have to put together from its parts again. */
const shownRelationship = ({ customers, words }: Draft): string =>
  JSON.stringify(Object.fromEntries(customers?.map((customer, i) => [customer, words?.[i]]) ?? []));

/** An address has no null: what is cleared is empty, and what was not sent stays undefined. */
const addressColumns = (address: EntryBody['address']): unknown[] =>
  sql.ADDRESS_FIELDS.map((field) => (address === null || address?.[field] === null ? '' : address?.[field]));

type Draft = {
  person: Record<string, string | null>;
  tags: string[];
  customTags: string[];
  /** Customers and words of the relationship, in step; null where none was sent. */
  customers: string[] | null;
  words: string[] | null;
};

function readDraft({ company, clock }: Context, form: Form<EntryBody>): Draft {
  const { body } = form;
  const person: Draft['person'] = {};
  for (const field of sql.PERSON_FIELDS) if (body[field] !== undefined) person[field] = body[field];
  form.read('email', body.email, requireEmail);
  const dob = form.read('dob', body.dob, (text) => parseBirthday(text, company.timeZone, clock()));
  if (dob) person.dob = dob;
  const relationship = readRelationship(form);
  return {
    person,
    tags: readTags(form, 'tags'),
    customTags: readTags(form, 'custom_tags'),
    customers: relationship && [...relationship.keys()],
    words: relationship && [...relationship.values()],
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

/** Nothing was written: throws the reason, or returns where another change came between and it can be tried again. */
async function judge(
  { db, company }: Context,
  caseId: string,
  id: string | null,
  form: Form<EntryBody>,
  { tags, customTags, customers }: Draft,
): Promise<void> {
  type Judged = { found: boolean; tags: string[]; custom_tags: string[]; customers: string[] };
  const judged = await db.queryFirst<Judged>(sql.judgeEntry, [company.id, caseId, id, tags, customTags, customers]);
  if (!judged?.found) throw notFound(id === null ? 'case' : 'address book entry');
  for (const field of ['tags', 'custom_tags'] as const) {
    const kind = field === 'tags' ? 'default tag' : 'custom tag of the company';
    for (const tag of judged[field]) {
      form.addFault(`${field}[${form.body[field]?.indexOf(tag)}]`, 'unknown', `"${tag}" is not a ${kind}`);
    }
  }
  for (const customer of judged.customers) {
    form.addFault(`relationship.${customer}`, 'unknown', 'is not a customer of this case');
  }
  form.check();
}
