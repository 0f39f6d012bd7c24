// Written by scripts/client.ts from openapi.json: change that one, then run `npm run client`.

import type { Operation } from './request.ts';

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code:
    | 'invalid_request'
    | 'invalid_token'
    | 'insufficient_scope'
    | 'not_found'
    | 'method_not_allowed'
    | 'request_in_progress'
    | 'precondition_failed'
    | 'body_too_large'
    | 'unsupported_media_type'
    | 'idempotency_key_reused'
    | 'too_many_attempts'
    | 'rate_limited'
    | 'internal'
    | 'unavailable';
  request_id: string;
  /** Every fault of a refused request (status 400). */
  errors?: Array<{
    /** Where: a field of the body, a header or a query parameter. */
    field: string;
    code: string;
    message: string;
  }>;
};

export type GetCaseAddressBookEntry =
  | {
      id: string;
      entity_id: 'person';
      data: {
        title: string;
        last_name: string;
        first_names: string;
        gender: string;
        marital_status: string;
        middle_names: string | null;
        known_as: string | null;
        tel_1: string | null;
        tel_2: string | null;
        email: string | null;
        /** DD/MM/YYYY */
        dob: string | null;
        occupation: string | null;
        preferred_name: string | null;
        alias: string | null;
        their_pronoun: string | null;
        them_pronoun: string | null;
        they_pronoun: string | null;
        relationship: Record<string, string>;
        /** Identifier of the person's address item. */
        address: string;
        tags: string[];
        custom_tags: string[];
      };
    }
  | {
      id: string;
      entity_id: 'address';
      data: {
        postcode: string;
        address_1: string;
        address_2: string;
        address_3: string;
      };
    };

export type CreateCaseAddressBookEntryBody = {
  entity_id: 'person';
  title: string;
  first_names: string;
  middle_names?: string | null | undefined;
  last_name: string;
  known_as?: string | null | undefined;
  tel_1?: string | null | undefined;
  tel_2?: string | null | undefined;
  email?: string | null | undefined;
  gender?: string | null | undefined;
  /** DD/MM/YYYY, not in the future. */
  dob?: string | null | undefined;
  /** An addition to the specification. */
  marital_status?: string | null | undefined;
  /** Customer identifier of the case to a relationship word. An update that sends it replaces it whole. */
  relationship?: Record<string, string> | null | undefined;
  occupation?: string | null | undefined;
  preferred_name?: string | null | undefined;
  alias?: string | null | undefined;
  address?:
    | {
        address_1?: string | null | undefined;
        address_2?: string | null | undefined;
        address_3?: string | null | undefined;
        postcode?: string | null | undefined;
      }
    | null
    | undefined;
  /** Default tags of the system. An update only adds. */
  tags?: string[] | null | undefined;
  /** Custom tags of the company. An update only adds. */
  custom_tags?: string[] | null | undefined;
  them_pronoun?: string | null | undefined;
  they_pronoun?: string | null | undefined;
  their_pronoun?: string | null | undefined;
};

export type CreateCaseAddressBookEntryAnswer = {
  entity_id: 'person';
  data: {
    title: string;
    last_name: string;
    first_names: string;
    relationship: Record<string, string>;
    address: string;
    their_pronoun: string | null;
    them_pronoun: string | null;
    they_pronoun: string | null;
  };
  customer_case_id: string;
  id: string;
  updated_at: string;
  created_at: string;
};

export type UpdateCaseAddressBookEntryBody = CreateCaseAddressBookEntryBody;

export type UpdateCaseAddressBookEntryAnswer = {
  id: string;
  customer_case_id: string;
  entity_id: 'person';
  data: {
    title: string;
    last_name: string;
    first_names: string;
    relationship: Record<string, string>;
    middle_names: string | null;
    known_as: string | null;
    tel_1: string | null;
    tel_2: string | null;
    email: string | null;
    /** DD/MM/YYYY */
    dob: string | null;
    occupation: string | null;
    preferred_name: string | null;
    alias: string | null;
    gender: string | null;
    marital_status: string | null;
    their_pronoun: string | null;
    them_pronoun: string | null;
    they_pronoun: string | null;
  };
  created_at: string;
  updated_at: string;
  customer_person_id: string | null;
  is_company_global: boolean | null;
  user_id: string | null;
  company_id: string | null;
  deleted_at: string | null;
  notes: string | null;
  copied_from_id: string | null;
  transferred_from_user_id: string | null;
  transferred_at: string | null;
  is_user_global: boolean | null;
  partner_record_id: string | null;
  partner_card_id: string | null;
  partner_person_id: string | null;
};

export type ReadAddressBookEntryAnswer = {
  id: string;
  entity_id: 'person';
  data: {
    title: string;
    last_name: string;
    first_names: string;
    gender: string;
    marital_status: string;
    middle_names: string | null;
    known_as: string | null;
    tel_1: string | null;
    tel_2: string | null;
    email: string | null;
    /** DD/MM/YYYY */
    dob: string | null;
    occupation: string | null;
    preferred_name: string | null;
    alias: string | null;
    their_pronoun: string | null;
    them_pronoun: string | null;
    they_pronoun: string | null;
    relationship: Record<string, string>;
    /** Identifier of the person's address item. */
    address: string;
    tags: string[];
    custom_tags: string[];
  };
  created_at: string;
  updated_at: string;
};

export type DeleteAddressBookEntryAnswer = {
  id: string;
  deleted_at: string;
};

export type RestoreAddressBookEntryAnswer = ReadAddressBookEntryAnswer;

export type RemoveTagAnswer = ReadAddressBookEntryAnswer;

export type RemoveCustomTagAnswer = ReadAddressBookEntryAnswer;

export type GetCaseInteractionsEntry = {
  id: string;
  /** Kind of contact; case-sensitive. */
  type: 'phone' | 'email' | 'SMS' | 'appointment' | 'letter' | 'video_conference' | 'other';
  notes: string;
  sender: string | null;
  recipient: string;
  customer_case_id: string;
  /** Wall time of the company. */
  when: string;
  /** Display icon name. */
  icon: string;
  /** Display form of type. */
  formatted_type: string;
};

export type CreateCaseInteractionBody = {
  /** Kind of contact; case-sensitive. */
  type: 'phone' | 'email' | 'SMS' | 'appointment' | 'letter' | 'video_conference' | 'other';
  notes?: string | null | undefined;
  /** When it happened: wall time of the company, or ISO 8601 with a zone. Now, where it is not sent. */
  when?: string | null | undefined;
  recipient?: string | null | undefined;
  sender?: string | null | undefined;
};

export type CreateCaseInteractionAnswer = {
  id: string;
  /** Kind of contact; case-sensitive. */
  type: 'phone' | 'email' | 'SMS' | 'appointment' | 'letter' | 'video_conference' | 'other';
  notes: string;
  sender: string | null;
  recipient: string;
  customer_case_id: string;
  when: string;
};

export type UpdateCaseInteractionBody = CreateCaseInteractionBody;

export type UpdateCaseInteractionAnswer = CreateCaseInteractionAnswer;

export type ReadInteractionAnswer = GetCaseInteractionsEntry;

export type DeleteInteractionAnswer = DeleteAddressBookEntryAnswer;

export type RestoreInteractionAnswer = GetCaseInteractionsEntry;

export type GetCaseInvoicesEntry = {
  id: string;
  ref: string | null;
  notes: string | null;
  date_due: string;
  date_sent: string | null;
  date_paid: string | null;
  payment_terms: string;
  /** The sub_total that was sent. */
  subtotal: number;
  total: number;
  invoice_number: string;
  vat_amount: number;
  customer_case_id: string;
  terms: string;
  /** Wall time of the company. */
  date_created: string;
  recipients_name: string;
  status: 'Not Paid' | 'Part Paid' | 'Paid' | 'Cancelled';
  mail_sent: boolean;
  payable_online: boolean;
  formatted_recurring_interval: string | null;
  items: Array<{
    id: string;
    description: string;
    amount: number;
    quantity: number;
    rate: number;
    /** quantity × rate */
    subtotal: number;
    /** amount less subtotal */
    vat_amount: number;
    status: 'paid' | 'cancelled' | null;
    paid_at: string | null;
    case_invoice_id: string;
    customer_case_id: string;
    has_vat: boolean;
  }>;
};

export type CreateCaseInvoiceBody = {
  /** Unique within the case. */
  invoice_number: string;
  /** Identifier of the sender. */
  sender_id: string;
  date_created: string;
  date_due: string;
  /** VAT percentage of the invoice. */
  vat: number | string;
  /** Total including VAT. */
  total: number | string;
  /** Total excluding VAT. */
  sub_total: number | string;
  /** Total less sub_total, where it is not sent. */
  vat_amount?: number | string | null | undefined;
  /** The company's, where it is not sent. */
  payment_terms?: string | null | undefined;
  /** At most 1000 per request. */
  items?:
    | Array<{
        description: string;
        /** A whole number. */
        quantity: number | string;
        /** Kept to four decimals. */
        rate: number | string;
        /** Line total including any applicable tax. */
        amount: number | string;
      }>
    | null
    | undefined;
};

export type CreateCaseInvoiceAnswer = {
  id: string;
  ref: string | null;
  notes: string | null;
  date_due: string;
  date_sent: string | null;
  date_paid: string | null;
  payment_terms: string;
  /** The sub_total that was sent. */
  subtotal: number;
  total: number;
  invoice_number: string;
  vat_amount: number;
  customer_case_id: string;
  terms: string | null;
  date_created: string;
  recipients_name: string | null;
};

export type UpdateCaseInvoiceBody = {
  /** Unique within the case. */
  invoice_number: string;
  /** Identifier of the sender. */
  sender_id: string;
  date_created: string;
  date_due: string;
  /** VAT percentage of the invoice. */
  vat: number | string;
  /** Total including VAT. */
  total: number | string;
  /** Total excluding VAT. */
  sub_total: number | string;
  /** Total less sub_total, where it is not sent. */
  vat_amount?: number | string | null | undefined;
  /** The company's, where it is not sent. */
  payment_terms?: string | null | undefined;
  /** At most 1000 per request. */
  items?:
    | Array<{
        description: string;
        /** A whole number. */
        quantity: number | string;
        /** Kept to four decimals. */
        rate: number | string;
        /** Line total including any applicable tax. */
        amount: number | string;
      }>
    | null
    | undefined;
  /** True: the items sent are added. False: they replace the existing ones, none removes all. */
  keep_existing_items?: boolean | null | undefined;
};

