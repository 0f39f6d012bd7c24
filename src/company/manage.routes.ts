import type { FastifyInstance } from 'fastify';
import type { Services } from '../http/operation.ts';
import { adviserRoutes } from './advisers/advisers.routes.ts';
import { caseRoutes } from './cases/cases.routes.ts';
import { customerRoutes } from './cases/customers.routes.ts';
import { companyRoutes } from './companies/companies.routes.ts';
import { clientRoutes } from './credentials/clients.routes.ts';
import { keyRoutes } from './credentials/keys.routes.ts';
import { tagRoutes } from './tags/tags.routes.ts';

/** Everything under /manage. */
export async function manageRoutes(app: FastifyInstance, services: Services): Promise<void> {
  companyRoutes(app, services);
  adviserRoutes(app, services);
  caseRoutes(app, services);
  customerRoutes(app, services);
  tagRoutes(app, services);
  clientRoutes(app, services);
  keyRoutes(app, services);
}
