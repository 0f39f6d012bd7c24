/**
 * A small page on which people sign in and choose how. It has no inline script and no inline style; the links are
 * relative, so that it works under any path.
 */
export const signInPage = (script: string, style: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Case Records: sign in</title>
    <link rel="icon" type="image/svg+xml" href="favicon.svg">
    <link rel="stylesheet" href="sign-in/${style}">
  </head>
  <body>
    <main>
      <header><img src="favicon.svg" alt=""> Case Records</header>
      <h1 id="title">Sign in</h1>
      <p id="message" role="alert"></p>
      <section id="signed-out" hidden>
        <button id="use-passkey" type="button" class="main">Sign in with a passkey</button>
        <p class="or">or with a password</p>
        <form id="password-form">
          <label>Email
            <input name="email" type="email" autocomplete="username" required></label>
          <label>Password
            <input name="password" type="password" autocomplete="current-password" required></label>
          <label>Code of your app, or a recovery code
            <input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required></label>
          <button>Sign in</button>
        </form>
        <button id="recover" type="button" class="quiet">I have lost my password or passkey</button>
      </section>
      <section id="with-link" hidden>
        <form id="link-form">
          <p>The link works once. Continue in the browser that you are going to use.</p>
          <label id="link-code" hidden>Code of your app, or a recovery code
            <input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"></label>
          <button class="main">Continue</button>
        </form>
      </section>
      <section id="signed-in" hidden>
        <p id="who"></p>
        <section id="recovery" hidden>
          <h2>Recovery codes</h2>
          <p>Print them, or keep them in a safe place. Each works once, instead of a lost app. They are not shown again.</p>
          <pre id="recovery-codes"></pre>
        </section>
        <p class="row">
          <a id="continue" class="main" hidden>Continue</a>
          <button id="sign-out" type="button">Sign out</button>
          <button id="end-others" type="button">Sign out everywhere else</button>
        </p>
        <h2>Ways to sign in</h2>
        <ul id="factors"></ul>
        <form id="passkey-form">
          <h3>Passkey</h3>
          <p>Your device checks a finger, a face or a PIN. A passkey alone is enough.</p>
          <label>A name for this device
            <input name="name" value="This device" maxlength="100" required></label>
          <button>Add a passkey</button>
        </form>
        <form id="new-password-form">
          <h3>Password</h3>
          <p>It also needs an authenticator app.</p>
          <label id="current-password" hidden>Current password
            <input name="current" type="password" autocomplete="current-password"></label>
          <label>New password, at least 12 characters
            <input name="password" type="password" autocomplete="new-password" required></label>
          <button>Set the password</button>
        </form>
        <section class="way">
          <h3>Authenticator app</h3>
          <p>It shows a new code every 30 seconds.</p>
          <button id="prepare-codes" type="button">Set up an authenticator app</button>
          <form id="codes-form" hidden>
            <p>Type this key into your app, or <a id="otp-link">open the app on this device</a>:</p>
            <pre id="secret"></pre>
            <label>The code that the app shows
              <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
            <button>Finish</button>
          </form>
        </section>
      </section>
      <noscript>Signing in needs JavaScript.</noscript>
    </main>
    <script src="sign-in/${script}"></script>
  </body>
</html>
`;

export const SIGN_IN_STYLE = `
:root { color-scheme: light dark; --text: #1c2626; --quiet: #566464; --line: #c9d3d3; --field: #8a9999; --accent: #0f5c5c;
  --on-accent: #fff; --page: #f3f6f6; --card: #fff; --code: #eef3f3; --note: #8f2d20; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6eded; --quiet: #a3b1b1; --line: #34413f; --field: #718180; --accent: #6fc7c0; --on-accent: #0d1a1a;
    --page: #101515; --card: #182020; --code: #101717; --note: #f2a899; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; min-height: 100vh; padding: clamp(1rem, 8vh, 6rem) 1rem 2rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 0 auto; padding: clamp(1.25rem, 6vw, 1.75rem); background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; }
header { display: flex; align-items: center; gap: .5rem; font-weight: 600; color: var(--quiet); }
header img { width: 1.75rem; height: 1.75rem; }
h1 { margin: 1.25rem 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1.125rem; }
h3 { margin: 0; font-size: 1rem; }
p { margin: 0 0 1rem; }
form, .way { margin: 0; }
#signed-in > form, .way { margin-top: 1.25rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
form > p, .way > p { margin-bottom: .75rem; color: var(--quiet); }
#message { font-weight: 600; }
#message:empty { display: none; }
#message.failed { color: var(--note); }
label { display: block; margin-bottom: 1rem; font-weight: 600; }
input { display: block; width: 100%; margin-top: .25rem; padding: .55rem .7rem; font: inherit; font-weight: 400;
  color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: .4rem; }
button, a.main { display: inline-block; padding: .55rem 1rem; font: inherit; font-weight: 600; text-decoration: none;
  color: var(--accent); background: none; border: 1px solid var(--accent); border-radius: .4rem; cursor: pointer; }
.main { color: var(--on-accent) !important; background: var(--accent) !important; }
#signed-out button:not(.quiet), #with-link button { width: 100%; }
button:disabled { opacity: .6; cursor: progress; }
.quiet { margin-top: .75rem; padding: .25rem 0; border: 0; font-weight: 400; text-align: left;
  text-decoration: underline; }
#codes-form { margin-top: 1.25rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.or { display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0; color: var(--quiet); }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.row { display: flex; flex-wrap: wrap; gap: .5rem; }
ul { margin: 0; padding-left: 1.25rem; }
ul:empty::before { content: "None yet"; margin-left: -1.25rem; color: var(--quiet); }
a { color: var(--accent); }
pre { margin: 0 0 1rem; padding: .75rem 1rem; overflow-wrap: anywhere; white-space: pre-wrap; background: var(--code);
  border: 1px solid var(--line); border-radius: .4rem; font-size: .8125rem; line-height: 1.7; }
`;
