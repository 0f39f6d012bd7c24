import type { Static } from 'typebox';
import { CURSOR_QUERY } from '../../../kernel/validation/paging.ts';
import { instant } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { COMPANY_FIELDS, externalIdFilter, sortBy } from '../../company-list.schema.ts';
import { AppointmentsQuery } from '../lifecycle.schema.ts';
import { Appointment } from '../schema.ts';

export const OUTCOMES = ['none', 'attended', 'cancelled'] as const;

const outcome = (description: string) =>
  Type.Unsafe<(typeof OUTCOMES)[number]>({ title: 'Outcome', type: 'string', enum: [...OUTCOMES], description });

const { adviser_email, from, to } = AppointmentsQuery.properties;

const CompanyAppointmentsFilters = {
  adviser_email,
  from,
  to,
  outcome: Type.Optional(outcome('Only appointments with this outcome; `none`: neither attended nor cancelled.')),
  external_id: externalIdFilter,
  sort: sortBy(['start_time'], 'start_time'),
};

export const CompanyAppointmentsQuery = Type.Object({ ...CompanyAppointmentsFilters, ...CURSOR_QUERY });
export type CompanyAppointmentsQuery = Static<typeof CompanyAppointmentsQuery>;

export const CompanyAppointmentsCsvQuery = Type.Object(CompanyAppointmentsFilters);
export type CompanyAppointmentsCsvQuery = Static<typeof CompanyAppointmentsCsvQuery>;

export const CompanyAppointments = Type.Array(
  Type.Object(
    {
      ...Appointment.properties,
      end_time_utc: instant(),
      outcome: outcome('`none`: neither attended nor cancelled.'),
      ...COMPANY_FIELDS,
    },
    { title: 'CompanyAppointment', additionalProperties: false },
  ),
);
