import { statement } from '../kernel/sql.ts';

export const insertCompany = statement(
  'companies.insert',
  'INSERT INTO companies (id, name, time_zone, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)',
);

export const insertAdviser = statement(
  'advisers.insert',
  `INSERT INTO advisers (company_id, id, email, name, video_provider, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $6)`,
);

export const insertCase = statement(
  'cases.insert',
  'INSERT INTO cases (company_id, id, reference, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)',
);

export const insertCustomer = statement(
  'customers.insert',
  `INSERT INTO customers (company_id, case_id, id, title, first_names, last_name, email, phone, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
);

export const insertCustomTag = statement(
  'custom_tags.insert',
  'INSERT INTO custom_tags (company_id, tag, created_at) VALUES ($1, $2, $3)',
);

export const listDefaultTags = statement('default_tags.list', 'SELECT tag FROM default_tags ORDER BY tag');

export const anyCompany = statement('companies.any', 'SELECT 1 FROM companies LIMIT 1');
