/** SQL: whether the row `alias` (a message or a meeting) belongs to the appointment `a`. */
export const ofAppointment = (alias: string) =>
  `${alias}.company_id = a.company_id AND ${alias}.case_id = a.case_id AND ${alias}.appointment_id = a.id`;
