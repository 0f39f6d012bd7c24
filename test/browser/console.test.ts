/** The console in a real browser. Its parts share one process, one service and one browser. */

import './console/shell.ts';
import './console/cases.ts';
import './console/case.ts';
import './console/forms.ts';
import './console/sessions.ts';
import './console/whole-screens.ts';
