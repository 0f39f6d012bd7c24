import { randomUUID } from 'node:crypto';
import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DateTime } from 'luxon';
import { DataSource, type EntityManager, Repository } from 'typeorm';
import { Case, type Company, Event, Interaction } from '../entities.js';
import { ICONS, type InteractionDto } from './interaction.dto.js';

@Injectable()
export class InteractionsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(Case) private readonly cases: Repository<Case>,
    @InjectRepository(Interaction) private readonly interactions: Repository<Interaction>,
  ) {}

  async list({ id: companyId, timeZone }: Company, caseId: string): Promise<object[]> {
    const found = await this.interactions.find({
      where: { companyId, caseId },
      order: { happenedAt: 'DESC', createdAt: 'DESC', id: 'DESC' },
    });
    if (found.length === 0) await this.requireCase(companyId, caseId);
    return found.map((interaction) => ({
      ...toRecord(interaction),
      when: DateTime.fromJSDate(interaction.happenedAt, { zone: timeZone }).toFormat('yyyy-MM-dd HH:mm:ss'),
      icon: ICONS[interaction.type]?.icon,
      formatted_type: ICONS[interaction.type]?.formattedType,
    }));
  }

  async create({ id: companyId, timeZone }: Company, caseId: string, body: InteractionDto): Promise<object> {
    await this.requireCase(companyId, caseId);
    const now = new Date();
    return this.dataSource.transaction(async (manager) => {
      const interaction = manager.create(Interaction, {
        companyId,
        caseId,
        id: randomUUID(),
        type: body.type,
        notes: body.notes ?? '',
        happenedAt: body.when === undefined ? now : toInstant(body.when, timeZone),
        sender: body.sender ?? null,
        recipient: body.recipient ?? '',
        createdAt: now,
        updatedAt: now,
      });
      await manager.save(interaction);
      await recordEvent(manager, interaction, 'interaction.created', null);
      return toRecord(interaction);
    });
  }

  async update(
    { id: companyId, timeZone }: Company,
    caseId: string,
    id: string,
    body: InteractionDto,
  ): Promise<object> {
    return this.dataSource.transaction(async (manager) => {
      const where = { companyId, caseId, id };
      const interaction = await manager.findOne(Interaction, { where, lock: { mode: 'pessimistic_write' } });
      if (!interaction) throw new NotFoundException();
      const was = { ...interaction };
      interaction.type = body.type;
      if (body.notes !== undefined) interaction.notes = body.notes;
      if (body.when !== undefined) interaction.happenedAt = toInstant(body.when, timeZone);
      if (body.sender !== undefined) interaction.sender = body.sender;
      if (body.recipient !== undefined) interaction.recipient = body.recipient;
      interaction.updatedAt = new Date();
      await manager.save(interaction);
      await recordEvent(manager, interaction, 'interaction.updated', was);
      return toRecord(interaction);
    });
  }

  private async requireCase(companyId: string, id: string): Promise<void> {
    if (!(await this.cases.existsBy({ companyId, id }))) throw new NotFoundException();
  }
}

async function recordEvent(
  manager: EntityManager,
  { companyId, caseId, id: recordId }: Interaction,
  type: string,
  was: object | null,
): Promise<void> {
  const origin = { actor: { type: 'key', id: companyId, name: 'bench' }, request_id: randomUUID() };
  await manager.insert(Event, { companyId, caseId, recordId, type, at: new Date(), origin, was });
}

const toInstant = (wallTime: string, zone: string): Date => DateTime.fromSQL(wallTime, { zone }).toJSDate();

const toRecord = ({ id, type, notes, sender, recipient, caseId, happenedAt }: Interaction) => ({
  id,
  type,
  notes,
  sender,
  recipient,
  customer_case_id: caseId,
  when: happenedAt.toISOString().replace('Z', '000Z'),
});
