import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNotFound, assertRefused } from './harness/assert.ts';
import { invoiceBody } from './harness/bodies.ts';
import {
  app,
  create,
  descriptions,
  everything,
  items,
  type Listed,
  list,
  only,
  UNKNOWN,
  update,
} from './harness/invoices.ts';
import { overlapping } from './harness/overlap.ts';

// Unknown cases and invoices

test('an unknown case, or one of another company, is 404 for all three operations whatever the body holds', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const { id } = await create(stranger, { items: items('A') });
  const before = await everything(stranger);
  for (const caseId of [UNKNOWN, stranger.caseId, 'x', '1', `${company.caseId}0`, '%00']) {
    assertNotFound(await company.get(`/cases/${caseId}/invoices`));
    for (const body of [invoiceBody(), {}, { items: 5 }]) {
      assertNotFound(await company.post(`/cases/${caseId}/invoices`, body));
      assertNotFound(await company.patch(`/cases/${caseId}/invoices/${id}`, body));
      assertNotFound(await company.post(`/cases/${caseId}/invoices/${id}`, body));
    }
  }
  assert.deepEqual(await everything(stranger), before);
});

test('an unknown case is 404 before show_cancelled_items is judged', async () => {
  const company = await app.company();
  assertNotFound(await company.get(`/cases/${UNKNOWN}/invoices?show_cancelled_items=garbage`));
});

test('an invoice that is unknown, of another case or of another company is 404 whatever the body holds', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const otherPath = `/cases/${await company.openCase()}`;
  const ofOtherCase = await create(company, { items: items('A') }, otherPath);
  const ofStranger = await create(stranger, { items: items('A') });
  const before = [await everything(company, otherPath), await everything(stranger)];
  for (const id of [UNKNOWN, ofOtherCase.id, ofStranger.id, 'x', '1', `${ofOtherCase.id}0`, '%00']) {
    for (const body of [invoiceBody({ items: items('B') }), {}, { items: 5 }]) {
      assertNotFound(await company.patch(`${company.path}/invoices/${id}`, body));
      assertNotFound(await company.post(`${company.path}/invoices/${id}`, body));
    }
  }
  assert.deepEqual([await everything(company, otherPath), await everything(stranger)], before);
  assert.deepEqual(await everything(company), []);
});

test('an identifier in capital letters names the same case and invoice', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const answer = await company.patch(
    `/cases/${company.caseId.toUpperCase()}/invoices/${id.toUpperCase()}`,
    invoiceBody(),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.id, answer.body.customer_case_id], [id, company.caseId]);
});

test('without a token nothing is learned about invoices', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await everything(company);
  for (const answer of [
    await app.anonymous.get(`${company.path}/invoices`),
    await app.anonymous.post(`${company.path}/invoices`, invoiceBody()),
    await app.anonymous.patch(`${company.path}/invoices/${id}`, invoiceBody()),
    await app.anonymous.post(`/cases/${UNKNOWN}/invoices/x`, {}),
  ]) {
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.headers['www-authenticate']?.slice(0, 6), 'Bearer');
  }
  assert.deepEqual(await everything(company), before);
});

// invoice_number

const TAKEN = { invoice_number: 'taken' };

