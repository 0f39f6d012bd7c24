import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** Lets pages of the named origins call the API from a browser. */
export async function crossOrigin(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  // The route that answers the browser's question asks for no credentials: a browser sends none with it.
  app.addHook('onRoute', (route) => {
    if (route.method === 'OPTIONS') route.config = { ...route.config, access: 'public' };
  });
  await app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: [
      'ETag',
      'Idempotency-Replayed',
      'Link',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'X-Request-Id',
      'X-Total-Count',
    ],
    maxAge: 600,
  });
}
