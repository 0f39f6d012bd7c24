import { read, write } from '../kernel/sql/statement.ts';

/** A case id that precedes all others: nothing is built yet. */
export const NOTHING_BUILT_ID = '00000000-0000-0000-0000-000000000000';
const NOTHING_BUILT = `'${NOTHING_BUILT_ID}'::uuid`;

/**
 * Adds the companies that are not indexed yet, and begins anew for those whose words are of an earlier edition or of
 * another region of phone numbers. What is written from now on has events after the watermark.
 */
export const beginBuilding = write('search.begin_building', {
  inputs: { edition: 'int', watermark: 'bigint' },
  sql: (input) => {
    const isOutdated = (by: { edition: string; region: string }) =>
      `p.edition < ${by.edition} OR p.phone_region IS DISTINCT FROM ${by.region}`;
    return `
    INSERT INTO search_progress AS p (company_id, edition, position, built_to, phone_region)
    SELECT c.id, ${input.edition}, ${input.watermark}, ${NOTHING_BUILT}, c.phone_region
      FROM companies c LEFT JOIN search_progress p ON p.company_id = c.id
     WHERE c.removal_started_at IS NULL
       AND (p.company_id IS NULL OR ${isOutdated({ edition: input.edition, region: 'c.phone_region' })})
        ON CONFLICT (company_id) DO UPDATE
           SET edition = excluded.edition, position = excluded.position, built_to = excluded.built_to,
               phone_region = excluded.phone_region, cases = '{}', done_kind = NULL, done_id = NULL, failures = 0,
               retry_at = NULL
         WHERE ${isOutdated({ edition: 'excluded.edition', region: 'excluded.phone_region' })}`;
  },
});

const CLAIMED = `p.company_id, p.company_number, p.position::text, p.built_to, p.phone_region, p.cases, p.done_kind, p.done_id
      FROM search_progress p JOIN companies c ON c.id = p.company_id`;
const mayTakeStep = (input: Record<'edition' | 'now', string>) => `p.edition = ${input.edition}
       AND c.removal_started_at IS NULL AND (p.retry_at IS NULL OR p.retry_at <= ${input.now})`;

/**
 * Locks the company that is furthest behind of those with events to index, unless too many of its cases wait. Another worker
 * skips it until the transaction ends.
 */
export const claimEvents = write('search.claim_events', {
  inputs: { edition: 'int', now: 'timestamptz', watermark: 'bigint', max_cases: 'int' },
  sql: (input) => `
    SELECT ${CLAIMED}
     WHERE ${mayTakeStep(input)} AND cardinality(p.cases) < ${input.max_cases}
       AND EXISTS (SELECT FROM events e WHERE e.company_id = p.company_id AND e.position > p.position
                      AND e.position <= ${input.watermark})
     ORDER BY p.position LIMIT 1 FOR NO KEY UPDATE OF p SKIP LOCKED`,
});

/**
 * Locks a company with cases to index anew, or else one whose index is being built. Companies with such cases take turns,
 * so that a large case does not hold up the others.
 */
export const claimCases = write('search.claim_cases', {
  inputs: { edition: 'int', now: 'timestamptz' },
  sql: (input) => `
    SELECT ${CLAIMED}
     WHERE ${mayTakeStep(input)} AND (cardinality(p.cases) > 0 OR p.built_to IS NOT NULL)
     ORDER BY p.built_to IS NOT NULL, CASE WHEN p.built_to IS NULL THEN random() END, p.position
     LIMIT 1 FOR NO KEY UPDATE OF p SKIP LOCKED`,
});

