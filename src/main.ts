import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// What Node makes of the source is kept beside the packages: a start takes less time, and 20 MB less memory for as long as
// it runs. Where the folder cannot be written, everything goes on without it. Processes that this one starts use it too.
const folder = fileURLToPath(new URL('../node_modules/.cache/case-records', import.meta.url));
process.env.NODE_COMPILE_CACHE ??= folder;
enableCompileCache(folder);
await import('./server/process.ts');
