import { useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { report, toast } from '../../components/toast.tsx';
import { useAction } from '../../service/action.ts';
import { announce } from '../../service/following.ts';
import type { Careful } from '../../service/form.ts';
import { texts } from '../../texts.ts';

/** Something that one click does with a record. What cannot be undone asks before. */
export type Action = {
  label: string;
  /** What a screen reader says, if the label alone is not clear. */
  name?: string;
  question?: string;
  isDanger?: boolean;
  run: (careful: Careful) => Promise<unknown> | undefined;
  done?: string;
  undo?: (idempotencyKey: string) => Promise<unknown>;
};

type ActionsProps = {
  /** The kind of record that changes, as the event log calls it. */
  record: string;
  of: readonly Action[];
  /** The tag of the record that the person sees. */
  etag?: string | undefined;
};

export function Actions({ record, of, etag }: ActionsProps) {
  const [asked, setAsked] = useState<Action>();
  const [pressed, setPressed] = useState('');
  const action = useAction(record);
  /** The version that an action of this page has ended: until the record is read again there is nothing to compare. */
  const spent = useRef<string | undefined>(undefined);
  const perform = async ({ label, run, done, undo }: Action) => {
    setPressed(label);
    const ifMatch = etag === spent.current ? undefined : etag;
    const isDone = await action.run(
      async (idempotencyKey) => run({ idempotencyKey, ...(ifMatch !== undefined && { ifMatch }) }),
      label,
    );
    const change = { record, caseId: null };
    if (isDone) spent.current = etag;
    if (isDone && done !== undefined) return report(change, done, undo);
    announce(change);
    if (action.failure.value !== undefined) toast(action.failure.value);
  };
  return (
    <div class="row-actions">
      {of.map((one) => (
        <Button
          key={one.label}
          {...(one.isDanger && { kind: 'danger' })}
          {...(one.name && { label: one.name })}
          isBusy={action.isBusy.value && pressed === one.label}
          onClick={() => (one.question ? setAsked(one) : perform(one))}
        >
          {one.label}
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
