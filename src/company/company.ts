import type { Executor } from '../kernel/database.ts';
import { newId } from '../kernel/ids.ts';
import { type Clock, toSql } from '../kernel/time.ts';
import * as sql from './company.sql.ts';

/** Setting up a firm: who it is, who advises, which cases it keeps and for whom. */

export type Office = { db: Executor; clock: Clock };

export async function createCompany(
  { db, clock }: Office,
  company: { name: string; timeZone: string },
): Promise<string> {
  const id = newId();
  await db.rows(sql.insertCompany, [id, company.name, company.timeZone, toSql(clock())]);
  return id;
}

export async function addAdviser(
  { db, clock }: Office,
  companyId: string,
  adviser: { email: string; name: string; videoProvider: string | null },
): Promise<string> {
  const id = newId();
  await db.rows(sql.insertAdviser, [companyId, id, adviser.email, adviser.name, adviser.videoProvider, toSql(clock())]);
  return id;
}

export async function openCase({ db, clock }: Office, companyId: string, reference: string): Promise<string> {
  const id = newId();
  await db.rows(sql.insertCase, [companyId, id, reference, toSql(clock())]);
  return id;
}

export type NewCustomer = {
  title: string;
  firstNames: string;
  lastName: string;
  email: string | null;
  phone: string | null;
};

export async function addCustomer(
  { db, clock }: Office,
  companyId: string,
  caseId: string,
  { title, firstNames, lastName, email, phone }: NewCustomer,
): Promise<string> {
  const id = newId();
  await db.rows(sql.insertCustomer, [companyId, caseId, id, title, firstNames, lastName, email, phone, toSql(clock())]);
  return id;
}

export async function addCustomTag({ db, clock }: Office, companyId: string, tag: string): Promise<void> {
  await db.rows(sql.insertCustomTag, [companyId, tag, toSql(clock())]);
}

export async function defaultTags({ db }: Pick<Office, 'db'>): Promise<string[]> {
  return (await db.rows<{ tag: string }>(sql.listDefaultTags, [])).map(({ tag }) => tag);
}

export async function hasCompanies({ db }: Pick<Office, 'db'>): Promise<boolean> {
  return (await db.first(sql.anyCompany, [])) !== undefined;
}
