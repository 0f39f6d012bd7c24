import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize } from 'node:path';
import { CASE_GRANTS } from '../src/cases/grants.ts';
import { COMPANY_GRANTS } from '../src/company/grants.ts';
import { SEARCH_GRANTS } from '../src/search/grants.ts';
import { WEBHOOK_GRANTS } from '../src/webhooks/grants.ts';

/**
 * Imports point one way: main, then the server, then commands, routes and workers, then verbs, then statements and
 * pure rules, then the kernel. The first rule whose pattern matches a file lists everything that the file may import.
 * A pattern that begins with "!" takes back what the others allow. Import cycles are an error everywhere.
 */
type Rule = readonly [files: string, mayImport: readonly string[]];

/** Lowest first. A file of the kernel may import files of its own line and of the lines above it. */
const KERNEL_LAYERS: readonly string[] = [
  'kernel/{errors,ids,scopes,retry,periodic,money,secret-box,outbound-http,durable-file}.ts',
  'kernel/time/**',
  'kernel/validation/**',
  'kernel/sql/**',
  'kernel/database/**',
  'kernel/context.ts',
  'kernel/credential.*.ts',
  'kernel/audit/**',
  'kernel/external-ids/**',
  'kernel/schema/**',
  'kernel/jobs/**',
  'kernel/*.ts',
];

/** Resources do not import one another, except what is published below. */
const RESOURCES: readonly string[] = [
  'cases/address-book',
  'cases/interactions',
  'cases/invoices',
  // An appointment owns its messages and its meeting.
  'cases/appointments',
  'cases/timeline',
  'company/advisers',
  'company/case-kinds',
  'company/cases',
  'company/companies',
  'company/credentials',
  'company/customers',
  'company/tags',
  'events',
  'search',
  'webhooks',
];

/** Modules that a resource publishes, and the files of other resources that use them. */
const PUBLISHED: readonly { module: string; usedBy: string }[] = [
  // A change of an adviser or of the adviser's account changes the desired state of meetings in the same statement.
  { module: 'cases/appointments/meetings/desired-state.sql.ts', usedBy: 'company/advisers/statements.sql.ts' },
  // The audit log of an adviser also records changes of the adviser's video account.
  { module: 'company/advisers/audit.sql.ts', usedBy: 'cases/appointments/meetings/accounts/statements.sql.ts' },
  // The end of a credential ends its webhook endpoints and writes that into their audit log.
  { module: 'webhooks/endpoints/audit.sql.ts', usedBy: 'company/credentials/*.sql.ts' },
  // Webhook endpoints are created and changed under the lock of the company's credentials.
  { module: 'company/credentials/credential-lock.ts', usedBy: 'webhooks/endpoints/verbs.ts' },
  // A change of the limits of sessions ends those that did not work under the old ones, in the same statement.
  { module: 'company/credentials/sessions/statements.sql.ts', usedBy: 'company/companies/statements.sql.ts' },
  // The timeline shows what the records of a case show.
  { module: 'cases/{interactions,invoices,appointments}/projection.sql.ts', usedBy: 'cases/timeline/*.sql.ts' },
  {
    module: 'cases/{interactions,invoices,invoices/payments,appointments}/schema.ts',
    usedBy: 'cases/timeline/schema.ts',
  },
  { module: 'events/{event-id,schema}.ts', usedBy: 'cases/timeline/*.ts' },
  // The overview of a case shows what is outstanding.
  { module: 'cases/invoices/projection.sql.ts', usedBy: 'company/cases/overview.sql.ts' },
  // The list of cases is paged, filtered and exported as the lists of their records are.
  { module: 'cases/{company-list,company-list-csv,list}.ts', usedBy: 'company/cases/company-list/verbs.ts' },
  { module: 'cases/company-list.schema.ts', usedBy: 'company/cases/company-list/{routes,schema}.ts' },
  { module: 'cases/company-list.sql.ts', usedBy: 'company/cases/company-list/statements.sql.ts' },
  // A case is created together with its customer.
  { module: 'company/customers/{schema,verbs,statements.sql}.ts', usedBy: 'company/cases/*.ts' },
  // The index of searches follows the event log.
  { module: 'events/watermark.ts', usedBy: 'search/indexer.ts' },
  // So do the kept sums of invoices.
  { module: 'events/watermark.ts', usedBy: 'cases/invoices/sums/keeping.ts' },
  // Webhooks deliver what the event log shows.
  { module: 'events/*.ts', usedBy: 'webhooks/**/*.ts' },
];