test('a create with a number that the case has used is refused and changes nothing', async () => {
  const company = await app.company();
  await create(company, { invoice_number: 'N', items: items('A') });
  const before = await everything(company);
  assertRefused(
    await company.post(`${company.path}/invoices`, invoiceBody({ invoice_number: 'N', items: items('B') })),
    TAKEN,
  );
  assert.deepEqual(await everything(company), before);
  const [count] = await app.sql('SELECT count(*)::int AS n FROM invoice_items WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.equal(count?.n, 1);
});

for (const method of ['PATCH', 'POST']) {
  test(`an update by ${method} to the number of another invoice of the case is refused and changes nothing`, async () => {
    const company = await app.company();
    await create(company, { invoice_number: 'N' });
    const { id } = await create(company, { items: items('A') });
    const before = await everything(company);
    const body = invoiceBody({ invoice_number: 'N', total: 5, items: items('B') });
    assertRefused(await company.send(method, `${company.path}/invoices/${id}`, body), TAKEN);
    assertRefused(
      await company.send(method, `${company.path}/invoices/${id}`, { ...body, keep_existing_items: true }),
      TAKEN,
    );
    assert.deepEqual(await everything(company), before);
  });
}

test('an invoice may keep its own number in an update', async () => {
  const company = await app.company();
  const { id } = await create(company, { invoice_number: 'N' });
  assert.equal((await update(company, id, { invoice_number: 'N', total: 7 })).total, 7);
});

test('an update that is refused for another fault does not call its own number taken', async () => {
  const company = await app.company();
  const { id } = await create(company, { invoice_number: 'N' });
  const answer = await company.patch(
    `${company.path}/invoices/${id}`,
    invoiceBody({ invoice_number: 'N', date_due: 'soon' }),
  );
  assertRefused(answer, { date_due: 'format' });
});

test('a number that an invoice has given up is free again', async () => {
  const company = await app.company();
  const { id } = await create(company, { invoice_number: 'N' });
  await update(company, id, { invoice_number: 'M' });
  await create(company, { invoice_number: 'N' });
  assert.deepEqual((await list(company)).map(({ invoice_number }) => invoice_number).sort(), ['M', 'N']);
});

test('numbers are compared exactly: capitals, blanks, accents and leading zeros make another number', async () => {
  const company = await app.company();
  const different = ['inv-1', 'INV-1', 'Inv-1', 'inv-1 ', ' inv-1', 'inv-01', 'ínv-1', 'i\u0301nv-1', 'ｉnv-1'];
  for (const invoice_number of different) await create(company, { invoice_number });
  assert.deepEqual((await list(company)).map(({ invoice_number }) => invoice_number).sort(), different.toSorted());
  for (const invoice_number of different) {
    assertRefused(await company.post(`${company.path}/invoices`, invoiceBody({ invoice_number })), TAKEN);
  }
});

test('a number is free in another case and in another company', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const otherPath = `/cases/${await company.openCase()}`;
  await create(company, { invoice_number: 'N' });
  await create(company, { invoice_number: 'N' }, otherPath);
  await create(stranger, { invoice_number: 'N' });
  const ofOtherCase = await create(company, { invoice_number: 'M' }, otherPath);
  await create(company, { invoice_number: 'M' });
  const again = await company.patch(`${otherPath}/invoices/${ofOtherCase.id}`, invoiceBody({ invoice_number: 'M' }));
  assert.equal(again.status, 200, again.text);
});

test('of twenty simultaneous creates with one number exactly one succeeds', async () => {
  const company = await app.company();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      company.post(
        `${company.path}/invoices`,
        invoiceBody({ invoice_number: 'N', total: i, items: items(`of ${i}`, `also ${i}`) }),
      ),
    ),
  );
  const [made, ...more] = answers.filter(({ status }) => status === 200);
  assert.ok(made);
  assert.deepEqual(more, []);
  for (const answer of answers) if (answer !== made) assertRefused(answer, TAKEN);
  const listed = await only(company);
  assert.equal(listed.id, made.body.id);
  assert.deepEqual(descriptions(listed), [`of ${listed.total}`, `also ${listed.total}`]);
});

test('twenty simultaneous creates with different numbers all succeed', async () => {
  const company = await app.company();
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => create(company, { items: items(`of ${i}`) })));
  assert.deepEqual((await list(company)).map(({ id }) => id).sort(), made.map(({ id }) => id).sort());
});

