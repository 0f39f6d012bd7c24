import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/**
 * Returns Scalar's browser script as its Fastify plugin serves it. Loading the plugin takes 0.4 s and 70 MB, so it
 * happens in a thread that ends: the process keeps only the script.
 */
export async function referenceScript(): Promise<Buffer> {
  const worker = new Worker(new URL(import.meta.url), { execArgv: [] });
  const [bytes] = await once(worker, 'message');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

if (!isMainThread && parentPort) {
  const [{ default: fastify }, { default: scalar }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { rawPayload, statusCode } = await app.inject('/docs/js/scalar.js');
  if (statusCode !== 200) throw new Error(`Scalar's plugin returned its script with status ${statusCode}.`);
  const bytes = new Uint8Array(rawPayload);
  parentPort.postMessage(bytes, [bytes.buffer]);
}
