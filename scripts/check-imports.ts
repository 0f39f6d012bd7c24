import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Dependencies point one way. A line of the table: files whose path matches may import only what follows. */
const RULES: readonly [from: RegExp, may: RegExp][] = [
  // The kernel knows no resource and no HTTP.
  [/^kernel\//, /^kernel\//],
  [/^postgres\//, /^(postgres\/|kernel\/durable-file\.ts$)/],
  [/^config\.ts$/, /^$/],
  [/^http\//, /^(http|kernel)\//],
  // What a change of an appointment or an adviser does to meetings is part of its statement.
  [/^video\/wish\.sql\.ts$/, /^$/],
  [/^messages\/calendars\.sql\.ts$/, /^$/],
  [
    /^cases\/appointments\/\S+\.sql\.ts$/,
    /^(kernel\/(sql|several|row-log)|video\/wish\.sql|messages\/(calendars|message-log)\.sql|cases\/appointments\/\S+\.sql)\.ts$/,
  ],
  [
    /^company\/advisers\/\S+\.sql\.ts$/,
    /^(kernel\/(sql|record-log)|video\/wish\.sql|company\/(advisers\/\S+|\w+)\.sql)\.ts$/,
  ],
  // What an adviser is in the log, the account included.
  [/^video\/accounts\.sql\.ts$/, /^(kernel\/sql|video\/wish\.sql|company\/advisers\/adviser-log\.sql)\.ts$/],
  // A resource: routes, then verbs, then statements and pure rules. Resources do not import one another.
  [/^cases\/([\w-]+)\/\S+\.routes\.ts$/, /^(cases\/$1|http|kernel)\//],
  [
    /^cases\/([\w-]+)\/\S+\.sql\.ts$/,
    /^(kernel\/(sql|several|row-log)\.ts$|cases\/case-list\.sql\.ts$|cases\/$1\/\S+\.sql\.ts$)/,
  ],
  [/^cases\/([\w-]+)\/\S+\.schema\.ts$/, /^kernel\//],
  [/^cases\/([\w-]+)\//, /^(cases\/$1\/(?!\S+\.routes\.ts)|cases\/case(-list)?\.ts$|kernel\/)/],
  [/^cases\//, /^(cases\/case[\w.-]*\.ts$|kernel\/)/],
  // The same for the company's own: a folder each, with what they share beside the folders.
  [/^company\/([\w-]+)\/\S+\.routes\.ts$/, /^(company\/($1\/|\w+\.ts$)|http\/|kernel\/)/],
  // The end of a credential ends its webhook endpoints, and writes that into their log.
  [
    /^company\/credentials\/made\.sql\.ts$/,
    /^(company\/credentials\/\S+\.sql|webhooks\/endpoint-log\.sql|kernel\/(sql|credential-columns\.sql))\.ts$/,
  ],
  [
    /^company\/([\w-]+)\/\S+\.sql\.ts$/,
    /^(company\/($1\/\S+|\w+)\.sql|kernel\/(sql|record-log|credential-columns\.sql))\.ts$/,
  ],
  [/^company\/([\w-]+)\/\S+\.schema\.ts$/, /^(company\/$1\/|kernel\/)/],
  [/^company\/([\w-]+)\//, /^(company\/($1\/(?!\S+\.routes\.ts)|(company|listing|office)\.ts$)|kernel\/)/],
  [/^company\/\w+\.routes\.ts$/, /^(company|http)\//],
  [/^company\/\S+\.sql\.ts$/, /^kernel\/sql\.ts$/],
  [/^company\//, /^(company|kernel)\//],
  // What goes out knows the kernel only; what it must know of an appointment it reads for itself.
  [/^messages\/\S+\.routes\.ts$/, /^(messages|http|kernel)\//],
  [/^messages\/\S+\.sql\.ts$/, /^(kernel\/(sql|record-log)|messages\/\S+\.sql)\.ts$/],
  [/^messages\//, /^(messages\/(?!\S+\.routes\.ts)|kernel\/)/],
  // So do meetings.
  [/^video\/\S+\.routes\.ts$/, /^(video|http|kernel)\//],
  // What they change of an appointment they write into its log.
  [
    /^video\/\S+\.sql\.ts$/,
    /^(kernel\/(sql|record-log)|video\/\S+\.sql|cases\/appointments\/appointment-log\.sql)\.ts$/,
  ],
  [/^video\//, /^(video\/(?!\S+\.routes\.ts)|kernel\/)/],
  // The log is read for all of them alike; what a record is, its own folder says.
  [/^events\/\S+\.routes\.ts$/, /^(events|http|kernel)\//],
  [/^events\/\S+\.sql\.ts$/, /^kernel\/(sql|record-log)\.ts$/],
  [/^events\//, /^(events\/(?!\S+\.routes\.ts)|kernel\/)/],
  // What goes to webhooks is what the log shows.
  [/^webhooks\/\S+\.routes\.ts$/, /^(webhooks|http|kernel)\//],
  [/^webhooks\/\S+\.sql\.ts$/, /^(kernel\/(sql|record-log|credential-columns\.sql)|webhooks\/\S+\.sql)\.ts$/],
  // Endpoints are made and changed under the lock of the company's credentials.
  [
    /^webhooks\/endpoints\.ts$/,
    /^((webhooks|events)\/(?!\S+\.routes\.ts)|kernel\/|company\/credentials\/credential-lock\.ts$)/,
  ],
  [/^webhooks\//, /^((webhooks|events)\/(?!\S+\.routes\.ts)|kernel\/)/],
  [/^record-logs\.ts$/, /^((cases|company|messages|video|webhooks)\/\S+\.sql|kernel\/record-log)\.ts$/],
  [/^app\.ts$/, /^(record-logs\.ts|(cases|company|events|http|kernel|messages|video|webhooks)\/)/],
  [/^worker\.ts$/, /^(config\.ts|record-logs\.ts|events\/|kernel\/|messages\/|video\/|webhooks\/)/],
  [/^databases\.ts$/, /^(config\.ts|kernel\/|postgres\/bundled-postgres\.ts)/],
  [/^web\.ts$/, /^((app|config|worker)\.ts|http\/metrics\.ts|kernel\/)/],
  [/^uncaught-errors\.ts$/, /^$/],
  [/^web-process(es)?\.ts$/, /^((config|databases|log|uncaught-errors|web|web-processes)\.ts|kernel\/)/],
  [/^service\.ts$/, /^((config|databases|web|web-processes)\.ts|company\/|http\/|kernel\/|postgres\/)/],
  // Commands reach verbs and schemas, never routes.
  [
    /^cli\//,
    /^(cli\/|(config|databases|record-logs|service|worker)\.ts|(company|events|messages|video|webhooks)\/(?!\S+\.(routes|sql)\.ts)|kernel\/|postgres\/bundled-postgres\.ts)/,
  ],
  [/^log\.ts$/, /^config\.ts$/],
  [/^process\.ts$/, /^(cli\/|(log|uncaught-errors)\.ts$)/],
  [/^main\.ts$/, /^process\.ts$/],
  // It goes to where the service is not.
  [/^client\//, /^client\//],
];
/** These import no package and nothing of Node's either. */
const ALONE = /^client\//;

const IMPORTED = /\b(?:from|import)\s*\(?\s*'([^',\s]+)'/g;

const root = new URL('../src/', import.meta.url).pathname;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const faults = files.flatMap(faultsOf);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`Import direction: ${files.length} files, no fault.`);

function faultsOf(file: string): string[] {
  const rule = RULES.find(([from]) => from.test(file));
  if (!rule) return [`src/${file}: no rule says what it may import (scripts/check-imports.ts)`];
  const [from, may] = rule;
  const own = from.exec(file)?.[1] ?? '';
  const allowed = new RegExp(may.source.replaceAll('$1', own));
  const source = readFileSync(root + file, 'utf8');
  const paths = [...source.matchAll(IMPORTED)].map(([, path = '']) => path);
  const packages = paths.filter((path) => !path.startsWith('.') && ALONE.test(file));
  const files = paths
    .filter((path) => path.startsWith('.'))
    .map((path) => normalize(join(dirname(file), path)))
    .filter((path) => !path.startsWith('..') && !allowed.test(path))
    .map((path) => `src/${path}`);
  return [...packages, ...files].map((path) => `src/${file} must not import ${path}`);
}
