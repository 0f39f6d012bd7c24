import type { FastifyInstance } from 'fastify';
import type { Services } from '../http/operation/operation.ts';
import { adviserRoutes } from './advisers/routes.ts';
import { caseKindRoutes } from './case-kinds/routes.ts';
import { caseExternalIdRoutes } from './cases/external-ids.routes.ts';
import { caseRoutes } from './cases/routes.ts';
import { companyRoutes } from './companies/routes.ts';
import { clientRoutes } from './credentials/clients/routes.ts';
import { keyRoutes } from './credentials/keys/routes.ts';
import { customerExternalIdRoutes } from './customers/external-ids.routes.ts';
import { customerRoutes } from './customers/routes.ts';
import { tagRoutes } from './tags/routes.ts';

/** Registers every operation under /manage. */
export async function manageRoutes(app: FastifyInstance, services: Services): Promise<void> {
  companyRoutes(app, services);
  adviserRoutes(app, services);
  caseRoutes(app, services);
  caseExternalIdRoutes(app, services);
  caseKindRoutes(app, services);
  customerRoutes(app, services);
  customerExternalIdRoutes(app, services);
  tagRoutes(app, services);
  clientRoutes(app, services);
  keyRoutes(app, services);
}
