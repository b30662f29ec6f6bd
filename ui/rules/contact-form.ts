import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { type FormError, field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { rulesHref } from './rule-words.ts'

type ContactFormPageProps = ProjectPageBase & {
  values: Readonly<Record<string, string>>
  /** Null while something is wrong. */
  yaml: string | null
  error?: FormError | undefined
}

/** Four answers that make a rule and a schema. Sends `intent=save`, with `show=true` only to see the rule. */
export const contactFormPage = (props: ContactFormPageProps): Html => {
  const { project, error, yaml } = props
  return projectFrame(
    props,
    {
      tab: 'rules',
      title: 'Contact form',
      crumbs: [{ label: 'Rules', href: rulesHref(project.id) }],
      about: html`<p class="muted">A form on a page of the site sends to the path. What it holds is stored under Data.</p>`,
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'save')}
        ${input(props, 'path', 'Path', 'Where the form sends to: its action.')}
        ${input(props, 'fields', 'Fields', 'The names of its inputs, separated by commas.')}
        ${input(props, 'schema', 'Store in', 'A schema. It is made where there is none of that name.')}
        ${input(props, 'next', 'Then go to', 'The page that says thanks.')}
        <div class="actions">
          ${button({ label: 'Create rule' })}
          ${button({ label: 'Show the YAML', kind: 'secondary', name: 'show', value: 'true', skipsChecks: true })}
          ${linkButton({ label: 'Cancel', href: rulesHref(project.id), kind: 'secondary' })}
        </div>
      </form>
      ${yaml !== null && card({ id: 'made', title: 'What it makes' }, copies(props, yaml))}
    `,
  )
}

const input = ({ values, error }: ContactFormPageProps, name: string, label: string, hint: string): Html =>
  field({ name, label, hint, value: values[name], error: fieldError(error, name), verbatim: true })

const copies = ({ values }: ContactFormPageProps, yaml: string): Html => html`
  ${copyable({ label: 'The rule', text: yaml })} ${copyable({ label: 'The form on the page', text: pageForm(values) })}
`

/** What catches programs is no input that people see or reach. */
function pageForm({ path, fields = '' }: ContactFormPageProps['values']): string {
  const names = fields.split(/[\s,]+/).filter((name) => name !== '')
  return [
    `<form method="post" action="${path}">`,
    ...names.map((name) => `  <label>${name} <input name="${name}" required></label>`),
    '  <input name="website" hidden tabindex="-1" autocomplete="off">',
    '  <button>Send</button>',
    '</form>',
  ].join('\n')
}
