import type { CredentialDescendant } from '@case-records/client';
import { signal } from '@preact/signals';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { useAction } from '../../service/action.ts';
import { announce } from '../../service/following.ts';
import type { Careful } from '../../service/form.ts';
import { text } from './texts.ts';

type End = (input: Careful & { also?: string }) => Promise<{ data: { still_working: CredentialDescendant[] } }>;

const shown = signal<{ entries: CredentialDescendant[]; end: End } | undefined>(undefined);

/** Ends a credential. If it had created other things that still work, shows them, and offers to end them too. */
export const ending = (end: End) => async (careful: Careful) => {
  const { data } = await end(careful);
  shown.value = data.still_working.length > 0 ? { entries: data.still_working, end } : undefined;
};

const ALSO = { key: 'keys', client: 'clients', user: 'users', webhook_endpoint: 'endpoints' } as const;
const RECORDS = { key: 'api_key', client: 'api_client', user: 'user', webhook_endpoint: 'webhook_endpoint' } as const;

export const StillWorkingDialog = () => (shown.value ? <Shown {...shown.value} /> : null);

function Shown({ entries, end }: { entries: CredentialDescendant[]; end: End }) {
  const action = useAction('end');
  const close = () => {
    shown.value = undefined;
  };
  const endAll = async () => {
    const also = [...new Set(entries.map(({ type }) => ALSO[type]))].join();
    const isDone = await action.run((idempotencyKey) => end({ also, idempotencyKey }));
    announce(...entries.map(({ type }) => ({ record: RECORDS[type], caseId: null })));
    if (isDone) close();
    toast(action.failure.value ?? text.stillWorking.ended);
  };
  return (
    <Dialog title={text.stillWorking.title} onClose={close}>
      <p>{text.stillWorking.text}</p>
      <ul class="bullets">
        {entries.map(({ id, type, name }) => (
          <li key={id}>
            {text.stillWorking.types[type]}: <strong>{name}</strong>
          </li>
        ))}
      </ul>
      <footer>
        <Button kind="danger" isBusy={action.isBusy.value} onClick={endAll}>
          {text.stillWorking.end}
        </Button>
        <Button onClick={close}>{text.stillWorking.keep}</Button>
      </footer>
    </Dialog>
  );
}
