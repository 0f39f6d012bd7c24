import type { CompanyScope } from '@case-records/client';
import { useFormContext } from '../../components/form.tsx';
import type { Values } from '../../service/form.ts';
import { text } from './texts.ts';

const RECORDS = ['address_book', 'interactions', 'invoices', 'appointments', 'cases'] as const;
const OTHERS = ['events:read', 'webhooks', 'manage', 'users'] as const;
const SCOPES: readonly CompanyScope[] = [
  ...RECORDS.flatMap((record) => [`${record}:read` as const, `${record}:write` as const]),
  ...OTHERS,
];

/** A form has a value for each scope, and `scopes` for their faults. */
export const scopeValues = (scopes: readonly string[]): Values => ({
  scopes: '',
  ...Object.fromEntries(SCOPES.map((scope) => [scope, scopes.includes(scope)])),
});

export const chosenScopes = (values: Values): CompanyScope[] => SCOPES.filter((scope) => values[scope] === true);

export function ScopeFields() {
  const { form } = useFormContext();
  const fault = form.faults.value.scopes;
  const check = (scope: CompanyScope, label: string) => (
    <label class="check-line">
      <input
        type="checkbox"
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? 'scopes-fault' : undefined}
        checked={form.values.value[scope] === true}
        onChange={(event) => {
          form.set('scopes', '');
          form.set(scope, event.currentTarget.checked);
        }}
      />
      {label}
    </label>
  );
  return (
    <fieldset class="scopes wide">
      <legend>{text.scopes}</legend>
      {RECORDS.map((record) => (
        <fieldset key={record}>
          <legend>{text.records[record]}</legend>
          {check(`${record}:read`, text.mayRead)}
          {check(`${record}:write`, text.mayWrite)}
        </fieldset>
      ))}
      {OTHERS.map((scope) => (
        <div key={scope}>
          {check(scope, text.otherScopes[scope])}
          <small>{text.scopeHints[scope]}</small>
        </div>
      ))}
      {fault && (
        <p class="fault" id="scopes-fault">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

/** Returns what the scopes allow, in words. */
export function scopesInWords(scopes: readonly string[]): string {
  const ofRecords = RECORDS.flatMap((record) => {
    const mayRead = scopes.includes(`${record}:read`);
    const mayWrite = scopes.includes(`${record}:write`);
    if (!mayRead && !mayWrite) return [];
    const how = mayRead && mayWrite ? text.readsAndWrites : mayRead ? text.reads : text.writes;
    return [`${text.records[record]} (${how})`];
  });
  const others = OTHERS.filter((scope) => scopes.includes(scope)).map((scope) => text.otherScopes[scope]);
  return [...ofRecords, ...others].join(', ');
}
