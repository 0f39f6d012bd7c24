import limits from 'openapi:UpdateCompanyBody';
import type { Answer, Company, UpdateCompanyBody } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { CheckField, Field, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/states.tsx';
import { report } from '../../components/toast.tsx';
import { go, place, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { ofRecords } from '../../service/following.ts';
import { useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { fieldLabel, texts } from '../../texts.ts';
import { text } from './texts.ts';

type Name = keyof UpdateCompanyBody & keyof Company;
type Kind = 'text' | 'lines' | 'email' | 'tel' | 'amount';
type Setting = {
  name: Name;
  kind?: Kind;
  list?: () => readonly string[];
  none?: 'has_no_contact_line' | 'has_no_signature';
};

const SECTIONS: readonly { id: keyof typeof text.company.sections; settings: readonly Setting[] }[] = [
  {
    id: 'company',
    settings: [
      { name: 'name' },
      { name: 'legal_name' },
      { name: 'address', kind: 'lines' },
      { name: 'company_number' },
      { name: 'tax_number' },
    ],
  },
  {
    id: 'region',
    settings: [
      { name: 'time_zone', list: () => ['UTC', ...Intl.supportedValuesOf('timeZone')] },
      { name: 'phone_region' },
      { name: 'currency', list: () => Intl.supportedValuesOf('currency') },
    ],
  },
  {
    id: 'messages',
    settings: [
      { name: 'sender_name' },
      { name: 'sender_address', kind: 'email' },
      { name: 'client_contact_email', kind: 'email' },
      { name: 'client_contact_phone', kind: 'tel' },
      { name: 'contact_line', kind: 'lines', none: 'has_no_contact_line' },
      { name: 'message_signature', kind: 'lines', none: 'has_no_signature' },
      { name: 'reminder_lead_days', kind: 'amount' },
    ],
  },
  {
    id: 'invoices',
    settings: [
      { name: 'payment_terms', kind: 'lines' },
      { name: 'terms', kind: 'lines' },
    ],
  },
  {
    id: 'safety',
    settings: [
      { name: 'contact_email', kind: 'email' },
      { name: 'session_idle_minutes', kind: 'amount' },
      { name: 'session_hours', kind: 'amount' },
    ],
  },
];

type Section = (typeof SECTIONS)[number];

const close = () => go(withQuery({ open: undefined }), { replace: true });

/** The settings of the company. Each section is edited on its own, so that a change sends nothing else. */
export function CompanySettings() {
  const found = useLoaded(
    'settings/company',
    (signal, service) => service.getCompany({ signal }),
    ofRecords('company'),
  );
  const open = place.value.query.get('open');
  return (
    <>
      <h1>{text.pages.company}</h1>
      <Loaded of={found} lines={12}>
        {(answer) => (
          <>
            {SECTIONS.map((section) => (
              <section key={section.id} class="card" aria-labelledby={`${section.id}-title`}>
                <header>
                  <h2 id={`${section.id}-title`}>{text.company.sections[section.id]}</h2>
                  <Button
                    href={withQuery({ open: section.id })}
                    label={`${texts.edit}: ${text.company.sections[section.id]}`}
                  >
                    {texts.edit}
                  </Button>
                </header>
                <dl class="details">
                  {section.settings.map((setting) => (
                    <div key={setting.name}>
                      <dt>{fieldLabel(setting.name)}</dt>
                      <dd>{shown(answer.data, setting)}</dd>
                    </div>
                  ))}
                </dl>
                {open === section.id && <SectionPanel section={section} answer={answer} />}
              </section>
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}

function shown(company: Company, { name, none }: Setting) {
  const value = company[name];
  if (none && value === '') return text.company.saysNothing;
  if (value === null || value === '')
    return <span class="quiet">{text.company.defaults[name] ?? text.company.notSet}</span>;
  return String(value);
}

function toValues(company: Company, { settings }: Section): Values {
  return Object.fromEntries(
    settings.flatMap(({ name, none }) => {
      const value = company[name];
      return [[name, String(value ?? '')], ...(none ? [[none, value === '']] : [])];
    }),
  );
}

/** An empty field is the default. */
function toBody(values: Values, { settings }: Section): UpdateCompanyBody {
  return Object.fromEntries(
    settings.map(({ name, none }) => [name, none && values[none] ? '' : String(values[name]).trim() || null]),
  );
}

function SectionPanel({ section, answer }: { section: Section; answer: Answer<Company> }) {
  const title = text.company.sections[section.id];
  const form = useForm({
    draft: `company/${section.id}`,
    initial: toValues(answer.data, section),
    etag: answer.etag,
    read: async () => {
      const { data, etag } = await service.getCompany();
      return { values: toValues(data, section), etag };
    },
    send: (values, careful) => service.updateCompany({ body: toBody(values, section), ...careful }),
    onSent: () => {
      report({ record: 'company', caseId: null }, text.saved);
      close();
    },
  });
  return (
    <Panel title={title} onClose={close}>
      <Form form={form} limits={limits} onCancel={close}>
        {section.settings.map(({ name, kind, list, none }, i) => (
          <div key={name} class="wide">
            <Field
              name={name}
              autoFocus={i === 0}
              isRequired={name === 'name'}
              hint={text.company.hints[name] ?? ''}
              {...(kind && { kind })}
              {...(list && { list: list() })}
            />
            {none && <CheckField name={none} />}
          </div>
        ))}
      </Form>
    </Panel>
  );
}
