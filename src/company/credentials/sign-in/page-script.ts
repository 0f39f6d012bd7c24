/** The script of the page. It runs in the browser and refers to nothing outside the function. */

type Shown = { textContent: string; hidden: boolean; value: string; href: string; className: string };
type Form = Shown & { elements: Record<string, Shown>; reset(): void };
declare const document: { title: string; getElementById(id: string): Shown & Form; createElement(name: string): Shown };
declare const location: { hash: string; href: string; pathname: string; search: string; replace(url: string): void };
declare const history: { replaceState(state: null, unused: string, url: string): void };
declare const navigator: { credentials: Record<'get' | 'create', (options: object) => Promise<{ toJSON(): object }>> };
declare const PublicKeyCredential: Record<
  'parseRequestOptionsFromJSON' | 'parseCreationOptionsFromJSON',
  (options: object) => object
>;

function startSignIn(): void {
  const root = new URL('.', location.href).href;
  const byId = (id: string) => document.getElementById(id);
  const show = (id: string, isShown: boolean) => {
    byId(id).hidden = !isShown;
  };
  const say = (text: string, isFailure = false) => {
    byId('message').textContent = text;
    byId('message').className = isFailure ? 'failed' : '';
  };
  const title = (text: string) => {
    byId('title').textContent = text;
    document.title = `Case Records: ${text.toLowerCase()}`;
  };
  type Answer = { status: number; body: Record<string, never> };
  const call = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(root + path, {
      method,
      credentials: 'same-origin',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  class Refused extends Error {
    readonly answer: Answer;
    constructor(answer: Answer) {
      const { detail, errors } = answer.body as { detail?: string; errors?: { field: string; message: string }[] };
      super(errors?.map(({ field, message }) => `${field} ${message}`).join('; ') ?? detail ?? 'The request failed.');
      this.answer = answer;
    }
  }
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await call(method, path, body);
    if (answer.status !== 200) throw new Refused(answer);
    return answer.body as Record<string, never>;
  };
  const run = (work: () => Promise<unknown>) => async (event?: { preventDefault(): void }) => {
    event?.preventDefault();
    say('');
    try {
      await work();
    } catch (error) {
      const isOld = error instanceof Refused && error.answer.body.code === 'recent_sign_in_required';
      isAgain ||= isOld;
      if (isOld) await refresh();
      say((error as Error).message, true);
    }
  };
  const on = (id: string, type: string, work: () => Promise<unknown>) =>
    (byId(id) as unknown as { addEventListener(type: string, listener: unknown): void }).addEventListener(
      type,
      run(work),
    );
  const field = (form: string, name: string) => byId(form).elements[name]?.value ?? '';

  // A fragment is not sent to the service, and is removed here so that it is not copied with the address.
  const fragment = new URLSearchParams(location.hash.slice(1));
  let link = fragment.get('link');
  if (link) history.replaceState(null, '', location.pathname + location.search);
  const query = new URLSearchParams(location.search);
  const company = query.get('company');
  const ofCompany = company ? { company_id: company } : {};
  /** Whether a person who has signed in is asked to do so again. */
  let isAgain = query.has('again');
  /** Whether the person wants to change how to sign in, before going back. */
  const isAboutAccount = query.has('account');
  // Only below the root of the service: another address could be that of a page that asks for the password again.
  const next = query.get('next') ?? '';
  const address = URL.canParse(next, root) ? new URL(next, root).href : '';
  const target = next !== '' && address.startsWith(root) ? address : undefined;
  let setup = '';
  /** Whether the page has shown the account: it then stays, because there may be recovery codes to be kept. */
  let wasShown = false;

  const readAccount = async () =>
    (await ask('GET', 'account')) as unknown as {
      passkeys: { name: string }[];
      password_set_at: string | null;
      has_one_time_codes: boolean;
      recovery_codes_left: number;
    };
  const refresh = async (): Promise<void> => {
    const { status, body: current } = await call('GET', 'session');
    // A link may be meant for another person than the one who is signed in.
    const hasSession = status === 200 && link === null;
    const isSignedIn = hasSession && !isAgain;
    const { user, session, company: firm } = current as Record<string, Record<string, string>>;
    const leadsBack = isSignedIn && !wasShown && !isAboutAccount;
    if (leadsBack && target && session?.purpose === 'full') return location.replace(target);
    const account = isSignedIn ? await readAccount() : undefined;
    title(link !== null ? 'Welcome' : isSignedIn ? 'Your account' : hasSession ? 'Sign in again' : 'Sign in');
    show('signed-in', isSignedIn);
    show('with-link', link !== null);
    show('signed-out', !isSignedIn && link === null);
    wasShown = isSignedIn;
    if (!account) return;
    const isFull = session?.purpose === 'full';
    byId('who').textContent = isFull
      ? `${user?.name} (${user?.role}) of ${firm?.name}`
      : `Welcome ${user?.name}. Add a passkey, or a password and an authenticator app.`;
    show('end-others', isFull);
    show('continue', isFull && target !== undefined);
    byId('continue').href = target ?? '';
    show('current-password', isFull && account.password_set_at !== null);
    const lines = [
      ...account.passkeys.map(({ name }) => `Passkey: ${name}`),
      ...(account.password_set_at ? ['Password'] : []),
      ...(account.has_one_time_codes ? ['Authenticator app'] : []),
      ...(account.recovery_codes_left > 0 ? [`${account.recovery_codes_left} recovery codes`] : []),
    ];
    const list = byId('factors') as unknown as { replaceChildren(...items: Shown[]): void };
    list.replaceChildren(
      ...lines.map((line) => {
        const item = document.createElement('li');
        item.textContent = line;
        return item;
      }),
    );
  };
  const changed = async (answer: { recovery_codes?: string[] | null }) => {
    if (answer.recovery_codes) {
      byId('recovery-codes').textContent = answer.recovery_codes.join('\n');
      show('recovery', true);
    }
    await refresh();
    say('Done.');
  };

  on('use-passkey', 'click', async () => {
    const { options } = await ask('POST', 'sign-in/passkey/options', {});
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
    const credential = await navigator.credentials.get({ publicKey });
    await ask('POST', 'sign-in/passkey', { response: credential.toJSON() });
    isAgain = false;
    await refresh();
  });
  on('password-form', 'submit', async () => {
    const [email, password, code] = ['email', 'password', 'code'].map((name) => field('password-form', name));
    await ask('POST', 'sign-in/password', { email, password, code, ...ofCompany });
    byId('password-form').reset();
    isAgain = false;
    await refresh();
  });
  on('recover', 'click', async () => {
    await ask('POST', 'sign-in/recovery', { email: field('password-form', 'email'), ...ofCompany });
    say('If the address has an account, a mail with a link is on its way.');
  });
  on('link-form', 'submit', async () => {
    const code = field('link-form', 'code');
    const answer = await call('POST', 'sign-in/link', { link, ...(code && { code }) });
    const { errors } = answer.body as { errors?: { field: string }[] };
    if (errors?.some((fault) => fault.field === 'code')) show('link-code', true);
    if (answer.status !== 200) throw new Refused(answer);
    link = null;
    await refresh();
  });
  on('sign-out', 'click', async () => {
    await ask('DELETE', 'session');
    show('recovery', false);
    await refresh();
  });
  on('end-others', 'click', async () => {
    await ask('DELETE', 'account/sessions');
    say('Done.');
  });
  on('passkey-form', 'submit', async () => {
    const { options } = await ask('POST', 'account/passkeys/options');
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
    const credential = await navigator.credentials.create({ publicKey });
    const body = { name: field('passkey-form', 'name'), response: credential.toJSON() };
    await changed(await ask('POST', 'account/passkeys', body));
  });
  on('new-password-form', 'submit', async () => {
    const current = field('new-password-form', 'current');
    const body = { password: field('new-password-form', 'password'), ...(current && { current_password: current }) };
    const answer = await ask('PUT', 'account/password', body);
    byId('new-password-form').reset();
    await changed(answer);
  });
  on('prepare-codes', 'click', async () => {
    const prepared = (await ask('POST', 'account/one-time-codes/setup')) as Record<string, string>;
    setup = prepared.setup ?? '';
    byId('secret').textContent = prepared.secret ?? '';
    byId('otp-link').href = prepared.uri ?? '';
    show('codes-form', true);
  });
  on('codes-form', 'submit', async () => {
    const answer = await ask('PUT', 'account/one-time-codes', { setup, code: field('codes-form', 'code') });
    show('codes-form', false);
    await changed(answer);
  });
  void run(refresh)();
}

export const SIGN_IN_SCRIPT = `${startSignIn}\nstartSignIn();\n`;
