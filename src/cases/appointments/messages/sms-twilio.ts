import type { SmsProvider } from './sms.ts';
import { post, rejection } from './sms-http.ts';

type TwilioSettings = {
  accountSid: string;
  authToken: string;
  /** A number, a sender name, or the SID of a messaging service (MG…). */
  from: string;
  baseUrl: string;
  timeoutMs?: number;
};

/** Twilio's Messages resource: 201 with a `sid`, or an error with `code` and `message`. */
export function twilio({ accountSid, authToken, from, baseUrl, timeoutMs }: TwilioSettings): SmsProvider {
  const url = new URL(`/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`, baseUrl).href;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const sender = /^MG[0-9a-f]{32}$/i.test(from) ? { MessagingServiceSid: from } : { From: from };
  return async ({ to, text }, signal) => {
    const body = new URLSearchParams({ To: to, ...sender, Body: text }).toString();
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await post(url, { headers, body }, signal, timeoutMs);
    if (reply.status === 201 || reply.status === 200) return typeof reply.json.sid === 'string' ? reply.json.sid : null;
    const { code, message } = reply.json;
    throw rejection(reply, [message ?? 'no reason given', code && `(${code})`].filter(Boolean).join(' '));
  };
}
