import type { FastifyInstance } from 'fastify';
import { adviserRoutes } from './advisers/routes.ts';
import { caseKindRoutes } from './case-kinds/routes.ts';
import { caseExternalIdRoutes } from './cases/external-ids.routes.ts';
import { caseRoutes } from './cases/routes.ts';
import { companyRoutes } from './companies/routes.ts';
import { clientRoutes } from './credentials/clients/routes.ts';
import { type FactorServices, factorRoutes } from './credentials/factors/routes.ts';
import { keyRoutes } from './credentials/keys/routes.ts';
import type { Challenges } from './credentials/passkeys/challenges.ts';
import { passkeyRoutes } from './credentials/passkeys/routes.ts';
import { sessionRoutes } from './credentials/sessions/routes.ts';
import { userRoutes } from './credentials/users/routes.ts';
import { customerExternalIdRoutes } from './customers/external-ids.routes.ts';
import { customerRoutes } from './customers/routes.ts';
import { tagRoutes } from './tags/routes.ts';

/** Registers every operation under /manage, and those of people who have signed in. */
export async function manageRoutes(
  app: FastifyInstance,
  services: FactorServices & { challenges: Challenges },
): Promise<void> {
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
  userRoutes(app, services);
  sessionRoutes(app, services);
  factorRoutes(app, services);
  passkeyRoutes(app, services);
}
