import { eventId } from '../../events/event-id.ts';
import { NIL_CASE_ID } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { InvalidValue } from '../../kernel/errors.ts';
import type { Scope } from '../../kernel/scopes.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { parseLimit } from '../../kernel/validation/paging.ts';
import { requireCase } from '../case.ts';
import { decodeCursor, encodeCursor, START, type TimelinePosition } from './cursor.ts';
import type { TimelineQuery } from './schema.ts';
import { KINDS, type Kind, listTimeline } from './statements.sql.ts';

const SCOPES_OF_KINDS: Record<Kind, Scope> = {
  interaction: 'interactions:read',
  appointment: 'appointments:read',
  invoice: 'invoices:read',
  payment: 'invoices:read',
  change: 'events:read',
};

/** The timeline needs one of them, and shows what they allow. */
export const TIMELINE_SCOPES: readonly Scope[] = [...new Set(Object.values(SCOPES_OF_KINDS))];

/** A page as JSON, and the cursor of the next one if there is one. */
type TimelinePage = { json: string; next: string | undefined };

type Row = { kind: number; id: string; at: string; position: string | null; json: string };

export async function readTimeline(
  context: Context,
  caseId: string,
  query: Form<TimelineQuery>,
): Promise<TimelinePage> {
  const { db, company, scopes } = context;
  const asked = query.read('kinds', query.body.kinds, readKinds) ?? KINDS;
  const limit = parseLimit(query);
  const before = query.read('cursor', query.body.cursor, (cursor) => readCursor(cursor, context)) ?? START;
  if (!query.ok) await requireCase(context, caseId);
  query.check();
  const rows = await db.queryRows<Row>(
    listTimeline({
      company_id: company.id,
      case_id: caseId,
      kinds: asked.filter((kind) => scopes === undefined || scopes.has(SCOPES_OF_KINDS[kind])),
      zone: zonePlaceholder(company.timeZone),
      // One more tells whether there is another page.
      limit: limit + 1,
      before_at: before.at,
      before_kind: before.kind,
      before_id: before.id,
      before_position: before.change.toString(),
    }),
  );
  // Events of records outside any case have the nil case id, which is not a case.
  if (rows.length === 0 || caseId === NIL_CASE_ID) await requireCase(context, caseId);
  const page = rows.slice(0, limit);
  return {
    json: `[${page.map((row) => entryJson(row, context)).join(', ')}]`,
    next: rows.length > limit ? encodeCursor(endOf(page, before), company) : undefined,
  };
}

function readKinds(text: string): Kind[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !KINDS.includes(name as Kind));
  if (unknown !== undefined) throw new InvalidValue('not_allowed', `must only name ${KINDS.join(', ')}`);
  return [...new Set(names as Kind[])];
}

function readCursor(cursor: string, { company }: Context): TimelinePosition {
  const position = decodeCursor(cursor, company);
  if (!position) throw new InvalidValue('unknown', 'is not the cursor of a page of the company');
  return position;
}

function endOf(page: readonly Row[], before: TimelinePosition): TimelinePosition {
  const last = page.at(-1) as Row;
  const change = page.findLast(({ position }) => position !== null)?.position;
  return { at: last.at, kind: last.kind, id: last.id, change: change ? BigInt(change) : before.change };
}

/** Every entry has a field for each kind; all but one are null. */
function entryJson({ kind, at, position, json }: Row, { company }: Context): string {
  const record = position === null ? json : `{"id": "${eventId(company.eventKey, BigInt(position))}", ${json.slice(1)}`;
  const fields = KINDS.map((name, i) => `"${name}": ${i === kind ? record : 'null'}`);
  return `{"kind": "${KINDS[kind]}", "at": "${at}", ${fields.join(', ')}}`;
}
