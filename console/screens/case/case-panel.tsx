import type { CaseOverview } from '@case-records/client';
import { go, place, withQuery } from '../../navigation/place.ts';
import { AppointmentPanel } from './appointment.tsx';
import { CaseDetailsPanel } from './case-details.tsx';
import { ChangePanel } from './change.tsx';
import { CustomerPanel } from './customer.tsx';
import { EntryPanel } from './entry.tsx';
import { InteractionPanel } from './interaction.tsx';
import { InvoicePanel } from './invoice.tsx';
import { InvoiceFormPanel } from './invoice-form.tsx';

export type PanelProps = { overview: CaseOverview; onClose: () => void };

/** The panel that the address names: `open=interaction/new`, `open=invoice/<id>/edit`, `open=change/<event>`. */
export function CasePanel({ overview }: { overview: CaseOverview }) {
  const open = place.value.query.get('open');
  if (open === null) return null;
  const [kind = '', id = '', part = ''] = open.split('/');
  const onClose = () => go(withQuery({ open: undefined }));
  const common = { overview, onClose, key: open };
  const recordId = id === 'new' ? undefined : id;
  switch (kind) {
    case 'interaction':
      return <InteractionPanel {...common} id={recordId} />;
    case 'appointment':
      return <AppointmentPanel {...common} id={recordId} />;
    case 'invoice':
      return recordId === undefined || part === 'edit' ? (
        <InvoiceFormPanel {...common} id={recordId} />
      ) : (
        <InvoicePanel {...common} id={recordId} />
      );
    case 'entry':
      return <EntryPanel {...common} id={recordId} />;
    case 'case':
      return <CaseDetailsPanel {...common} />;
    case 'customer':
      return <CustomerPanel {...common} id={recordId} />;
    case 'change':
      return <ChangePanel onClose={onClose} eventId={id} key={open} />;
    default:
      return null;
  }
}
