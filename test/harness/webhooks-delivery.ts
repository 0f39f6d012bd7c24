import type { TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { type Endpoint, openWebhooks } from './webhooks.ts';

/** Delivery from a change to the receiver: what is sent, in which order, how often, and what happens when it fails. */

export const { app, receiver, worker, endpointOf, deliverUntil } = await openWebhooks();

export const deliveries = (company: TestCompany, { path }: Endpoint, query = '') =>
  ok(company.get(`${path}/deliveries${query}`));