export type UpdateCaseInvoiceAnswer = CreateCaseInvoiceAnswer;

export type ReadInvoiceAnswer = {
  id: string;
  ref: string | null;
  notes: string | null;
  date_due: string;
  date_sent: string | null;
  date_paid: string | null;
  payment_terms: string;
  /** The sub_total that was sent. */
  subtotal: number;
  total: number;
  invoice_number: string;
  vat_amount: number;
  customer_case_id: string;
  terms: string;
  /** Wall time of the company. */
  date_created: string;
  recipients_name: string;
  status: 'Not Paid' | 'Part Paid' | 'Paid' | 'Cancelled';
  mail_sent: boolean;
  payable_online: boolean;
  formatted_recurring_interval: string | null;
  items: Array<{
    id: string;
    description: string;
    amount: number;
    quantity: number;
    rate: number;
    /** quantity × rate */
    subtotal: number;
    /** amount less subtotal */
    vat_amount: number;
    status: 'paid' | 'cancelled' | null;
    paid_at: string | null;
    case_invoice_id: string;
    customer_case_id: string;
    has_vat: boolean;
  }>;
  /** The sum of the payments that are not reversed. */
  paid: number;
  /** What can still be paid; 0 where it is cancelled. */
  outstanding: number;
};

export type MarkInvoiceSentBody = {
  /** Not in the future. Now, where it is not sent. */
  date_sent?: string | null | undefined;
};

export type MarkInvoiceSentAnswer = ReadInvoiceAnswer;

export type CancelInvoiceAnswer = ReadInvoiceAnswer;

export type ReinstateInvoiceAnswer = ReadInvoiceAnswer;

export type CancelInvoiceItemAnswer = {
  id: string;
  description: string;
  amount: number;
  quantity: number;
  rate: number;
  /** quantity × rate */
  subtotal: number;
  /** amount less subtotal */
  vat_amount: number;
  status: 'paid' | 'cancelled' | null;
  paid_at: string | null;
  case_invoice_id: string;
  customer_case_id: string;
  has_vat: boolean;
};

export type ReinstateInvoiceItemAnswer = CancelInvoiceItemAnswer;

export type ListPaymentsEntry = {
  id: string;
  case_invoice_id: string;
  customer_case_id: string;
  amount: number;
  paid_at: string;
  reference: string | null;
  created_at: string;
  reversed_at: string | null;
};

export type RecordPaymentBody = {
  /** More than 0, at most two decimals, not more than what is outstanding. */
  amount: number | string;
  /** Not in the future. Now, where it is not sent. */
  paid_at?: string | null | undefined;
  reference?: string | null | undefined;
};

export type RecordPaymentAnswer = ListPaymentsEntry;

export type ReversePaymentAnswer = ListPaymentsEntry;

export type CreateCaseAppointmentBody = {
  /** Email of an adviser of the caller's company. */
  adviser_email: string;
  /** Wall time of the company, or ISO 8601 with a zone. */
  start_time: string;
  /** Later than start_time. */
  end_time: string;
  /** Sends a booking confirmation to email_recipient. */
  email_confirmation?: boolean | null | undefined;
  /** Sends a reminder to email_recipient. */
  email_notification?: boolean | null | undefined;
  /** Email of a customer of the case. Empty text is no recipient. */
  email_recipient?: string | null | undefined;
  /** Sends a booking confirmation to sms_recipient. */
  sms_confirmation?: boolean | null | undefined;
  /** Sends a reminder to sms_recipient. */
  sms_notification?: boolean | null | undefined;
  /** A possible phone number. */
  sms_recipient?: string | null | undefined;
  notes?: string | null | undefined;
  /** Added to the messages. */
  location?: string | null | undefined;
  /** Makes a video-meeting link, provided the adviser has connected an account. */
  video_meeting?: boolean | null | undefined;
};

export type CreateCaseAppointmentAnswer = {
  id: string;
  customer_case_id: string;
  start_time: string;
  /** Wall time of the company. */
  end_time: string;
  /** Booking confirmation by email: where it stands, null when it was not asked for. */
  email_confirmation: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** Reminder by email: where it stands, null when it was not asked for. */
  email_notification: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** 1 when the reminder is due on the day before, else 0. */
  email_day_before: 0 | 1;
  sms_recipient: string | null;
  /** Booking confirmation by SMS: where it stands, null when it was not asked for. */
  sms_confirmation: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** Reminder by SMS: where it stands, null when it was not asked for. */
  sms_notification: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** 1 when the reminder is due on the day before, else 0. */
  sms_day_before: 0 | 1;
  notes: string | null;
  location: string | null;
  created_at: string;
  updated_at: string;
  adviser_email: string;
  email_recipient: string | null;
};

export type ListCaseAppointmentsEntry = {
  id: string;
  customer_case_id: string;
  start_time: string;
  /** Wall time of the company. */
  end_time: string;
  /** Booking confirmation by email: where it stands, null when it was not asked for. */
  email_confirmation: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** Reminder by email: where it stands, null when it was not asked for. */
  email_notification: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** 1 when the reminder is due on the day before, else 0. */
  email_day_before: 0 | 1;
  sms_recipient: string | null;
  /** Booking confirmation by SMS: where it stands, null when it was not asked for. */
  sms_confirmation: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** Reminder by SMS: where it stands, null when it was not asked for. */
  sms_notification: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** 1 when the reminder is due on the day before, else 0. */
  sms_day_before: 0 | 1;
  notes: string | null;
  location: string | null;
  created_at: string;
  updated_at: string;
  type: string | null;
  /** 1 when the client attended, else 0. */
  attended: 0 | 1;
  /** 1 when the appointment was cancelled, else 0. */
  cancelled: 0 | 1;
  deleted_at: string | null;
  /** Empty when there is none. */
  email_recipient: string;
  video_id: string | null;
  join_url: string | null;
  /** As it was at the booking. */
  adviser_email: string;
};

export type UpdateCaseAppointmentBody = {
  /** Wall time of the company, or ISO 8601 with a zone. */
  start_time?: string | undefined;
  /** Later than start_time. */
  end_time?: string | undefined;
  /** Sends a booking confirmation to email_recipient. */
  email_confirmation?: boolean | null | undefined;
  /** Sends a reminder to email_recipient. */
  email_notification?: boolean | null | undefined;
  /** Email of a customer of the case. Empty text is no recipient. */
  email_recipient?: string | null | undefined;
  /** Sends a booking confirmation to sms_recipient. */
  sms_confirmation?: boolean | null | undefined;
  /** Sends a reminder to sms_recipient. */
  sms_notification?: boolean | null | undefined;
  /** A possible phone number. */
  sms_recipient?: string | null | undefined;
  notes?: string | null | undefined;
  /** Added to the messages. */
  location?: string | null | undefined;
};

export type UpdateCaseAppointmentAnswer = {
  id: string;
  customer_case_id: string;
  start_time: string;
  /** Wall time of the company. */
  end_time: string;
  /** Booking confirmation by email: where it stands, null when it was not asked for. */
  email_confirmation: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** Reminder by email: where it stands, null when it was not asked for. */
  email_notification: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** 1 when the reminder is due on the day before, else 0. */
  email_day_before: 0 | 1;
  sms_recipient: string | null;
  /** Booking confirmation by SMS: where it stands, null when it was not asked for. */
  sms_confirmation: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** Reminder by SMS: where it stands, null when it was not asked for. */
  sms_notification: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | null;
  /** 1 when the reminder is due on the day before, else 0. */
  sms_day_before: 0 | 1;
  notes: string | null;
  location: string | null;
  created_at: string;
  updated_at: string;
  type: string | null;
  /** 1 when the client attended, else 0. */
  attended: 0 | 1;
  /** 1 when the appointment was cancelled, else 0. */
  cancelled: 0 | 1;
  deleted_at: string | null;
  /** Empty when there is none. */
  email_recipient: string;
  video_id: string | null;
  join_url: string | null;
};

export type DeleteCaseAppointmentAnswer = DeleteAddressBookEntryAnswer;

export type ReadAppointmentAnswer = ListCaseAppointmentsEntry;

export type ListAdviserAppointmentsEntry = ListCaseAppointmentsEntry;

export type RestoreAppointmentAnswer = ListCaseAppointmentsEntry;

export type SetAppointmentOutcomeBody = {
  /** Whether the client attended; not before the start. */
  attended?: boolean | null | undefined;
  /** True withdraws every message that has not gone out; false places the reminders anew. */
  cancelled?: boolean | null | undefined;
  /** A word of your own. */
  type?: string | null | undefined;
};

export type SetAppointmentOutcomeAnswer = ListCaseAppointmentsEntry;

export type ListAppointmentMessagesEntry = {
  id: string;
  appointment_id: string;
  /** How it goes out. */
  channel: 'email' | 'sms';
  /** A cancellation calls off a confirmation that had gone out. */
  kind: 'confirmation' | 'reminder' | 'cancellation';
  /** Where it stands. */
  state: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped';
  due_at: string;
  sent_at: string | null;
  /** The address or number it was handed over for. */
  sent_to: string | null;
  /** How often sending it was begun. */
  attempts: number;
  /** Why the last attempt that failed did so. */
  last_error: string | null;
};

export type ListMessagesEntry = ListAppointmentMessagesEntry;

export type ResendMessageAnswer = ListAppointmentMessagesEntry;

export type GetAppointmentMeetingAnswer = {
  appointment_id: string;
  customer_case_id: string;
  /** Where it is, or where it is being made. */
  provider: 'jitsi' | 'zoom' | null;
  /** Pending while the provider has yet to learn of something. */
  state: 'none' | 'pending' | 'ready' | 'failed';
  /** What the provider calls it. */
  video_id: string | null;
  join_url: string | null;
  /** How often the provider was asked since the wish last changed. */
  attempts: number;
  /** Why the last attempt failed, where it did. */
  last_error: string | null;
};

export type WishAppointmentMeetingAnswer = GetAppointmentMeetingAnswer;

export type WithdrawAppointmentMeetingAnswer = GetAppointmentMeetingAnswer;

export type ListMeetingsEntry = GetAppointmentMeetingAnswer;

