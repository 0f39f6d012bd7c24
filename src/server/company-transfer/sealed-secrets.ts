import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type pg from 'pg';
import { codeSecretOwner } from '../../company/credentials/factors/code-secrets.ts';
import { SecretBox } from '../../kernel/secret-box.ts';
import { secretOwner } from '../../webhooks/endpoints/secrets.ts';

/** The secrets of a company in an export, sealed under a passphrase instead of SECRETS_KEY. */

type SecretRow = { company_id: string; id: string; adviser_id: string; sealed: string };
type SecretColumn = {
  table: string;
  column: string;
  /** Whom the service binds the secret to. */
  ownerOf(row: Omit<SecretRow, 'sealed'>): readonly string[];
};

export const SECRET_COLUMNS: readonly SecretColumn[] = [
  {
    table: 'video_accounts',
    column: 'sealed_secret',
    ownerOf: ({ company_id, adviser_id }) => [company_id, adviser_id],
  },
  ...['sealed_secret', 'sealed_previous_secret'].map((column) => ({
    table: 'webhook_endpoints',
    column,
    ownerOf: ({ company_id, id }: { company_id: string; id: string }) => secretOwner(company_id, id),
  })),
  {
    table: 'users',
    column: 'sealed_secret',
    ownerOf: ({ company_id, id }) => codeSecretOwner(company_id, id),
  },
];

const columnsOf = (table: string) =>
  `company_id, id, ${table === 'video_accounts' ? 'adviser_id' : 'NULL::uuid AS adviser_id'}`;

/** How the key was made, and a text that only this key opens. */
export type SealedUnder = { kdf: string; memory_kib: number; passes: number; salt: string; check: string };

export const MIN_PASSPHRASE_LENGTH = 12;
const COST = { kdf: 'argon2id', memory_kib: 65_536, passes: 3 } as const;
const CHECK_TEXT = 'case-records company';
const checkOwner = (companyId: string) => [companyId, 'check'];

const deriveKey = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  promisify(argon2)('argon2id', {
    message: passphrase.normalize('NFC'),
    nonce: salt,
    memory: COST.memory_kib,
    passes: COST.passes,
    parallelism: 1,
    tagLength: 32,
  });

export async function newPassphraseBox(companyId: string, passphrase: string) {
  const salt = randomBytes(16);
  const box = new SecretBox([await deriveKey(passphrase, salt)]);
  const sealedUnder: SealedUnder = {
    ...COST,
    salt: salt.toString('base64url'),
    check: box.seal(CHECK_TEXT, checkOwner(companyId)),
  };
  return { box, sealedUnder };
}

/** Throws if the passphrase is not the one of the file. */
export async function openPassphraseBox(companyId: string, passphrase: string, sealedUnder: SealedUnder) {
  const { kdf, memory_kib, passes, salt, check } = sealedUnder;
  if (kdf !== COST.kdf || memory_kib !== COST.memory_kib || passes !== COST.passes) {
    throw new Error(`The secrets are sealed in a way that this version of the service does not know.`);
  }
  const box = new SecretBox([await deriveKey(passphrase, Buffer.from(salt, 'base64url'))]);
  if (box.open(check, checkOwner(companyId)) === undefined) {
    throw new Error(
      'The passphrase is not the one that the secrets of the file were sealed under. Nothing was imported.',
    );
  }
  return box;
}

type SealedLine = { table: string; column: string; id: string; sealed: string };

export async function countSecrets(client: pg.Client, companyId: string): Promise<number> {
  const counts = SECRET_COLUMNS.map(
    ({ table, column }) => `(SELECT count(*) FROM ${table} WHERE company_id = $1 AND ${column} IS NOT NULL)`,
  );
  return Number((await client.query(`SELECT ${counts.join(' + ')} AS count`, [companyId])).rows[0].count);
}

/** Yields a line for each secret. Throws if SECRETS_KEY does not open one. */
export async function* sealedLines(
  client: pg.Client,
  companyId: string,
  { secrets, box }: { secrets: SecretBox; box: SecretBox },
): AsyncGenerator<string> {
  for (const { table, column, ownerOf } of SECRET_COLUMNS) {
    const { rows } = await client.query<SecretRow>(
      `SELECT ${columnsOf(table)}, ${column} AS sealed FROM ${table}
        WHERE company_id = $1 AND ${column} IS NOT NULL ORDER BY id`,
      [companyId],
    );
    for (const { sealed, ...row } of rows) {
      const secret = secrets.open(sealed, ownerOf(row));
      if (secret === undefined) {
        throw new Error(
          `SECRETS_KEY does not decrypt a secret in ${table}. Set the key that the service uses, or leave the secrets ` +
            'out with --without-secrets.',
        );
      }
      const line: SealedLine = {
        table,
        column,
        id: row.id,
        sealed: box.seal(secret, [companyId, table, column, row.id]),
      };
      yield `${JSON.stringify(line)}\n`;
    }
  }
}

/** Stores a secret of an export under the SECRETS_KEY of this service. */
export async function storeSecret(
  client: pg.Client,
  companyId: string,
  line: string,
  { secrets, box }: { secrets: SecretBox; box: SecretBox },
): Promise<void> {
  const { table, column, id, sealed } = JSON.parse(line) as SealedLine;
  const place = SECRET_COLUMNS.find((known) => known.table === table && known.column === column);
  const secret = box.open(sealed, [companyId, table, column, id]);
  if (!place || secret === undefined) throw new Error('The secrets of the file do not belong to its company.');
  const where = `FROM ${place.table} WHERE company_id = $1 AND id = $2`;
  const { rows } = await client.query<SecretRow>(`SELECT ${columnsOf(place.table)} ${where}`, [companyId, id]);
  const [row] = rows;
  if (!row) throw new Error('The file has a secret of a record that it does not have.');
  await client.query(`UPDATE ${place.table} SET ${place.column} = $3 WHERE company_id = $1 AND id = $2`, [
    companyId,
    id,
    secrets.seal(secret, place.ownerOf(row)),
  ]);
}
