import { once } from 'node:events';
import { after } from 'node:test';
import pg from 'pg';
import { SERVICE_ROLE } from '../../src/postgres/bundled-postgres.ts';
import { within } from './until.ts';

/** The part of `pg`'s own protocol that its types leave out. */
type Wire = {
  parse(statement: { text: string }): void;
  bind(values: object): void;
  execute(portal: object): void;
  flush(): void;
};

const ENTRY = `INSERT INTO events (company_id, case_id, record_id, type, at, origin)
  SELECT id, id, id, 'interaction.created', now(), '{}' FROM companies LIMIT 1`;

/**
 * Sends a statement that writes an event, but not the end of its transaction, as if the connection broke in between.
 * Returns when the server has executed it and waits for the rest.
 */
export async function halfSent(connection: { host: string; database: string }): Promise<{ ended: Promise<void> }> {
  const client = new pg.Client({ ...connection, user: SERVICE_ROLE, application_name: 'case-records' });
  client.on('error', () => {});
  after(() => client.connection.stream.destroy());
  const ended = within(new Promise<void>((resolve) => client.once('end', resolve)), 'the end of the connection');
  ended.catch(() => {});
  await client.connect();
  const wire = client.connection as unknown as Wire & NodeJS.EventEmitter;
  const done = once(wire, 'commandComplete');
  wire.parse({ text: ENTRY });
  wire.bind({});
  wire.execute({});
  wire.flush();
  await within(done, 'the server to execute the statement');
  return { ended };
}
