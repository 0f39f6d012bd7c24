import { instant, nullable, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';
import { CaseRecord } from './schema.ts';

const count = () => nullable(Type.Integer({ minimum: 0 }));

export const CaseOverview = Type.Object(
  {
    ...CaseRecord.properties,
    counts: Type.Object(
      { entries: count(), interactions: count(), invoices: count(), appointments: count() },
      {
        title: 'CaseCounts',
        additionalProperties: false,
        description: 'Without deleted records. Null if the credential may not read them.',
      },
    ),
    next_appointment: nullable(
      Type.Object(
        {
          id: uuid(),
          start_time: instant(),
          end_time: instant(),
          adviser_email: Type.String(),
          location: nullable(Type.String()),
        },
        {
          title: 'NextAppointment',
          additionalProperties: false,
          description: 'The first one that has not begun and is not cancelled. Needs `appointments:read`.',
        },
      ),
    ),
    balance: nullable(
      Type.Object(
        {
          outstanding: Type.Number({ description: 'What can still be paid.', examples: [144] }),
          overdue: Type.Number({
            description: 'The part of it that was due before today in the time zone of the company.',
            examples: [0],
          }),
        },
        { title: 'CaseBalance', additionalProperties: false, description: 'Of all invoices. Needs `invoices:read`.' },
      ),
    ),
  },
  { title: 'CaseOverview', additionalProperties: false },
);
