/** The page of the console at every one of its addresses. `root` is the relative address of the service. */
export const consolePage = (root: string, { script, style }: { script: string; style: string }): string =>
  `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Case Records</title>
    <link rel="icon" type="image/svg+xml" href="${root}favicon.svg">
    <link rel="stylesheet" href="${root}console/${style}">
    <script type="module" src="${root}console/${script}"></script>
  </head>
  <body>
    <noscript>The console needs JavaScript.</noscript>
  </body>
</html>
`;
