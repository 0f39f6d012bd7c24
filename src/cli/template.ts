import type { Static } from 'typebox';
import { TEXT_NAMES, type TextName } from '../cases/appointments/messages/templates/defaults.ts';
import { previewMessage } from '../cases/appointments/messages/templates/preview.ts';
import {
  MessagePreview,
  MessageTemplate,
  MessageTemplates,
  PreviewBody,
  TemplateBody,
  TemplateFields,
  TestBody,
  TestMessages,
} from '../cases/appointments/messages/templates/schema.ts';
import {
  listFields,
  listTemplates,
  readTemplate,
  resetTemplate,
  updateTemplate,
} from '../cases/appointments/messages/templates/verbs.ts';
import { listTestMessages, sendTest } from '../cases/appointments/messages/test-messages/verbs.ts';
import { readForm } from '../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../kernel/validation/paging.ts';
import { Type } from '../kernel/validation/type.ts';
import type { Command } from './command.ts';
import { companyCommand } from './records.ts';
import { flagsToBody, schemaFlags } from './schema-flags.ts';
import { formatLines } from './table.ts';

const target = { argument: 'message' };
const PageQuery = Type.Object(PAGE_QUERY);
const MESSAGES = 'The message is confirmation, change, reminder or cancellation.';

export const commands: Command[] = [
  companyCommand(
    {
      name: 'template list',
      resultSchema: MessageTemplates,
      summary: 'List the texts of all messages to clients',
      description: '"own" names the texts that are in your own words; the others are the defaults.',
      columns: ['message', 'own', 'subject', 'updated_at'],
      examples: ['template list', 'template list --json'],
    },
    (context) => listTemplates(context),
  ),
  companyCommand(
    {
      ...target,
      name: 'template show',
      resultSchema: MessageTemplate,
      summary: 'Show the texts of a message, and the defaults',
      description: MESSAGES,
      toText: formatTemplate,
      examples: ['template show reminder', 'template show reminder --only email_text'],
    },
    (context, { argument }) => readTemplate(context, argument),
  ),
  companyCommand(
    {
      name: 'template fields',
      resultSchema: TemplateFields,
      summary: 'List what can stand in double braces',
      columns: ['field', 'sample', 'description'],
      examples: ['template fields'],
    },
    async () => listFields(),
  ),
  companyCommand(
    {
      ...target,
      name: 'template set',
      resultSchema: MessageTemplate,
      summary: 'Write a message in your own words',
      description: `${MESSAGES} Texts that are not given stay as they are. "--email-text -" reads standard input.`,
      body: TemplateBody,
      toText: formatTemplate,
      examples: [
        'template set reminder --subject "See you on {{start}}" --email-text -',
        'template set reminder --sms-text ""',
      ],
    },
    (context, { argument, form }) => updateTemplate(context, argument, form),
  ),
  companyCommand(
    {
      ...target,
      name: 'template reset',
      resultSchema: MessageTemplate,
      summary: 'Reset all texts of a message to the defaults',
      toText: formatTemplate,
      description: MESSAGES,
      examples: ['template reset reminder'],
    },
    (context, { argument }) => resetTemplate(context, argument),
  ),
  companyCommand(
    {
      ...target,
      name: 'template preview',
      resultSchema: MessagePreview,
      summary: 'Show a message as a client would get it',
      description:
        `${MESSAGES} The values are those of an appointment, or samples. Texts that are given are shown instead of ` +
        'those in force, and nothing is stored.',
      body: PreviewBody,
      toText: formatPreview,
      examples: ['template preview reminder', 'template preview reminder --email-text -'],
    },
    (context, { argument, form }) => previewMessage(context, argument, form),
  ),
  companyCommand(
    {
      ...target,
      name: 'template test',
      resultSchema: TestMessages,
      summary: 'Send a test message',
      description: 'A worker sends what "template preview" shows, marked as a test; "template tests" shows the result.',
      body: TestBody,
      columns: ['id', 'channel', 'recipient', 'state'],
      examples: ['template test reminder --email me@company.example --phone "07400 123456"'],
    },
    (context, { argument, form }) => sendTest(context, argument, form),
  ),
  companyCommand(
    {
      name: 'template tests',
      resultSchema: TestMessages,
      summary: 'List test messages and whether they were sent',
      description: 'Newest first.',
      columns: ['created_at', 'message', 'channel', 'recipient', 'state', 'last_error'],
      flags: schemaFlags(PageQuery),
      examples: ['template tests'],
    },
    async (context, { flags }) => {
      const query = readForm(PageQuery, flagsToBody(PageQuery, flags));
      const page = parsePage(query);
      query.check();
      return (await listTestMessages(context, page)).json;
    },
  ),
];

type Shown = Static<typeof MessageTemplate>;

/** Each text as it is stored, so that it can be copied. */
function formatTemplate(json: string): string {
  const template: Shown = JSON.parse(json);
  const section = (name: TextName) => {
    const source = template.own.includes(name) ? 'your own' : 'default';
    return [`${name} (${source}):`, formatLines(template[name]), ''];
  };
  return TEXT_NAMES.flatMap(section).join('\n').trimEnd();
}

function formatPreview(json: string): string {
  const { subject, email_text, sms_text, sms_segments }: Static<typeof MessagePreview> = JSON.parse(json);
  const sms = `SMS (${sms_segments} ${sms_segments === 1 ? 'segment' : 'segments'}):`;
  return [`Subject: ${formatLines(subject)}`, '', formatLines(email_text), sms, formatLines(sms_text)].join('\n');
}
