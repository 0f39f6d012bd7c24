/** SQL: whether the row `alias` (a message or a meeting) belongs to the appointment `a`. */
export const ofAppointment = (alias: string) =>
  `${alias}.company_id = a.company_id AND ${alias}.case_id = a.case_id AND ${alias}.appointment_id = a.id`;

/**
 * The inputs that identify an appointment, also in statements about its messages and its meeting: they lock the
 * appointment first, and transactions lock records in the order of these inputs.
 */
export const APPOINTMENT_KEY_INPUTS = { company_id: 'uuid', case_id: 'uuid', id: 'uuid' } as const;

type KeyInput = Record<keyof typeof APPOINTMENT_KEY_INPUTS, string>;

/** SQL: whether `a` is the appointment in the inputs. */
export const isAppointment = (input: KeyInput) =>
  `a.company_id = ${input.company_id} AND a.case_id = ${input.case_id} AND a.id = ${input.id}`;

/** SQL: whether the row `alias` (a message or a meeting) belongs to the appointment in the inputs. */
export const ofInputAppointment = (alias: string, input: KeyInput) =>
  `${alias}.company_id = ${input.company_id} AND ${alias}.case_id = ${input.case_id}
       AND ${alias}.appointment_id = ${input.id}`;
