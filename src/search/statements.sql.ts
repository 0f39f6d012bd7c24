import { isoTime } from '../kernel/sql/json.ts';
import { read } from '../kernel/sql/statement.ts';
import { isLarge, latestBlocks } from './indexing.sql.ts';

/** Stands for the number of the company in the queries that the process writes. No word contains it. */
export const COMPANY_PLACEHOLDER = '@';

/** Of the records that a step finds, so many are ranked: enough to find good ones, few enough to read them all. */
const MAX_CANDIDATES = 100;
/**
 * GIN reads everything with a beginning before it returns the first row. So records that have the other words are looked at
 * for a frequent beginning: at most so many of the latest ones and, if the other words are not frequent too, of all.
 */
const MAX_LOOKED_AT = 500;
/** A frequent word is found among the newest records, so its many others are not looked at. */
const NEWEST_RECORDS = 600;
/** A beginning that so many of the newest records have is frequent, and so are words. */
const MIN_FREQUENT_BEGINNINGS = 2;
const MIN_FREQUENT_WORDS = 12;
/** A name that so many of the newest records are known by is so frequent that the index need not be asked for more. */
const MIN_FREQUENT_NAMES = 5;
const MIN_IDENTITY_RANK = 4;

const QUERIES = [
  ...(['identity_exact', 'identity_begun', 'own_exact', 'own_begun', 'anywhere_begun', 'anywhere_prefix'] as const),
  // All words but the last one, and that as a beginning; nothing if there is only one.
  ...(['identity_before_last', 'anywhere_before_last', 'last_begun'] as const),
] as const;

/** The words of a search are so many conditions; see `together`. */
export const CONDITIONS = [1, 2, 3, 4] as const;

const matchesQuery = (query: string) => `d.words @@ (SELECT ${query} FROM q)`;
/**
 * SQL: documents with all words. Within a condition the index goes through its shortest list to the end; between conditions it
 * skips to where they meet. So the block of a search, and each of its first words, is a condition of its own.
 */
const together = (of: 'identity' | 'anywhere') => CONDITIONS.map((nth) => matchesQuery(`${of}_${nth}`));

/** SQL: better hits have a greater rank: whole words before beginnings, names and numbers before texts. */
const rank = (['identity_exact', 'identity_begun', 'own_exact', 'own_begun'] as const)
  .map((query, i) => `(${matchesQuery(query)})::int * ${2 ** (3 - i)}`)
  .join(' + ');
const candidate = `d.kind, d.case_id, d.id, d.at, ${rank} AS rank`;

/**
 * Returns the best hits, and whether the index is complete; no row if the company is not indexed at all. A step that reads
 * more of the index is only taken if the steps before it have found too little. The queries contain the number of the
 * company, so the index finds no documents of others; the condition on the company is not one that an index could use.
 */
