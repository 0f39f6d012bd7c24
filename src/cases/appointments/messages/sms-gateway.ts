import type { SmsProvider } from './sms.ts';
import { post, refusal } from './sms-http.ts';

export type GatewaySettings = {
  url: string;
  headers: Record<string, string>;
  /** With {{to}}, {{text}}, {{from}} and {{id}}. */
  body: string;
  from: string;
  timeoutMs?: number;
};

const typeOf = (contentType: string) => contentType.split(';', 1)[0]?.trim().toLowerCase();
const isFormType = (contentType: string) => typeOf(contentType) === 'application/x-www-form-urlencoded';

/**
 * Any provider that takes one POST per SMS. What is put into the body is escaped for a JSON string, or for a form
 * where the headers say that it is one, so that no text can break out of its place.
 */
export function gateway({ url, headers, body, from, timeoutMs }: GatewaySettings): SmsProvider {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  sent['content-type'] ??= 'application/json';
  const isForm = isFormType(sent['content-type']);
  const fitted = (value: string) => (isForm ? encodeURIComponent(value) : JSON.stringify(value).slice(1, -1));
  return async ({ id, to, text }, signal) => {
    const values: Record<string, string> = { id, to, text, from };
    const filled = body.replace(/\{\{(\w+)\}\}/g, (_, name: string) => fitted(values[name] ?? ''));
    const reply = await post(url, { headers: sent, body: filled }, signal, timeoutMs);
    if (reply.status < 200 || reply.status >= 300) throw refusal(reply, reply.text.slice(0, 200) || 'no reason given');
    const name = reply.json.id ?? reply.json.message_id ?? reply.json.messageId ?? reply.json.sid;
    return typeof name === 'string' || typeof name === 'number' ? String(name) : null;
  };
}
