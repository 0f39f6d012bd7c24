import type pg from 'pg';
import { type Form, formsOf } from './forms.ts';
import type { Target } from './measure.ts';
import type { Operation } from './operations.ts';
import type { Pgbench } from './pgbench/pgbench.ts';
import type { LoadGenerator, Server } from './servers.ts';

/** A series is what one column or row of the tables shows: a form of requests to the service, or something else. */
export const SERVICE_SERIES = ['plain', 'key', 'if-match', 'client-key', 'client-if-match'] as const;
export const OTHER_SERIES = ['baseline', 'best-baseline', 'pgbench', 'nestjs'] as const;
export type ServiceSeries = (typeof SERVICE_SERIES)[number];
export type OtherSeries = (typeof OTHER_SERIES)[number];
export type SeriesName = ServiceSeries | OtherSeries;

/** The words of `--forms`: `client` adds the typed client to the forms with a key. */
export const FORM_WORDS = ['plain', 'key', 'if-match', 'client'] as const;
export type FormWord = (typeof FORM_WORDS)[number];

/** What was started. A part that is not selected, or not installed, is undefined. */
export type StartedParts = {
  client: pg.Client;
  load: LoadGenerator;
  service: Server;
  baseline: Server | undefined;
  bestBaseline: Server | undefined;
  pgbench: Pgbench | undefined;
  nestjs: Server | undefined;
};

/** The operations that the NestJS application has. */
const NESTJS_OPERATIONS = ['getCaseInteractions', 'createCaseInteraction', 'updateCaseInteraction'];

export const hasNestjs = ({ id }: Operation): boolean => NESTJS_OPERATIONS.includes(id);

/** Returns the series of an operation, in the order of the tables. */
export function targetsOf(
  operation: Operation,
  words: readonly FormWord[],
  { client, load, service, baseline, bestBaseline, pgbench, nestjs }: StartedParts,
): Partial<Record<SeriesName, Target>> {
  const forms = formsOf(operation).filter((form) => words.includes(form));
  const clientForms = words.includes('client') ? forms.filter((form) => form !== 'plain') : [];
  const warmUpShare = 1 / (forms.length + clientForms.length);
  const ofService = (form: Form) => ({ ...service, client, load, form, warmUpShare });
  const ofServer = (server: Server | undefined) => server && { ...server, client, load };
  const targets: Partial<Record<SeriesName, Target | undefined>> = {
    ...Object.fromEntries(forms.map((form) => [form, ofService(form)])),
    ...Object.fromEntries(clientForms.map((form) => [`client-${form}`, { ...ofService(form), transport: 'client' }])),
    baseline: ofServer(baseline),
    'best-baseline': ofServer(bestBaseline),
    // It needs no warm-up except the first statement of each connection.
    pgbench: pgbench && { pid: undefined, port: 0, client, load: pgbench, warmUpShare: 0 },
    nestjs: hasNestjs(operation) ? ofServer(nestjs) : undefined,
  };
  return Object.fromEntries(Object.entries(targets).filter(([, target]) => target));
}
