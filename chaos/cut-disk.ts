import { execFileSync } from 'node:child_process';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../test/harness/service.ts';
import { SkippedError, waitUntil } from './chaos-test.ts';

const DISK_BYTES = 512 * 1024 * 1024;
const UNMOUNT_TIMEOUT_S = 60;

/** A file system in an image file. */
export class Disk {
  readonly kind: string;
  readonly #home: { path: string; remove(): Promise<void> };

  static async create(kind: string): Promise<Disk> {
    const disk = new Disk(kind, await temporaryDirectory());
    try {
      await writeFile(disk.#image, '');
      await truncate(disk.#image, DISK_BYTES);
      await mkdir(disk.folder);
      execFileSync(`mkfs.${kind}`, ['-q', disk.#image], { stdio: 'pipe' });
      disk.mount();
      execFileSync('xfs_io', ['-V'], { stdio: 'pipe' });
    } catch (error) {
      await disk.remove();
      throw new SkippedError(`needs root, loop mounts, mkfs.${kind} and xfs_io (${(error as Error).message})`);
    }
    return disk;
  }

  private constructor(kind: string, home: { path: string; remove(): Promise<void> }) {
    this.kind = kind;
    this.#home = home;
  }

  get folder(): string {
    return join(this.#home.path, 'mounted');
  }

  get #image(): string {
    return join(this.#home.path, 'image');
  }

  mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.folder], { stdio: 'pipe' });
  }

  /** Stops all writes to the disk and discards the data that has not been flushed. */
  powerOff(): void {
    execFileSync('xfs_io', ['-x', '-c', 'shutdown', this.folder], { stdio: 'pipe' });
  }

  async unmount(): Promise<void> {
    await waitUntil('the disk can be unmounted', UNMOUNT_TIMEOUT_S, () => {
      try {
        execFileSync('umount', [this.folder], { stdio: 'pipe' });
        return true;
      } catch {
        return false;
      }
    });
  }

  async remove(): Promise<void> {
    try {
      execFileSync('umount', ['-l', this.folder], { stdio: 'pipe' });
    } catch {
      // The disk is not mounted.
    }
    await this.#home.remove();
  }
}
