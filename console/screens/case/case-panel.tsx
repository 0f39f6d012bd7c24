import type { Adviser, CaseOverview } from '@case-records/client';
import { go, place, withQuery } from '../../navigation/place.ts';
import { AppointmentPanel } from '../diary/appointment.tsx';
import { BookingPanel } from '../diary/booking.tsx';
import { InvoicePanel } from '../invoices/invoice-panel.tsx';
import { EventPanel } from '../settings/events.tsx';
import { CaseDetailsPanel } from './case-details.tsx';
import { CustomerPanel } from './customer.tsx';
import { EntryPanel } from './entry.tsx';
import { InteractionPanel } from './interaction.tsx';
import { InvoiceFormPanel } from './invoice-form.tsx';

export type PanelProps = { overview: CaseOverview; onClose: () => void };

/** The panel that the address names: `open=interaction/new`, `open=invoice/<id>/edit`, `open=change/<event>`. */
export function CasePanel({ overview, advisers }: { overview: CaseOverview; advisers: readonly Adviser[] }) {
  const open = place.value.query.get('open');
  if (open === null) return null;
  const [kind = '', id = '', part = ''] = open.split('/');
  // Back leads to where the person was before the panel, and does not open it again.
  const onClose = () => go(withQuery({ open: undefined, pay: undefined }), { replace: true });
  const common = { overview, onClose, key: open };
  const recordId = id === 'new' ? undefined : id;
  switch (kind) {
    case 'interaction':
      return <InteractionPanel {...common} id={recordId} />;
    case 'appointment':
      return recordId === undefined ? (
        <BookingPanel
          draft={`appointment/new/${overview.id}`}
          caseId={overview.id}
          adviser={advisers.find(({ id }) => id === overview.responsible_adviser_id)?.email}
          onClose={onClose}
        />
      ) : (
        <AppointmentPanel key={open} caseId={overview.id} id={recordId} onClose={onClose} />
      );
    case 'invoice':
      return recordId === undefined || part === 'edit' ? (
        <InvoiceFormPanel {...common} id={recordId} />
      ) : (
        <InvoicePanel key={open} caseId={overview.id} invoiceId={recordId} onClose={onClose} />
      );
    case 'entry':
      return <EntryPanel {...common} id={recordId} />;
    case 'case':
      return <CaseDetailsPanel {...common} />;
    case 'customer':
      return <CustomerPanel {...common} id={recordId} />;
    case 'change':
      return <EventPanel key={open} eventId={id} onClose={onClose} />;
    default:
      return null;
  }
}