/** Returns the records of the next events, the last position among these events, and how many events they are. */
export const changedRecords = read('search.changed_records', {
  inputs: { company_id: 'uuid', after: 'bigint', watermark: 'bigint', limit: 'int' },
  sql: (input) => `
    WITH e AS MATERIALIZED (
      SELECT e.position, e.type, split_part(e.type, '.', 1) AS record, e.case_id, e.record_id, e.before FROM events e
       WHERE e.company_id = ${input.company_id} AND e.position > ${input.after} AND e.position <= ${input.watermark}
       ORDER BY e.position LIMIT ${input.limit}
    )
    SELECT DISTINCT e.record, e.case_id, e.record_id, (SELECT max(position) FROM e)::text AS last_position,
           (SELECT count(*)::int FROM e) AS events,
           EXISTS (SELECT FROM e JOIN case_kinds k ON k.company_id = ${input.company_id} AND k.id = e.record_id
                    WHERE e.type = 'case_kind.updated' AND k.name <> e.before->>'name') AS has_renamed_kind
      FROM e`,
});

export const nextCases = read('search.next_cases', {
  inputs: { company_id: 'uuid', after: 'uuid', limit: 'int' },
  sql: (input) => `
    SELECT id FROM cases WHERE company_id = ${input.company_id} AND id > ${input.after} ORDER BY id LIMIT ${input.limit}`,
});

/** Stores the words of each record; null removes it from the index. */
export const storeDocuments = write('search.store_documents', {
  inputs: {
    company_id: 'uuid',
    kinds: 'text[]',
    case_ids: 'uuid[]',
    ids: 'uuid[]',
    times: 'timestamptz[]',
    words: 'text[]',
  },
  sql: (input) => `
    WITH n AS MATERIALIZED (
      SELECT * FROM unnest(${input.kinds}, ${input.case_ids}, ${input.ids}, ${input.times}, ${input.words})
                 AS n (kind, case_id, id, at, words)
    ), gone AS (
      DELETE FROM search_documents d USING n
       WHERE n.words IS NULL AND d.company_id = ${input.company_id} AND d.case_id = n.case_id AND d.kind = n.kind
         AND d.id = n.id
    )
    INSERT INTO search_documents AS d (company_id, case_id, kind, id, at, words)
    SELECT ${input.company_id}, n.case_id, n.kind, n.id, n.at, n.words::tsvector FROM n WHERE n.words IS NOT NULL
        ON CONFLICT (company_id, case_id, kind, id) DO UPDATE SET at = excluded.at, words = excluded.words
     WHERE (d.at, d.words) IS DISTINCT FROM (excluded.at, excluded.words)`,
});

/** `is_mended`: what failed last may have been this step. */
export const advance = write('search.advance', {
  inputs: {
    company_id: 'uuid',
    position: 'bigint',
    built_to: 'uuid?',
    cases: 'uuid[]',
    done_kind: 'text?',
    done_id: 'uuid?',
    is_mended: 'boolean',
  },
  sql: (input) => `
    UPDATE search_progress
       SET position = ${input.position}, built_to = ${input.built_to}, cases = ${input.cases},
           done_kind = ${input.done_kind}, done_id = ${input.done_id}, retry_at = NULL,
           failures = CASE WHEN ${input.is_mended} THEN 0 ELSE failures END
     WHERE company_id = ${input.company_id}`,
});

/** Lets a company wait after a failed step: for ten seconds, and twice as long after each further failure, up to ten minutes. */
export const postpone = write('search.postpone', {
  inputs: { company_id: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    UPDATE search_progress
       SET failures = failures + 1,
           retry_at = ${input.now} + least(interval '10 minutes', interval '10 seconds' * 2 ^ least(failures, 10))
     WHERE company_id = ${input.company_id}`,
});

/** Has the index of one company built anew, or that of all if the company is null. Returns how many. */
export const rebuild = write('search.rebuild', {
  inputs: { company_id: 'uuid?' },
  sql: (input) => `
    WITH p AS (
      UPDATE search_progress SET edition = 0
       WHERE ${input.company_id} IS NULL OR company_id = ${input.company_id} RETURNING 1
    )
    SELECT count(*)::int AS companies FROM p`,
});
