import { randomUUID } from 'node:crypto';
import * as addressBook from './address-book.sql.ts';
import * as appointments from './appointments.sql.ts';
import * as interactions from './interactions.sql.ts';
import * as invoices from './invoices.sql.ts';
import type { Statement } from './sql.ts';

/** Maps routes to statements and their parameters. */

export type Company = { id: string; zone: string; terms: string; paymentTerms: string };

// biome-ignore lint/suspicious/noExplicitAny: the baseline does not validate bodies
type Body = any;

export type Route = {
  statement: Statement;
  /** A slow read, which runs on other connections so that short statements do not wait for it. */
  isLong?: true;
  values: (company: Company, caseId: string, id: string, body: Body) => unknown[];
};

const entryValues = (company: Company, caseId: string, id: string, addressId: string | null, body: Body): unknown[] => [
  company.id,
  caseId,
  id,
  body.tags,
  body.custom_tags,
  Object.keys(body.relationship),
  Object.values(body.relationship),
  JSON.stringify(body.address),
  addressId,
  ...addressBook.WRITABLE_FIELDS.map((field) => body[field]),
  body.dob,
  JSON.stringify(body.relationship),
];

const interactionValues = (company: Company, caseId: string, id: string, body: Body): unknown[] => {
  const { type, notes, when, sender, recipient } = body;
  return [company.id, caseId, id, type, notes, when, sender, recipient, company.zone];
};

const invoiceValues = (company: Company, caseId: string, id: string, body: Body): unknown[] => [
  company.id,
  caseId,
  id,
  body.invoice_number,
  body.sender_id,
  body.date_created,
  body.date_due,
  body.vat,
  body.sub_total,
  body.vat_amount,
  body.total,
  body.payment_terms ?? company.paymentTerms,
  company.zone,
  body.items.map((item: Body) => item.description),
  body.items.map((item: Body) => item.quantity),
  body.items.map((item: Body) => item.rate),
  body.items.map((item: Body) => item.amount),
];

const listValues = ({ id, zone }: Company, caseId: string): unknown[] => [id, caseId, zone];

/** The key is the method and the path after the case id. */
const ROUTES: Record<string, Route> = {
  'GET address-book': { statement: addressBook.list, isLong: true, values: ({ id }, caseId) => [id, caseId] },
  'POST address-book/entry': {
    statement: addressBook.create,
    values: (company, caseId, _id, body) => entryValues(company, caseId, randomUUID(), randomUUID(), body),
  },
  'PATCH address-book/entry': {
    statement: addressBook.update,
    values: (company, caseId, id, body) => entryValues(company, caseId, id, null, body),
  },
  'GET interactions': { statement: interactions.list, isLong: true, values: listValues },
  'POST interactions': {
    statement: interactions.create,
    values: (company, caseId, _id, body) => interactionValues(company, caseId, randomUUID(), body),
  },
  'PATCH interactions': { statement: interactions.update, values: interactionValues },
  'GET invoices': { statement: invoices.list, isLong: true, values: listValues },
  'POST invoices': {
    statement: invoices.create,
    values: (company, caseId, _id, body) => [...invoiceValues(company, caseId, randomUUID(), body), company.terms],
  },
  'PATCH invoices': { statement: invoices.update, values: invoiceValues },
  'POST appointments': {
    statement: appointments.create,
    values: ({ id, zone }, caseId, _id, body) => {
      const { adviser_email, start_time, end_time, email_recipient, notes, location } = body;
      return [id, caseId, randomUUID(), adviser_email, start_time, end_time, email_recipient, notes, location, zone];
    },
  },
  'PATCH appointments': {
    statement: appointments.move,
    values: (company, caseId, id, { start_time, end_time, notes }) => [
      company.id,
      caseId,
      id,
      start_time,
      end_time,
      notes,
      company.zone,
    ],
  },
  'DELETE appointments': { statement: appointments.remove, values: (company, caseId, id) => [company.id, caseId, id] },
};

const CASE_START = '/cases/'.length;
export const ID_LENGTH = 36;

export const caseIdOf = (url: string): string => url.slice(CASE_START, CASE_START + ID_LENGTH);

/** A record id at the end of the path is not part of the route. */
export function routeOf(method: string, url: string): Route | undefined {
  const path = url.slice(CASE_START + ID_LENGTH + 1);
  const hasId = path.length > ID_LENGTH && path[path.length - ID_LENGTH - 1] === '/';
  return ROUTES[`${method} ${hasId ? path.slice(0, -ID_LENGTH - 1) : path}`];
}

export const COMPANIES = `SELECT id, time_zone AS zone, terms, payment_terms AS "paymentTerms" FROM companies`;
