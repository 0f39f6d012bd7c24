import { CaseRecordsError } from '@case-records/client';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { messageOf } from '../../service/faults.ts';
import { announce } from '../../service/following.ts';
import { texts } from '../../texts.ts';

/** Something that one click does with a record. What cannot be undone asks before. */
export type Action = {
  label: string;
  /** What a screen reader says, if the label alone is not clear. */
  name?: string;
  question?: string;
  isDanger?: boolean;
  run: () => Promise<unknown> | undefined;
  done?: string;
  undo?: () => Promise<unknown>;
};

/** `record` is the kind of record that changes, as the event log calls it. */
export function Actions({ record, of }: { record: string; of: readonly Action[] }) {
  const [asked, setAsked] = useState<Action>();
  const [busy, setBusy] = useState('');
  const perform = async (action: Action) => {
    setBusy(action.label);
    await act(record, action);
    setBusy('');
  };
  return (
    <div class="row-actions">
      {of.map((action) => (
        <Button
          key={action.label}
          {...(action.isDanger && { kind: 'danger' })}
          {...(action.name && { label: action.name })}
          isBusy={busy === action.label}
          onClick={() => (action.question ? setAsked(action) : perform(action))}
        >
          {action.label}
        </Button>
      ))}
      {asked && (
        <Dialog title={asked.label} onClose={() => setAsked(undefined)}>
          <p>{asked.question}</p>
          <footer>
            <Button
              kind="primary"
              autoFocus
              onClick={() => {
                setAsked(undefined);
                perform(asked);
              }}
            >
              {asked.label}
            </Button>
            <Button onClick={() => setAsked(undefined)}>{texts.form.cancel}</Button>
          </footer>
        </Dialog>
      )}
    </div>
  );
}

async function act(record: string, { run, done, undo }: Omit<Action, 'label'>): Promise<void> {
  const change = { record, caseId: null };
  try {
    await run();
    announce(change);
    if (done === undefined) return;
    toast(
      done,
      undo &&
        (async () => {
          await undo();
          announce(change);
        }),
    );
  } catch (error) {
    const faults = error instanceof CaseRecordsError ? error.faults : [];
    toast(faults.map(({ message }) => message).join(' ') || messageOf(error));
  }
}
