import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** Lets web pages of these origins call the API. */
export async function crossOrigin(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  // A browser sends no credentials with a preflight request.
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
