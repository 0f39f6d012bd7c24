import type { DatabaseGauge } from '../kernel/metrics.ts';
import { backupNames, backupTime } from './backup-folder.ts';

/** No sample without a folder, or while it has no backup. */
export const backupGauge = (folder: string | undefined): DatabaseGauge => ({
  name: 'backup_age_seconds',
  help: 'The time since the newest complete backup in BACKUP_DIR was begun.',
  read: async (_db, now) => {
    const newest = folder === undefined ? undefined : backupTime((await backupNames(folder)).at(-1) ?? '');
    return newest ? [{ value: newest.until(now).total('seconds') }] : [];
  },
});
