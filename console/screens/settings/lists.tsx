import kindLimits from 'openapi:CreateCaseKindBody';
import tagLimits from 'openapi:CustomTagBody';
import type { CaseKind, CustomTag } from '@case-records/client';
import { Field } from '../../components/form.tsx';
import { Loaded } from '../../components/states.tsx';
import { DateTime } from '../../components/values.tsx';
import { service } from '../../service/client.ts';
import { useLoaded } from '../../service/loading.ts';
import { texts } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { type RecordKind, RecordList } from './record-list.tsx';
import { text } from './texts.ts';

const MAX_DEFAULT_TAGS = 200;

const CASE_KINDS: RecordKind<CaseKind> = {
  name: 'case-kind',
  record: 'case_kind',
  text: text.caseKinds,
  list: (service, query, removed) => service.listCaseKinds({ ...query, ...(removed && { removed }) }),
  nameTitle: texts.fields.name,
  nameOf: ({ name }) => name,
  columns: [{ title: text.created, cell: ({ created_at }) => <DateTime at={created_at} show="date" /> }],
  read: (service, kindId) => service.getCaseKind({ kindId }),
  limits: kindLimits,
  toValues: (kind) => ({ name: kind?.name ?? '' }),
  save: ({ name }, careful, kindId) => {
    const body = { name: String(name) };
    return kindId ? service.updateCaseKind({ kindId, body, ...careful }) : service.createCaseKind({ body, ...careful });
  },
  Fields: () => (
    <div class="wide">
      <Field name="name" autoFocus />
    </div>
  ),
  remove: (kindId, careful) => service.removeCaseKind({ kindId, ...careful }),
  restore: (kindId, careful) => service.restoreCaseKind({ kindId, ...careful }),
};

type Tag = CustomTag & { id: string };

const TAGS: RecordKind<Tag> = {
  name: 'tag',
  record: 'tag',
  text: text.tags,
  list: async (service, query) => {
    const answer = await service.listCustomTags(query);
    return { ...answer, data: answer.data.map((one) => ({ ...one, id: one.tag })) };
  },
  nameTitle: texts.fields.tag,
  nameOf: ({ tag }) => tag,
  columns: [
    { title: text.created, cell: ({ created_at }) => <DateTime at={created_at} show="date" /> },
    {
      title: text.actions,
      cell: ({ tag }) => (
        <Actions
          record="tag"
          of={[
            {
              label: texts.remove,
              name: text.removeTag(tag),
              run: ({ idempotencyKey }) => service.deleteCustomTag({ tag, idempotencyKey }),
              done: text.removed,
              undo: (idempotencyKey) => service.createCustomTag({ body: { tag }, idempotencyKey }),
            },
          ]}
        />
      ),
    },
  ],
  limits: tagLimits,
  toValues: () => ({ tag: '' }),
  // The service wants words joined by dashes; people type words.
  save: ({ tag }, careful) =>
    service.createCustomTag({ body: { tag: String(tag).trim().toLowerCase().replaceAll(/\s+/g, '-') }, ...careful }),
  Fields: () => (
    <div class="wide">
      <Field name="tag" autoFocus hint={text.tags.fieldHint} />
    </div>
  ),
};

export function Lists() {
  const common = useLoaded(
    'settings/default-tags',
    async (signal, service) => (await service.listDefaultTags({ per_page: MAX_DEFAULT_TAGS, signal })).data,
  );
  return (
    <>
      <h1>{text.pages.lists}</h1>
      <RecordList kind={CASE_KINDS} keys="n" />
      <RecordList kind={TAGS} keys="t" />
      <section class="card" aria-labelledby="common-tags">
        <header>
          <h2 id="common-tags">{text.tags.common}</h2>
        </header>
        <p class="intro">{text.tags.commonHint}</p>
        <Loaded of={common}>
          {(tags) => (
            <ul class="words">
              {tags.map(({ tag }) => (
                <li key={tag}>{tag}</li>
              ))}
            </ul>
          )}
        </Loaded>
      </section>
    </>
  );
}
