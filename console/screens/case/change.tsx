import type { GetEventAnswer } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { Loaded } from '../../components/states.tsx';
import { DateTime } from '../../components/values.tsx';
import { useLoaded } from '../../service/loading.ts';
import { fieldLabel, texts } from '../../texts.ts';
import type { PanelProps } from './case-panel.tsx';
import { actorName, changeName } from './change-names.ts';
import { text } from './texts.ts';

/** One change: who made it, and every field before and after. */
export function ChangePanel({ onClose, eventId }: Pick<PanelProps, 'onClose'> & { eventId: string }) {
  const found = useLoaded(
    `change/${eventId}`,
    async (signal, service) => (await service.getEvent({ eventId, signal })).data,
  );
  return (
    <Panel title={text.changeTitle} onClose={onClose}>
      <Loaded of={found}>{(change) => <Details change={change} />}</Loaded>
    </Panel>
  );
}

function Details({ change: { type, at, actor, changed, before, after } }: { change: GetEventAnswer }) {
  const names = changed ?? Object.keys(after ?? before ?? {});
  const shownNames = names.filter((name) => name !== 'updated_at');
  return (
    <div>
      <p>
        <strong>{text.changedBy(changeName(type), actorName(actor))}</strong>
        <br />
        <small>
          <DateTime at={at} />
        </small>
      </p>
      <dl class="differences">
        {shownNames.map((name) => (
          <div key={name}>
            <dt>{fieldLabel(name)}</dt>
            {before && (
              <dd class="before">
                <small>{text.before}</small> {shown(before, name)}
              </dd>
            )}
            {after && (
              <dd>
                <small>{text.after}</small> {shown(after, name)}
              </dd>
            )}
          </div>
        ))}
      </dl>
    </div>
  );
}

function shown(image: object, name: string): string {
  const value = (image as Readonly<Record<string, unknown>>)[name];
  if (value === null || value === undefined || value === '') return texts.conflict.empty;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
