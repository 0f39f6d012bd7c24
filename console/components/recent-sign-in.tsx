import { needsRecentSignIn } from '../service/client.ts';
import { signInAgain } from '../service/session.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Appears over any screen after a request that needs a recent sign-in, and leads there and back. */
export function RecentSignIn() {
  if (!needsRecentSignIn.value) return null;
  const close = () => {
    needsRecentSignIn.value = false;
  };
  return (
    <Dialog title={texts.recentSignIn.title} onClose={close}>
      <p>{texts.recentSignIn.text}</p>
      <footer>
        <Button kind="primary" autoFocus onClick={() => signInAgain('again')}>
          {texts.recentSignIn.action}
        </Button>
        <Button onClick={close}>{texts.recentSignIn.cancel}</Button>
      </footer>
    </Dialog>
  );
}
