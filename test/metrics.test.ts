import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { app, bookingFor, parse, plain, type Sample, scrape, sum } from './harness/metrics.ts';

async function change(work: () => Promise<unknown>, name: string, labels?: Record<string, string>): Promise<number> {
  const before = await scrape();
  await work();
  return sum(await scrape(), name, labels) - sum(before, name, labels);
}

test('/metrics speaks the format of Prometheus', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const answer = await plain('/metrics');
  assert.match(String(answer.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  const declared = new Map(
    [...answer.text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram|summary)$/gm)].map(([, name, type]) => [
      name,
      type,
    ]),
  );
  const helped = new Set([...answer.text.matchAll(/^# HELP (\S+) .+$/gm)].map(([, name]) => name));
  assert.deepEqual(new Set(declared.keys()), helped);
  for (const { name, value } of parse(answer.text)) {
    const family = declared.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    assert.ok(declared.has(family), name);
    if (declared.get(family) === 'counter') assert.ok(value >= 0);
  }
  assert.equal(declared.get('http_requests_total'), 'counter');
  assert.equal(declared.get('http_request_duration_seconds'), 'histogram');
  assert.equal(declared.get('db_statement_duration_seconds'), 'histogram');
  assert.equal(declared.get('db_pool_connections'), 'gauge');
  assert.equal(declared.get('messages_due'), 'gauge');
  assert.equal(declared.get('meetings_due'), 'gauge');
  assert.equal(declared.get('webhook_deliveries_waiting'), 'gauge');
  assert.equal(declared.get('webhook_endpoints_failing'), 'gauge');
  assert.equal(declared.get('webhooks_ended_total'), 'counter');
});

test('the buckets of a histogram grow up to its count', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const route = '/cases/:caseId/interactions';
  const samples = (await scrape()).filter(({ labels }) => labels.route === route && labels.method === 'GET');
  const buckets = samples.filter(({ name }) => name === 'http_request_duration_seconds_bucket');
  assert.ok(buckets.length > 3);
  assert.deepEqual(
    buckets.map(({ value }) => value),
    buckets.map(({ value }) => value).toSorted((a, b) => a - b),
  );
  assert.equal(buckets.at(-1)?.labels.le, '+Inf');
  assert.equal(buckets.at(-1)?.value, sum(samples, 'http_request_duration_seconds_count'));
});

for (const [method, resource, body, status] of [
  ['GET', 'interactions', undefined, 200],
  ['POST', 'interactions', { type: 'phone' }, 200],
  ['POST', 'interactions', {}, 400],
  ['GET', 'address_book', undefined, 200],
] as const) {
  test(`${method} ${resource} answered with ${status} is counted and timed under its route pattern`, async () => {
    const company = await app.company();
    const labels = { method, route: `/cases/:caseId/${resource}` };
    const call = () => company.send(method, `${company.path}/${resource}`, body);
    assert.equal(await change(call, 'http_requests_total', { ...labels, status: String(status) }), 1);
    assert.equal(await change(call, 'http_requests_total', labels), 1);
    assert.equal(await change(call, 'http_request_duration_seconds_count', labels), 1);
  });
}

test('refusals are counted by their status: 401, 403, 404, 405, 413', async () => {
  const company = await app.company();
  const narrow = await company.withScopes();
  const path = `${company.path}/interactions`;
  for (const [status, refused] of [
    ['401', () => app.anonymous.get(path)],
    ['403', () => narrow.get(path)],
    ['404', () => company.get(`/cases/${randomUUID()}/interactions`)],
    ['405', () => company.send('PUT', path)],
    ['413', () => company.post(path, '{}'.padEnd(1_048_577))],
  ] as const) {
    assert.equal(await change(refused, 'http_requests_total', { status }), 1, status);
  }
});

test('no part of a path that a caller makes up comes into the metrics', async () => {
  const company = await app.company();
  const made = randomUUID();
  await company.get(`${company.path}/interactions`);
  await company.get(`/cases/${made}/interactions`);
  await company.get(`/cases/nothing-${made}/interactions?x=${made}`);
  await company.get(`/${made}`);
  await company.send('PUT', `/cases/${made}/interactions`);
  await company.patch(`${company.path}/interactions/${made}`, { type: 'phone' });
  const before = await scrape();
  for (let i = 0; i < 10; i++) {
    await company.get(`/${randomUUID()}/${randomUUID()}`);
    await company.get(`/cases/${randomUUID()}/interactions`);
  }
  const { text } = await plain('/metrics');
  assert.ok(!text.includes(made) && !text.includes(company.caseId) && !text.includes(company.token));
  const series = (samples: Sample[]) => samples.filter(({ name }) => name === 'http_requests_total').length;
  assert.ok(series(parse(text)) <= series(before) + 1, 'only the scrape itself may be new');
});

test('the connections of the pool are shown by state', async () => {
  const states = (await scrape()).filter(({ name }) => name === 'db_pool_connections');
  assert.deepEqual(states.map(({ labels }) => labels.state).sort(), ['busy', 'idle', 'waiting']);
  assert.ok(states.every(({ value }) => value >= 0));
});

test('callers that wait for a connection are counted, and none are left afterwards', async () => {
  const company = await app.company();
  await Promise.all(Array.from({ length: 40 }, () => company.get(`${company.path}/interactions`)));
  const samples = await scrape();
  assert.equal(sum(samples, 'db_pool_connections', { state: 'waiting' }), 0);
  const open =
    sum(samples, 'db_pool_connections', { state: 'idle' }) + sum(samples, 'db_pool_connections', { state: 'busy' });
  assert.ok(
    open >= 1 && open <= 24,
    `${open} connections, of at most 8 for statements, 4 for lists, 8 for transactions, 4 for readers`,
  );
});

const due = async (channel: string) => sum(await scrape(), 'messages_due', { channel });

for (const channel of ['email', 'sms'] as const) {
  test(`a confirmation by ${channel} is due immediately, and no longer when it was withdrawn`, async () => {
    app.clock.set('2027-03-01T09:00:00Z');
    const company = await app.company();
    const before = { email: await due('email'), sms: await due('sms') };
    const booked = await company.post(`${company.path}/appointments`, {
      ...bookingFor(company, '2027-03-10'),
      [`${channel}_confirmation`]: true,
    });
    assert.equal(booked.status, 200, booked.text);
    const other = channel === 'email' ? 'sms' : 'email';
    assert.equal(await due(channel), before[channel] + 1);
    assert.equal(await due(other), before[other]);
    await company.delete(`${company.path}/appointments/${booked.body.id}`);
    assert.equal(await due(channel), before[channel]);
  });

  test(`a reminder by ${channel} is due when its time has come, and not sooner`, async () => {
    app.clock.set('2027-03-01T09:00:00Z');
    const company = await app.company();
    const before = await due(channel);
    const booked = await company.post(`${company.path}/appointments`, {
      ...bookingFor(company, '2027-03-10'),
      [`${channel}_notification`]: true,
    });
    assert.equal(booked.status, 200, booked.text);
    assert.equal(await due(channel), before);
    app.clock.set('2027-03-09T08:59:59Z');
    assert.equal(await due(channel), before);
    app.clock.set('2027-03-09T09:00:00Z');
    assert.equal(await due(channel), before + 1);
    await company.delete(`${company.path}/appointments/${booked.body.id}`);
    assert.equal(await due(channel), before);
  });
}
