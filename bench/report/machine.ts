import { cpus, totalmem } from 'node:os';
import type pg from 'pg';

export type Machine = {
  system: string;
  cores: number;
  processor: string;
  memory: string;
  node: string;
  postgres: string;
};

export async function describeMachine(client: pg.Client): Promise<Machine> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  const [first] = cpus();
  return {
    system: `${process.platform} ${process.arch}`,
    cores: cpus().length,
    processor: first?.model.trim() || 'unknown',
    memory: `${Math.round(totalmem() / 1024 ** 3)} GB`,
    node: process.versions.node,
    postgres: rows[0]?.server_version ?? '',
  };
}

export const formatLoad = (load: number[]): string => load.map((average) => average.toFixed(1)).join(' ');
