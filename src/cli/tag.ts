import { CustomTag, CustomTagBody, CustomTagList, CustomTagRemoved, DefaultTagList } from '../company/tags/schema.ts';
import { createCustomTag, listCustomTags, listDefaultTags, removeCustomTag } from '../company/tags/verbs.ts';
import type { Command } from './command.ts';
import { deskCommand, deskList, officeList } from './records.ts';

export const commands: Command[] = [
  deskCommand(
    {
      name: 'tag create',
      answer: CustomTag,
      summary: 'Add a custom tag',
      body: CustomTagBody,
      examples: ['tag create --tag vip-client'],
    },
    (desk, { form }) => createCustomTag(desk, form),
  ),
  deskList(
    {
      name: 'tag list',
      answer: CustomTagList,
      summary: 'List custom tags',
      columns: ['tag', 'created_at'],
      examples: ['tag list'],
    },
    listCustomTags,
  ),
  officeList(
    {
      name: 'tag defaults',
      answer: DefaultTagList,
      summary: 'List the tags that every company has',
      columns: ['tag'],
      examples: ['tag defaults --per-page 200'],
    },
    listDefaultTags,
  ),
  deskCommand(
    {
      name: 'tag remove',
      answer: CustomTagRemoved,
      summary: 'Remove a custom tag',
      description: 'Entries that have it keep it; no other can get it.',
      argument: 'tag',
      examples: ['tag remove vip-client'],
    },
    (desk, { argument }) => removeCustomTag(desk, argument),
  ),
];
