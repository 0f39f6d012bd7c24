import { signal } from '@preact/signals';
import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { Icon } from './icon.tsx';
import { Toasts } from './toast.tsx';

/** How many dialogs are open, one above another. */
export const openDialogs = signal(0);

type DialogProps = {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** `panel` is at the side of the screen, for forms and records. */
  kind?: 'dialog' | 'panel' | 'palette';
};

/** The browser keeps the focus inside, closes it by Esc, and gives the focus back. */
export function Dialog({ title, onClose, children, kind = 'dialog' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const latest = useRef(onClose);
  latest.current = onClose;
  const [level, setLevel] = useState(0);
  /** Whether the pointer went down outside: a mark of text that ends outside must not close the form. */
  const beganOutside = useRef(false);
  // Before the next key arrives, so that nothing that is typed goes elsewhere.
  useLayoutEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement as HTMLElement | null;
    dialog?.showModal();
    setLevel(++openDialogs.value);
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      openDialogs.value--;
      dialog?.close();
      (opener?.isConnected ? opener : document.getElementById('main'))?.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it.
    <dialog
      class={kind}
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        latest.current();
      }}
      onPointerDown={(event) => {
        beganOutside.current = isOutside(event);
      }}
      onClick={(event) => {
        if (beganOutside.current && isOutside(event)) latest.current();
      }}
    >
      <div class="dialog-content">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="icon-button" aria-label={texts.close} onClick={() => latest.current()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
      <Toasts isShown={level === openDialogs.value} />
    </dialog>
  );
}

/** The padding of the dialog, its scroll bar and what surrounds it are all the dialog for the browser. */
function isOutside({ target, currentTarget, clientX, clientY }: TargetedMouseEvent<HTMLElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  return target === currentTarget && (clientX < left || clientX > right || clientY < top || clientY > bottom);
}

export const Panel = (props: Omit<DialogProps, 'kind'>) => <Dialog kind="panel" {...props} />;
