import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alwaysShows,
  MAX_SECTION_DEPTH,
  MAX_TAGS,
  MAX_TEMPLATE_FAULTS,
  MAX_TEMPLATE_LENGTH,
  parseTemplate,
  renderTemplate,
  type Template,
} from '../src/cases/appointments/messages/templates/language.ts';

const FIELDS = ['client', 'start', 'location'];

function parsed(text: string): Template {
  const { template, faults } = parseTemplate(text, FIELDS);
  assert.deepEqual(faults, undefined);
  return template as Template;
}

const rendered = (text: string, fields: Record<string, string> = {}) => renderTemplate(parsed(text), fields);

/** The places of the faults as `line:column message`. */
const faultsOf = (text: string) =>
  (parseTemplate(text, FIELDS).faults ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`);

test('A field is replaced by its value, and by nothing if it has none', () => {
  assert.equal(rendered('Dear {{client}}, see you.', { client: 'Ada' }), 'Dear Ada, see you.');
  assert.equal(rendered('{{ client }}{{start}}|{{location}}', { client: 'Ada', start: '14:30' }), 'Ada14:30|');
  assert.equal(rendered(''), '');
});

test('A value is inserted as it is: it is never read as a template', () => {
  assert.equal(rendered('{{client}}', { client: '{{start}} $& <b>', start: '14:30' }), '{{start}} $& <b>');
});

test('Only a field that the message has is read, whatever the prototype of an object holds', () => {
  assert.equal(renderTemplate(parsed('{{client}}'), Object.create({ client: 'inherited' })), '');
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.deepEqual(faultsOf(`{{${name}}}`), [
      `1:1 there is no field ${name}; the fields are client, start, location`,
    ]);
    const { template } = parseTemplate(`{{${name}}}{{#${name}}}shown{{/${name}}}`, [name]);
    assert.equal(renderTemplate(template as Template, {}), '');
  }
});

test('A section is there only if its field has a value, an inverted one only if it has none', () => {
  const text = '{{#location}}at {{location}}{{/location}}{{^location}}online{{/location}}';
  assert.equal(rendered(text, { location: 'Room 2' }), 'at Room 2');
  assert.equal(rendered(text, { location: '' }), 'online');
  assert.equal(rendered(text), 'online');
  const nested = '{{#client}}{{client}}{{#location}} in {{location}}{{/location}}.{{/client}}';
  assert.equal(rendered(nested, { client: 'Ada', location: 'Rome' }), 'Ada in Rome.');
  assert.equal(rendered(nested, { client: 'Ada' }), 'Ada.');
  assert.equal(rendered(nested, { location: 'Rome' }), '');
});

test('A line that holds only beginnings and ends of sections leaves no line in the text', () => {
  const text = 'Hello\n{{#location}}\nWhere: {{location}}\n{{/location}}\n  {{^location}}{{/location}} \nBye\n';
  assert.equal(rendered(text, { location: 'Room 2' }), 'Hello\nWhere: Room 2\nBye\n');
  assert.equal(rendered(text), 'Hello\nBye\n');
  assert.equal(rendered('{{client}}\nBye'), '\nBye', 'a field is no section');
  assert.equal(rendered('a {{#client}}\nb{{/client}}\nc', { client: 'x' }), 'a \nb\nc', 'text is beside the tag');
  assert.equal(rendered('a\n{{#client}}\nb\n{{/client}}', { client: 'x' }), 'a\nb\n');
});

test('The line breaks of Windows and of old Macs are line breaks', () => {
  assert.equal(rendered('a\r\n{{#client}}\r\nb\r{{/client}}\r\nc', { client: 'x' }), 'a\nb\nc');
  assert.deepEqual(faultsOf('a\r\nb\r {{none}}'), [
    '3:2 there is no field none; the fields are client, start, location',
  ]);
});

test('Each fault names its line and its column in characters', () => {
  const unknown = 'there is no field nobody; the fields are client, start, location';
  assert.deepEqual(faultsOf('Dear {{client}},\n\n𝒜é {{nobody}} {{#nobody}}{{/nobody}}'), [
    `3:4 ${unknown}`,
    `3:15 ${unknown}`,
  ]);
});

test('A section that is not closed, not open or crossed is a fault', () => {
  assert.deepEqual(faultsOf('a\n {{#client}}b'), [
    '2:2 the section {{#client}} is never closed: write {{/client}} where it ends',
  ]);
  assert.deepEqual(faultsOf('{{/client}}'), ['1:1 {{/client}} closes a section that is not open']);
  assert.deepEqual(faultsOf('{{#client}}\n{{^start}}\n{{/client}}\n{{/start}}'), [
    '3:1 {{/client}} comes before the end of {{^start}} of line 2, column 1; close that first',
    '4:1 {{/start}} closes a section that is not open',
  ]);
});