const ROUTES = '**/{routes,*.routes}.ts';
const SCHEMAS = '**/{schema,*.schema}.ts';
const STATEMENTS = '**/*.sql.ts';
const STATEMENT_KERNEL = ['kernel/{sql,audit}/**', 'kernel/**/*.sql.ts', 'kernel/scopes.ts'];

const RULES: readonly Rule[] = [
  ['main.ts', ['server/process.ts']],
  ['config.ts', ['kernel/time/cron.ts']],
  ['server/process.ts', ['cli/**', 'server/{log,uncaught-errors}.ts']],
  ['server/audit-logs.ts', ['{cases,company,webhooks}/**/*.sql.ts', 'kernel/audit/**']],
  [
    'server/worker.ts',
    [
      '{cases,events,kernel,search,webhooks}/**',
      'company/credentials/links/*.ts',
      'company/credentials/sessions/verbs.ts',
      'http/operation/response-retention.ts',
      'config.ts',
      'server/{audit-logs,mail-settings}.ts',
      `!${ROUTES}`,
    ],
  ],
  [
    'server/app.ts',
    ['backup/metrics.ts', '{cases,company,console,events,http,kernel,search,webhooks}/**', 'server/audit-logs.ts'],
  ],
  [
    'server/**',
    [
      'config.ts',
      '{cases,company,events,http,kernel,search,webhooks}/**',
      'backup/**',
      'postgres/bundled-postgres.ts',
      'server/**',
      '!server/process.ts',
      `!${ROUTES}`,
    ],
  ],
  // Commands call verbs, never routes or statements.
  [
    'cli/**',
    [
      'backup/**',
      'cli/**',
      'config.ts',
      'server/{audit-logs,company-removal,database-setup,database-urls,restored-database,service,start-summary,worker}.ts',
      'server/company-transfer/{export,held,import,sealed-secrets}.ts',
      '{cases,company,events,kernel,search,upgrade,webhooks}/**',
      'postgres/bundled-postgres.ts',
      `!${ROUTES}`,
      '!{cases,company,events,search,webhooks}/**/*.sql.ts',
    ],
  ],
  ...RESOURCES.flatMap(resourceRules),
  // What the resources of a folder share.
  ['{cases,company}/*.sql.ts', STATEMENT_KERNEL],
  ['cases/*.ts', ['cases/*.ts', 'kernel/**']],
  ['company/*.routes.ts', ['company/**', 'http/**', 'kernel/**']],
  ['company/*.ts', ['company/**', 'kernel/**', `!${ROUTES}`]],
  ['console/**', ['console/**', 'http/**', 'kernel/errors.ts']],
  ['http/**', ['http/**', 'kernel/**']],
  ...KERNEL_LAYERS.map((layer, i): Rule => [layer, KERNEL_LAYERS.slice(0, i + 1)]),
  ['backup/**', ['backup/**', 'kernel/**', 'postgres/bundled-postgres.ts']],
  ['upgrade/**', ['upgrade/**', 'kernel/**', 'backup/database-files.ts', 'postgres/bundled-postgres.ts']],
  ['postgres/**', ['postgres/**', 'kernel/durable-file.ts']],
  // The client runs in other programs: see also NO_PACKAGES.
  ['client/**', ['client/**']],
];

/** These files import neither a package nor a module of Node. */
const NO_PACKAGES = 'client/**';

