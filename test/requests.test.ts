import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { assertProblem } from './harness/assert.ts';
import type { Answer, Caller, Headers } from './harness/http.ts';
import {
  app,
  assertFaultList,
  bodyOf,
  fill,
  forms,
  idsOf,
  interactionsOf,
  MEBIBYTE,
  nameOf,
  recordNameOf,
  recordsOf,
} from './harness/requests.ts';

/* ---- the order of judgement ---- */

type Request = { method: string; path: string; caller: Caller; headers: Headers; body: unknown };
type Judgement = {
  name: string;
  commit: (request: Request, company: TestCompany) => void;
  expect: (answer: Answer) => void;
};

const NARROW = new WeakMap<TestCompany, Caller>();

const judgements: Judgement[] = [
  {
    name: 'route',
    commit: (request) => {
      request.path = `/nothing${request.path}`;
    },
    expect: (answer) => assertProblem(answer, 404, 'not_found'),
  },
  {
    name: 'method',
    commit: (request) => {
      request.method = 'PUT';
    },
    expect: (answer) => assertProblem(answer, 405, 'method_not_allowed'),
  },
  {
    name: 'credentials',
    commit: (request) => {
      request.headers.authorization = undefined;
    },
    expect: (answer) => assertProblem(answer, 401, 'invalid_token'),
  },
  {
    name: 'scope',
    commit: (request, company) => {
      request.caller = NARROW.get(company) ?? request.caller;
    },
    expect: (answer) => assertProblem(answer, 403, 'insufficient_scope'),
  },
  {
    name: 'Content-Type',
    commit: (request) => {
      request.headers['content-type'] = 'text/plain';
    },
    expect: (answer) => assertFaultList(answer, 'Content-Type: not_allowed'),
  },
  {
    name: 'case',
    commit: (request, company) => {
      request.path = request.path.replace(company.caseId, randomUUID());
    },
    expect: (answer) => assertProblem(answer, 404, 'not_found'),
  },
  {
    name: 'record',
    commit: (request) => {
      request.path = request.path.replace(/[0-9a-f-]{36}$/, randomUUID());
    },
    expect: (answer) => assertProblem(answer, 404, 'not_found'),
  },
];

const tooLarge: Judgement = {
  name: 'body of more than 1 MiB',
  commit: (request) => {
    request.body = '{}'.padEnd(MEBIBYTE + 1);
  },
  expect: (answer) => assertProblem(answer, 413, 'body_too_large'),
};

const bodyFaults: Judgement[] = [
  {
    name: 'malformed body',
    commit: (request) => {
      request.body = '{"type":';
    },
    expect: (answer) => assertFaultList(answer, 'body: format'),
  },
  {
    name: 'body that is no object',
    commit: (request) => {
      request.body = '[]';
    },
    expect: (answer) => assertFaultList(answer, 'body: type'),
  },
  {
    name: 'field of a wrong type',
    commit: (request) => {
      request.body = { ...(request.body as object), title: [], type: [], total: [], start_time: [] };
    },
    expect: (answer) => assertProblem(answer, 400, 'invalid_request'),
  },
  tooLarge,
];

for (const form of forms) {
  const single = form.takesBody ? bodyFaults : [];
  const ordered = judgements.filter(({ name }) => name !== 'record' || recordNameOf(form));

  test(`${nameOf(form)} judges route, method, credentials, scope, Content-Type, path and body in this order`, async () => {
    const company = await app.company();
    const ids = await idsOf(company);
    NARROW.set(company, await company.withScopes());
    const before = await recordsOf(company);
    const judge = async (...faults: Judgement[]) => {
      const request: Request = {
        method: form.method,
        path: fill(form.template, ids),
        caller: company,
        headers: {},
        body: bodyOf(form, company),
      };
      for (const fault of faults) fault.commit(request, company);
      const answer = await request.caller.send(request.method, request.path, request.body, request.headers);
      try {
        faults[0]?.expect(answer);
      } catch (cause) {
        assert.fail(`${faults.map(({ name }) => name).join(' before ')}: ${(cause as Error).message}`);
      }
    };
    for (const [i, first] of ordered.entries()) {
      await judge(first);
      for (const second of [...ordered.slice(i + 1), ...single]) {
        if (second !== tooLarge || !['route', 'method'].includes(first.name)) await judge(first, second);
      }
      app.clock.advance({ minutes: 1 });
    }
    for (const fault of single) await judge(fault);
    assert.deepEqual(await recordsOf(company), before);
  });
}

test('an unknown route is 404 and a wrong method 405, however large the body', async () => {
  const company = await app.company();
  const body = '{}'.padEnd(MEBIBYTE + 1);
  assertProblem(await company.post('/nothing', body), 404, 'not_found');
  assertProblem(await company.send('PUT', `${company.path}/interactions`, body), 405, 'method_not_allowed');
});

test('a revoked token without the scope is judged as revoked', async () => {
  const company = await app.company();
  const narrow = await company.withScopes();
  await app.sql('UPDATE tokens SET revoked_at = created_at WHERE company_id = $1', [company.companyId]);
  assertProblem(await narrow.get(`${company.path}/interactions`), 401, 'invalid_token');
});

/* ---- Content-Type ---- */

for (const form of forms) {
  test(`${nameOf(form)} is refused without Content-Type: application/json`, async () => {
    const company = await app.company();
    const path = fill(form.template, await idsOf(company));
    const before = await recordsOf(company);
    for (const type of [undefined, 'text/plain']) {
      const answer = await company.send(form.method, path, bodyOf(form, company), { 'content-type': type });
      assertFaultList(answer, 'Content-Type: not_allowed');
      assert.match(answer.body.detail, /Content-Type/);
      assert.match(answer.body.errors[0].message, /Content-Type/);
    }
    assert.deepEqual(await recordsOf(company), before);
  });
}

for (const type of [
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json ; charset="utf-8"',
  'Application/JSON',
  'APPLICATION/JSON; CHARSET=UTF-8',
  'application/json; profile=x; charset=utf-8',
]) {
  test(`"${type}" is application/json`, async () => {
    const company = await app.company();
    const created = await company.post(`${company.path}/interactions`, { type: 'phone' }, { 'content-type': type });
    assert.equal(created.status, 200, created.text);
    const listed = await company.get(`${company.path}/interactions`, { 'content-type': type });
    assert.equal(listed.status, 200, listed.text);
  });
}

for (const type of [
  ...[
    '',
    'json',
    'text/json',
    'application/jsonp',
    'application/json5',
    'application/problem+json',
    'application/x-json',
  ],
  ...['application/merge-patch+json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '*/*'],
  ...['application/jso', 'xapplication/json', 'text/plain; application/json', 'application/json, text/plain'],
]) {
  test(`"${type}" is not application/json`, async () => {
    const company = await app.company();
    const headers = { 'content-type': type };
    assertFaultList(
      await company.post(`${company.path}/interactions`, { type: 'phone' }, headers),
      'Content-Type: not_allowed',
    );
    assertFaultList(await company.get(`${company.path}/interactions`, headers), 'Content-Type: not_allowed');
    assert.deepEqual(await interactionsOf(company), []);
  });
}