test('Braces have no use outside of tags, and nothing else of Mustache is a tag', () => {
  const other = 'is no tag; the tags are {{field}}, {{#field}}, {{^field}} and {{/field}}';
  for (const tag of [
    '{{>client}}',
    '{{&client}}',
    '{{! note }}',
    '{{=<% %>=}}',
    '{{client.name}}',
    '{{#a b}}',
    '{{.}}',
  ]) {
    assert.deepEqual(faultsOf(`a ${tag}`), [`1:3 ${tag} ${other}`]);
  }
  assert.deepEqual(faultsOf('{{ }}'), ['1:1 the tag has no field: write {{field}}']);
  assert.deepEqual(faultsOf('{{{client}}}'), ['1:1 a tag has two braces on each side: write {{field}}']);
  assert.deepEqual(faultsOf('{{client}}}'), [
    '1:1 {{client}}} is not closed: write }} after the field, on the same line',
  ]);
  assert.deepEqual(faultsOf('a {{client\n}} b'), [
    '1:3 {{client is not closed: write }} after the field, on the same line',
    '2:1 these braces close no tag, and braces have no other use',
  ]);
  assert.deepEqual(faultsOf('{client}'), ['1:1 a tag has two braces on each side, and braces have no other use']);
  assert.deepEqual(faultsOf('}'), ['1:1 these braces close no tag, and braces have no other use']);
});

test('Length, tags, depth and the number of faults are bounded', () => {
  assert.equal(rendered('x'.repeat(MAX_TEMPLATE_LENGTH)).length, MAX_TEMPLATE_LENGTH);
  assert.deepEqual(faultsOf('𝒜'.repeat(MAX_TEMPLATE_LENGTH)), []);
  assert.deepEqual(faultsOf('x'.repeat(MAX_TEMPLATE_LENGTH + 1)), [
    `1:1 a template has at most ${MAX_TEMPLATE_LENGTH} characters; this one has ${MAX_TEMPLATE_LENGTH + 1}`,
  ]);
  const tags = '{{start}}'.repeat(MAX_TAGS);
  assert.equal(rendered(tags, { start: 'x' }), 'x'.repeat(MAX_TAGS));
  assert.deepEqual(faultsOf(`${tags}\n{{start}}{{start}}`), [`2:1 a template has at most ${MAX_TAGS} tags`]);
  const nested = (depth: number) => `${'{{#start}}'.repeat(depth)}x${'{{/start}}'.repeat(depth)}`;
  assert.equal(rendered(nested(MAX_SECTION_DEPTH), { start: 'x' }), 'x');
  assert.deepEqual(faultsOf(nested(MAX_SECTION_DEPTH + 1)), [
    `1:${MAX_SECTION_DEPTH * 10 + 1} sections are nested at most ${MAX_SECTION_DEPTH} deep`,
  ]);
  assert.equal(faultsOf('{{nobody}}'.repeat(500)).length, MAX_TEMPLATE_FAULTS);
  for (const hostile of [
    '{',
    '}',
    '{{',
    '}}',
    '{{#',
    '{{#start}}',
    '{{/start}}',
    '{{a',
    '{a}',
    '\n{{{',
    `{{#${'a'.repeat(200)}}}`,
  ]) {
    const faults = faultsOf(hostile.repeat(MAX_TEMPLATE_LENGTH / hostile.length));
    assert.ok(faults.length > 0 && faults.length <= MAX_TEMPLATE_FAULTS, hostile);
    for (const fault of faults) assert.ok(fault.length < 200, fault);
  }
});

test('A field always shows if it is shown in every case of the sections around it', () => {
  const shows = (text: string) => alwaysShows(parsed(text), ['location']);
  assert.equal(shows('{{location}}'), true);
  assert.equal(shows('{{#location}}at {{#location}}{{location}}{{/location}}{{/location}}'), true);
  assert.equal(shows('{{#client}}{{location}}{{/client}} {{location}}'), true);
  assert.equal(shows('{{#client}}{{location}}{{/client}}'), false);
  assert.equal(shows('{{^location}}{{location}}{{/location}}'), false);
  assert.equal(shows('{{#location}}at the office{{/location}}'), false);
  assert.equal(shows('{{#client}}{{location}}{{/client}}{{^client}}at {{location}}{{/client}}'), true);
  assert.equal(shows('{{#client}}{{location}}{{/client}}{{^client}}here{{/client}}'), false);
  const either = '{{#client}}{{#start}}{{location}}{{/start}}{{/client}}{{^start}}{{location}}{{/start}}';
  assert.equal(shows(either), false, 'with a start and without a client');
  assert.equal(shows(`${either}{{^client}}{{location}}{{/client}}`), true);
  assert.equal(alwaysShows(parsed('{{#client}}{{start}}{{/client}}{{^client}}{{location}}{{/client}}'), FIELDS), true);
});

test('Sections of very many fields are not looked into', () => {
  const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
  const nested = (depth: number): string =>
    names
      .slice(0, depth)
      .reduce((text, name) => `{{#${name}}}${text}{{/${name}}}{{^${name}}}{{x}}{{/${name}}}`, '{{x}}');
  const shows = (text: string) => alwaysShows(parseTemplate(text, [...names, 'x']).template as Template, ['x']);
  assert.equal(shows(nested(MAX_SECTION_DEPTH)), true);
  // Shown by the first field that has a value or, after the last, because it has none.
  const chain = (length: number): string => {
    const links = names.slice(1, length).map((name, i) => `{{^f${i}}}{{#${name}}}{{x}}{{/${name}}}{{/f${i}}}`);
    return `{{#f0}}{{x}}{{/f0}}${links.join('')}{{^f${length - 1}}}{{x}}{{/f${length - 1}}}`;
  };
  assert.equal(shows(chain(8)), true);
  assert.equal(shows(chain(9)), false);
});
