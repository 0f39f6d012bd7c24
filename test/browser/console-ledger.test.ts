/** Invoices, messages and the results of a search in a real browser. They share one process, service and browser. */

import './console/invoices.ts';
import './console/messages.ts';
import './console/search.ts';
