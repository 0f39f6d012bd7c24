export type Answer<Data> = {
  data: Data;
  status: number;
  /** The ETag of the record that the response shows. */
  etag: string | undefined;
  /** The id of the request in the log of the service; quote it in support requests. */
  requestId: string | undefined;
  /** Whether an earlier attempt had already performed the write. */
  replayed: boolean;
  /** The number of entries in the whole list, if a page was requested by its number. */
  total: number | undefined;
  /** The query parameters of the next page; undefined on the last page. */
  next: Record<string, string> | undefined;
};

type List<Input, Page> = (input: Input) => Promise<Answer<Page>>;
/** A list has pages by number or by cursor. */
export type PagedInput = { per_page?: number | undefined; cursor?: string | undefined } | undefined;

/** Always sent to lists by page number, because some of them are not paged unless a page is requested. */
const DEFAULT_PER_PAGE = 100;

/** Iterates over the pages of a list or a search. Each page is fetched when it is needed. */
export async function* pages<Input extends PagedInput, Page>(
  list: List<Input, Page>,
  input?: NoInfer<Input>,
): AsyncGenerator<Answer<Page>, void, undefined> {
  let next: Answer<unknown>['next'] = {};
  while (next) {
    const page: Answer<Page> = await list({ per_page: DEFAULT_PER_PAGE, ...input, ...next } as Input);
    yield page;
    next = page.next;
  }
}

/** Iterates over the entries of all pages, or over the hits of a search. */
export async function* entries<Input extends PagedInput, Entry>(
  list: List<Input, Entry[] | { hits: Entry[] }>,
  input?: NoInfer<Input>,
): AsyncGenerator<Entry, void, undefined> {
  for await (const { data } of pages(list, input)) yield* Array.isArray(data) ? data : data.hits;
}

/** Returns the query parameters of the `next` link. Its path is ignored, because a proxy may add a prefix. */
export function nextPage(link: string): Record<string, string> | undefined {
  const target = /<([^<>]*)>;\s*rel="next"/.exec(link)?.[1];
  return target === undefined ? undefined : Object.fromEntries(new URL(target, 'http://service').searchParams);
}
