import assert from 'node:assert/strict';
import type { TestApp, TestCompany } from '../../test/harness/app.ts';
import { type Answer, caller } from '../../test/harness/http.ts';
import { fill, type Ids, identifiersOf, MAKERS } from '../../test/harness/identifiers.ts';
import { assertDescribed } from '../../test/harness/openapi.ts';
import { bytesOf, type Sender, type Sent } from './bytes.ts';
import type { Draft } from './drafts.ts';
import { expected, type Kind, readBody, type Shown, shownBy } from './model.ts';
import type { Operation } from './operations.ts';
import { Wire } from './wire.ts';

/** A firm with a connection of its own: what it has written nobody else changes, so it must read it back. */
export class Lane {
  readonly #world: TestApp;
  readonly #wire: Wire;
  readonly #tally: Tally;
  #firm: TestCompany | undefined;
  #operator = '';
  #ids: Ids = {};
  /** What GET must show of each record of the case. */
  #records = new Map<string, { kind: Kind; shown: Shown }>();
  #sent = 0;

  constructor(world: TestApp, tally: Tally) {
    this.#world = world;
    this.#tally = tally;
    this.#wire = new Wire(world.baseUrl);
  }

  close(): void {
    this.#wire.close();
  }

  /** To be called before a series of requests to one operation. */
  async begin({ template }: Operation): Promise<void> {
    const ownCompany = /^\/manage\/compan/.test(template);
    if (!this.#firm || this.#sent > RENEW_AFTER || ownCompany) await this.#renew();
    this.#sent = ownCompany ? Infinity : this.#sent;
  }

  async #renew(): Promise<void> {
    this.#firm = await this.#world.company();
    this.#operator = await this.#firm.tokenFor(['operator']);
    this.#ids = await identifiersOf(this.#firm);
    this.#records = new Map();
    for (const kind of Object.keys(PATHS) as Kind[]) await this.#remember(kind);
    this.#sent = 0;
  }

  async exchange(operation: Operation, draft: Draft): Promise<void> {
    const sent = bytesOf(draft, this.#sender(operation));
    const told = () => `${Buffer.from(sent.bytes).toString('utf8').slice(0, 2_000)}\n`;
    try {
      const answer = await this.#send(sent);
      this.#judge(sent, answer);
      if (answer?.status === 200) await this.#follow(operation, sent, answer);
      // Whether it was done is open: nothing can be expected of the record any more.
      else if (!answer && operation.method !== 'GET') await this.#replace(operation.template);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n\n${told()}`, { cause: error });
    }
  }

  #sender({ scope, template }: Operation): Sender {
    const firm = this.#theFirm;
    const token = template.startsWith('/oauth/') ? undefined : scope === 'operator' ? this.#operator : firm.token;
    const [customer] = firm.customers;
    const known = {
      ...{ adviser: firm.adviser, adviserWithVideo: firm.adviserWithVideo, email: customer.email },
      ...{ customTag: firm.customTags[0] ?? '', customer: this.#ids.customerId ?? '' },
    };
    // Of the two kinds of tags that can be taken off an entry, one has its own words.
    const ids = template.includes('/tags/') ? { ...this.#ids, tag: 'executor' } : this.#ids;
    return { token, ids, known };
  }

  get #theFirm(): TestCompany {
    assert.ok(this.#firm);
    return this.#firm;
  }

  async #send(sent: Sent): Promise<Answer | undefined> {
    this.#sent++;
    const answer = await this.#wire.send(sent);
    this.#tally.count(answer);
    return answer;
  }

  #judge({ method, path, broken }: Sent, answer: Answer | undefined): void {
    if (broken) {
      if (!answer) return;
      assert.ok(answer.status < 500 || answer.status === 505, `${answer.status}: ${answer.text}`);
      if (answer.status >= 400 && method !== 'HEAD') assert.ok(answer.body?.status ?? answer.body?.error, answer.text);
      return;
    }
    assert.ok(answer, 'the connection was closed without an answer');
    assert.ok(answer.status < 500, `${answer.status}: ${answer.text}`);
    assert.equal(answer.headers['x-injected'], undefined);
    assert.doesNotMatch(String(answer.headers.link), /<[^/]/, 'a link is more than a path');
    assert.doesNotMatch(answer.text, /node_modules|FST_ERR|\.[jt]s:\d+:\d/);
    assertDescribed(method, path, answer);
    const own = answer.headers['idempotency-replayed'] === undefined && answer.body?.error === undefined;
    if (answer.status >= 400 && method !== 'HEAD' && own) {
      assert.equal(answer.body?.request_id, answer.headers['x-request-id'], answer.text);
    }
  }

