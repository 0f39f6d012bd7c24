import { render } from 'preact';
import { App, start } from './app.tsx';
import { listenForKeys } from './navigation/keys.ts';
import { followLinks } from './navigation/place.ts';
import { applyTheme } from './navigation/theme.ts';

applyTheme();
followLinks();
listenForKeys();
start();
render(<App />, document.body);
