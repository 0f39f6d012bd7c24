import { useState } from 'preact/hooks';
import type { Conflict, Form, Values } from '../service/form.ts';
import { fieldLabel, texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Both versions of a record side by side. The person chooses for each field that differs. */
export function ConflictDialog({ form }: { form: Form }) {
  const conflict = form.conflict.value;
  return conflict ? <ChoiceOfVersions form={form} conflict={conflict} /> : null;
}

function ChoiceOfVersions({ form, conflict: { mine, theirs } }: { form: Form; conflict: Conflict }) {
  const names = Object.keys({ ...theirs.values, ...mine }).filter((name) => mine[name] !== theirs.values[name]);
  const [chosen, setChosen] = useState<Record<string, 'mine' | 'theirs'>>({});
  const save = () => {
    const values: Record<string, string | boolean> = { ...theirs.values };
    for (const name of names) {
      const value = (chosen[name] ?? 'mine') === 'mine' ? mine[name] : theirs.values[name];
      if (value === undefined) delete values[name];
      else values[name] = value;
    }
    form.resolve(values);
  };
  const close = () => {
    form.conflict.value = undefined;
  };
  return (
    <Dialog title={texts.conflict.title} onClose={close}>
      <p>{names.length > 0 ? texts.conflict.text : texts.conflict.same}</p>
      {names.length > 0 && (
        <div class="versions">
          {names.map((name) => (
            <fieldset key={name}>
              <legend>{fieldLabel(name)}</legend>
              {(['mine', 'theirs'] as const).map((version) => (
                <label key={version}>
                  <input
                    type="radio"
                    name={name}
                    checked={(chosen[name] ?? 'mine') === version}
                    onChange={() => setChosen({ ...chosen, [name]: version })}
                  />
                  <small>{texts.conflict[version]}</small>
                  <span>{shown((version === 'mine' ? mine : theirs.values)[name])}</span>
                </label>
              ))}
            </fieldset>
          ))}
        </div>
      )}
      <footer>
        <Button kind="primary" onClick={save}>
          {texts.conflict.save}
        </Button>
        <Button onClick={close}>{texts.conflict.cancel}</Button>
      </footer>
    </Dialog>
  );
}

function shown(value: Values[string] | undefined): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  return value || texts.conflict.empty;
}
