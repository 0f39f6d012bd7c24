import { document } from '../../test/harness/openapi.ts';
import type { Schema } from './values.ts';

/** The operations of the OpenAPI document. */

export type Parameter = { name: string; in: string; required?: boolean; schema: Schema; example?: string };

export type Operation = {
  name: string;
  method: string;
  template: string;
  scope: string | undefined;
  /** Whether only people who have signed in may call it. */
  isPersonal: boolean;
  query: Parameter[];
  body: Schema | undefined;
  isForm: boolean;
  /** The relative share of the requests. */
  weight: number;
};

type DescribedOperation = {
  'x-specified'?: boolean;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  security?: Record<string, string[]>[];
};

const weightOf = ({ requestBody, parameters = [], 'x-specified': isSpecified }: DescribedOperation): number => {
  // Its words become a query in another language.
  if (parameters.some(({ name }) => name === 'q')) return 12;
  return requestBody ? (isSpecified ? 8 : 3) : 1;
};

export const operations: Operation[] = Object.entries(
  document.paths as unknown as Record<string, Record<string, DescribedOperation>>,
).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    name: `${method.toUpperCase()} ${template}`,
    method: method.toUpperCase(),
    template,
    scope: described.security?.[0]?.bearer?.[0],
    isPersonal: 'session' in (described.security?.[0] ?? {}),
    query: (described.parameters ?? []).filter((parameter) => parameter.in === 'query'),
    body: described.requestBody?.content['application/json']?.schema,
    isForm: described.requestBody?.content['application/x-www-form-urlencoded'] !== undefined,
    weight: weightOf(described),
  })),
);
