import { runGroup } from '../harness/test-groups.ts';

await runGroup('webhooks');
