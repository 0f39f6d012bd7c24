/** Starts Scalar in the browser. The script is served as a file, because the page allows no inline script. */

type Parameter = { $ref?: string; required?: boolean; example?: string; examples?: object };
type Example = Record<string, unknown>;
type RequestBody = { content: Record<string, { example?: Example }> };
type Document = {
  info: { description: string; contact?: object };
  servers: { url: string }[];
  paths: Record<string, Record<string, { parameters?: Parameter[]; requestBody?: RequestBody }>>;
  components: {
    securitySchemes: { oauth2: { flows: { clientCredentials: { tokenUrl: string } } } };
    parameters: Record<string, Parameter>;
    schemas: Record<string, { examples?: Example[] }>;
  };
};
type Operation = { path: string; operation?: { 'x-specified'?: boolean } };

// What the script uses of the browser. It must not refer to anything else outside the function.
declare const document: {
  body: { dataset: Record<string, string> };
  querySelector(selector: string): { textContent: string };
};
declare const location: { hash: string; href: string; pathname: string };
declare const history: { replaceState(state: null, unused: string, url: string): void };
declare const sessionStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void };
declare const Scalar: { createApiReference(element: string, configuration: object): void };

async function startReference(): Promise<void> {
  const storageKey = 'case-records';
  // A link such as /docs#token=…&case=… fills in both. A fragment is not sent to the service, and is removed here so
  // that it is not copied with the address. The tab keeps it for a reload.
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (/^cr_[\w-]{1,200}$/.test(fragment.get('token') ?? '')) {
    sessionStorage.setItem(storageKey, fragment.toString());
    history.replaceState(null, '', location.pathname);
  }
  const known = new URLSearchParams(sessionStorage.getItem(storageKey) ?? '');

  const address = new URL(document.body.dataset.document ?? '', location.href);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.pathname} was answered with status ${response.status}`);
  const content = (await response.json()) as Document;
  const { parameters, schemas, securitySchemes } = content.components;
  // The page may call only its own origin, whatever address the document names.
  const root = new URL('.', address).href;
  content.servers = [{ url: root.slice(0, -1) }];
  securitySchemes.oauth2.flows.clientCredentials.tokenUrl = `${root}oauth/token`;
  const { caseIdParameter } = parameters;
  if (caseIdParameter && known.has('case')) caseIdParameter.example = known.get('case') ?? '';
  // Scalar would tick an optional parameter that has an enumeration or a default, and so filter the list.
  const operations = Object.values(content.paths).flatMap((methods) => Object.values(methods));
  const inline = operations.flatMap((operation) => operation.parameters ?? []);
  for (const parameter of [...Object.values(parameters), ...inline]) {
    if (!parameter.$ref && !parameter.required) parameter.examples = { default: { value: '', 'x-disabled': true } };
  }
  // An invoice number is unique within its case, so a fixed one would be refused at the second visit.
  const bodies = operations.map(({ requestBody }) => requestBody?.content['application/json']?.example);
  for (const example of [schemas.CreateInvoiceBody?.examples?.[0], ...bodies]) {
    if (example?.invoice_number) example.invoice_number = `INV-${Date.now()}`;
  }

  const { info } = content;
  const firstCall = '#tag/interactions/GET/cases/{caseId}/interactions';
  const text = info.description.replace(/\*\*(Get case interactions)\*\*/, `[$1](${firstCall})`);
  info.description = `![](${new URL('favicon.svg', address).pathname})\n\n${text}`;
  delete info.contact;

  const isSpecified = ({ operation }: Operation) => Number(operation?.['x-specified'] ?? false);
  Scalar.createApiReference('#reference', {
    content,
    authentication: {
      preferredSecurityScheme: 'bearer',
      securitySchemes: { bearer: { token: known.get('token') ?? '' } },
    },
    operationsSorter: (a: Operation, b: Operation) => isSpecified(b) - isSpecified(a),
    customCss: '.light-mode { --scalar-color-accent: #0f5c5c } .dark-mode { --scalar-color-accent: #6fc7c0 }',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    metaData: { title: 'Case Records: API reference' },
  });
}

function showFailure(error: Error): void {
  console.error(error);
  const text = `The reference cannot be shown: ${error.message}. Reload the page to try again.`;
  document.querySelector('#reference').textContent = text;
}

export const START_SCRIPT = `${startReference}\n${showFailure}\nstartReference().catch(showFailure);\n`;
