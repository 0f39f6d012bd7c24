import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { comment, type Direction, fieldOf, type Schema, typeOf } from './schema-types.ts';

/** Writes src/client/operations.ts from openapi.json; with --check, fails when the committed copy differs. */

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema };
type Content = { content?: { 'application/json'?: { schema: Schema } } };
type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  security: object[];
  responses: Record<string, Content>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: { Problem: Schema } };
};

/** See src/client/methods.ts. */
const OWN_METHODS = ['pages', 'entries'];
const target = 'src/client/operations.ts';
const root = new URL('../', import.meta.url);
const document: Document = JSON.parse(await readFile(new URL('openapi.json', root), 'utf8'));
const made = formatted(write(document));

if (!process.argv.includes('--check')) await writeFile(new URL(target, root), made);
else if ((await readFile(new URL(target, root), 'utf8')) !== made) {
  console.error(`${target} does not match openapi.json: run \`npm run client\` and commit the result.`);
  process.exitCode = 1;
}

function write({ paths, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
  const ids = new Set(operations.map(({ operationId }) => operationId));
  const chosen = operations.filter(({ tags, operationId: id }) => {
    const first = /^(.+)_\d+$/.exec(id)?.[1];
    return !tags.includes('Alternative forms') && !(first && ids.has(first));
  });

  const own = chosen.find(({ operationId }) => OWN_METHODS.includes(operationId));
  if (own) throw new Error(`${own.operationId} is a method of the client's own`);

  const types: string[] = [];
  const nameByType = new Map<string, string>();
  const named = (name: string, type: string): string => {
    types.push(`export type ${name} = ${nameByType.get(type) ?? type};`);
    if (!nameByType.has(type)) nameByType.set(type, name);
    return name;
  };
  named('Problem', typeOf(components.schemas.Problem, 'received', 'Problem'));

  const declared = chosen.map((operation) => {
    const name = operation.operationId.replace(/^./, (letter) => letter.toUpperCase());
    const sent = operation.requestBody && schemaOf(operation.requestBody, `${name}: request`);
    const body = sent && named(`${name}Body`, typeOf(sent, 'sent', `${name}Body`));
    const shown = schemaOf(operation.responses[200] ?? {}, `${name}: answer`);
    const answer = shown.items
      ? `${named(`${name}Entry`, typeOf(shown.items, 'received', `${name}Entry`))}[]`
      : named(`${name}Answer`, typeOf(shown, 'received', `${name}Answer`));
    const input = inputOf(operation, body);
    const about = `${operation.summary}. ${operation.description}`;
    return `${comment(about)}${operation.operationId}: { input: ${input}; answer: ${answer} };`;
  });

  const table = chosen.map((operation) => {
    const { operationId, method, path, parameters = [], security } = operation;
    const query = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
    const headers = parameters.filter((one) => one.in === 'header').map(({ name }) => [camelCase(name), name]);
    const bearer = security.some((scheme) => 'bearer' in scheme);
    const row = { method, path, query, headers: Object.fromEntries(headers), bearer };
    return `${operationId}: ${JSON.stringify(row)},`;
  });

  return [
    '// Written by scripts/client.ts from openapi.json: change that one, then run `npm run client`.',
    "import type { Operation } from './request.ts';",
    ...types,
    `${comment('What goes into every operation, and what comes out.')}export type Operations = {\n${declared.join('\n')}\n};`,
    `export const OPERATIONS: Record<keyof Operations, Operation> = {\n${table.join('\n')}\n};`,
  ].join('\n\n');
}

function schemaOf({ content }: Content, at: string): Schema {
  const schema = content?.['application/json']?.schema;
  if (!schema) throw new Error(`${at} is not described as JSON`);
  return schema;
}

/** Parameters, headers and the body are fields of one object. */
function inputOf({ operationId, parameters = [], requestBody }: Operation, body: string | undefined): string {
  const names = new Set(['body', 'signal']);
  const sent: Direction = 'sent';
  const fields = parameters.map((parameter) => {
    const { schema, description, required = false } = parameter;
    const name = parameter.in === 'header' ? camelCase(parameter.name) : parameter.name;
    if (names.has(name)) throw new Error(`${operationId}: two parameters with the name ${name}`);
    names.add(name);
    const type = typeOf(parameter.in === 'query' ? withoutText(schema) : schema, sent, `${operationId}: ${name}`);
    return fieldOf(name, type, required, sent, description);
  });
  if (body) fields.push(fieldOf('body', body, requestBody?.required ?? false, sent));
  return fields.length > 0 ? `{\n${fields.join('\n')}\n}` : 'Record<never, never>';
}

/** A number or a flag may be text in a query because all of it is text; callers give the value itself. */
function withoutText(schema: Schema): Schema {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'string');
  return types.length > 0 ? { type: types } : schema;
}

function camelCase(header: string): string {
  return header.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function formatted(source: string): string {
  const biome = fileURLToPath(new URL('node_modules/.bin/biome', root));
  return execFileSync(biome, ['format', `--stdin-file-path=${target}`], { input: source, encoding: 'utf8', cwd: root });
}
