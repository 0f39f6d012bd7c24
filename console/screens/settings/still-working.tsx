import type { CredentialDescendant } from '@case-records/client';
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { messageOf } from '../../service/faults.ts';
import { announce } from '../../service/following.ts';
import { text } from './texts.ts';

type Ended = { still_working: CredentialDescendant[] };
type End = (also: string) => Promise<Ended>;

const shown = signal<{ entries: CredentialDescendant[]; end: End } | undefined>(undefined);

/** If what was ended had created other things that still work, shows them, and offers to end them too. */
export function showStillWorking({ still_working }: Ended, end: End): void {
  shown.value = still_working.length > 0 ? { entries: still_working, end } : undefined;
}

const ALSO = { key: 'keys', client: 'clients', user: 'users', webhook_endpoint: 'endpoints' } as const;
const RECORDS = { key: 'api_key', client: 'api_client', user: 'user', webhook_endpoint: 'webhook_endpoint' } as const;

export const StillWorkingDialog = () => (shown.value ? <Shown {...shown.value} /> : null);

function Shown({ entries, end }: { entries: CredentialDescendant[]; end: End }) {
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    shown.value = undefined;
  };
  const endAll = async () => {
    setBusy(true);
    try {
      await end([...new Set(entries.map(({ type }) => ALSO[type]))].join());
      announce(...entries.map(({ type }) => ({ record: RECORDS[type], caseId: null })));
      toast(text.stillWorking.ended);
      close();
    } catch (error) {
      toast(messageOf(error));
    }
    setBusy(false);
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
        <Button kind="danger" isBusy={isBusy} onClick={endAll}>
          {text.stillWorking.end}
        </Button>
        <Button onClick={close}>{text.stillWorking.keep}</Button>
      </footer>
    </Dialog>
  );
}
