import type { ComponentChildren } from 'preact';

type ButtonProps = {
  children: ComponentChildren;
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  /** With `href` it is a link that looks like a button. */
  href?: string;
  type?: 'button' | 'submit';
  onClick?: () => void;
  isBusy?: boolean;
  label?: string;
  autoFocus?: boolean;
};

/** A busy button stays focusable, so that the focus is not lost while a form is sent. */
export function Button({
  children,
  kind = 'plain',
  href,
  type = 'button',
  onClick,
  isBusy,
  label,
  autoFocus,
}: ButtonProps) {
  const common = { class: `button ${kind}`, 'aria-label': label };
  if (href !== undefined) {
    return (
      <a {...common} href={href} onClick={onClick}>
        {children}
      </a>
    );
  }
  return (
    <button
      {...common}
      type={type}
      aria-disabled={isBusy || undefined}
      data-autofocus={autoFocus || undefined}
      onClick={isBusy ? undefined : onClick}
    >
      {children}
    </button>
  );
}