export type ListEventsEntry = {
  /** The same in every list and in every webhook delivery. */
  id: string;
  /** The type of the record and the change. */
  type: string;
  at: string;
  /** Who made the change. */
  actor: {
    /** `key` or `client`: the credential of the request. `operator`: the command line. `worker`: the service. */
    type: 'key' | 'client' | 'operator' | 'worker';
    id?: string;
    /** The name of the credential at that time. */
    name?: string;
  };
  /** The X-Request-Id of the request that made the change. */
  request_id: string | null;
  /** The case that the record belongs to. */
  case_id: string | null;
  record: {
    type: string;
    id: string;
  };
  /** The fields that differ between `before` and `after`; null if one of them is null. */
  changed: string[] | null;
  /** The record before the change; null if the change created it. */
  before: Record<string, never> | null;
  /** The record after the change; null if it no longer exists. */
  after: Record<string, never> | null;
};

export type ListCaseEventsEntry = ListEventsEntry;

export type ListAdviserHistoryEntry = ListEventsEntry;

export type ListAppointmentHistoryEntry = ListEventsEntry;

export type ListCaseHistoryEntry = ListEventsEntry;

export type ListApiClientHistoryEntry = ListEventsEntry;

export type ListCompanyHistoryEntry = ListEventsEntry;

export type ListCustomerHistoryEntry = ListEventsEntry;

export type ListWebhookEndpointHistoryEntry = ListEventsEntry;

export type ListAddressBookEntryHistoryEntry = ListEventsEntry;

export type ListInteractionHistoryEntry = ListEventsEntry;

export type ListInvoiceHistoryEntry = ListEventsEntry;

export type ListApiKeyHistoryEntry = ListEventsEntry;

export type GetCompanyAnswer = {
  id: string;
  name: string;
  time_zone: string;
  phone_region: string;
  terms: string;
  payment_terms: string;
  reminder_lead_days: number;
  sender_name: string | null;
  sender_address: string | null;
  contact_email: string | null;
  created_at: string;
  updated_at: string;
};

export type UpdateCompanyBody = {
  name?: string | undefined;
  /** An IANA time zone such as Europe/London, or UTC. Times that are sent without an offset are read in it. */
  time_zone?: string | null | undefined;
  /** ISO 3166 code of the country that phone numbers without a country code belong to. */
  phone_region?: string | null | undefined;
  /** Printed on new invoices. */
  terms?: string | null | undefined;
  /** Default for new invoices. */
  payment_terms?: string | null | undefined;
  /** How many days before an appointment its reminder is sent: 1 to 30. */
  reminder_lead_days?: number | string | null | undefined;
  /** The sender name of mails. */
  sender_name?: string | null | undefined;
  /** The sender address of mails. */
  sender_address?: string | null | undefined;
  /** Receives notices that need attention, such as a failing webhook endpoint; the sender address by default. */
  contact_email?: string | null | undefined;
};

export type UpdateCompanyAnswer = GetCompanyAnswer;

export type ListCompaniesEntry = GetCompanyAnswer;

export type CreateCompanyBody = {
  name: string;
  /** An IANA time zone such as Europe/London, or UTC. Times that are sent without an offset are read in it. */
  time_zone?: string | null | undefined;
  /** ISO 3166 code of the country that phone numbers without a country code belong to. */
  phone_region?: string | null | undefined;
  /** Printed on new invoices. */
  terms?: string | null | undefined;
  /** Default for new invoices. */
  payment_terms?: string | null | undefined;
  /** How many days before an appointment its reminder is sent: 1 to 30. */
  reminder_lead_days?: number | string | null | undefined;
  /** The sender name of mails. */
  sender_name?: string | null | undefined;
  /** The sender address of mails. */
  sender_address?: string | null | undefined;
  /** Receives notices that need attention, such as a failing webhook endpoint; the sender address by default. */
  contact_email?: string | null | undefined;
};

export type CreateCompanyAnswer = GetCompanyAnswer;

export type GetOneCompanyAnswer = GetCompanyAnswer;

export type UpdateOneCompanyBody = UpdateCompanyBody;

export type UpdateOneCompanyAnswer = GetCompanyAnswer;

export type ListAdvisersEntry = {
  id: string;
  email: string;
  name: string;
  active: boolean;
  video_provider: 'jitsi' | 'zoom' | null;
  created_at: string;
  updated_at: string;
};

export type CreateAdviserBody = {
  /** Unique within the company, ignoring case. Appointments name the adviser by it. */
  email: string;
  name: string;
  /** Whether new appointments can be booked; true by default. */
  active?: boolean | null | undefined;
  /** The video provider; null for none. `zoom` is set and cleared by connecting and disconnecting a video account. */
  video_provider?: 'jitsi' | 'zoom' | null | undefined;
};

export type CreateAdviserAnswer = ListAdvisersEntry;

export type GetAdviserAnswer = ListAdvisersEntry;

export type UpdateAdviserBody = {
  /** Unique within the company, ignoring case. Appointments name the adviser by it. */
  email?: string | undefined;
  name?: string | undefined;
  /** Whether new appointments can be booked; true by default. */
  active?: boolean | null | undefined;
  /** The video provider; null for none. `zoom` is set and cleared by connecting and disconnecting a video account. */
  video_provider?: 'jitsi' | 'zoom' | null | undefined;
};

export type UpdateAdviserAnswer = ListAdvisersEntry;

export type RemoveAdviserAnswer = {
  id: string;
  removed_at: string;
};

export type RestoreAdviserAnswer = ListAdvisersEntry;

export type ListCasesEntry = {
  /** The {caseId} of the twelve operations. */
  id: string;
  reference: string;
  /** In the order in which they were added. */
  customers: Array<{
    id: string;
    case_id: string;
    title: string;
    first_names: string;
    last_name: string;
    email: string | null;
    phone: string | null;
    created_at: string;
    updated_at: string;
  }>;
  created_at: string;
  updated_at: string;
};

export type CreateCaseBody = {
  /** The company's own name for the case; it need not be unique. */
  reference: string;
  /** At most 100 in this request; more can be added later. */
  customers?:
    | Array<{
        last_name: string;
        title?: string | null | undefined;
        first_names?: string | null | undefined;
        /** Can be the `email_recipient` of an appointment. */
        email?: string | null | undefined;
        /** A phone number. Without a country code it belongs to the company's region. */
        phone?: string | null | undefined;
      }>
    | null
    | undefined;
};

export type CreateCaseAnswer = ListCasesEntry;

export type GetCaseAnswer = ListCasesEntry;

export type UpdateCaseBody = {
  /** The company's own name for the case; it need not be unique. */
  reference?: string | undefined;
};

export type UpdateCaseAnswer = ListCasesEntry;

export type ListCustomersEntry = {
  id: string;
  case_id: string;
  title: string;
  first_names: string;
  last_name: string;
  email: string | null;
  phone: string | null;
  created_at: string;
  updated_at: string;
};

export type ListCaseCustomersEntry = ListCustomersEntry;

export type CreateCustomerBody = {
  last_name: string;
  title?: string | null | undefined;
  first_names?: string | null | undefined;
  /** Can be the `email_recipient` of an appointment. */
  email?: string | null | undefined;
  /** A phone number. Without a country code it belongs to the company's region. */
  phone?: string | null | undefined;
};

export type CreateCustomerAnswer = ListCustomersEntry;

export type GetCustomerAnswer = ListCustomersEntry;

export type UpdateCustomerBody = {
  last_name?: string | undefined;
  title?: string | null | undefined;
  first_names?: string | null | undefined;
  /** Can be the `email_recipient` of an appointment. */
  email?: string | null | undefined;
  /** A phone number. Without a country code it belongs to the company's region. */
  phone?: string | null | undefined;
};

export type UpdateCustomerAnswer = ListCustomersEntry;

export type RemoveCustomerAnswer = RemoveAdviserAnswer;

export type RestoreCustomerAnswer = ListCustomersEntry;

export type ListDefaultTagsEntry = {
  tag: string;
};

export type ListCustomTagsEntry = {
  tag: string;
  created_at: string;
};

export type CreateCustomTagBody = {
  /** Lower-case words joined by dashes. */
  tag: string;
};

export type CreateCustomTagAnswer = ListCustomTagsEntry;

export type DeleteCustomTagAnswer = {
  tag: string;
  removed_at: string;
};

export type ListClientsEntry = {
  /** The client_id. */
  id: string;
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
  >;
  created_at: string;
  updated_at: string;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  disabled_at: string | null;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** The key or API client that last replaced the secret; null if none did, or if the command line did. */
  rotated_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
};

export type CreateClientBody = {
  /** What the client is for. */
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
  >;
};

export type CreateClientAnswer = {
  /** The client_id. */
  id: string;
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
  >;
  created_at: string;
  updated_at: string;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  disabled_at: string | null;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** The key or API client that last replaced the secret; null if none did, or if the command line did. */
  rotated_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** It is shown only in this answer. */
  client_secret: string;
};

export type GetClientAnswer = ListClientsEntry;

export type UpdateClientBody = {
  /** What the client is for. */
  name?: string | undefined;
  /** The scopes of the credential. */
  scopes?:
    | Array<
        | 'address_book:read'
        | 'address_book:write'
        | 'interactions:read'
        | 'interactions:write'
        | 'invoices:read'
        | 'invoices:write'
        | 'appointments:read'
        | 'appointments:write'
        | 'events:read'
        | 'webhooks'
        | 'manage'
      >
    | undefined;
};

export type UpdateClientAnswer = ListClientsEntry;

export type RotateClientAnswer = CreateClientAnswer;

export type DisableClientAnswer = {
  /** The client_id. */
  id: string;
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
  >;
  created_at: string;
  updated_at: string;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  disabled_at: string | null;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** The key or API client that last replaced the secret; null if none did, or if the command line did. */
  rotated_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** Everything the credential created, directly or indirectly, that this request ended. */
  also_ended: Array<{
    type: 'key' | 'client' | 'webhook_endpoint';
    id: string;
    /** For an endpoint, its scheme and host. */
    name: string;
    state: 'active' | 'failing' | 'disabled' | 'revoked' | 'expired' | 'removed';
    created_at: string;
    /** For a client, when it last got a token; for an endpoint, when its last delivery ended. */
    last_used_at: string | null;
    /** The key or the API client that made it, as it was called then; null for the command line. */
    created_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
    /** The key or API client that last replaced the secret of the client, or last set the URL of the endpoint. */
    changed_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
  }>;
  /** Everything the credential created, directly or indirectly, that still works. */
  still_working: Array<{
    type: 'key' | 'client' | 'webhook_endpoint';
    id: string;
    /** For an endpoint, its scheme and host. */
    name: string;
    state: 'active' | 'failing' | 'disabled' | 'revoked' | 'expired' | 'removed';
    created_at: string;
    /** For a client, when it last got a token; for an endpoint, when its last delivery ended. */
    last_used_at: string | null;
    /** The key or the API client that made it, as it was called then; null for the command line. */
    created_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
    /** The key or API client that last replaced the secret of the client, or last set the URL of the endpoint. */
    changed_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
  }>;
};