/** In a resource, routes call verbs, and verbs use statements. Schemas use neither. */
function resourceRules(folder: string): Rule[] {
  const shared = `${dirname(folder)}/*`;
  return [
    [`${folder}/${ROUTES}`, [`${folder}/**`, `${shared}.ts`, 'http/**', 'kernel/**', `!${STATEMENTS}`]],
    [`${folder}/${STATEMENTS}`, [`${folder}/${STATEMENTS}`, `${shared}.sql.ts`, ...STATEMENT_KERNEL]],
    [`${folder}/${SCHEMAS}`, [`${folder}/**`, `${shared}.schema.ts`, 'kernel/**', `!${ROUTES}`, `!${STATEMENTS}`]],
    [`${folder}/**`, [`${folder}/**`, `${shared}.ts`, 'kernel/**', `!${ROUTES}`, '!{cases,company}/*.sql.ts']],
  ];
}

/** The tables of the resources. The kernel and the HTTP layer get their names from the features. */
const RESOURCE_TABLES = [...CASE_GRANTS, ...COMPANY_GRANTS, ...SEARCH_GRANTS, ...WEBHOOK_GRANTS].map(({ on }) => on);
const TABLE_USE = new RegExp(`\\b(?:FROM|INTO|UPDATE|JOIN)\\s+(${RESOURCE_TABLES.join('|')})\\b`, 'g');
const NAMES_NO_TABLE = '{kernel,http}/**';

const IMPORT = /\b(?:from|import)\s*\(?\s*'([^',\s]+)'/g;

const root = new URL('../', import.meta.url).pathname;
const filesUnder = (folder: string) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const CLIENT_FOLDER = 'packages/client/src/';
const files = [...filesUnder('src/'), ...filesUnder(CLIENT_FOLDER).map((file) => `client/${file}`)];
/** Files are named by their path under `src`; those of the client begin with `client/`. */
const sourceOf = (file: string) =>
  readFileSync(root + (file.startsWith('client/') ? file.replace('client/', CLIENT_FOLDER) : `src/${file}`), 'utf8');
const importsByFile = new Map(files.map((file) => [file, importsOf(file)]));
const faults = [...files.flatMap(forbiddenImports), ...files.flatMap(namedTables), ...importCycles()];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`Imports: ${files.length} files, no fault.`);

/** Returns the imported modules, types included: a file under `src` by its path there, a package by its name. */
function importsOf(file: string): string[] {
  return [...sourceOf(file).matchAll(IMPORT)]
    .map(([, path = '']) => (path.startsWith('.') ? normalize(join(dirname(file), path)) : `package ${path}`))
    .filter((path) => !path.startsWith('..'));
}

function forbiddenImports(file: string): string[] {
  const [, patterns] = RULES.find(([pattern]) => matchesGlob(file, pattern)) ?? [];
  if (!patterns) return [`src/${file}: no rule of scripts/check-imports.ts says what it may import`];
  const published = PUBLISHED.filter(({ usedBy }) => matchesGlob(file, usedBy)).map(({ module }) => module);
  const isAllowed = (path: string) => {
    if (path.startsWith('package ')) return !matchesGlob(file, NO_PACKAGES);
    if (published.some((module) => matchesGlob(path, module))) return true;
    const matching = patterns.filter((pattern) => matchesGlob(path, pattern.replace(/^!/, '')));
    return matching.length > 0 && matching.every((pattern) => !pattern.startsWith('!'));
  };
  return (importsByFile.get(file) ?? [])
    .filter((path) => !isAllowed(path))
    .map((path) => `src/${file} must not import ${path.replace(/^package |^/, (kind) => (kind ? '' : 'src/'))}`);
}

function namedTables(file: string): string[] {
  if (!matchesGlob(file, NAMES_NO_TABLE)) return [];
  return [...sourceOf(file).matchAll(TABLE_USE)].map(
    ([, table]) => `src/${file} must not name the table ${table} of a resource`,
  );
}

/** Returns a description of each cycle that a depth-first walk meets. Cycles of types count, which linters overlook. */
function importCycles(): string[] {
  const cycles: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0)
      cycles.push(`Import cycle: ${[...path.slice(start), file].map((one) => `src/${one}`).join(' -> ')}`);
    if (start >= 0 || finished.has(file)) return;
    for (const imported of importsByFile.get(file) ?? []) visit(imported, [...path, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
  return cycles;
}
