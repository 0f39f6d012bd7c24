import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { StaticContent } from '../http/openapi/static-content.ts';

/** The built files of the console. `npm run console` makes them of the sources in `console`. */

const FOLDER = new URL('../../assets/console/', import.meta.url);
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

/** A file under a name that changes with its content, so that browsers may keep it for ever. */
export type ConsoleFile = { name: string; content: StaticContent };

export async function readConsoleFile(extension: keyof typeof TYPES): Promise<ConsoleFile> {
  const [identity, br, gzip] = (await Promise.all(
    ['', '.br', '.gz'].map((ending) => readFile(new URL(`main.${extension}${ending}`, FOLDER))),
  )) as [Buffer, Buffer, Buffer];
  const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  const encodings = { br: [br], gzip: [gzip], identity: [identity] };
  return { name: `main.${hash}.${extension}`, content: { type: TYPES[extension], hash, encodings } };
}
