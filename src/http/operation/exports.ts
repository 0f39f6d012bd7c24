import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { UnavailableError } from '../../kernel/errors.ts';

const MAX_EXPORTS = 4;
const MAX_EXPORTS_OF_COMPANY = 2;
const EXPORT_DEADLINE_MS = 600_000;

/** A response that is written while it is sent. */
export type StreamedResponse = { stream: Readable; headers: Record<string, string> };

/**
 * The exports that this process sends. An export counts towards no limit of concurrent requests, because its headers are
 * sent early; so only a few run concurrently, and none for longer than ten minutes.
 */
export class Exports {
  readonly #companies: string[] = [];

  /** Throws UnavailableError if too many are running. Reads the first part before the response begins. */
  async respond(
    { method }: FastifyRequest,
    companyId: string,
    name: string,
    parts: AsyncGenerator<string>,
  ): Promise<StreamedResponse> {
    const ofCompany = this.#companies.filter((id) => id === companyId).length;
    if (this.#companies.length >= MAX_EXPORTS || ofCompany >= MAX_EXPORTS_OF_COMPANY) throw TOO_MANY;
    this.#companies.push(companyId);
    const end = () => void this.#companies.splice(this.#companies.indexOf(companyId), 1);
    try {
      const first = await parts.next();
      const stream = Readable.from(method === 'HEAD' ? [] : startingWith(first, parts));
      // The connection breaks: the part that was sent must not look like the whole file.
      const deadline = setTimeout(() => stream.destroy(new Error('The export took too long.')), EXPORT_DEADLINE_MS);
      stream.once('close', () => {
        clearTimeout(deadline);
        end();
      });
      return {
        stream,
        headers: {
          'content-type': 'text/csv; charset=utf-8; header=present',
          'content-disposition': `attachment; filename="${name}.csv"`,
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  }
}

const TOO_MANY = new UnavailableError('Too many exports are running. Try again later.');

async function* startingWith(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  yield* rest;
}