export const findDocuments = read('search.find_documents', {
  inputs: {
    company_id: 'uuid',
    ...(Object.fromEntries(QUERIES.map((query) => [query, 'text'])) as Record<(typeof QUERIES)[number], 'text'>),
    identity: 'text[]',
    anywhere: 'text[]',
    beginnings: 'text[]',
    kinds: 'text[]',
    limit: 'int',
  },
  // One plan serves all searches, because what is searched for is only read while it runs. Planning takes longer than most.
  pool: 'list',
  sql: (input) => {
    const isOfCompany = `d.company_id IS NOT DISTINCT FROM ${input.company_id}`;
    const isLatest = 'd.words @@ (SELECT latest_blocks FROM q)';
    const where = (...all: string[]) =>
      `FROM search_documents d\n       WHERE ${[...all, isOfCompany].join('\n         AND ')}`;
    const indexed = (...all: string[]) => `(SELECT ${candidate}
        ${where(...all)}
       LIMIT ${MAX_CANDIDATES})`;
    /** Looks at documents that the index finds by some of the words. */
    const lookedAt = (query: (typeof QUERIES)[number], ...all: string[]) => `(SELECT ${candidate}
        FROM (SELECT d.* ${where(...all)}
       LIMIT ${MAX_LOOKED_AT}) d
       WHERE ${matchesQuery(query)})`;
    const isFrequent = '(SELECT is_frequent FROM beginning)';
    const areOthersFrequent = '(SELECT others_are_frequent FROM beginning)';
    const numbered = (text: string) => `replace(${text}, '${COMPANY_PLACEHOLDER}', p.company_number::text)`;
    const queries = [
      ...QUERIES.map((query) => [query, input[query]]),
      ...CONDITIONS.map((nth) => [`identity_${nth}`, `(${input.identity})[${nth}]`]),
      ...CONDITIONS.map((nth) => [`anywhere_${nth}`, `(${input.anywhere})[${nth}]`]),
    ];
    const isFrequentIn = (query: string, min = MIN_FREQUENT_BEGINNINGS) =>
      `(SELECT count(*) >= ${min} FROM records r WHERE r.words @@ ${query})`;
    const namesOf = (step: string) => `(SELECT count(*) FROM ${step} WHERE rank >= ${MIN_IDENTITY_RANK})`;
    /** Whether the steps up to this one have found less than a page. */
    const isShort = (step: string) => `(SELECT count(*) FROM ${step}) < ${input.limit}`;
    const isRareName = `${namesOf('newest')} < ${MIN_FREQUENT_NAMES}`;
    const steps: [name: string, documents: (previous: string) => string][] = [
      ['known_latest', () => indexed(isRareName, isLatest, ...together('identity'))],
      ['known', (step) => indexed(isRareName, `${namesOf(step)} < ${input.limit}`, ...together('identity'))],
      ['latest', (step) => indexed(isShort(step), isLatest, ...together('anywhere'))],
      ['whole', (step) => indexed(isShort(step), ...together('anywhere'))],
      ['known_begun', (step) => indexed(isShort(step), `NOT ${isFrequent}`, matchesQuery('identity_begun'))],
      ['begun', (step) => indexed(isShort(step), `NOT ${isFrequent}`, matchesQuery('anywhere_begun'))],
      [
        'known_looked_at',
        (step) => lookedAt('identity_begun', isShort(step), isFrequent, isLatest, matchesQuery('identity_before_last')),
      ],
      [
        'latest_looked_at',
        (step) => lookedAt('anywhere_begun', isShort(step), isFrequent, isLatest, matchesQuery('anywhere_before_last')),
      ],
      [
        'looked_at',
        (step) => {
          const isNeeded = [isShort(step), isFrequent, `NOT ${areOthersFrequent}`];
          return lookedAt('anywhere_begun', ...isNeeded, matchesQuery('anywhere_before_last'));
        },
      ],
      [
        'prefixed',
        (step) =>
          lookedAt('anywhere_prefix', `NOT EXISTS (SELECT FROM ${step})`, 'd.words @@ (SELECT query FROM rare)'),
      ],
    ];
    return `
    WITH q AS MATERIALIZED (
      SELECT p.company_number, p.built_to IS NULL AS complete, ${isLarge('p')} AS is_large,
             ${queries.map(([name, text = '']) => `${numbered(text)}::tsquery AS ${name}`).join(',\n             ')},
             ${latestBlocks('p')} AS latest_blocks
        FROM search_progress p WHERE p.company_id = ${input.company_id}
    ), records AS MATERIALIZED (
      SELECT d.*
        FROM unnest(${input.kinds}) AS k (kind) CROSS JOIN LATERAL (
          SELECT n.* FROM search_documents n WHERE n.company_id = ${input.company_id} AND n.kind = k.kind
           ORDER BY n.at DESC, n.id DESC LIMIT ${NEWEST_RECORDS} / cardinality(${input.kinds})) d
    ), beginning AS MATERIALIZED (
      SELECT q.is_large AND ${isFrequentIn('q.last_begun')} AS is_frequent,
             ${isFrequentIn('q.anywhere_before_last', MIN_FREQUENT_WORDS)} AS others_are_frequent
        FROM q
    ), beginnings AS MATERIALIZED (
      SELECT ${numbered('u.query')}::tsquery AS query FROM unnest(${input.beginnings}) AS u (query), q p
    ), rare AS MATERIALIZED (
      SELECT CASE WHEN q.is_large THEN (
               SELECT string_agg('(' || b.query::text || ')', ' & ')::tsquery FROM beginnings b
                WHERE NOT ${isFrequentIn('b.query')}) ELSE q.anywhere_prefix END AS query
        FROM q
    ), newest AS MATERIALIZED (
      SELECT ${candidate} FROM records d WHERE ${matchesQuery('anywhere_prefix')}
    ), ${steps
      .map(([name, documents], i) => {
        const previous = steps[i - 1]?.[0] ?? 'newest';
        return `${name} AS MATERIALIZED (\n      SELECT * FROM ${previous} UNION ${documents(previous)}\n    )`;
      })
      .join(', ')}, best AS (
      SELECT * FROM ${steps.at(-1)?.[0]} ORDER BY rank DESC, at DESC, id DESC LIMIT ${input.limit}
    )
    SELECT q.complete, b.kind, b.case_id, b.id, ${isoTime('b.at')} AS at
      FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC`;
  },
});
