import { render } from 'preact';
import { App, start } from './app.tsx';
import { toast } from './components/toast.tsx';
import { keepFocus } from './navigation/focus.ts';
import { listenForKeys } from './navigation/keys.ts';
import { followLinks } from './navigation/place.ts';
import { applyTheme } from './navigation/theme.ts';
import { failureOf } from './service/faults.ts';
import { followSession } from './service/session.ts';

applyTheme();
followLinks();
listenForKeys();
keepFocus();
followSession();
addEventListener('unhandledrejection', ({ reason }) => toast(failureOf(reason)));
start();
render(<App />, document.body);
