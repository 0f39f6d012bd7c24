-- As in 0011, for the table that it left out.
CREATE STATISTICS meetings_of_appointments (dependencies) ON company_id, case_id, appointment_id FROM meetings;
ANALYZE meetings;
