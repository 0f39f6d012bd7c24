import { Column, DeleteDateColumn, Entity, PrimaryColumn, VersionColumn } from 'typeorm';

@Entity('companies')
export class Company {
  @PrimaryColumn('uuid')
  id: string;

  @Column('text', { name: 'time_zone' })
  timeZone: string;
}

@Entity('cases')
export class Case {
  @PrimaryColumn('uuid', { name: 'company_id' })
  companyId: string;

  @PrimaryColumn('uuid')
  id: string;
}

@Entity('interactions')
export class Interaction {
  @PrimaryColumn('uuid', { name: 'company_id' })
  companyId: string;

  @PrimaryColumn('uuid', { name: 'case_id' })
  caseId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  type: string;

  @Column('text')
  notes: string;

  @Column('timestamptz', { name: 'happened_at' })
  happenedAt: Date;

  @Column('text', { nullable: true })
  sender: string | null;

  @Column('text')
  recipient: string;

  @VersionColumn()
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  @DeleteDateColumn({ type: 'timestamptz', name: 'deleted_at' })
  deletedAt: Date | null;
}

/** The audit log. The database numbers the events. */
@Entity('events')
export class Event {
  @PrimaryColumn('uuid', { name: 'company_id' })
  companyId: string;

  @PrimaryColumn('bigint', { default: () => "nextval('event_positions')" })
  position: string;

  @Column('uuid', { name: 'case_id' })
  caseId: string;

  @Column('uuid', { name: 'record_id' })
  recordId: string;

  @Column('text')
  type: string;

  @Column('timestamptz')
  at: Date;

  @Column('json')
  origin: object;

  @Column('json', { nullable: true })
  was: object | null;
}
