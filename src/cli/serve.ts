import type { Config } from '../config.ts';
import type { Service } from '../server/service.ts';
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
        const { logFormat, logStart } = await import('../server/log.ts');
        const { startSummary } = await import('../server/start-summary.ts');
        const service = await startService(config, logger);
        logStart(logger, `Case Records listens on ${service.url}`, {
          ...addresses(config, service),
          ...startSummary(config),
          ...(logFormat(config) === 'pretty' && firstCall(config, service)),
        });
        return service;
      },
    }),
  },
];

/** The output of a service usually ends up in a log, so a token is shown only on a terminal. */
function addresses({ PUBLIC_URL, DOCS }: Config, { url, demo }: Service): Record<string, string> {
  const pages = `${PUBLIC_URL ?? url}/docs`;
  const fragment = demo && process.stdout.isTTY ? `#token=${demo.token}&case=${demo.case_id}` : '';
  return { ...(PUBLIC_URL && { address: PUBLIC_URL }), ...(DOCS && { pages: pages + fragment }) };
}

function firstCall({ DATA_DIR }: Config, { url, demo }: Service): Record<string, string> {
  if (!demo?.isNew) return {};
  const file = `${DATA_DIR}/demo.json`;
  return {
    example: `A demonstration company was created; ${file} contains its token and identifiers. Try:
curl -s -X POST ${url}/cases/${demo.case_id}/interactions \\
  -H "Authorization: Bearer $(node -p 'require("${file}").token')" \\
  -H 'Content-Type: application/json' -d '{"type": "phone", "notes": "First call"}'`,
  };
}
