import { join } from 'node:path';
import { makeDurableFolder, writeDurably } from '../../../kernel/durable-file.ts';
import type { OutgoingMessage } from './message.ts';

/**
 * Writes a message to a folder instead of sending it, and returns the name of the file. The name is derived from the
 * message, so a message that is written again after a crash replaces its file. The message counts as sent afterwards,
 * so the file must survive a power failure.
 */
export async function writeToOutbox(
  folder: string,
  message: Pick<OutgoingMessage, 'id' | 'due'>,
  extension: string,
  content: string | Uint8Array,
): Promise<string> {
  const due = message.due.round('second').toString().replaceAll(':', '');
  const name = `${due}-${message.id}.${extension}`;
  // The file holds personal data, so only its owner may read it.
  await makeDurableFolder(folder, { mode: 0o700 });
  await writeDurably(join(folder, name), content, { mode: 0o600 });
  return name;
}
