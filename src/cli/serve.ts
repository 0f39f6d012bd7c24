import type { Config } from '../config.ts';
import type { Command } from './command.ts';

export const commands: Command[] = [
  {
    name: 'serve',
    summary: 'Run the service',
    description:
      'Answers HTTP until it is told to stop by SIGTERM, SIGINT or SIGHUP. Without DATABASE_URL it brings its own database, and the first start makes a demonstration company.',
    examples: ['serve'],
    run: async ({ config }) => ({
      config,
      start: async (logger) => {
        const { startService } = await import('../server/service.ts');
        const service = await startService(config, logger);
        greet(config, service);
        return service;
      },
    }),
  },
];

/** Standard output is the log in most places: the token stays in its file. */
function greet(
  { DATA_DIR, DOCS }: Config,
  { url, demo }: { url: string; demo: { case_id: string } | undefined },
): void {
  console.log(`Case Records listens on ${url}${DOCS ? ` (API pages: ${url}/docs)` : ''}`);
  if (!demo) return;
  console.log(`
A demonstration company was made; ${DATA_DIR}/demo.json holds its token and identifiers. Try:

curl -s -X POST ${url}/cases/${demo.case_id}/interactions \\
  -H "Authorization: Bearer $(node -p 'require("${DATA_DIR}/demo.json").token')" \\
  -H 'Content-Type: application/json' -d '{"type": "phone", "notes": "First call"}'
`);
}
