import { Dialog } from '../components/dialog.tsx';
import { SERVICE_URL } from '../service/client.ts';
import { texts } from '../texts.ts';
import { bindings, hasSingleKeys, setSingleKeys } from './keys.ts';

/** The keys that work on this screen. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const lines = [
    ...bindings.value.map(({ keys, label }) => [keys === 'ctrl+k' ? 'Ctrl K' : keys, label]),
    ...texts.keysDialog.everywhere,
  ];
  return (
    <Dialog title={texts.keysDialog.title} onClose={onClose}>
      <dl class="keys">
        {lines.map(([keys = '', label]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <footer>
        <label class="check-line">
          <input
            type="checkbox"
            checked={hasSingleKeys.value}
            onChange={(event) => setSingleKeys(event.currentTarget.checked)}
          />
          {texts.keysDialog.single}
        </label>
        <a href={new URL('docs', SERVICE_URL).href}>{texts.keysDialog.reference}</a>
      </footer>
    </Dialog>
  );
}
