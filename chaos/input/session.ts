import assert from 'node:assert/strict';
import { NEWEST_RECORDS } from '../../src/search/statements.sql.ts';
import type { TestCompany } from '../../test/harness/app.ts';
import { type Answer, caller } from '../../test/harness/http.ts';
import { fill, type Ids, identifiersOf, MAKERS, WORDS } from '../../test/harness/identifiers.ts';
import { assertDescribed } from '../../test/harness/openapi.ts';
import { SESSION_COOKIE, signIn } from '../../test/harness/people.ts';
import type { Draft } from './drafts.ts';
import type { InputApp } from './input-app.ts';
import { expectedFields, type Kind, parseBody, type ShownRecord, shownFields } from './model.ts';
import type { Operation } from './operations.ts';
import { RawConnection } from './raw-connection.ts';
import { type EncodedRequest, encodeRequest, type Sender } from './request-bytes.ts';

/** A company with its own connection. Only this session changes its records, so it must read back what it wrote. */
export class Session {
  readonly #app: InputApp;
  readonly #connection: RawConnection;
  readonly #counts: InputCounts;
  #company: TestCompany | undefined;
  #operator = '';
  #cookie = '';
  #ids: Ids = {};
  /** The expected fields of each record of the case. */
  #records = new Map<string, { kind: Kind; shown: ShownRecord }>();
  #requestsSinceRenewal = 0;

  constructor(app: InputApp, counts: InputCounts) {
    this.#app = app;
    this.#counts = counts;
    this.#connection = new RawConnection(app.baseUrl);
  }

  close(): void {
    this.#connection.close();
  }

  /** Must be called before each series of requests to one operation. */
  async startSeries({ template }: Operation): Promise<void> {
    const changesCompany = /^\/manage\/compan/.test(template);
    if (!this.#company || this.#requestsSinceRenewal > MAX_REQUESTS_PER_COMPANY || changesCompany) await this.#renew();
    this.#requestsSinceRenewal = changesCompany ? Infinity : this.#requestsSinceRenewal;
  }

  async #renew(): Promise<void> {
    this.#company = await this.#app.company();
    this.#operator = await this.#company.tokenFor(['operator']);
    this.#cookie = `${SESSION_COOKIE}=${(await signIn(this.#app, this.#company)).secret}`;
    this.#ids = await identifiersOf(this.#company);
    this.#records = new Map();
    for (const kind of Object.keys(PATHS) as Kind[]) await this.#remember(kind);
    await this.#makeSearchable();
    this.#requestsSinceRenewal = 0;
  }

