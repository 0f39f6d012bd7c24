import { document } from '../../test/harness/openapi.ts';
import type { Schema } from './values.ts';

/** The operations as the document has them. */

export type Parameter = { name: string; in: string; schema: Schema };

export type Operation = {
  name: string;
  method: string;
  template: string;
  scope: string | undefined;
  query: Parameter[];
  body: Schema | undefined;
  isForm: boolean;
  /** How many of the requests go here, beside the others. */
  weight: number;
};

type Described = {
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  security?: Record<string, string[]>[];
};

const TWELVE = ['Address book', 'Interactions', 'Invoices', 'Appointments', 'Alternative forms'];

const weightOf = ({ tags, requestBody }: Described): number =>
  requestBody ? (tags.some((tag) => TWELVE.includes(tag)) ? 8 : 3) : 1;

export const operations: Operation[] = Object.entries(
  document.paths as unknown as Record<string, Record<string, Described>>,
).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    name: `${method.toUpperCase()} ${template}`,
    method: method.toUpperCase(),
    template,
    scope: described.security?.[0]?.bearer?.[0],
    query: (described.parameters ?? []).filter((parameter) => parameter.in === 'query'),
    body: described.requestBody?.content['application/json']?.schema,
    isForm: described.requestBody?.content['application/x-www-form-urlencoded'] !== undefined,
    weight: weightOf(described),
  })),
);
