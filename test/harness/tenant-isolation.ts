import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach } from 'node:test';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { startApp } from './app.ts';
import { identifiersOf, WORDS } from './identifiers.ts';
import { document } from './openapi.ts';

/** Every route of the document × every kind of identifier × every credential that is not the right one. */

const DAY = 86_400;
export const app = await startApp({
  secrets: new SecretBox([randomBytes(32)]),
  allowPrivateAddresses: true,
  tokenSeconds: DAY,
});
// Failed attempts are counted per minute, and every test here comes from the same address.
beforeEach(() => app.clock.advance({ minutes: 1 }));

type Schema = { properties?: Record<string, Schema>; required?: string[]; enum?: unknown[]; examples?: unknown[] };
type Described = {
  requestBody?: { content: Record<string, { schema: Schema }> };
  security?: Record<string, string[]>[];
};
export type Route = {
  name: string;
  method: string;
  template: string;
  /** One of them is enough. */
  scopes: readonly string[];
  /** The parameters that identify records. */
  params: string[];
  schema?: Schema;
};

export const routes: Route[] = Object.entries(document.paths as unknown as Record<string, Record<string, Described>>)
  .flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { requestBody, security }]) => ({
      name: `${method.toUpperCase()} ${template}`,
      method: method.toUpperCase(),
      template,
      scopes: security?.[0]?.bearer ?? [],
      // A PUT creates what has an unknown external id: test/external-ids.test.ts has these.
      params: [...template.matchAll(/\{(\w+)\}/g)]
        .map(([, name = '']) => name)
        .filter((name) => !(name in WORDS) && !(method === 'put' && name === 'externalId')),
      ...(requestBody && { schema: requestBody.content['application/json']?.schema ?? {} }),
    })),
  )
  // The routes of OAuth and those of people who sign in take no token.
  .filter(({ scopes }) => scopes.length > 0);

export const [owner, stranger, control] = [await app.company(), await app.company(), await app.company()];
for (const [company, tag] of [
  [owner, 'theirs-alone'],
  [stranger, 'own-tag'],
  [control, 'control-tag'],
] as const) {
  await company.post('/manage/custom-tags', { tag });
  company.customTags.unshift(tag);
}
export const [theirs, own] = [await identifiersOf(owner), await identifiersOf(stranger)];

export const neverWas = (name: string) => (name === 'tag' ? 'never-was' : randomUUID());
