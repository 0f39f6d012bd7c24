import type { Clock } from '../../../kernel/time/time.ts';
import { type Account, type Made, type Meeting, MeetingFault, MeetingGone, type MeetingProvider } from './provider.ts';
import { exchange, type Reply, refusal } from './zoom-http.ts';
import { ZoomTokens } from './zoom-tokens.ts';

export type ZoomSettings = { apiUrl: string; oauthUrl: string; clock: Clock; timeoutMs?: number };

const LONGEST_TOPIC = 200;
const PAGE = 300;
const MOST_PAGES = 100;
const SCHEDULED = 2;

type Call = { method: string; path: string; query?: Record<string, string>; body?: object };

/** Zoom's meetings API. The reference stands in the agenda, by which a meeting can be found again. */
export function zoom({ apiUrl, oauthUrl, clock, timeoutMs }: ZoomSettings): MeetingProvider {
  const tokens = new ZoomTokens(oauthUrl, clock, timeoutMs);
  const base = apiUrl.replace(/(?<!\/)\/+$/, '');

  async function call(account: Account, { method, path, query, body }: Call, signal: AbortSignal): Promise<Reply> {
    const url = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const send = async (token: string) => {
      const request = { method, url, headers: { authorization: `Bearer ${token}` }, ...(body && { body }) };
      return exchange(request, clock, signal, timeoutMs);
    };
    const token = await tokens.get(account, signal);
    const reply = await send(token);
    if (reply.status !== 401) return reply;
    // It ended early, or the app's rights were changed: once more with a new one.
    await tokens.drop(account, token);
    return send(await tokens.get(account, signal));
  }

  return {
    async create(given, meeting, signal) {
      const account = required(given);
      const path = `/users/${encodeURIComponent(account.host)}/meetings`;
      const reply = await call(account, { method: 'POST', path, body: { type: SCHEDULED, ...told(meeting) } }, signal);
      if (reply.status !== 201 && reply.status !== 200) throw refusal(reply);
      const made = madeOf(reply.json);
      if (made) return made;
      throw new MeetingFault('Zoom answered without a link.', { permanent: false, unsure: true });
    },

    async update(given, made, meeting, signal) {
      const path = meetingPath(made.id);
      const reply = await call(required(given), { method: 'PATCH', path, body: told(meeting) }, signal);
      if (reply.status === 404) throw new MeetingGone();
      if (reply.status !== 204 && reply.status !== 200) throw refusal(reply);
      return made;
    },

    async remove(given, id, signal) {
      const reply = await call(required(given), { method: 'DELETE', path: meetingPath(id) }, signal);
      if (![200, 204, 404].includes(reply.status)) throw refusal(reply);
    },

    async find(given, reference, signal) {
      const account = required(given);
      const path = `/users/${encodeURIComponent(account.host)}/meetings`;
      const found: Made[] = [];
      let next = '';
      for (let page = 0; page < MOST_PAGES; page++) {
        const query = { type: 'scheduled', page_size: String(PAGE), ...(next && { next_page_token: next }) };
        const reply = await call(account, { method: 'GET', path, query }, signal);
        if (reply.status !== 200) throw refusal(reply);
        const meetings = Array.isArray(reply.json.meetings) ? (reply.json.meetings as Record<string, unknown>[]) : [];
        for (const meeting of meetings) {
          const made = meeting.agenda === agenda(reference) ? madeOf(meeting) : undefined;
          if (made) found.push(made);
        }
        next = typeof reply.json.next_page_token === 'string' ? reply.json.next_page_token : '';
        if (next === '') break;
      }
      return found;
    },
  };
}

/** Which firm it is with, and nothing about the client: topics are seen by everybody who joins. */
const told = ({ reference, company, start, end, timeZone }: Meeting) => ({
  topic: [...`Appointment with ${company}`].slice(0, LONGEST_TOPIC).join(''),
  agenda: agenda(reference),
  start_time: start.toString({ smallestUnit: 'second' }),
  duration: Math.max(Math.ceil(start.until(end).total('minutes')), 1),
  timezone: timeZone,
});

const agenda = (reference: string): string => `Reference ${reference}`;

const meetingPath = (id: string): string => `/meetings/${encodeURIComponent(id)}`;

function madeOf({ id, join_url }: Record<string, unknown>): Made | undefined {
  if (typeof id !== 'number' && typeof id !== 'string') return undefined;
  if (typeof join_url !== 'string' || !/^https?:\/\//i.test(join_url)) return undefined;
  return { id: String(id), joinUrl: join_url };
}

function required(account: Account | undefined): Account {
  if (!account) throw new MeetingFault('The Zoom account is no longer connected.', { permanent: true });
  return account;
}
