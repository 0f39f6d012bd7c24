-- A case belongs to one company and a line to one invoice. Not knowing that, the planner takes the records of a case for one
-- record, and reads all of them by whichever index begins with the case in place of the one that is asked for by its key.
CREATE STATISTICS customers_of_cases (dependencies) ON company_id, case_id FROM customers;
CREATE STATISTICS addresses_of_cases (dependencies) ON company_id, case_id FROM addresses;
CREATE STATISTICS people_of_cases (dependencies) ON company_id, case_id FROM people;
CREATE STATISTICS interactions_of_cases (dependencies) ON company_id, case_id FROM interactions;
CREATE STATISTICS invoices_of_cases (dependencies) ON company_id, case_id FROM invoices;
CREATE STATISTICS appointments_of_cases (dependencies) ON company_id, case_id FROM appointments;
CREATE STATISTICS relationships_of_people (dependencies) ON company_id, case_id, person_id FROM relationships;
CREATE STATISTICS items_of_invoices (dependencies) ON company_id, case_id, invoice_id FROM invoice_items;
CREATE STATISTICS payments_of_invoices (dependencies) ON company_id, case_id, invoice_id FROM payments;
CREATE STATISTICS messages_of_appointments (dependencies) ON company_id, case_id, appointment_id FROM messages;
CREATE STATISTICS events_of_records (dependencies) ON company_id, case_id, record_id FROM events;

-- What is there already; what comes later is analysed by the server itself.
ANALYZE customers, addresses, people, interactions, invoices, appointments, relationships, invoice_items, payments,
  messages, events;
