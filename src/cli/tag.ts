import { CustomTag, CustomTagBody, CustomTagList, CustomTagRemoved, DefaultTagList } from '../company/tags/schema.ts';
import { createCustomTag, listCustomTags, listDefaultTags, removeCustomTag } from '../company/tags/verbs.ts';
import type { Command } from './command.ts';
import { adminListCommand, companyCommand, companyListCommand } from './records.ts';

export const commands: Command[] = [
  companyCommand(
    {
      name: 'tag create',
      resultSchema: CustomTag,
      summary: 'Add a custom tag',
      body: CustomTagBody,
      examples: ['tag create --tag vip-client'],
    },
    (context, { form }) => createCustomTag(context, form),
  ),
  companyListCommand(
    {
      name: 'tag list',
      resultSchema: CustomTagList,
      summary: 'List custom tags',
      columns: ['tag', 'created_at'],
      examples: ['tag list'],
    },
    listCustomTags,
  ),
  adminListCommand(
    {
      name: 'tag defaults',
      resultSchema: DefaultTagList,
      summary: 'List the tags that every company has',
      columns: ['tag'],
      examples: ['tag defaults --per-page 200'],
    },
    listDefaultTags,
  ),
  companyCommand(
    {
      name: 'tag remove',
      resultSchema: CustomTagRemoved,
      summary: 'Remove a custom tag',
      description: 'Entries with the tag keep it; it cannot be added to others.',
      argument: 'tag',
      examples: ['tag remove vip-client'],
    },
    (context, { argument }) => removeCustomTag(context, argument),
  ),
];
