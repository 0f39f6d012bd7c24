import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { text } from './texts.ts';

type Secret = {
  title: string /** Each with its name, in the order in which they are needed. */;
  values: readonly (readonly [string, string])[];
};

const shown = signal<Secret | undefined>(undefined);

/** Shows secrets that the service shows only once. They are in the memory of the page alone, and only until it closes. */
export function showSecret(title: string, ...values: (readonly [string, string])[]): void {
  shown.value = { title, values };
}

export const SecretDialog = () => (shown.value ? <Shown {...shown.value} /> : null);

function Shown({ title, values }: Secret) {
  const [copied, setCopied] = useState('');
  const [isWarned, setWarned] = useState(false);
  const close = () => {
    shown.value = undefined;
  };
  const copy = async (name: string, value: string) => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(name);
    } catch {
      setCopied('');
      setWarned(true);
    }
  };
  return (
    // Esc loses the secret, so the first one warns.
    <Dialog title={title} onClose={() => (copied || isWarned ? close() : setWarned(true))}>
      <p>{text.secretOnce}</p>
      <div class="secrets">
        {values.map(([name, value], i) => (
          <div key={name}>
            <h3>{name}</h3>
            <code>{value}</code>
            <Button autoFocus={i === values.length - 1} onClick={() => copy(name, value)}>
              {copied === name ? text.copied : text.copy}
            </Button>
          </div>
        ))}
      </div>
      {isWarned && (
        <p class="note" role="alert">
          {text.secretWarning}
        </p>
      )}
      <footer>
        <Button kind="primary" onClick={close}>
          {text.secretKept}
        </Button>
      </footer>
    </Dialog>
  );
}
