import { eventId, eventPosition } from '../../events/event-id.ts';
import type { Company } from '../../kernel/context.ts';
import { isUuid } from '../../kernel/ids.ts';

/** Where a page ended: its last entry, and the earliest change that was shown by then. */
export type TimelinePosition = { at: string; kind: number; id: string; change: bigint };

/** Before everything: no entry is later. */
export const START: TimelinePosition = {
  at: 'infinity',
  kind: 9,
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  change: 2n ** 63n - 1n,
};

export const MAX_CURSOR_LENGTH = 200;

/** Positions count the events of all companies, so a cursor has the id of the event, which is its encrypted position. */
export const encodeCursor = ({ at, kind, id, change }: TimelinePosition, { eventKey }: Company): string =>
  Buffer.from([at, kind, id, eventId(eventKey, change)].join(' ')).toString('base64url');

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Returns undefined if the cursor is not one of this company. */
export function decodeCursor(cursor: string, { eventKey }: Company): TimelinePosition | undefined {
  const [at = '', kind = '', id = '', event = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const change = eventPosition(eventKey, event);
  if (!TIME.test(at) || Number.isNaN(Date.parse(at)) || !/^[0-4]$/.test(kind) || !isUuid(id)) return undefined;
  if (change === undefined || change > START.change) return undefined;
  return { at, kind: Number(kind), id, change };
}
