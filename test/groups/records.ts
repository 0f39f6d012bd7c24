import { runGroup } from '../harness/test-groups.ts';

await runGroup(import.meta.filename);
