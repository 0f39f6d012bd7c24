import type { Clock } from '../../../kernel/time/time.ts';
import {
  type Account,
  type Meeting,
  MeetingError,
  MeetingGoneError,
  type MeetingProvider,
  type ProviderMeeting,
} from './provider.ts';
import { rejection, sendToZoom, type ZoomReply } from './zoom-http.ts';
import { ZoomTokens } from './zoom-tokens.ts';

type ZoomSettings = { apiUrl: string; oauthUrl: string; clock: Clock; timeoutMs?: number };

const MAX_TOPIC_LENGTH = 200;
const PAGE_SIZE = 300;
const MAX_PAGES = 100;
/** Zoom's number for a scheduled meeting. */
const SCHEDULED_TYPE = 2;

type ApiCall = { method: string; path: string; query?: Record<string, string>; body?: object };

/** Zoom's meetings API. The agenda holds the reference, by which a meeting can be found again. */
export function zoom({ apiUrl, oauthUrl, clock, timeoutMs }: ZoomSettings): MeetingProvider {
  const tokens = new ZoomTokens(oauthUrl, clock, timeoutMs);
  const base = apiUrl.replace(/(?<!\/)\/+$/, '');

  async function call(account: Account, apiCall: ApiCall, signal: AbortSignal): Promise<ZoomReply> {
    const { method, path, query, body } = apiCall;
    const url = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const send = async (token: string) => {
      const request = { method, url, headers: { authorization: `Bearer ${token}` }, ...(body && { body }) };
      return sendToZoom(request, clock, signal, timeoutMs);
    };
    const token = await tokens.get(account, signal);
    const reply = await send(token);
    if (reply.status !== 401) return reply;
    // The token expired early, or the app's permissions were changed: retry once with a new token.
    await tokens.drop(account, token);
    return send(await tokens.get(account, signal));
  }

  return {
    async create(connected, meeting, signal) {
      const account = requireAccount(connected);
      const path = `/users/${encodeURIComponent(account.host)}/meetings`;
      const body = { type: SCHEDULED_TYPE, ...meetingFields(meeting) };
      const reply = await call(account, { method: 'POST', path, body }, signal);
      if (reply.status !== 201 && reply.status !== 200) throw rejection(reply);
      const created = parseMeeting(reply.json);
      if (created) return created;
      throw new MeetingError('Zoom answered without a link.', { permanent: false, uncertain: true });
    },

    async update(connected, existing, meeting, signal) {
      const path = meetingPath(existing.id);
      const body = meetingFields(meeting);
      const reply = await call(requireAccount(connected), { method: 'PATCH', path, body }, signal);
      if (reply.status === 404) throw new MeetingGoneError();
      if (reply.status !== 204 && reply.status !== 200) throw rejection(reply);
      return existing;
    },

    async remove(connected, id, signal) {
      const reply = await call(requireAccount(connected), { method: 'DELETE', path: meetingPath(id) }, signal);
      if (![200, 204, 404].includes(reply.status)) throw rejection(reply);
    },

    async find(connected, reference, signal) {
      const account = requireAccount(connected);
      const path = `/users/${encodeURIComponent(account.host)}/meetings`;
      const found: ProviderMeeting[] = [];
      let nextPage = '';
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = {
          type: 'scheduled',
          page_size: String(PAGE_SIZE),
          ...(nextPage && { next_page_token: nextPage }),
        };
        const reply = await call(account, { method: 'GET', path, query }, signal);
        if (reply.status !== 200) throw rejection(reply);
        const meetings = Array.isArray(reply.json.meetings) ? (reply.json.meetings as Record<string, unknown>[]) : [];
        for (const meeting of meetings) {
          const match = meeting.agenda === agenda(reference) ? parseMeeting(meeting) : undefined;
          if (match) found.push(match);
        }
        nextPage = typeof reply.json.next_page_token === 'string' ? reply.json.next_page_token : '';
        if (nextPage === '') break;
      }
      return found;
    },
  };
}

/** Every participant sees the topic, so it names the company and nothing about the client. */
const meetingFields = ({ reference, company, start, end, timeZone }: Meeting) => ({
  topic: [...`Appointment with ${company}`].slice(0, MAX_TOPIC_LENGTH).join(''),
  agenda: agenda(reference),
  start_time: start.toString({ smallestUnit: 'second' }),
  duration: Math.max(Math.ceil(start.until(end).total('minutes')), 1),
  timezone: timeZone,
});

const agenda = (reference: string): string => `Reference ${reference}`;

const meetingPath = (id: string): string => `/meetings/${encodeURIComponent(id)}`;

function parseMeeting({ id, join_url }: Record<string, unknown>): ProviderMeeting | undefined {
  if (typeof id !== 'number' && typeof id !== 'string') return undefined;
  if (typeof join_url !== 'string' || !/^https?:\/\//i.test(join_url)) return undefined;
  return { id: String(id), joinUrl: join_url };
}

function requireAccount(account: Account | undefined): Account {
  if (!account) throw new MeetingError('The Zoom account is no longer connected.', { permanent: true });
  return account;
}
