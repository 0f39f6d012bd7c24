import assert from 'node:assert/strict';
import { Ajv, type ValidateFunction } from 'ajv';
import { EVENT_SNAPSHOTS } from '../../scripts/event-snapshots.ts';
import type { TestCompany } from './app.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any image
export type Image = Record<string, any>;

export type Event = {
  id: string;
  type: string;
  at: string;
  actor: { type: string; id?: string; name?: string };
  request_id: string | null;
  case_id: string | null;
  record: { type: string; id: string };
  changed: string[] | null;
  before: Image | null;
  after: Image | null;
};

/** All events of this kind of record in the company's log. */
export async function eventsOf(company: TestCompany, record: string): Promise<Event[]> {
  const answer = await company.get(`/events?limit=500&types=${record}.*`);
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.body.length < 500, 'more than a page');
  assertTyped(answer.body);
  return answer.body;
}

const ajv = new Ajv({ allowUnionTypes: true });
const snapshots = new Map<string, ValidateFunction>();
for (const [record, schema] of Object.entries(EVENT_SNAPSHOTS)) snapshots.set(record, ajv.compile(schema));

/** The events have the types that the client gives them: packages/client/src/events.ts. */
export function assertTyped(events: Event[]): void {
  for (const { type, record, before, after } of events) {
    const matches = snapshots.get(record.type);
    assert.ok(matches, type);
    assert.equal(type.split('.', 1)[0], record.type);
    assert.equal(before === null, type.endsWith('.created') || type === 'message.resent', `${type}: before`);
    assert.equal(after === null, type === 'tag.removed', `${type}: after`);
    for (const snapshot of [before, after].filter((one) => one !== null))
      assert.ok(matches(snapshot), `${type}: ${ajv.errorsText(matches.errors)} in ${JSON.stringify(snapshot)}`);
  }
}

export const typesOf = (events: Event[]) => events.map(({ type }) => type);

/** The fields that both have must be equal. Wall times of London are compared with the instants in the log. */
export function assertShows(image: Image | null, shown: Image | null): void {
  assert.ok(image && shown);
  const common = Object.keys(shown).filter((field) => field in image);
  assert.ok(common.length >= 5, `only ${common} in common`);
  for (const field of common) {
    const expected: unknown = WALL.test(shown[field]) ? instant(shown[field]) : shown[field];
    assert.deepEqual(image[field], expected, field);
  }
}

const WALL = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const instant = (wall: string) =>
  Temporal.PlainDateTime.from(wall)
    .toZonedDateTime('Europe/London')
    .toInstant()
    .toString({ fractionalSecondDigits: 6 });
