import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { CaseOverview } from './overview.schema.ts';
import { showOverview } from './overview.ts';

export function caseOverviewRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'readCase',
    method: 'GET',
    path: '/cases/{caseId}',
    access: ['cases:read', 'manage'],
    extension: true,
    tag: 'Cases',
    summary: 'Read a case',
    description: 'The case with its customers, how many records it has, its next appointment and its balance.',
    params: { caseId: 'case' },
    response: CaseOverview,
    isTagged: true,
    handle: (context, { caseId }) => showOverview(context, caseId),
  });
}
