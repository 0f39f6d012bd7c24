import type { Config } from '../config.ts';
import type { Command } from './command.ts';

export const commands: Command[] = [
  {
    name: 'serve',
    summary: 'Run the service',
    description:
      'Serves HTTP until it receives SIGTERM, SIGINT or SIGHUP. Without DATABASE_URL it runs the bundled database, ' +
      'and the first start creates a demonstration company.',
    examples: ['serve'],
    run: async ({ config }) => ({
      config,
      start: async (logger) => {
        const { startService } = await import('../server/service.ts');
        const service = await startService(config, logger);
        printGreeting(config, service);
        return service;
      },
    }),
  },
];

/** Standard output usually ends up in a log, so the token is not printed. */
function printGreeting(
  { DATA_DIR, DOCS }: Config,
  { url, demo }: { url: string; demo: { case_id: string } | undefined },
): void {
  console.log(`Case Records listens on ${url}${DOCS ? ` (API pages: ${url}/docs)` : ''}`);
  if (!demo) return;
  console.log(`
A demonstration company was created; ${DATA_DIR}/demo.json contains its token and identifiers. Try:

curl -s -X POST ${url}/cases/${demo.case_id}/interactions \\
  -H "Authorization: Bearer $(node -p 'require("${DATA_DIR}/demo.json").token')" \\
  -H 'Content-Type: application/json' -d '{"type": "phone", "notes": "First call"}'
`);
}
