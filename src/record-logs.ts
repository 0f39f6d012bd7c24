import { entryLog } from './cases/address-book/entry-log.sql.ts';
import { appointmentLog } from './cases/appointments/appointment-log.sql.ts';
import { interactionLog } from './cases/interactions/interactions.sql.ts';
import { invoiceLog } from './cases/invoices/invoice-log.sql.ts';
import type { RecordLog } from './kernel/record-log.ts';
import { messageLog } from './messages/message-log.sql.ts';

/** Of everything whose changes are logged. */
export const RECORD_LOGS: readonly RecordLog[] = [entryLog, interactionLog, invoiceLog, appointmentLog, messageLog];