  /** A search answers without a look at its words if the company has no index, and asks the index for older records only. */
  async #makeSearchable(): Promise<void> {
    await this.#app.index();
    await this.#app.sql(
      `INSERT INTO search_documents (company_id, case_id, kind, id, at, words)
       SELECT $1, gen_random_uuid(), 'interaction', gen_random_uuid(), now(), '' FROM generate_series(1, $2)`,
      [this.#currentCompany.companyId, NEWEST_RECORDS - NEWEST_SEARCHED],
    );
    const { body } = await this.#currentCompany.get('/search?q=smith+will');
    assert.ok(body.hits.length > 0, 'searches have hits');
  }

  async sendDraft(operation: Operation, draft: Draft): Promise<void> {
    const sent = encodeRequest(draft, this.#sender(operation));
    const describeRequest = () => `${Buffer.from(sent.bytes).toString('utf8').slice(0, 2_000)}\n`;
    try {
      const answer = await this.#send(sent);
      this.#checkAnswer(sent, answer);
      if (answer?.status === 200) await this.#checkEffect(operation, sent, answer);
      // The write may or may not have been performed, so the state of the record is unknown.
      else if (!answer && operation.method !== 'GET') await this.#replaceRecord(operation.template);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n\n${describeRequest()}`, { cause: error });
    }
  }

  #sender({ scope, template, isPersonal }: Operation): Sender {
    const company = this.#currentCompany;
    const token = scope === 'operator' ? this.#operator : scope && company.token;
    const [customer] = company.customers;
    const known = {
      ...{ adviser: company.adviser, adviserWithVideo: company.adviserWithVideo, email: customer.email },
      ...{ customTag: company.customTags[0] ?? '', customer: this.#ids.customerId ?? '' },
    };
    // The default tags of an entry have a fixed vocabulary, unlike custom tags.
    const ids = { ...WORDS, ...this.#ids, ...(template.includes('/tags/') && { tag: 'executor' }) };
    return { token, cookie: isPersonal ? this.#cookie : undefined, ids, known };
  }

  get #currentCompany(): TestCompany {
    assert.ok(this.#company);
    return this.#company;
  }

  async #send(sent: EncodedRequest): Promise<Answer | undefined> {
    this.#requestsSinceRenewal++;
    const answer = await this.#connection.send(sent);
    this.#counts.count(answer);
    return answer;
  }

  #checkAnswer({ method, path, isBroken: broken }: EncodedRequest, answer: Answer | undefined): void {
    if (broken) {
      if (!answer) return;
      assert.ok(answer.status < 500 || answer.status === 505, `${answer.status}: ${answer.text}`);
      if (answer.status >= 400 && method !== 'HEAD') assert.ok(answer.body?.status ?? answer.body?.error, answer.text);
      return;
    }
    assert.ok(answer, 'the connection was closed without a response');
    assert.ok(answer.status < 500, `${answer.status}: ${answer.text}`);
    assert.equal(answer.headers['x-injected'], undefined);
    assert.doesNotMatch(String(answer.headers.link), /<[^/]/, 'a link is not just a path');
    assert.doesNotMatch(answer.text, /node_modules|FST_ERR|\.[jt]s:\d+:\d/);
    assertDescribed(method, path, answer, true);
    const isProblem = answer.headers['idempotency-replayed'] === undefined && answer.body?.error === undefined;
    if (answer.status >= 400 && method !== 'HEAD' && isProblem) {
      assert.equal(answer.body?.request_id, answer.headers['x-request-id'], answer.text);
    }
  }

  /** Reads back an accepted write; replaces a record that was removed. */
  async #checkEffect({ template }: Operation, sent: EncodedRequest, answer: Answer): Promise<void> {
    const { method, intactBody } = sent;
    const pathname = sent.path.split(/[?#]/, 1)[0] ?? '';
    const replayed = answer.headers['idempotency-replayed'] !== undefined;
    if (['GET', 'HEAD', 'OPTIONS'].includes(method) || replayed) return;
    const kind = KIND_BY_PATH.find(([pattern]) => pattern.test(pathname))?.[1];
    const path = fill('/cases/{caseId}/', this.#ids);
    if (kind && typeof answer.body?.deleted_at !== 'string' && pathname.startsWith(path)) {
      // The damage may or may not have changed the meaning of the body, so nothing is expected of the record. Nor of one
      // that is named by its external id: earlier requests may have forgotten it.
      const isKnown = intactBody !== undefined && !pathname.includes('/by-external-id/');
      await (isKnown ? this.#readBack(kind, intactBody, answer) : this.#forget(kind, answer));
    } else if (method === 'DELETE' || pathname.startsWith(path)) {
      await this.#replaceRecord(template);
    }
  }

  async #readBack(kind: Kind, text: string, answer: Answer): Promise<void> {
    const { id } = answer.body;
    const now = this.#app.clock.read();
    const shown = expectedFields(kind, parseBody(text), this.#records.get(id)?.shown, now);
    const record = await this.#read(kind, id);
    const { address, ...withoutAddress } = shown;
    assert.deepEqual(shownFields(kind, record.body), withoutAddress, 'GET returns other values than were sent');
    this.#records.set(id, { kind, shown });
    this.#counts.readBack++;
  }

  async #forget(kind: Kind, answer: Answer): Promise<void> {
    const { id } = answer.body;
    if (this.#ids[kind] === id) await this.#createRecord(kind);
    else this.#records.delete(id);
  }

  async #read(kind: Kind, id: string): Promise<Answer> {
    const path = `${fill('/cases/{caseId}/', this.#ids)}${PATHS[kind]}/${id}`;
    const { token } = this.#currentCompany;
    const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const flags = { headOnly: false, endsConnection: false, isBroken: false, intactBody: undefined };
    const sent = { method: 'GET', path, bytes: Buffer.from(head), ...flags };
    const answer = await this.#send(sent);
    this.#checkAnswer(sent, answer);
    assert.ok(answer && answer.status === 200, `${path}: ${answer?.text}`);
    return answer;
  }

  /** Creates a new record for the next requests, because the current one may no longer be usable. */
  async #replaceRecord(template: string): Promise<void> {
    const name = template
      .match(/\{(\w+)\}/g)
      ?.at(-1)
      ?.slice(1, -1);
    if (name === 'tag' && template.startsWith('/manage')) {
      await this.#currentCompany.post('/manage/custom-tags', { tag: this.#ids.tag });
    } else {
      const entry = name === 'tag' ? 'entryID' : name;
      if (entry && !['caseId', 'companyId', ...Object.keys(WORDS)].includes(entry)) await this.#createRecord(entry);
    }
  }

  /** Reads the fields of a record that the harness has created, before hostile requests change it. */
  async #remember(kind: Kind): Promise<void> {
    const id = this.#ids[kind] ?? '';
    const list = kind === 'entryID' ? 'address-book' : `${PATHS[kind]}/${id}`;
    const { body } = await this.#currentCompany.get(fill(`/cases/{caseId}/${list}`, this.#ids));
    const items: ShownRecord[] = [body].flat();
    const record = items.find((item) => item.id === id);
    this.#records.set(id, {
      kind,
      shown: shownFields(kind, record, new Map(items.map((item) => [item.id, item.data]))),
    });
  }

  async #createRecord(name: string): Promise<void> {
    for (const [parent, child] of PARENT_RECORDS) if (name === child) await this.#createRecord(parent);
    if (name === 'endpointId') await this.#currentCompany.delete(`/webhooks/endpoints/${this.#ids.endpointId}`);
    // A request to delete the tag may be performed after its connection was cut off, and after the tag was created again.
    if (name === 'entryID') await this.#currentCompany.post('/manage/custom-tags', { tag: this.#ids.tag });
    const id = await MAKERS[name]?.(this.#currentCompany, this.#ids);
    assert.ok(id);
    this.#records.delete(this.#ids[name] ?? '');
    this.#ids[name] = id;
    if (name in PATHS) await this.#remember(name as Kind);
  }

  /** Checks at the end of a series that the lists of the case show every record as expected. */
  async readLists({ template }: Operation): Promise<void> {
    if (!KIND_BY_PATH.some(([pattern]) => pattern.test(template))) return;
    const company = caller(this.#app.baseUrl, this.#currentCompany.token);
    for (const [kind, list] of Object.entries(LISTS) as [Kind, string][]) {
      const expected = [...this.#records].filter(([, record]) => record.kind === kind);
      if (expected.length === 0) continue;
      const answer = await company.get(fill(`/cases/{caseId}/${list}`, this.#ids));
      const listed = new Map<string, ShownRecord>(answer.body.map((record: ShownRecord) => [record.id, record]));
      const addresses = new Map<string, ShownRecord>(answer.body.map((item: ShownRecord) => [item.id, item.data]));
      for (const [id, { shown }] of expected) {
        const found = listed.get(id);
        if (found)
          assert.deepEqual(shownFields(kind, found, addresses), shown, `${list} returns other values than were sent`);
        else assert.equal((await company.get(fill(`/cases/{caseId}/${PATHS[kind]}/${id}`, this.#ids))).status, 404);
        this.#counts.listed++;
      }
    }
  }
}

const MAX_REQUESTS_PER_COMPANY = 1_500;
/** So many records with words are among those that a search looks through one by one. */
const NEWEST_SEARCHED = 10;

/** The paths whose requests create or change a record. */
const KIND_BY_PATH: [RegExp, Kind][] = [
  [/^\/cases\/[^/]+\/address[-_]book\/entry(\/(by-external-id\/)?[^/]+)?$/, 'entryID'],
  [/^\/cases\/[^/]+\/interactions(\/(by-external-id\/)?[^/]+)?$/, 'interactionId'],
  [/^\/cases\/[^/]+\/invoices(\/(by-external-id\/)?[^/]+)?$/, 'invoiceId'],
  [/^\/cases\/[^/]+\/appointments(\/(by-external-id\/)?[^/]+)?$/, 'appointmentID'],
];
const PATHS: Record<Kind, string> = {
  entryID: 'address-book/entry',
  interactionId: 'interactions',
  invoiceId: 'invoices',
  appointmentID: 'appointments',
};
const LISTS: Record<Kind, string> = { ...PATHS, entryID: 'address-book' };

/** Parent and child records: a new payment needs a new invoice that can be paid. */
const PARENT_RECORDS: [string, string][] = [
  ['invoiceId', 'itemId'],
  ['invoiceId', 'paymentId'],
  ['appointmentID', 'messageId'],
  ['endpointId', 'deliveryId'],
];

/** Counts of responses and checks, over all sessions. */
export class InputCounts {
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
