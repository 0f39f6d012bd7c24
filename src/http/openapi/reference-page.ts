/** The page with the API reference. It has no inline script, so its content security policy allows none. */

type PageAddresses = {
  /** The way from the page to the root of the service, such as `../`, so that the page works under any path. */
  root: string;
  /** The names of the scripts below `docs/`. */
  scripts: readonly string[];
};

export const referencePage = ({ root, scripts }: PageAddresses): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Case Records: API reference</title>
    <link rel="icon" type="image/svg+xml" href="${root}favicon.svg">
  </head>
  <body data-document="${root}openapi.json">
    <div id="reference"></div>
    <noscript>The reference needs JavaScript. The same content is in <a href="${root}openapi.json">openapi.json</a>.</noscript>
${scripts.map((name) => `    <script src="${root}docs/${name}"></script>`).join('\n')}
  </body>
</html>
`;

// Scalar adds inline styles; scripts are loaded only from this service.
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
};
