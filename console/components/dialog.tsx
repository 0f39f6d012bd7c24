import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
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
    <dialog
      class={kind}
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        latest.current();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) latest.current();
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

export const Panel = (props: Omit<DialogProps, 'kind'>) => <Dialog kind="panel" {...props} />;

/** Gives the focus to what asks for it in a part of a dialog that appears later, when a record has been loaded. */
export function useAutoFocus() {
  const part = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    part.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
  }, []);
  return part;
}
