/** A small page on which people sign in, until a console replaces it. It has no inline script and no inline style. */
export const signInPage = (script: string, style: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Case Records: sign in</title>
    <link rel="icon" type="image/svg+xml" href="favicon.svg">
    <link rel="stylesheet" href="sign-in/${style}">
  </head>
  <body>
    <main>
      <h1>Case Records</h1>
      <p id="message" role="status"></p>
      <section id="signed-out" hidden>
        <button id="use-passkey" type="button">Sign in with a passkey</button>
        <form id="password-form">
          <h2>Or with a password</h2>
          <label>Email <input name="email" type="email" autocomplete="username" required></label>
          <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
          <label>Code of your app, or a recovery code
            <input name="code" autocomplete="one-time-code" spellcheck="false" required></label>
          <button>Sign in</button>
          <button id="recover" type="button">I have lost my password or passkey</button>
        </form>
      </section>
      <section id="with-link" hidden>
        <form id="link-form">
          <label id="link-code" hidden>Code of your app, or a recovery code
            <input name="code" autocomplete="one-time-code" spellcheck="false"></label>
          <button>Continue</button>
        </form>
      </section>
      <section id="signed-in" hidden>
        <p id="who"></p>
        <button id="sign-out" type="button">Sign out</button>
        <button id="end-others" type="button">Sign out everywhere else</button>
        <h2>Ways to sign in</h2>
        <ul id="factors"></ul>
        <form id="passkey-form">
          <label>A name for this device <input name="name" value="This device" maxlength="100" required></label>
          <button>Add a passkey</button>
        </form>
        <form id="new-password-form">
          <label>New password, at least 12 characters
            <input name="password" type="password" autocomplete="new-password" required></label>
          <label id="current-password" hidden>Current password
            <input name="current" type="password" autocomplete="current-password"></label>
          <button>Set the password</button>
        </form>
        <button id="prepare-codes" type="button">Set up an authenticator app</button>
        <form id="codes-form" hidden>
          <p>Add this to your app, by hand or by the link: <code id="secret"></code> <a id="otp-link">open the app</a></p>
          <label>The code that the app shows <input name="code" autocomplete="one-time-code" required></label>
          <button>Finish</button>
        </form>
        <section id="recovery" hidden>
          <h2>Recovery codes</h2>
          <p>Print them or keep them in a safe place. Each works once, instead of a lost app. They are not shown again.</p>
          <pre id="recovery-codes"></pre>
        </section>
      </section>
      <noscript>Signing in needs JavaScript.</noscript>
    </main>
    <script src="sign-in/${script}"></script>
  </body>
</html>
`;

export const SIGN_IN_STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 28rem; margin: 2rem auto; padding: 0 1rem }
label { display: block; margin: 0.75rem 0 }
input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: 0.4rem }
button { font: inherit; padding: 0.4rem 0.8rem; margin: 0.25rem 0.25rem 0.25rem 0 }
#message { min-height: 1.5rem; font-weight: 600 }
pre, code { overflow-wrap: anywhere; white-space: pre-wrap }
`;
