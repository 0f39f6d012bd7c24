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
        return startService(config, logger);
      },
    }),
  },
];
