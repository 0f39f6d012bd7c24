import { type ComponentChildren, createContext } from 'preact';
import { useContext, useId, useLayoutEffect } from 'preact/hooks';
import type { FormLimits } from '../../scripts/form-limits.ts';
import { useAutoFocus } from '../navigation/focus.ts';
import type { Careful, Form as FormState } from '../service/form.ts';
import { fieldLabel, texts } from '../texts.ts';
import { Button } from './button.tsx';
import { ConflictDialog } from './conflict.tsx';

type FormContext = { form: FormState; limits: FormLimits };
const Context = createContext<FormContext | undefined>(undefined);

export function useFormContext(): FormContext {
  const context = useContext(Context);
  if (!context) throw new Error('A field is outside of a form.');
  return context;
}

/** Deletes the record. It can be undone, so there is no question before. */
export type Removal = { onRemove?: (careful: Careful) => Promise<unknown>; onRemoved?: () => void };

type FormProps = Removal & {
  form: FormState;
  limits: FormLimits;
  onCancel: () => void;
  submitLabel?: string;
  cancelLabel?: string;
  /** A role that may only read sees the fields and cannot change them. */
  mayWrite?: boolean;
  children: ComponentChildren;
};

/** A form with its fields, its faults, and the choice between two versions if somebody else has changed the record. */
export function Form({
  form,
  limits,
  onCancel,
  onRemove,
  onRemoved,
  submitLabel = texts.form.save,
  cancelLabel = texts.form.cancel,
  mayWrite = true,
  children,
}: FormProps) {
  const element = useAutoFocus<HTMLFormElement>();
  const faults = form.faults.value;
  const count = Object.keys(faults).length;
  const first = (selector: string) => element.current?.querySelector<HTMLElement>(selector);
  // After each refusal the first field that is wrong gets the focus, so that its fault is read out.
  useLayoutEffect(() => {
    if (count > 0) (first('[aria-invalid=true]') ?? first('.form-faults'))?.focus();
  }, [form.refusals.value]);
  // The browser says nothing of a date that is half filled in: its value is that of an empty field.
  const submit = () =>
    form.submit(
      [...(element.current?.querySelectorAll('input') ?? [])]
        .filter(({ validity }) => validity.badInput)
        .map(({ name }) => name),
    );
  return (
    <Context.Provider value={{ form, limits }}>
      <form
        ref={element}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
      >
        {form.isRestored.value && (
          <p class="note">
            {texts.form.restored}{' '}
            <Button kind="quiet" onClick={form.discard}>
              {texts.form.discard}
            </Button>
          </p>
        )}
        {count > 0 && (
          <p class="form-faults" role="alert" tabIndex={-1}>
            {faults[''] ?? texts.form.faults}
          </p>
        )}
        <fieldset class="fields" disabled={!mayWrite}>
          {children}
        </fieldset>
        {mayWrite && (
          <footer>
            <Button kind="primary" type="submit" isBusy={form.isSending.value}>
              {form.isSending.value ? texts.form.saving : submitLabel}
            </Button>
            <Button onClick={onCancel}>{cancelLabel}</Button>
            {onRemove && (
              <Button kind="danger" onClick={() => form.run(onRemove, onRemoved)}>
                {texts.remove}
              </Button>
            )}
          </footer>
        )}
      </form>
      <ConflictDialog form={form} />
    </Context.Provider>
  );
}

type FieldProps = {
  /** The name of the field of the request, as faults have it. */
  name: string;
  label?: string;
  hint?: string;
  autoFocus?: boolean;
  /** Whether it must be filled in here, although the service has a default. */
  isRequired?: boolean;
};

type InputProps = FieldProps & {
  kind?: 'text' | 'email' | 'tel' | 'lines' | 'time' | 'date' | 'amount';
  list?: readonly string[];
  /** Called with the new and the former value, for fields that follow this one. */
  onChanged?: (value: string, before: string) => void;
};

/** What every field has: the label, the hint and the fault, and how they belong together. */
function useField({ name, label = fieldLabel(name), hint, autoFocus, isRequired }: FieldProps) {
  const { form, limits } = useFormContext();
  const id = useId();
  const fault = form.faults.value[name];
  form.labels.set(name, label);
  const required = isRequired ?? limits[name.replace(/^.*\./, '')]?.required === true;
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  const attributes = {
    id,
    name,
    'aria-invalid': fault ? ('true' as const) : undefined,
    'aria-describedby': described || undefined,
    'aria-required': required || undefined,
    'data-autofocus': autoFocus || undefined,
  };
  const labelElement = (
    <label for={id}>
      {label}
      {!required && <small> {texts.form.optional}</small>}
    </label>
  );
  const notes = (
    <>
      {hint && (
        <small class="hint" id={`${id}-hint`}>
          {hint}
        </small>
      )}
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </>
  );
  const value = form.values.value[name];
  return { form, id, required, attributes, labelElement, notes, label, value };
}

const INPUT_TYPES = {
  text: 'text',
  email: 'email',
  tel: 'tel',
  time: 'datetime-local',
  date: 'date',
  amount: 'text',
} as const;

export function Field({ kind = 'text', list, onChanged, ...props }: InputProps) {
  const { form, id, attributes, labelElement, notes, value } = useField(props);
  const common = {
    ...attributes,
    value: String(value ?? ''),
    autoComplete: 'off',
    onInput: ({ currentTarget: { value: typed } }: { currentTarget: { value: string } }) => {
      form.set(props.name, typed);
      onChanged?.(typed, String(value ?? ''));
    },
  };
  return (
    <div class={`field ${kind}`}>
      {labelElement}
      {kind === 'lines' ? (
        <textarea {...common} rows={4} />
      ) : (
        <input
          {...common}
          type={INPUT_TYPES[kind]}
          inputMode={kind === 'amount' ? 'decimal' : undefined}
          list={list ? `${id}-list` : undefined}
        />
      )}
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {notes}
    </div>
  );
}

export type Option = { value: string; label: string };

type SelectProps = FieldProps & {
  options: readonly Option[];
  /** Shown while nothing is chosen. `send` uses the same. */
  defaultValue?: string;
};

export function SelectField({ options, defaultValue = '', ...props }: SelectProps) {
  const { form, required, attributes, labelElement, notes, value } = useField(props);
  const hasEmpty = options.some((one) => one.value === '');
  return (
    <div class="field">
      {labelElement}
      <select
        {...attributes}
        value={String(value || defaultValue)}
        onChange={(event) => form.set(props.name, event.currentTarget.value)}
      >
        {!hasEmpty && !(required && (value || defaultValue)) && (
          <option value="">{required ? texts.form.choose : texts.form.none}</option>
        )}
        {options.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}

export function CheckField(props: FieldProps) {
  const { form, attributes, notes, label, value } = useField({ ...props, isRequired: false });
  return (
    <div class="field check">
      <label>
        <input
          {...attributes}
          type="checkbox"
          checked={value === true}
          onChange={(event) => form.set(props.name, event.currentTarget.checked)}
        />
        {label}
      </label>
      {notes}
    </div>
  );
}
