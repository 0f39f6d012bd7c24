import type { SmsProvider } from './sms.ts';
import { post, rejection } from './sms-http.ts';

type GatewaySettings = {
  url: string;
  headers: Record<string, string>;
  /** A template with {{to}}, {{text}}, {{from}} and {{id}}. */
  body: string;
  from: string;
  timeoutMs?: number;
};

const mediaType = (contentType: string) => contentType.split(';', 1)[0]?.trim().toLowerCase();
const isFormType = (contentType: string) => mediaType(contentType) === 'application/x-www-form-urlencoded';

/**
 * Any provider that takes one POST per SMS. Values are escaped for a JSON string, or for a form if the content type is
 * one, so no text can break out of its place in the template.
 */
export function gateway({ url, headers, body, from, timeoutMs }: GatewaySettings): SmsProvider {
  const requestHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  requestHeaders['content-type'] ??= 'application/json';
  const isForm = isFormType(requestHeaders['content-type']);
  const escapeValue = (value: string) => (isForm ? encodeURIComponent(value) : JSON.stringify(value).slice(1, -1));
  return async ({ id, to, text }, signal) => {
    const values: Record<string, string> = { id, to, text, from };
    const filled = body.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escapeValue(values[name] ?? ''));
    const reply = await post(url, { headers: requestHeaders, body: filled }, signal, timeoutMs);
    if (reply.status < 200 || reply.status >= 300)
      throw rejection(reply, reply.text.slice(0, 200) || 'no reason given');
    const messageId = reply.json.id ?? reply.json.message_id ?? reply.json.messageId ?? reply.json.sid;
    return typeof messageId === 'string' || typeof messageId === 'number' ? String(messageId) : null;
  };
}
