import { useState } from 'preact/hooks';
import type { Conflict, Form } from '../service/form.ts';
import { linesOf, takeParts, type Values } from '../service/values.ts';
import { fieldLabel, texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Both versions of a record side by side. The person chooses for each part that both have changed. */
export function ConflictDialog({ form }: { form: Form }) {
  const conflict = form.conflict.value;
  return conflict ? <ChoiceOfVersions form={form} conflict={conflict} /> : null;
}

function ChoiceOfVersions({ form, conflict: { mine, theirs, parts } }: { form: Form; conflict: Conflict }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const close = () => {
    form.conflict.value = undefined;
  };
  return (
    <Dialog title={texts.conflict.title} onClose={close}>
      <p>{texts.conflict.text}</p>
      <div class="versions">
        {parts.map((part) => (
          <fieldset key={part}>
            <legend>{form.labels.get(part) ?? fieldLabel(part)}</legend>
            {(['mine', 'theirs'] as const).map((version) => (
              <label key={version}>
                <input
                  type="radio"
                  name={part}
                  checked={chosen.includes(part) === (version === 'theirs')}
                  onChange={() =>
                    setChosen([...chosen.filter((one) => one !== part), ...(version === 'theirs' ? [part] : [])])
                  }
                />
                <small>{texts.conflict[version]}</small>
                <span>{shown(version === 'mine' ? mine : theirs.values, part)}</span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      <footer>
        <Button kind="primary" onClick={() => form.resolve(takeParts(mine, theirs.values, chosen))}>
          {texts.conflict.save}
        </Button>
        <Button onClick={close}>{texts.conflict.cancel}</Button>
      </footer>
    </Dialog>
  );
}

/** A field as it is; a list as a line of text for each of its lines. */
function shown(values: Values, part: string): string {
  const value = values[part];
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  return value || linesOf(values, part).join('\n') || texts.conflict.empty;
}