export type EnableClientAnswer = ListClientsEntry;

export type ListKeysEntry = {
  id: string;
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
    | 'operator'
  >;
  created_at: string;
  expires_at: string | null;
  /** Exact to about a minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
};

export type CreateKeyBody = {
  /** What the key is for. */
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
  >;
  /** Must be in the future; without it the key works until it is revoked. */
  expires_at?: string | null | undefined;
};

export type CreateKeyAnswer = {
  id: string;
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
    | 'operator'
  >;
  created_at: string;
  expires_at: string | null;
  /** Exact to about a minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** The bearer token. It is shown only in this answer. */
  key: string;
};

export type GetKeyAnswer = ListKeysEntry;

export type RevokeKeyAnswer = {
  id: string;
  name: string;
  /** The scopes of the credential. */
  scopes: Array<
    | 'address_book:read'
    | 'address_book:write'
    | 'interactions:read'
    | 'interactions:write'
    | 'invoices:read'
    | 'invoices:write'
    | 'appointments:read'
    | 'appointments:write'
    | 'events:read'
    | 'webhooks'
    | 'manage'
    | 'operator'
  >;
  created_at: string;
  expires_at: string | null;
  /** Exact to about a minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** Everything the credential created, directly or indirectly, that this request ended. */
  also_ended: Array<{
    type: 'key' | 'client' | 'webhook_endpoint';
    id: string;
    /** For an endpoint, its scheme and host. */
    name: string;
    state: 'active' | 'failing' | 'disabled' | 'revoked' | 'expired' | 'removed';
    created_at: string;
    /** For a client, when it last got a token; for an endpoint, when its last delivery ended. */
    last_used_at: string | null;
    /** The key or the API client that made it, as it was called then; null for the command line. */
    created_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
    /** The key or API client that last replaced the secret of the client, or last set the URL of the endpoint. */
    changed_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
  }>;
  /** Everything the credential created, directly or indirectly, that still works. */
  still_working: Array<{
    type: 'key' | 'client' | 'webhook_endpoint';
    id: string;
    /** For an endpoint, its scheme and host. */
    name: string;
    state: 'active' | 'failing' | 'disabled' | 'revoked' | 'expired' | 'removed';
    created_at: string;
    /** For a client, when it last got a token; for an endpoint, when its last delivery ended. */
    last_used_at: string | null;
    /** The key or the API client that made it, as it was called then; null for the command line. */
    created_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
    /** The key or API client that last replaced the secret of the client, or last set the URL of the endpoint. */
    changed_by: {
      type: 'key' | 'client';
      id: string;
      name: string;
    } | null;
  }>;
};

export type CreateCompanyKeyBody = CreateKeyBody;

export type CreateCompanyKeyAnswer = CreateKeyAnswer;

export type GetVideoAccountAnswer = {
  adviser_id: string;
  /** Jitsi asks for nothing else, Zoom for everything below. */
  provider: 'jitsi' | 'zoom';
  account_id: string | null;
  client_id: string | null;
  user: string | null;
  updated_at: string;
};

export type ConnectVideoAccountBody = {
  /** Jitsi asks for nothing else, Zoom for everything below. */
  provider: 'jitsi' | 'zoom';
  /** Of the Zoom account that the app is in. */
  account_id?: string | null | undefined;
  /** Of a server-to-server OAuth app. */
  client_id?: string | null | undefined;
  /** Kept encrypted and never shown. */
  client_secret?: string | null | undefined;
  /** Whose meetings they are: an email or an identifier of Zoom, or "me". */
  user?: string | null | undefined;
};

export type ConnectVideoAccountAnswer = GetVideoAccountAnswer;

export type DisconnectVideoAccountAnswer = {
  adviser_id: string;
  disconnected_at: string;
};

export type ListWebhookEndpointsEntry = {
  id: string;
  url: string;
  description: string | null;
  types: string[];
  /** Events are sent only to an active endpoint; pings are sent to any. */
  state: 'active' | 'disabled' | 'failing';
  /** Why no events are sent; null if an update set the state. */
  state_reason: string | null;
  failing_since: string | null;
  secret_rotated_at: string | null;
  /** Until then deliveries are also signed with the previous secret. */
  previous_secret_until: string | null;
  created_at: string;
  updated_at: string;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** The key or API client that set the current `url`, with its name at that time; null for the command line. */
  url_set_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
};

export type CreateWebhookEndpointBody = {
  /** The URL that events are posted to: https, a public address, no credentials and no fragment. */
  url: string;
  /** A note for people. */
  description?: string | null | undefined;
  /** The events to send: a type such as `invoice.sent`, all types of a record (`invoice.*`), or all events (`*`). */
  types: string[];
};

export type CreateWebhookEndpointAnswer = {
  id: string;
  url: string;
  description: string | null;
  types: string[];
  /** Events are sent only to an active endpoint; pings are sent to any. */
  state: 'active' | 'disabled' | 'failing';
  /** Why no events are sent; null if an update set the state. */
  state_reason: string | null;
  failing_since: string | null;
  secret_rotated_at: string | null;
  /** Until then deliveries are also signed with the previous secret. */
  previous_secret_until: string | null;
  created_at: string;
  updated_at: string;
  /** The key or the API client that made it, as it was called then; null for the command line. */
  created_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** The key or API client that set the current `url`, with its name at that time; null for the command line. */
  url_set_by: {
    type: 'key' | 'client';
    id: string;
    name: string;
  } | null;
  /** Deliveries are signed with it. It is shown only in this answer. */
  secret: string;
};

export type GetWebhookEndpointAnswer = ListWebhookEndpointsEntry;

export type UpdateWebhookEndpointBody = {
  /** The URL that events are posted to: https, a public address, no credentials and no fragment. */
  url?: string | undefined;
  /** A note for people. */
  description?: string | null | undefined;
  /** The events to send: a type such as `invoice.sent`, all types of a record (`invoice.*`), or all events (`*`). */
  types?: string[] | undefined;
  /** A disabled endpoint is sent no events. They wait until it is active again. */
  state?: 'active' | 'disabled' | undefined;
};

export type UpdateWebhookEndpointAnswer = ListWebhookEndpointsEntry;

export type RemoveWebhookEndpointAnswer = RemoveAdviserAnswer;

export type RotateWebhookSecretBody = {
  /** How long deliveries are also signed with the old secret: 0 to 168 hours, 24 by default. */
  overlap_hours?: number | string | null | undefined;
};

export type RotateWebhookSecretAnswer = CreateWebhookEndpointAnswer;

export type ResumeWebhookEndpointAnswer = ListWebhookEndpointsEntry;

export type ListWebhookDeliveriesEntry = {
  /** The header `Webhook-Id`, and `id` in the body. It is the same in every delivery of the event. */
  event_id: string;
  id: string;
  endpoint_id: string;
  event_type: string;
  /** The record that the event is about; null for a ping. */
  record_id: string | null;
  /** Failed: abandoned after three days while the endpoint accepted other events; a ping fails after one attempt. Dropped: the endpoint was removed, or the event is no longer stored. */
  state: 'waiting' | 'delivered' | 'failed' | 'dropped';
  /** Attempts since it was queued, or since the endpoint was resumed. */
  attempts: number;
  /** The earliest time of the next attempt. Null if it has ended, or waits for an earlier event of its record. */
  next_attempt_at: string | null;
  created_at: string;
  first_attempt_at: string | null;
  delivered_at: string | null;
  /** The delivery that this one replays. */
  replay_of: string | null;
};

export type GetWebhookDeliveryAnswer = {
  /** The header `Webhook-Id`, and `id` in the body. It is the same in every delivery of the event. */
  event_id: string;
  id: string;
  endpoint_id: string;
  event_type: string;
  /** The record that the event is about; null for a ping. */
  record_id: string | null;
  /** Failed: abandoned after three days while the endpoint accepted other events; a ping fails after one attempt. Dropped: the endpoint was removed, or the event is no longer stored. */
  state: 'waiting' | 'delivered' | 'failed' | 'dropped';
  /** Attempts since it was queued, or since the endpoint was resumed. */
  attempts: number;
  /** The earliest time of the next attempt. Null if it has ended, or waits for an earlier event of its record. */
  next_attempt_at: string | null;
  created_at: string;
  first_attempt_at: string | null;
  delivered_at: string | null;
  /** The delivery that this one replays. */
  replay_of: string | null;
  /** Every attempt, oldest first. */
  tries: Array<{
    at: string;
    /** Status of the answer. */
    status: number | null;
    /** Why there was no answer. */
    error: string | null;
    /** Duration in milliseconds. */
    ms: number;
    /** The first 1,000 characters of the answer. */
    answer: string | null;
  }>;
};

export type ReplayWebhookDeliveryAnswer = ListWebhookDeliveriesEntry;

export type ReplayWebhookEventsBody = {
  /** The id of an event: the events after it. Or a time: the events at that time or later. */
  after?: string | null | undefined;
  /** The id of an event: the events up to and including it. Or a time: the events before it. */
  until?: string | null | undefined;
  /** Only these of the endpoint's types. */
  types?: string[] | null | undefined;
};

export type ReplayWebhookEventsAnswer = {
  /** Number of events that will be sent again. */
  queued: number;
  /** If there are more events, the `after` of the next request; otherwise null. */
  next: string | null;
};

export type PingWebhookEndpointAnswer = ListWebhookDeliveriesEntry;

export type CreateAccessTokenBody = {
  grant_type: 'client_credentials';
  /** Unless HTTP Basic is used. */
  client_id?: string | undefined;
  /** Unless HTTP Basic is used. */
  client_secret?: string | undefined;
  /** Scopes separated by spaces; all of the client's scopes if it is not sent. */
  scope?: string | undefined;
};

export type CreateAccessTokenAnswer = {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  scope: string;
};

export type RevokeAccessTokenBody = {
  /** An access token of this client. */
  token: string;
  /** Ignored. */
  token_type_hint?: string | undefined;
  /** Unless HTTP Basic is used. */
  client_id?: string | undefined;
  /** Unless HTTP Basic is used. */
  client_secret?: string | undefined;
};

