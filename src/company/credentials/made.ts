import { InvalidValue } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/form.ts';
import { originOf } from '../../kernel/record-log.ts';
import { toSql } from '../../kernel/time.ts';
import type { Desk } from '../office.ts';
import { type AlsoQuery, MADE_KINDS, type MadeKind } from './made.schema.ts';
import * as sql from './made.sql.ts';

/** A key or a client of any company. */
export type CredentialKey = { type: 'key' | 'client'; id: string };

/** `root` is the credential itself. */
export type Made = {
  type: 'key' | 'client' | 'webhook_endpoint';
  id: string;
  root: boolean;
  working: boolean;
  json: string;
};

const REASON = 'A credential that made it, or set its address, was ended.';

/** Returns no word if `also` was not sent or is at fault. */
export const readAlso = (query: Form<AlsoQuery>): readonly MadeKind[] =>
  query.read('also', query.body.also, (text) => {
    const words = text.split(',').map((word) => word.trim());
    const unknown = words.find((word) => !isKind(word));
    if (unknown !== undefined) throw new InvalidValue('not_allowed', `must be made of: ${MADE_KINDS.join(', ')}`);
    return MADE_KINDS.filter((kind) => words.includes(kind));
  }) ?? [];

const isKind = (word: string): word is MadeKind => (MADE_KINDS as readonly string[]).includes(word);

/** The credential and everything that it made in the company of `desk`. */
export const listMade = ({ db, company, clock }: Desk, { type, id }: CredentialKey): Promise<Made[]> =>
  db.rows<Made>(sql.listMade, [company.id, type, id, toSql(clock())]);

/**
 * Ends what the credential made, under the lock of the company's credentials and after the credential itself has been ended:
 * nothing new can appear in the meantime. Returns everything as it is afterwards.
 */
export async function endMade(
  desk: Desk,
  credential: CredentialKey,
  kinds: readonly MadeKind[],
): Promise<(Made & { ended: boolean })[]> {
  const { db, company, clock } = desk;
  const before = (await listMade(desk, credential)).filter(({ root, working }) => working && !root);
  const idsOf = (type: Made['type']) => before.filter((made) => made.type === type).map(({ id }) => id);
  const given = [toSql(clock()), originOf(desk)];
  if (kinds.includes('endpoints')) {
    await db.rows(sql.endEndpoints, [company.id, idsOf('webhook_endpoint'), ...given, REASON]);
  }
  if (kinds.includes('keys')) await db.rows(sql.endKeys, [company.id, idsOf('key'), ...given]);
  if (kinds.includes('clients')) await db.rows(sql.endClients, [company.id, idsOf('client'), ...given]);
  const worked = new Set(before.map(({ id }) => id));
  return (await listMade(desk, credential)).map((made) => ({ ...made, ended: worked.has(made.id) && !made.working }));
}

/** Adds to the record of an ended credential what was ended with it, and what it made that still works. */
export async function withMade(
  desk: Desk,
  credential: CredentialKey,
  kinds: readonly MadeKind[],
  record: string,
): Promise<string> {
  const made = (await endMade(desk, credential, kinds)).filter(({ root }) => !root);
  const list = (chosen: typeof made) => `[${chosen.map(({ json }) => json).join(', ')}]`;
  const [ended, working] = [made.filter((one) => one.ended), made.filter((one) => one.working)];
  return `${record.slice(0, -1)}, "also_ended" : ${list(ended)}, "still_working" : ${list(working)}}`;
}
