/** The page with the API reference. It has no inline script, so its content security policy allows none. */

const CONFIGURATION = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

/** `script` is the URL of Scalar's script. */
export const referencePage = (script: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Case Records</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <script id="api-reference" type="application/json"
            data-configuration="${attribute(JSON.stringify(CONFIGURATION))}"></script>
    <script src="${script}"></script>
  </body>
</html>
`;

const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

// Scalar adds inline styles; scripts are loaded only from this service.
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
};
