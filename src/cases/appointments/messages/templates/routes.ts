import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../../http/operation/operation.ts';
import { pageHeaders } from '../../../../http/operation/paging.ts';
import { Form, readForm } from '../../../../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../../../../kernel/validation/paging.ts';
import { Type } from '../../../../kernel/validation/type.ts';
import { listTestMessages, sendTest } from '../test-messages/verbs.ts';
import { previewMessage } from './preview.ts';
import {
  MessagePreview,
  MessageTemplate,
  MessageTemplates,
  PreviewBody,
  TemplateBody,
  TemplateFields,
  TestBody,
  TestMessages,
} from './schema.ts';
import { listFields, listTemplates, readTemplate, resetTemplate, updateTemplate } from './verbs.ts';

const collection = '/manage/message-templates';
const common = { extension: true, access: 'manage', tag: 'Message templates' } as const;
const one = {
  ...common,
  path: `${collection}/{message}`,
  params: { message: 'message: confirmation, change, reminder or cancellation' },
  nonUuidParams: ['message'],
} as const;
const ListQuery = Type.Object(PAGE_QUERY);

export function templateRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listMessageTemplates',
    method: 'GET',
    path: collection,
    summary: 'List message templates',
    description: 'The texts of all messages to clients: those in force, which of them are your own, and the defaults.',
    params: {},
    response: MessageTemplates,
    handle: (context) => listTemplates(context),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listMessageTemplateFields',
    method: 'GET',
    path: '/manage/message-template-fields',
    summary: 'List the fields of message templates',
    description: 'What can stand in double braces, such as `{{adviser}}`.',
    params: {},
    response: TemplateFields,
    handle: async () => listFields(),
  });

  registerOperation(app, services, {
    ...one,
    id: 'getMessageTemplate',
    method: 'GET',
    summary: 'Get a message template',
    description: 'The texts in force, which of them are your own, and the defaults.',
    response: MessageTemplate,
    handle: (context, { message }) => readTemplate(context, message),
  });

  registerOperation(app, services, {
    ...one,
    id: 'updateMessageTemplate',
    method: 'PATCH',
    summary: 'Write a message in your own words',
    description:
      'Texts that are not sent stay unchanged; null resets a text to the default. A text has fields, `{{location}}`, ' +
      'and sections: `{{#location}}at {{location}}{{/location}}` is there only if the field has a value, ' +
      '`{{^location}}online{{/location}}` only if it has none. A fault names the line and the column. Used from the ' +
      'next message on.',
    body: TemplateBody,
    response: MessageTemplate,
    handle: (context, { message }, form) => updateTemplate(context, message, form),
  });

  registerOperation(app, services, {
    ...one,
    id: 'resetMessageTemplate',
    method: 'DELETE',
    summary: 'Reset a message to the default',
    description: 'Used from the next message on. The answer shows the default. The event log keeps your own words.',
    response: MessageTemplate,
    handle: (context, { message }) => resetTemplate(context, message),
  });

  registerOperation(app, services, {
    ...one,
    id: 'previewMessage',
    method: 'POST',
    path: `${one.path}/preview`,
    summary: 'Preview a message',
    description:
      'The message with the values of an appointment, which needs the scope `appointments:read` as well, or with sample ' +
      'values. Texts that are sent are shown instead of those in force, and nothing is stored.',
    body: PreviewBody,
    bodyOptional: true,
    response: MessagePreview,
    handle: (context, { message }, form) => previewMessage(context, message, form.bodyMissing ? new Form({}) : form),
  });

  registerOperation(app, services, {
    ...one,
    id: 'sendTestMessage',
    method: 'POST',
    path: `${one.path}/test`,
    summary: 'Send a test message',
    description:
      'Queues the message that a preview with the same body shows, as a mail to `email`, as an SMS to `phone`, or ' +
      'both. It is marked as a test and has no calendar entry. A company can send 50 test messages in 24 hours.',
    body: TestBody,
    response: TestMessages,
    handle: (context, { message }, form) => sendTest(context, message, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listTestMessages',
    method: 'GET',
    path: '/manage/test-messages',
    summary: 'List test messages',
    description: 'Newest first, in pages. A test message is deleted 30 days after it was sent or has failed.',
    params: {},
    query: ListQuery,
    response: TestMessages,
    handle: async (context, _params, _form, request) => {
      const query = readForm(ListQuery, request.query);
      const page = parsePage(query);
      query.check();
      const { json, total } = await listTestMessages(context, page);
      return { json, headers: pageHeaders(request.originalUrl, page, total) };
    },
  });
}
