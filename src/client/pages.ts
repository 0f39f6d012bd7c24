export type Answer<Data> = {
  data: Data;
  status: number;
  /** Of the record that was read, or written with `ifMatch`. */
  etag: string | undefined;
  /** Under which the service has logged the request; name it when you ask for help. */
  requestId: string | undefined;
  /** Whether an earlier attempt had done the write already. */
  replayed: boolean;
  /** How many entries the whole list has, where a page of it was asked for. */
  total: number | undefined;
  /** The parameters that lead to the next page; undefined at the last one. */
  next: Record<string, string> | undefined;
};

type List<Input, Entry> = (input: Input) => Promise<Answer<Entry[]>>;
export type Paged = { per_page?: number | undefined } | undefined;

/** Some lists come whole unless a page is asked for. */
const PER_PAGE = 100;

/** One page after the other, each fetched when it is needed. */
export async function* pages<Input extends Paged, Entry>(
  list: List<Input, Entry>,
  input?: NoInfer<Input>,
): AsyncGenerator<Answer<Entry[]>, void, undefined> {
  let next: Answer<unknown>['next'] = {};
  while (next) {
    const page: Answer<Entry[]> = await list({ per_page: PER_PAGE, ...input, ...next } as Input);
    yield page;
    next = page.next;
  }
}

/** The entries of all pages. */
export async function* entries<Input extends Paged, Entry>(
  list: List<Input, Entry>,
  input?: NoInfer<Input>,
): AsyncGenerator<Entry, void, undefined> {
  for await (const { data } of pages(list, input)) yield* data;
}

/** Where `Link` leads, as parameters: the path is the same, and a proxy may have put something before it. */
export function nextPage(link: string): Record<string, string> | undefined {
  const target = /<([^<>]*)>;\s*rel="next"/.exec(link)?.[1];
  return target === undefined ? undefined : Object.fromEntries(new URL(target, 'http://service').searchParams);
}