test('of simultaneous updates to one number exactly one succeeds, and the others change nothing', async () => {
  const company = await app.company();
  const made: Listed[] = [];
  for (let i = 0; i < 10; i += 1) made.push(await create(company, { total: 1, items: items('old') }));
  const answers = await Promise.all(
    made.map(({ id }) =>
      company.patch(
        `${company.path}/invoices/${id}`,
        invoiceBody({ invoice_number: 'N', total: 2, items: items('new') }),
      ),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, TAKEN);
  for (const { id, invoice_number } of made) {
    const listed = (await list(company)).find((invoice) => invoice.id === id);
    assert.ok(listed);
    const won = answers.some(({ status, body }) => status === 200 && body.id === id);
    assert.deepEqual(
      [listed.invoice_number, listed.total, descriptions(listed)],
      won ? ['N', 2, ['new']] : [invoice_number, 1, ['old']],
    );
  }
});

for (const [end, winners] of [
  ['COMMIT', 0],
  ['ROLLBACK', 1],
] as const) {
  test(`of creates and updates that wait for one number ${winners} succeed when the first to take it ends in ${end}`, async () => {
    const company = await app.company();
    const first = await create(company);
    const others = [await create(company), await create(company), await create(company)];
    const take = "UPDATE invoices SET invoice_number = 'N' WHERE id = $1";
    const answers = await overlapping(
      app,
      [[take, [first.id]]],
      [
        ...others.map(() => () => company.post(`${company.path}/invoices`, invoiceBody({ invoice_number: 'N' }))),
        ...others.map(
          ({ id }) =>
            () =>
              company.patch(`${company.path}/invoices/${id}`, invoiceBody({ invoice_number: 'N' })),
        ),
      ],
      end,
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, winners);
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer, TAKEN);
    const holders = (await list(company)).filter(({ invoice_number }) => invoice_number === 'N');
    assert.equal(holders.length, 1);
  });
}

// Simultaneous updates of one invoice

const SIX = ['1', '2', '3', '4', '5', '6'];
const HOLD = 'SELECT FROM invoices WHERE id = $1 FOR UPDATE';

for (const methods of [['PATCH'], ['PATCH', 'POST']]) {
  test(`simultaneous updates by ${methods.join(' and ')} that replace the items never mix their items, nor their sums`, async () => {
    const company = await app.company();
    const { id } = await create(company, { items: items('old') });
    const answers = await overlapping(
      app,
      [[HOLD, [id]]],
      SIX.map(
        (writer, i) => () =>
          company.send(
            methods[i % methods.length] ?? '',
            `${company.path}/invoices/${id}`,
            invoiceBody({ total: writer, items: items(`${writer}a`, `${writer}b`, `${writer}c`) }),
          ),
      ),
    );
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    const listed = await only(company);
    assert.deepEqual(descriptions(listed), [`${listed.total}a`, `${listed.total}b`, `${listed.total}c`]);
  });
}

test('simultaneous updates that add items lose none of them and keep those of one request together', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('old') });
  await overlapping(
    app,
    [[HOLD, [id]]],
    SIX.map(
      (writer) => () => update(company, id, { items: items(`${writer}a`, `${writer}b`), keep_existing_items: true }),
    ),
  );
  const shown = descriptions(await only(company));
  assert.equal(shown[0], 'old');
  const pairs = SIX.map((_, i) => shown.slice(1 + 2 * i, 3 + 2 * i).join());
  assert.deepEqual(
    pairs.sort(),
    SIX.map((writer) => `${writer}a,${writer}b`),
  );
});

test('a list during updates shows the items and the sums of one of them', async () => {
  const company = await app.company();
  const { id } = await create(company, { total: 0, items: items('0', '0') });
  const writing = (async () => {
    for (let writer = 1; writer <= 30; writer += 1) {
      await update(company, id, { total: writer, items: items(`${writer}`, `${writer}`) });
    }
  })();
  let written = false;
  writing.finally(() => {
    written = true;
  });
  while (!written) {
    const listed = await only(company);
    assert.deepEqual(descriptions(listed), [`${listed.total}`, `${listed.total}`]);
  }
  await writing;
});
