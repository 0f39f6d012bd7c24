import { ofRecords } from './following.ts';
import { useLoaded } from './loading.ts';
import { may } from './session.ts';

/** The short lists of a company that forms choose from. A role that may not read them gets empty ones. */

const MAX_PER_PAGE = 200;
const whole = { per_page: MAX_PER_PAGE };

export const useAdvisers = () =>
  useLoaded(
    may('cases:read', 'manage') ? 'advisers' : undefined,
    async (signal, service) => (await service.listAdvisers({ ...whole, signal })).data,
    ofRecords('adviser'),
  ).data ?? [];

export const useCaseKinds = () =>
  useLoaded(
    may('cases:read', 'manage') ? 'case-kinds' : undefined,
    async (signal, service) => (await service.listCaseKinds({ ...whole, signal })).data,
    ofRecords('case_kind'),
  ).data ?? [];

export const useTags = () =>
  useLoaded(may('cases:read', 'manage') ? 'tags' : undefined, async (signal, service) => {
    const [common, own] = await Promise.all([
      service.listDefaultTags({ ...whole, signal }),
      service.listCustomTags({ ...whole, signal }),
    ]);
    return { common: common.data.map(({ tag }) => tag), own: own.data.map(({ tag }) => tag) };
  }).data ?? { common: [], own: [] };
