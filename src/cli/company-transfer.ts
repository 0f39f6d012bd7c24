import packageJson from '../../package.json' with { type: 'json' };
import { SecretBox } from '../kernel/secret-box.ts';
import { systemClock } from '../kernel/time/time.ts';
import { Type } from '../kernel/validation/type.ts';
import { exportCompany } from '../server/company-transfer/export.ts';
import { importCompany } from '../server/company-transfer/import.ts';
import { countHeld, describeHeld } from '../server/restored-database.ts';
import type { Command, Invocation } from './command.ts';
import { withOwner } from './database.ts';
import { findCompanyId } from './lookup.ts';
import { PASSPHRASE_FLAGS, readPassphrase } from './passphrase.ts';
import { formatCell } from './table.ts';

const COUNTS = Type.Record(Type.String(), Type.Number());
const companyResult = { id: Type.String(), name: Type.String(), rows: COUNTS, secrets: Type.Number() };

export const commands: Command[] = [
  {
    name: 'company export',
    argument: 'company',
    takesFile: true,
    summary: 'Write everything that belongs to a company into a file',
    description:
      'The file is a zip of JSON Lines, with the state of one moment; the service may be running. The secrets of video ' +
      'accounts and webhooks are sealed under a passphrase, or left out. If it is interrupted, run it again.',
    flags: PASSPHRASE_FLAGS,
    resultSchema: Type.Object({ ...companyResult, file: Type.String(), bytes: Type.Number() }),
    examples: [
      'company export "Smith & Partners" smith.zip',
      'company export smith smith.zip --passphrase-file passphrase.txt',
    ],
    run: (invocation) =>
      withOwner(invocation, async (db, owner) => {
        const { argument, config, file, terminal } = invocation;
        const id = await findCompanyId({ db, clock: systemClock }, argument);
        const question = 'A passphrase for its secrets; empty to leave them out: ';
        const passphrase = await readPassphrase(invocation, { question, repeat: true });
        const { company, tables, fileBytes, secret_count, secretsIncluded } = await exportCompany(owner, id, {
          file,
          serviceVersion: packageJson.version,
          sealing:
            passphrase === undefined ? undefined : { secrets: new SecretBox(config.SECRETS_KEY ?? []), passphrase },
          onProgress: terminal.showProgress,
        });
        const rows = rowCounts(tables);
        const leftOut = secret_count - secretsIncluded;
        return {
          json: JSON.stringify({ ...company, rows, secrets: secretsIncluded, file, bytes: fileBytes }),
          text: `${formatCell(company.name)} was written to ${file}: ${totalOf(rows)} rows, ${fileBytes} bytes.`,
          note: leftOut > 0 ? `${secrets(leftOut)} left out: there was no passphrase.` : undefined,
        };
      }),
  },
  {
    name: 'company import',
    argument: 'file',
    summary: 'Bring a company back from a file of "company export", with its identifiers',
    description:
      'What is due for the company waits for "held release". Changes nothing if the company is there already, and ' +
      'refuses if it is there in another state. Needs the role that owns the tables: DATABASE_OWNER_URL, if it is set. ' +
      'If it is interrupted, run it again.',
    flags: {
      ...PASSPHRASE_FLAGS,
      'with-operator-keys': {
        type: 'boolean',
        description: 'Let keys keep the scope "operator". They reach every company of this service.',
      },
    },
    resultSchema: Type.Object({
      ...companyResult,
      changed: Type.Boolean(),
      operator_keys: Type.Array(Type.String()),
      held: COUNTS,
    }),
    examples: ['company import smith.zip', 'company import smith.zip --passphrase-file passphrase.txt'],
    run: (invocation) =>
      withOwner(invocation, async (db, owner) => {
        const keepsOperatorKeys = invocation.flags['with-operator-keys'] === true;
        const imported = await importCompany(owner, {
          file: invocation.argument,
          keepsOperatorKeys,
          openSecrets: (count) => openSecrets(invocation, count),
          onProgress: invocation.terminal.showProgress,
        });
        const { company, tables, changed, secret_count, secretsImported, operatorKeys } = imported;
        const held = await countHeld(db, company.id);
        const rows = rowCounts(tables);
        const leftOut = changed ? secret_count - secretsImported : 0;
        return {
          json: JSON.stringify({
            ...company,
            rows,
            secrets: secretsImported,
            changed,
            operator_keys: operatorKeys,
            held,
          }),
          text: [
            `${formatCell(company.name)} ${changed ? 'was imported' : 'is here already, and nothing was changed'}: ` +
              `${totalOf(rows)} rows.`,
            ...(totalOf(held) > 0
              ? [`Held: ${describeHeld(held)}. They wait for "case-records held release --company ${company.id}".`]
              : []),
            ...(operatorKeys.length > 0 ? [describeOperatorKeys(operatorKeys, keepsOperatorKeys)] : []),
          ].join('\n'),
          note:
            leftOut > 0
              ? `${secrets(leftOut)} missing: run "adviser connect" for video accounts and "webhook rotate" for webhooks.`
              : undefined,
        };
      }),
  },
];

const MAX_NAMES = 5;

function describeOperatorKeys(names: readonly string[], areKept: boolean): string {
  const shown = names
    .slice(0, MAX_NAMES)
    .map((name) => formatCell(name))
    .join(', ');
  const all = names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
  return areKept
    ? `These keys have the scope "operator", and reach every company of this service: ${all}.`
    : `The scope "operator", which reaches every company of a service, was left out of these keys: ${all}. If they are ` +
        'to keep it, remove the company and import it again with --with-operator-keys.';
}

/** Throws unless the secrets can be read and stored, or are to be left out. */
async function openSecrets(invocation: Invocation, count: number) {
  const { config, flags } = invocation;
  const question = `The passphrase of its ${count} secrets; empty to leave them out: `;
  const passphrase = await readPassphrase(invocation, { question });
  if (passphrase === undefined) {
    if (flags['without-secrets'] === true || invocation.terminal.askSecret) return undefined;
    throw new Error(
      `The file has ${count} sealed secrets. Give their passphrase with --passphrase-file, or leave them out with ` +
        '--without-secrets. Nothing was imported.',
    );
  }
  if (!config.SECRETS_KEY) throw new Error('SECRETS_KEY is not set: secrets cannot be stored. Set it and try again.');
  return { secrets: new SecretBox(config.SECRETS_KEY), passphrase };
}

const secrets = (count: number): string =>
  count === 1 ? '1 secret of a video account or webhook is' : `${count} secrets of video accounts and webhooks are`;

const rowCounts = (tables: readonly { table: string; rows: number }[]): Record<string, number> =>
  Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));

const totalOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
