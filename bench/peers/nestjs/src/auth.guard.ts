import { type CanActivate, type ExecutionContext, Inject, Injectable, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { Repository } from 'typeorm';
import { Company } from './entities.js';

/** The id of the company by its token. */
export type TokenCompanies = Record<string, string>;
export const TOKENS = 'TOKENS';

export type CompanyRequest = Request & { company: Company };

/** Tokens and companies are kept in memory, as in the baselines. */
@Injectable()
export class AuthGuard implements CanActivate {
  readonly #companies = new Map<string, Company>();

  constructor(
    @Inject(TOKENS) private readonly tokens: TokenCompanies,
    @InjectRepository(Company) private readonly repository: Repository<Company>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<CompanyRequest>();
    const [type, token] = request.headers.authorization?.split(' ') ?? [];
    const id = type === 'Bearer' && token ? this.tokens[token] : undefined;
    if (!id) throw new UnauthorizedException();
    const company = this.#companies.get(id) ?? (await this.repository.findOneByOrFail({ id }));
    this.#companies.set(id, company);
    request.company = company;
    return true;
  }
}