export type RevokeAccessTokenAnswer = Record<string, never>;

/** What goes into every operation, and what comes out. */
export type Operations = {
  /** Get case address book. Every person and every address of the case, oldest first. The parameters are not part of the specification. */
  getCaseAddressBook: {
    input: {
      /** Only people whose names contain this text, without regard to case, and their addresses. */
      name?: string | undefined;
      /** Only people with this tag or custom tag. */
      tag?: string | undefined;
      /** Only deleted ones, to find what is to be restored. */
      deleted?: boolean | undefined;
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** The case. */
      caseId: string;
    };
    answer: GetCaseAddressBookEntry[];
  };
  /** Create case address book entry. The address becomes a record of its own, empty where none was sent; `data.address` is its identifier. */
  createCaseAddressBookEntry: {
    input: {
      /** The case. */
      caseId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCaseAddressBookEntryBody;
    };
    answer: CreateCaseAddressBookEntryAnswer;
  };
  /** Update case address book entry. Fields that are not sent stay as they are, null clears an optional field, tags are only ever added. */
  updateCaseAddressBookEntry: {
    input: {
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCaseAddressBookEntryBody;
    };
    answer: UpdateCaseAddressBookEntryAnswer;
  };
  /** Read one address book entry. The person as it stands in the address book, with its times. */
  readAddressBookEntry: {
    input: {
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: ReadAddressBookEntryAnswer;
  };
  /** Delete address book entry. The person and its address leave the address book and are unknown to every operation but restore. */
  deleteAddressBookEntry: {
    input: {
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: DeleteAddressBookEntryAnswer;
  };
  /** Restore a deleted address book entry. The address comes back with it. Refused with 400 when the entry is not deleted. */
  restoreAddressBookEntry: {
    input: {
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RestoreAddressBookEntryAnswer;
  };
  /** Remove a default tag from an entry. Answers with the entry; 404 when it does not have the tag. */
  removeTag: {
    input: {
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
      /** The tag on this entry. */
      tag: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RemoveTagAnswer;
  };
  /** Remove a custom tag from an entry. Answers with the entry; 404 when it does not have the tag. */
  removeCustomTag: {
    input: {
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
      /** The tag on this entry. */
      tag: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RemoveCustomTagAnswer;
  };
  /** Get case interactions. Every interaction of the case, newest first. The parameters are not part of the specification. */
  getCaseInteractions: {
    input: {
      /** Kind of contact; case-sensitive. */
      type?: 'phone' | 'email' | 'SMS' | 'appointment' | 'letter' | 'video_conference' | 'other' | undefined;
      /** Happened at this time or later. */
      from?: string | undefined;
      /** Happened before this time. */
      to?: string | undefined;
      /** Only deleted ones, to find what is to be restored. */
      deleted?: boolean | undefined;
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** The case. */
      caseId: string;
    };
    answer: GetCaseInteractionsEntry[];
  };
  /** Create case interaction. Writes a contact with the client into the log of the case. */
  createCaseInteraction: {
    input: {
      /** The case. */
      caseId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCaseInteractionBody;
    };
    answer: CreateCaseInteractionAnswer;
  };
  /** Update case interaction. Fields that are not sent stay as they are; null clears an optional field. */
  updateCaseInteraction: {
    input: {
      /** The case. */
      caseId: string;
      /** The interaction. */
      interactionId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCaseInteractionBody;
    };
    answer: UpdateCaseInteractionAnswer;
  };
  /** Read one interaction. As it stands in the list of the case. */
  readInteraction: {
    input: {
      /** The case. */
      caseId: string;
      /** The interaction. */
      interactionId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: ReadInteractionAnswer;
  };
  /** Delete interaction. It leaves the list and is unknown to every operation but restore. */
  deleteInteraction: {
    input: {
      /** The case. */
      caseId: string;
      /** The interaction. */
      interactionId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: DeleteInteractionAnswer;
  };
  /** Restore a deleted interaction. Refused with 400 when it is not deleted. */
  restoreInteraction: {
    input: {
      /** The case. */
      caseId: string;
      /** The interaction. */
      interactionId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RestoreInteractionAnswer;
  };
  /** Get case invoices. Every invoice of the case with its items, newest date_created first. The parameters but for show_cancelled_items are not part of the specification. */
  getCaseInvoices: {
    input: {
      /** Whether cancelled items are listed too. */
      show_cancelled_items?: boolean | undefined;
      /** Only those that stand so. */
      status?: 'Not Paid' | 'Part Paid' | 'Paid' | 'Cancelled' | undefined;
      /** Due at this time or later. */
      due_from?: string | undefined;
      /** Due before this time. */
      due_to?: string | undefined;
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** The case. */
      caseId: string;
    };
    answer: GetCaseInvoicesEntry[];
  };
  /** Create case invoice. Amounts are exact decimals and are stored as they are sent, rounded to two decimals. */
  createCaseInvoice: {
    input: {
      /** The case. */
      caseId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCaseInvoiceBody;
    };
    answer: CreateCaseInvoiceAnswer;
  };
  /** Update case invoice. Without items and without keep_existing_items: false the items stay as they are. */
  updateCaseInvoice: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCaseInvoiceBody;
    };
    answer: UpdateCaseInvoiceAnswer;
  };
  /** Read one invoice. As it stands in the list of the case, with its items, and what is paid and outstanding. */
  readInvoice: {
    input: {
      /** Whether cancelled items are listed too. */
      show_cancelled_items?: boolean | undefined;
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: ReadInvoiceAnswer;
  };
  /** Mark invoice as sent. Sets `date_sent`; once more moves it. The service sends nothing. Refused for a cancelled invoice. */
  markInvoiceSent: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body?: MarkInvoiceSentBody | undefined;
    };
    answer: MarkInvoiceSentAnswer;
  };
  /** Cancel invoice. Refused while it has payments that are not reversed. */
  cancelInvoice: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: CancelInvoiceAnswer;
  };
  /** Reinstate a cancelled invoice. Refused with 400 when it is not cancelled. */
  reinstateInvoice: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: ReinstateInvoiceAnswer;
  };
  /** Cancel invoice item. The item is listed only with show_cancelled_items. The amounts of the invoice stay as they were sent. Refused while the invoice is cancelled. */
  cancelInvoiceItem: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** The invoice item. */
      itemId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: CancelInvoiceItemAnswer;
  };
  /** Reinstate a cancelled invoice item. Refused with 400 when it is not cancelled, or while the invoice is. */
  reinstateInvoiceItem: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** The invoice item. */
      itemId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: ReinstateInvoiceItemAnswer;
  };
  /** List the payments of an invoice. In the order in which they were made, reversed ones included. */
  listPayments: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
    };
    answer: ListPaymentsEntry[];
  };
  /** Record a payment. A part or the whole of what is outstanding; the status of the invoice, of its items and `date_paid` follow. Refused for a cancelled invoice. */
  recordPayment: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: RecordPaymentBody;
    };
    answer: RecordPaymentAnswer;
  };
  /** Reverse a payment. It stays in the list and counts no longer. Refused when it is already reversed. */
  reversePayment: {
    input: {
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
      /** The payment. */
      paymentId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: ReversePaymentAnswer;
  };
  /** Create case appointment. Books an appointment. A reminder goes out one day before the start at the same wall time; booked later than that, one hour before the start; later still, it is skipped. */
  createCaseAppointment: {
    input: {
      /** The case. */
      caseId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCaseAppointmentBody;
    };
    answer: CreateCaseAppointmentAnswer;
  };
  /** List the appointments of a case. In the order of their starts. */
  listCaseAppointments: {
    input: {
      /** Starts at this time or later. */
      from?: string | undefined;
      /** Starts before this time. */
      to?: string | undefined;
      /** Only those that are not deleted, only deleted ones, or all. */
      deleted?: 'true' | 'false' | '1' | '0' | 'all' | undefined;
      /** The address that an adviser of the company has now. */
      adviser_email?: string | undefined;
      /** The case. */
      caseId: string;
    };
    answer: ListCaseAppointmentsEntry[];
  };
  /** Update case appointment. Moving the start moves the reminders. A confirmation goes out again only when this request asks for it; false withdraws what has not gone out; notes and location send nothing. */
  updateCaseAppointment: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCaseAppointmentBody;
    };
    answer: UpdateCaseAppointmentAnswer;
  };
  /** Delete case appointment. Withdraws every message that has not gone out, and the meeting. */
  deleteCaseAppointment: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: DeleteCaseAppointmentAnswer;
  };
  /** Read one appointment. A deleted one is unknown here; the list shows it on request. */
  readAppointment: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: ReadAppointmentAnswer;
  };
  /** List the appointments of an adviser. Across the cases of the company, in the order of their starts. `X-Total-Count` and `Link` tell of the other pages. */
  listAdviserAppointments: {
    input: {
      /** The address that an adviser of the company has now. */
      adviser_email: string;
      /** Starts at this time or later. */
      from?: string | undefined;
      /** Starts before this time. */
      to?: string | undefined;
      /** Only those that are not deleted, only deleted ones, or all. */
      deleted?: 'true' | 'false' | '1' | '0' | 'all' | undefined;
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
    };
    answer: ListAdviserAppointmentsEntry[];
  };
  /** Restore a deleted appointment. Places the reminders that were wanted anew; confirmations do not go out again. Refused with 400 when it is not deleted. */
  restoreAppointment: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RestoreAppointmentAnswer;
  };
  /** Say what became of an appointment. Cancelling withdraws every message that has not gone out, taking it back places the reminders anew. While it is cancelled no message is placed. It cannot be both attended and cancelled. */
  setAppointmentOutcome: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: SetAppointmentOutcomeBody;
    };
    answer: SetAppointmentOutcomeAnswer;
  };
  /** Messages of an appointment. Every confirmation and reminder, the first due first: where it stands, and what went wrong. */
  listAppointmentMessages: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
    };
    answer: ListAppointmentMessagesEntry[];
  };
  /** Messages of the company. In pages, the last due first; deleted appointments included. */
  listMessages: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only messages in this state. */
      state?: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped' | undefined;
    };
    answer: ListMessagesEntry[];
  };
  /** Send a message once more. Makes a new message of the same kind that is due now, about the appointment as it stands. Only for messages that were sent or that failed, while a reminder or a confirmation still makes sense. */
  resendMessage: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** The message. */
      messageId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: ResendMessageAnswer;
  };
  /** Meeting of an appointment. Where it stands, its link, and what went wrong. */
  getAppointmentMeeting: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
    };
    answer: GetAppointmentMeetingAnswer;
  };
  /** Ask for a meeting. After the booking, or once more after a failure. Refused with 400 when the appointment is cancelled or over, or when its adviser has no connected account. */
  wishAppointmentMeeting: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: WishAppointmentMeetingAnswer;
  };
  /** Withdraw a meeting. It is removed at the provider. Refused with 400 when none is wished for. */
  withdrawAppointmentMeeting: {
    input: {
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: WithdrawAppointmentMeetingAnswer;
  };
  /** Meetings of the company. In pages, the last that something happened to first; those of deleted appointments included. */
  listMeetings: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only meetings in this state. */
      state?: 'none' | 'pending' | 'ready' | 'failed' | undefined;
    };
    answer: ListMeetingsEntry[];
  };
  /** List the events of the company. Returns every change of every record of the company. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listEvents: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
    };
    answer: ListEventsEntry[];
  };
  /** List the events of a case. Returns every change of the case and of its records. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listCaseEvents: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
    };
    answer: ListCaseEventsEntry[];
  };
  /** List the history of one adviser. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listAdviserHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The adviser. */
      adviserId: string;
    };
    answer: ListAdviserHistoryEntry[];
  };
  /** List the history of one appointment. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listAppointmentHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
      /** The appointment. */
      appointmentID: string;
    };
    answer: ListAppointmentHistoryEntry[];
  };
  /** List the history of one case. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listCaseHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
    };
    answer: ListCaseHistoryEntry[];
  };
  /** List the history of one api client. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listApiClientHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The client. */
      clientId: string;
    };
    answer: ListApiClientHistoryEntry[];
  };
  /** List the history of one company. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listCompanyHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
    };
    answer: ListCompanyHistoryEntry[];
  };
  /** List the history of one customer. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listCustomerHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
      /** The customer. */
      customerId: string;
    };
    answer: ListCustomerHistoryEntry[];
  };
  /** List the history of one webhook endpoint. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listWebhookEndpointHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The webhook endpoint. */
      endpointId: string;
    };
    answer: ListWebhookEndpointHistoryEntry[];
  };
  /** List the history of one address book entry. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listAddressBookEntryHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
      /** The address book entry. */
      entryID: string;
    };
    answer: ListAddressBookEntryHistoryEntry[];
  };
  /** List the history of one interaction. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listInteractionHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
      /** The interaction. */
      interactionId: string;
    };
    answer: ListInteractionHistoryEntry[];
  };
  /** List the history of one invoice. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listInvoiceHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The case. */
      caseId: string;
      /** The invoice. */
      invoiceId: string;
    };
    answer: ListInvoiceHistoryEntry[];
  };
  /** List the history of one api key. Returns every change of the record, even if it has been deleted. Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date. */
  listApiKeyHistory: {
    input: {
      /** The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. By default the list starts with the oldest event. */
      after?: string | undefined;
      /** At most this many events, up to 500. Large events make a page shorter; follow the link. */
      limit?: number | undefined;
      /** Only these types, separated by commas. `invoice.*` stands for every type of that record. */
      types?: string | undefined;
      /** The key. */
      keyId: string;
    };
    answer: ListApiKeyHistoryEntry[];
  };
  /** Get the company. The settings of the company that the token belongs to. */
  getCompany: {
    input: {
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetCompanyAnswer;
  };
  /** Update the company. Settings that are not sent stay unchanged; null resets a setting to its default. Every process uses the new settings within two seconds. Existing invoices, appointments and reminders keep the values they were created with. */
  updateCompany: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCompanyBody;
    };
    answer: UpdateCompanyAnswer;
  };
  /** List companies. Every company of the installation, ordered by name. `search` matches the name. */
  listCompanies: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListCompaniesEntry[];
  };
  /** Create a company. Only the name is required. Create a first key for the company afterwards. */
  createCompany: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCompanyBody;
    };
    answer: CreateCompanyAnswer;
  };
  /** Get one company. The settings of any company. */
  getOneCompany: {
    input: {
      /** The company. */
      companyId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetOneCompanyAnswer;
  };
  /** Update one company. The same as PATCH /manage/company, for any company. */
  updateOneCompany: {
    input: {
      /** The company. */
      companyId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateOneCompanyBody;
    };
    answer: UpdateOneCompanyAnswer;
  };
  /** List advisers. Ordered by name. `search` matches the name and the email. */
  listAdvisers: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
      /** True lists those that were removed, and only those. */
      removed?: boolean | undefined;
    };
    answer: ListAdvisersEntry[];
  };
  /** Create an adviser. Appointments can be booked with the adviser immediately. */
  createAdviser: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateAdviserBody;
    };
    answer: CreateAdviserAnswer;
  };
  /** Get an adviser. One adviser of the company. */
  getAdviser: {
    input: {
      /** The adviser. */
      adviserId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetAdviserAnswer;
  };
  /** Update an adviser. Fields that are not sent stay unchanged. Appointments keep the email they were booked with. An inactive adviser cannot be booked; existing appointments stay. */
  updateAdviser: {
    input: {
      /** The adviser. */
      adviserId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateAdviserBody;
    };
    answer: UpdateAdviserAnswer;
  };
  /** Remove an adviser. The adviser leaves the lists, can no longer be booked, and the email can be used again. Appointments stay unchanged. */
  removeAdviser: {
    input: {
      /** The adviser. */
      adviserId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RemoveAdviserAnswer;
  };
  /** Restore a removed adviser. Restores the adviser unchanged. Answers 400 if the adviser is not removed, or if another adviser has the email. */
  restoreAdviser: {
    input: {
      /** The adviser. */
      adviserId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RestoreAdviserAnswer;
  };
  /** List cases. Newest first. `search` matches the reference and the names, emails and phone numbers of the customers; a phone number is found in any notation. */
  listCases: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListCasesEntry[];
  };
  /** Open a case. Creates the case and its customers together: all of them or nothing. */
  createCase: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCaseBody;
    };
    answer: CreateCaseAnswer;
  };
  /** Get a case. With its customers. */
  getCase: {
    input: {
      /** The case. */
      caseId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetCaseAnswer;
  };
  /** Update a case. Changes the reference. */
  updateCase: {
    input: {
      /** The case. */
      caseId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCaseBody;
    };
    answer: UpdateCaseAnswer;
  };
  /** List customers. The customers of all cases, ordered by last name. `search` matches names, email and phone number; a phone number is found in any notation. */
  listCustomers: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
      /** True lists those that were removed, and only those. */
      removed?: boolean | undefined;
    };
    answer: ListCustomersEntry[];
  };
  /** List customers of a case. In the order in which they were added. `search` matches names, email and phone number. */
  listCaseCustomers: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
      /** True lists those that were removed, and only those. */
      removed?: boolean | undefined;
      /** The case. */
      caseId: string;
    };
    answer: ListCaseCustomersEntry[];
  };
  /** Add a customer. Relationships and appointments can name the customer immediately. */
  createCustomer: {
    input: {
      /** The case. */
      caseId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: CreateCustomerBody;
    };
    answer: CreateCustomerAnswer;
  };
  /** Get a customer. One customer of the case. */
  getCustomer: {
    input: {
      /** The case. */
      caseId: string;
      /** The customer. */
      customerId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetCustomerAnswer;
  };
  /** Update a customer. Fields that are not sent stay unchanged; null clears an optional field. Appointments keep the email and invoices keep the names they were created with. */
  updateCustomer: {
    input: {
      /** The case. */
      caseId: string;
      /** The customer. */
      customerId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateCustomerBody;
    };
    answer: UpdateCustomerAnswer;
  };
  /** Remove a customer. The customer leaves the lists and can no longer be named in a relationship, as a recipient or on an invoice. Records that name the customer stay unchanged. */
  removeCustomer: {
    input: {
      /** The case. */
      caseId: string;
      /** The customer. */
      customerId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RemoveCustomerAnswer;
  };
  /** Restore a removed customer. Restores the customer unchanged. Answers 400 if the customer is not removed. */
  restoreCustomer: {
    input: {
      /** The case. */
      caseId: string;
      /** The customer. */
      customerId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RestoreCustomerAnswer;
  };
  /** List default tags. The tags that every company has. They cannot be changed. */
  listDefaultTags: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListDefaultTagsEntry[];
  };
  /** List custom tags. The company's own tags, in alphabetical order. */
  listCustomTags: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListCustomTagsEntry[];
  };
  /** Create a custom tag. Address book entries can use it immediately. */
  createCustomTag: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateCustomTagBody;
    };
    answer: CreateCustomTagAnswer;
  };
  /** Remove a custom tag. It can no longer be added to entries. Entries that have it keep it. */
  deleteCustomTag: {
    input: {
      /** The custom tag. */
      tag: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
    };
    answer: DeleteCustomTagAnswer;
  };
  /** List API clients. Newest first. `search` matches the name. */
  listClients: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListClientsEntry[];
  };
  /** Create an API client. A client for POST /oauth/token. The caller can grant only scopes that it has itself. The secret is shown only in this answer; the service stores a hash of it. */
  createClient: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateClientBody;
    };
    answer: CreateClientAnswer;
  };
  /** Get an API client. Everything except the secret. */
  getClient: {
    input: {
      /** The client. */
      clientId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetClientAnswer;
  };
  /** Update an API client. Tokens lose a removed scope within two seconds. Only new tokens get an added scope, and the caller must have it itself. */
  updateClient: {
    input: {
      /** The client. */
      clientId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateClientBody;
    };
    answer: UpdateClientAnswer;
  };
  /** Replace a client's secret. The old secret gets no more tokens; tokens that were issued before work until they expire. Disabling the client ends them as well. Answers 400 if the client has scopes that the caller does not have. */
  rotateClient: {
    input: {
      /** The client. */
      clientId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RotateClientAnswer;
  };
  /** Disable an API client. The client gets no more tokens. Its tokens stop working within two seconds and cannot create credentials or endpoints from this moment. The answer lists everything the client created that still works; `also` ends that too, in the same transaction. Disabling a disabled client again gives the same answer. */
  disableClient: {
    input: {
      /** What to end together with the credential, separated by commas: `endpoints`, `keys`, `clients`. Applies to everything of these kinds that the credential created, directly or indirectly: endpoints and clients are disabled, keys are revoked. */
      also?: string | undefined;
      /** The client. */
      clientId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: DisableClientAnswer;
  };
  /** Enable an API client. The client gets tokens again, with the same secret. Tokens from before it was disabled stay ended. */
  enableClient: {
    input: {
      /** The client. */
      clientId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: EnableClientAnswer;
  };
  /** List API keys. Newest first, including revoked and expired keys. `search` matches the name. */
  listKeys: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListKeysEntry[];
  };
  /** Create an API key. A bearer token for a script. The caller can grant only scopes that it has itself. The key is shown only in this answer; the service stores a hash of it. */
  createKey: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateKeyBody;
    };
    answer: CreateKeyAnswer;
  };
  /** Get an API key. Everything except the key itself. */
  getKey: {
    input: {
      /** The key. */
      keyId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetKeyAnswer;
  };
  /** Revoke an API key. The key stops working within two seconds, cannot create credentials or endpoints from this moment, and stays in the list. The answer lists everything the key created that still works; `also` ends that too, in the same transaction. Revoking a revoked key again gives the same answer. */
  revokeKey: {
    input: {
      /** What to end together with the credential, separated by commas: `endpoints`, `keys`, `clients`. Applies to everything of these kinds that the credential created, directly or indirectly: endpoints and clients are disabled, keys are revoked. */
      also?: string | undefined;
      /** The key. */
      keyId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RevokeKeyAnswer;
  };
  /** Create an API key for a company. The first key of a new company. The company creates its other keys with it. */
  createCompanyKey: {
    input: {
      /** The company. */
      companyId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: CreateCompanyKeyBody;
    };
    answer: CreateCompanyKeyAnswer;
  };
  /** Get an adviser's video account. Without its secret, which nobody is shown. Also of a removed adviser. */
  getVideoAccount: {
    input: {
      /** The adviser. */
      adviserId: string;
    };
    answer: GetVideoAccountAnswer;
  };
  /** Connect an adviser's video account. Takes the place of another one: upcoming meetings are removed there and made here. The same account with other credentials keeps its meetings, and those that were given up are tried again. */
  connectVideoAccount: {
    input: {
      /** The adviser. */
      adviserId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: ConnectVideoAccountBody;
    };
    answer: ConnectVideoAccountAnswer;
  };
  /** Disconnect an adviser's video account. Upcoming meetings are removed with it, and then its secret is forgotten. Also of a removed adviser. */
  disconnectVideoAccount: {
    input: {
      /** The adviser. */
      adviserId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: DisconnectVideoAccountAnswer;
  };
  /** List webhook endpoints. Newest first. `search` looks in the URL and the description. */
  listWebhookEndpoints: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only entries that contain this text, without regard to case. */
      search?: string | undefined;
    };
    answer: ListWebhookEndpointsEntry[];
  };
  /** Create a webhook endpoint. Events of these types are posted to it from now on, signed with the secret. The secret is shown only in this answer. A company can have at most 50 endpoints. The token also needs the scope `events:read`. */
  createWebhookEndpoint: {
    input: {
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      body: CreateWebhookEndpointBody;
    };
    answer: CreateWebhookEndpointAnswer;
  };
  /** Get a webhook endpoint. Returns everything except the secret. */
  getWebhookEndpoint: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** An ETag. If the record has not changed, the response is 304 without a body. */
      ifNoneMatch?: string | undefined;
    };
    answer: GetWebhookEndpointAnswer;
  };
  /** Update a webhook endpoint. Fields that are not sent stay as they are. A new `url` also applies to waiting deliveries; new `types` apply to later events only. The token also needs the scope `events:read`. */
  updateWebhookEndpoint: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body: UpdateWebhookEndpointBody;
    };
    answer: UpdateWebhookEndpointAnswer;
  };
  /** Remove a webhook endpoint. No more events are sent to it, and waiting deliveries are dropped. */
  removeWebhookEndpoint: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: RemoveWebhookEndpointAnswer;
  };
  /** Replace the secret of a webhook endpoint. The new secret is shown only in this answer. Until the overlap ends, deliveries are also signed with the old one. The token also needs the scope `events:read`. */
  rotateWebhookSecret: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body?: RotateWebhookSecretBody | undefined;
    };
    answer: RotateWebhookSecretAnswer;
  };
  /** Resume a webhook endpoint. Activates a failing or disabled endpoint. All events since then are delivered, those of each record in order. The token also needs the scope `events:read`. */
  resumeWebhookEndpoint: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: ResumeWebhookEndpointAnswer;
  };
  /** List deliveries to a webhook endpoint. Newest first, in pages. A delivery is deleted 30 days after it ended. */
  listWebhookDeliveries: {
    input: {
      /** Which page, from 1. */
      page?: number | undefined;
      /** Entries per page, at most 200. */
      per_page?: number | undefined;
      /** Only deliveries in this state. */
      state?: 'waiting' | 'delivered' | 'failed' | 'dropped' | undefined;
      /** Only events of this type. */
      type?: string | undefined;
      /** Only deliveries that were queued at this time or later. */
      from?: string | undefined;
      /** Only deliveries that were queued before this time. */
      to?: string | undefined;
      /** The webhook endpoint. */
      endpointId: string;
    };
    answer: ListWebhookDeliveriesEntry[];
  };
  /** Get a delivery. Includes every attempt: its time, its duration, and the answer or the error. */
  getWebhookDelivery: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** The delivery. */
      deliveryId: string;
    };
    answer: GetWebhookDeliveryAnswer;
  };
  /** Replay a delivery. Sends the event of an ended delivery again, as a new delivery. The token also needs the scope `events:read`. */
  replayWebhookDelivery: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** The delivery. */
      deliveryId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: ReplayWebhookDeliveryAnswer;
  };
  /** Replay a range of events. Queues new deliveries of the events in the range, at most 10,000 per request. If there are more, `next` is the `after` of the next request. Without bounds the range is the whole log. Events that are already waiting are left out. Refused while more than 50,000 deliveries wait. The token also needs the scope `events:read`. */
  replayWebhookEvents: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
      body?: ReplayWebhookEventsBody | undefined;
    };
    answer: ReplayWebhookEventsAnswer;
  };
  /** Send a ping to a webhook endpoint. Queues an event of the type `ping`. It is sent once, in any state of the endpoint. While a ping waits, no other is queued: the answer is the waiting one. */
  pingWebhookEndpoint: {
    input: {
      /** The webhook endpoint. */
      endpointId: string;
      /** Makes a retry safe: the first response is stored for 24 hours and returned again, with `Idempotency-Replayed: true`. */
      idempotencyKey?: string | undefined;
      /** The ETag of the record as it was read. If the record has changed since, the write is rejected with 412. */
      ifMatch?: string | undefined;
    };
    answer: PingWebhookEndpointAnswer;
  };
  /** Get an access token. OAuth 2.0 client credentials (RFC 6749). The client authenticates by HTTP Basic or in the body. The token works for `expires_in` seconds: one hour, unless the service is configured otherwise. */
  createAccessToken: {
    input: {
      body: CreateAccessTokenBody;
    };
    answer: CreateAccessTokenAnswer;
  };
  /** Revoke an access token. OAuth 2.0 token revocation (RFC 7009). The token stops working within two seconds. A token of another client, or an unknown one, is ignored, and the answer is the same. */
  revokeAccessToken: {
    input: {
      body: RevokeAccessTokenBody;
    };
    answer: RevokeAccessTokenAnswer;
  };
};