  /** What was accepted is read back as it was sent; what was removed is made anew. */
  async #follow({ template }: Operation, sent: Sent, answer: Answer): Promise<void> {
    const { method, text } = sent;
    const pathname = sent.path.split(/[?#]/, 1)[0] ?? '';
    const replayed = answer.headers['idempotency-replayed'] !== undefined;
    if (['GET', 'HEAD', 'OPTIONS'].includes(method) || replayed) return;
    const kind = KINDS.find(([pattern]) => pattern.test(pathname))?.[1];
    const path = fill('/cases/{caseId}/', this.#ids);
    if (kind && typeof answer.body?.deleted_at !== 'string' && pathname.startsWith(path)) {
      // What was done to the bytes may have left the body as it was, or not: the record itself then tells.
      await (text === undefined ? this.#learn(kind, answer) : this.#readBack(kind, text, answer));
    } else if (method === 'DELETE' || pathname.startsWith(path)) {
      await this.#replace(template);
    }
  }

  async #readBack(kind: Kind, text: string, answer: Answer): Promise<void> {
    const { id } = answer.body;
    const now = this.#world.clock.read();
    const shown = expected(kind, readBody(text), this.#records.get(id)?.shown, now);
    const record = await this.#read(kind, id);
    const { address, ...withoutAddress } = shown;
    assert.deepEqual(shownBy(kind, record.body), withoutAddress, 'GET shows something else than was sent');
    this.#records.set(id, { kind, shown });
    this.#tally.readBack++;
  }

  async #learn(kind: Kind, answer: Answer): Promise<void> {
    const { id } = answer.body;
    if (this.#ids[kind] === id) await this.#make(kind);
    else this.#records.delete(id);
  }

  async #read(kind: Kind, id: string): Promise<Answer> {
    const path = `${fill('/cases/{caseId}/', this.#ids)}${PATHS[kind]}/${id}`;
    const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${this.#theFirm.token}\r\n\r\n`;
    const flags = { headOnly: false, last: false, broken: false, text: undefined };
    const sent = { method: 'GET', path, bytes: Buffer.from(head), ...flags };
    const answer = await this.#send(sent);
    this.#judge(sent, answer);
    assert.ok(answer && answer.status === 200, `${path}: ${answer?.text}`);
    return answer;
  }

  /** The record that the next requests are about, where this one may have changed what they need. */
  async #replace(template: string): Promise<void> {
    const name = template
      .match(/\{(\w+)\}/g)
      ?.at(-1)
      ?.slice(1, -1);
    if (name === 'tag' && template.startsWith('/manage')) {
      await this.#theFirm.post('/manage/custom-tags', { tag: this.#ids.tag });
    } else {
      const entry = name === 'tag' ? 'entryID' : name;
      if (entry && !['caseId', 'companyId'].includes(entry)) await this.#make(entry);
    }
  }

  /** What a record of the harness's own making is, before anything hostile is done to it. */
  async #remember(kind: Kind): Promise<void> {
    const id = this.#ids[kind] ?? '';
    const list = kind === 'entryID' ? 'address-book' : `${PATHS[kind]}/${id}`;
    const { body } = await this.#theFirm.get(fill(`/cases/{caseId}/${list}`, this.#ids));
    const items: Shown[] = [body].flat();
    const record = items.find((item) => item.id === id);
    this.#records.set(id, { kind, shown: shownBy(kind, record, new Map(items.map((item) => [item.id, item.data]))) });
  }

  async #make(name: string): Promise<void> {
    for (const [above, below] of NEEDS) if (name === below) await this.#make(above);
    if (name === 'endpointId') await this.#theFirm.delete(`/webhooks/endpoints/${this.#ids.endpointId}`);
    const id = await MAKERS[name]?.(this.#theFirm, this.#ids);
    assert.ok(id);
    this.#records.delete(this.#ids[name] ?? '');
    this.#ids[name] = id;
    if (name in PATHS) await this.#remember(name as Kind);
  }

  /** At the end of a series: the lists of the case show every record as it was last sent. */
  async readLists({ template }: Operation): Promise<void> {
    if (!KINDS.some(([pattern]) => pattern.test(template))) return;
    const firm = caller(this.#world.baseUrl, this.#theFirm.token);
    for (const [kind, list] of Object.entries(LISTS) as [Kind, string][]) {
      const wanted = [...this.#records].filter(([, record]) => record.kind === kind);
      if (wanted.length === 0) continue;
      const answer = await firm.get(fill(`/cases/{caseId}/${list}`, this.#ids));
      const listed = new Map<string, Shown>(answer.body.map((record: Shown) => [record.id, record]));
      const addresses = new Map<string, Shown>(answer.body.map((item: Shown) => [item.id, item.data]));
      for (const [id, { shown }] of wanted) {
        const found = listed.get(id);
        if (found)
          assert.deepEqual(shownBy(kind, found, addresses), shown, `${list} shows something else than was sent`);
        else assert.equal((await firm.get(fill(`/cases/{caseId}/${PATHS[kind]}/${id}`, this.#ids))).status, 404);
        this.#tally.listed++;
      }
    }
  }
}

const RENEW_AFTER = 1_500;

/** The paths under which a body makes or changes a record. */
const KINDS: [RegExp, Kind][] = [
  [/^\/cases\/[^/]+\/address[-_]book\/entry(\/[^/]+)?$/, 'entryID'],
  [/^\/cases\/[^/]+\/interactions(\/[^/]+)?$/, 'interactionId'],
  [/^\/cases\/[^/]+\/invoices(\/[^/]+)?$/, 'invoiceId'],
  [/^\/cases\/[^/]+\/appointments(\/[^/]+)?$/, 'appointmentID'],
];
const PATHS: Record<Kind, string> = {
  entryID: 'address-book/entry',
  interactionId: 'interactions',
  invoiceId: 'invoices',
  appointmentID: 'appointments',
};
const LISTS: Record<Kind, string> = { ...PATHS, entryID: 'address-book' };

/** What stands under what: a payment needs an invoice that can be paid. */
const NEEDS: [string, string][] = [
  ['invoiceId', 'itemId'],
  ['invoiceId', 'paymentId'],
  ['appointmentID', 'messageId'],
  ['endpointId', 'deliveryId'],
];

/** What came back, over all lanes. */
export class Tally {
  readonly statuses = new Map<string, number>();
  requests = 0;
  readBack = 0;
  listed = 0;

  count(answer: Answer | undefined): void {
    this.requests++;
    const status = answer ? String(answer.status) : 'closed';
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