export const OPERATIONS: Record<keyof Operations, Operation> = {
  getCaseAddressBook: {
    method: 'GET',
    path: '/cases/{caseId}/address-book',
    query: ['name', 'tag', 'deleted', 'page', 'per_page'],
    headers: {},
    bearer: true,
  },
  createCaseAddressBookEntry: {
    method: 'POST',
    path: '/cases/{caseId}/address-book/entry',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  updateCaseAddressBookEntry: {
    method: 'PATCH',
    path: '/cases/{caseId}/address-book/entry/{entryID}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  readAddressBookEntry: {
    method: 'GET',
    path: '/cases/{caseId}/address-book/entry/{entryID}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  deleteAddressBookEntry: {
    method: 'DELETE',
    path: '/cases/{caseId}/address-book/entry/{entryID}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  restoreAddressBookEntry: {
    method: 'POST',
    path: '/cases/{caseId}/address-book/entry/{entryID}/restore',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  removeTag: {
    method: 'DELETE',
    path: '/cases/{caseId}/address-book/entry/{entryID}/tags/{tag}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  removeCustomTag: {
    method: 'DELETE',
    path: '/cases/{caseId}/address-book/entry/{entryID}/custom-tags/{tag}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  getCaseInteractions: {
    method: 'GET',
    path: '/cases/{caseId}/interactions',
    query: ['type', 'from', 'to', 'deleted', 'page', 'per_page'],
    headers: {},
    bearer: true,
  },
  createCaseInteraction: {
    method: 'POST',
    path: '/cases/{caseId}/interactions',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  updateCaseInteraction: {
    method: 'PATCH',
    path: '/cases/{caseId}/interactions/{interactionId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  readInteraction: {
    method: 'GET',
    path: '/cases/{caseId}/interactions/{interactionId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  deleteInteraction: {
    method: 'DELETE',
    path: '/cases/{caseId}/interactions/{interactionId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  restoreInteraction: {
    method: 'POST',
    path: '/cases/{caseId}/interactions/{interactionId}/restore',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  getCaseInvoices: {
    method: 'GET',
    path: '/cases/{caseId}/invoices',
    query: ['show_cancelled_items', 'status', 'due_from', 'due_to', 'page', 'per_page'],
    headers: {},
    bearer: true,
  },
  createCaseInvoice: {
    method: 'POST',
    path: '/cases/{caseId}/invoices',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  updateCaseInvoice: {
    method: 'PATCH',
    path: '/cases/{caseId}/invoices/{invoiceId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  readInvoice: {
    method: 'GET',
    path: '/cases/{caseId}/invoices/{invoiceId}',
    query: ['show_cancelled_items'],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  markInvoiceSent: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/sent',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  cancelInvoice: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/cancel',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  reinstateInvoice: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/reinstate',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  cancelInvoiceItem: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/items/{itemId}/cancel',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  reinstateInvoiceItem: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/items/{itemId}/reinstate',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listPayments: {
    method: 'GET',
    path: '/cases/{caseId}/invoices/{invoiceId}/payments',
    query: [],
    headers: {},
    bearer: true,
  },
  recordPayment: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/payments',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  reversePayment: {
    method: 'POST',
    path: '/cases/{caseId}/invoices/{invoiceId}/payments/{paymentId}/reverse',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  createCaseAppointment: {
    method: 'POST',
    path: '/cases/{caseId}/appointments',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  listCaseAppointments: {
    method: 'GET',
    path: '/cases/{caseId}/appointments',
    query: ['from', 'to', 'deleted', 'adviser_email'],
    headers: {},
    bearer: true,
  },
  updateCaseAppointment: {
    method: 'PATCH',
    path: '/cases/{caseId}/appointments/{appointmentID}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  deleteCaseAppointment: {
    method: 'DELETE',
    path: '/cases/{caseId}/appointments/{appointmentID}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  readAppointment: {
    method: 'GET',
    path: '/cases/{caseId}/appointments/{appointmentID}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  listAdviserAppointments: {
    method: 'GET',
    path: '/appointments',
    query: ['adviser_email', 'from', 'to', 'deleted', 'page', 'per_page'],
    headers: {},
    bearer: true,
  },
  restoreAppointment: {
    method: 'POST',
    path: '/cases/{caseId}/appointments/{appointmentID}/restore',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  setAppointmentOutcome: {
    method: 'PATCH',
    path: '/cases/{caseId}/appointments/{appointmentID}/outcome',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listAppointmentMessages: {
    method: 'GET',
    path: '/cases/{caseId}/appointments/{appointmentID}/messages',
    query: [],
    headers: {},
    bearer: true,
  },
  listMessages: { method: 'GET', path: '/messages', query: ['page', 'per_page', 'state'], headers: {}, bearer: true },
  resendMessage: {
    method: 'POST',
    path: '/cases/{caseId}/appointments/{appointmentID}/messages/{messageId}/resend',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  getAppointmentMeeting: {
    method: 'GET',
    path: '/cases/{caseId}/appointments/{appointmentID}/meeting',
    query: [],
    headers: {},
    bearer: true,
  },
  wishAppointmentMeeting: {
    method: 'POST',
    path: '/cases/{caseId}/appointments/{appointmentID}/meeting',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  withdrawAppointmentMeeting: {
    method: 'DELETE',
    path: '/cases/{caseId}/appointments/{appointmentID}/meeting',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listMeetings: { method: 'GET', path: '/meetings', query: ['page', 'per_page', 'state'], headers: {}, bearer: true },
  listEvents: { method: 'GET', path: '/events', query: ['after', 'limit', 'types'], headers: {}, bearer: true },
  listCaseEvents: {
    method: 'GET',
    path: '/cases/{caseId}/events',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listAdviserHistory: {
    method: 'GET',
    path: '/manage/advisers/{adviserId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listAppointmentHistory: {
    method: 'GET',
    path: '/cases/{caseId}/appointments/{appointmentID}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listCaseHistory: {
    method: 'GET',
    path: '/manage/cases/{caseId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listApiClientHistory: {
    method: 'GET',
    path: '/manage/clients/{clientId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listCompanyHistory: {
    method: 'GET',
    path: '/manage/company/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listCustomerHistory: {
    method: 'GET',
    path: '/manage/cases/{caseId}/customers/{customerId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listWebhookEndpointHistory: {
    method: 'GET',
    path: '/webhooks/endpoints/{endpointId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listAddressBookEntryHistory: {
    method: 'GET',
    path: '/cases/{caseId}/address-book/entry/{entryID}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listInteractionHistory: {
    method: 'GET',
    path: '/cases/{caseId}/interactions/{interactionId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listInvoiceHistory: {
    method: 'GET',
    path: '/cases/{caseId}/invoices/{invoiceId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  listApiKeyHistory: {
    method: 'GET',
    path: '/manage/keys/{keyId}/history',
    query: ['after', 'limit', 'types'],
    headers: {},
    bearer: true,
  },
  getCompany: {
    method: 'GET',
    path: '/manage/company',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateCompany: {
    method: 'PATCH',
    path: '/manage/company',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listCompanies: {
    method: 'GET',
    path: '/manage/companies',
    query: ['page', 'per_page', 'search'],
    headers: {},
    bearer: true,
  },
  createCompany: {
    method: 'POST',
    path: '/manage/companies',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  getOneCompany: {
    method: 'GET',
    path: '/manage/companies/{companyId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateOneCompany: {
    method: 'PATCH',
    path: '/manage/companies/{companyId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listAdvisers: {
    method: 'GET',
    path: '/manage/advisers',
    query: ['page', 'per_page', 'search', 'removed'],
    headers: {},
    bearer: true,
  },
  createAdviser: {
    method: 'POST',
    path: '/manage/advisers',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  getAdviser: {
    method: 'GET',
    path: '/manage/advisers/{adviserId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateAdviser: {
    method: 'PATCH',
    path: '/manage/advisers/{adviserId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  removeAdviser: {
    method: 'DELETE',
    path: '/manage/advisers/{adviserId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  restoreAdviser: {
    method: 'POST',
    path: '/manage/advisers/{adviserId}/restore',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listCases: { method: 'GET', path: '/manage/cases', query: ['page', 'per_page', 'search'], headers: {}, bearer: true },
  createCase: {
    method: 'POST',
    path: '/manage/cases',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  getCase: {
    method: 'GET',
    path: '/manage/cases/{caseId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateCase: {
    method: 'PATCH',
    path: '/manage/cases/{caseId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listCustomers: {
    method: 'GET',
    path: '/manage/customers',
    query: ['page', 'per_page', 'search', 'removed'],
    headers: {},
    bearer: true,
  },
  listCaseCustomers: {
    method: 'GET',
    path: '/manage/cases/{caseId}/customers',
    query: ['page', 'per_page', 'search', 'removed'],
    headers: {},
    bearer: true,
  },
  createCustomer: {
    method: 'POST',
    path: '/manage/cases/{caseId}/customers',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  getCustomer: {
    method: 'GET',
    path: '/manage/cases/{caseId}/customers/{customerId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateCustomer: {
    method: 'PATCH',
    path: '/manage/cases/{caseId}/customers/{customerId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  removeCustomer: {
    method: 'DELETE',
    path: '/manage/cases/{caseId}/customers/{customerId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  restoreCustomer: {
    method: 'POST',
    path: '/manage/cases/{caseId}/customers/{customerId}/restore',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listDefaultTags: {
    method: 'GET',
    path: '/manage/default-tags',
    query: ['page', 'per_page', 'search'],
    headers: {},
    bearer: true,
  },
  listCustomTags: {
    method: 'GET',
    path: '/manage/custom-tags',
    query: ['page', 'per_page', 'search'],
    headers: {},
    bearer: true,
  },
  createCustomTag: {
    method: 'POST',
    path: '/manage/custom-tags',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  deleteCustomTag: {
    method: 'DELETE',
    path: '/manage/custom-tags/{tag}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  listClients: {
    method: 'GET',
    path: '/manage/clients',
    query: ['page', 'per_page', 'search'],
    headers: {},
    bearer: true,
  },
  createClient: {
    method: 'POST',
    path: '/manage/clients',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  getClient: {
    method: 'GET',
    path: '/manage/clients/{clientId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateClient: {
    method: 'PATCH',
    path: '/manage/clients/{clientId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  rotateClient: {
    method: 'POST',
    path: '/manage/clients/{clientId}/rotate',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  disableClient: {
    method: 'POST',
    path: '/manage/clients/{clientId}/disable',
    query: ['also'],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  enableClient: {
    method: 'POST',
    path: '/manage/clients/{clientId}/enable',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listKeys: { method: 'GET', path: '/manage/keys', query: ['page', 'per_page', 'search'], headers: {}, bearer: true },
  createKey: {
    method: 'POST',
    path: '/manage/keys',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  getKey: {
    method: 'GET',
    path: '/manage/keys/{keyId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  revokeKey: {
    method: 'DELETE',
    path: '/manage/keys/{keyId}',
    query: ['also'],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  createCompanyKey: {
    method: 'POST',
    path: '/manage/companies/{companyId}/keys',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  getVideoAccount: {
    method: 'GET',
    path: '/manage/advisers/{adviserId}/video-account',
    query: [],
    headers: {},
    bearer: true,
  },
  connectVideoAccount: {
    method: 'PUT',
    path: '/manage/advisers/{adviserId}/video-account',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  disconnectVideoAccount: {
    method: 'DELETE',
    path: '/manage/advisers/{adviserId}/video-account',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listWebhookEndpoints: {
    method: 'GET',
    path: '/webhooks/endpoints',
    query: ['page', 'per_page', 'search'],
    headers: {},
    bearer: true,
  },
  createWebhookEndpoint: {
    method: 'POST',
    path: '/webhooks/endpoints',
    query: [],
    headers: { idempotencyKey: 'idempotency-key' },
    bearer: true,
  },
  getWebhookEndpoint: {
    method: 'GET',
    path: '/webhooks/endpoints/{endpointId}',
    query: [],
    headers: { ifNoneMatch: 'if-none-match' },
    bearer: true,
  },
  updateWebhookEndpoint: {
    method: 'PATCH',
    path: '/webhooks/endpoints/{endpointId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  removeWebhookEndpoint: {
    method: 'DELETE',
    path: '/webhooks/endpoints/{endpointId}',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/webhooks/endpoints/{endpointId}/rotate',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  resumeWebhookEndpoint: {
    method: 'POST',
    path: '/webhooks/endpoints/{endpointId}/resume',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  listWebhookDeliveries: {
    method: 'GET',
    path: '/webhooks/endpoints/{endpointId}/deliveries',
    query: ['page', 'per_page', 'state', 'type', 'from', 'to'],
    headers: {},
    bearer: true,
  },
  getWebhookDelivery: {
    method: 'GET',
    path: '/webhooks/endpoints/{endpointId}/deliveries/{deliveryId}',
    query: [],
    headers: {},
    bearer: true,
  },
  replayWebhookDelivery: {
    method: 'POST',
    path: '/webhooks/endpoints/{endpointId}/deliveries/{deliveryId}/replay',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  replayWebhookEvents: {
    method: 'POST',
    path: '/webhooks/endpoints/{endpointId}/replay',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  pingWebhookEndpoint: {
    method: 'POST',
    path: '/webhooks/endpoints/{endpointId}/ping',
    query: [],
    headers: { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' },
    bearer: true,
  },
  createAccessToken: { method: 'POST', path: '/oauth/token', query: [], headers: {}, bearer: false },
  revokeAccessToken: { method: 'POST', path: '/oauth/revoke', query: [], headers: {}, bearer: false },
};
