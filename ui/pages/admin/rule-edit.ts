import { button, linkButton } from '../../components/button.ts'
import { card } from '../../components/card.ts'
import { copyable } from '../../components/copyable.ts'
import {
  checkbox,
  type FormError,
  field,
  fieldError,
  formError,
  hidden,
  selectField,
  textArea,
} from '../../components/field.ts'
import { notice } from '../../components/notice.ts'
import { type Content, type Html, html } from '../../html.ts'
import { type ProjectPageBase, projectFrame } from './project-frame.ts'
import type { ShownRule } from './rule.ts'
import { PIPELINE_EXAMPLE } from './rule-example.ts'
import { headerFields } from './rule-headers.ts'
import type { RuleValues } from './rule-values.ts'
import { ruleHref, ruleName, rulesHref } from './rule-words.ts'

type RuleEditPageProps = ProjectPageBase & {
  /** Null: a new one. */
  rule: ShownRule | null
  values: RuleValues
  /** Where a new rule may stand, beside every site. */
  aliases: readonly { id: string; name: string }[]
  isUnlocked: boolean
  error?: FormError | undefined
}

/** The form of a rule. Sends `intent=save`; a script sends `intent=check` and is told what is wrong. */
export const ruleEditPage = (props: RuleEditPageProps): Html => {
  const { project, rule } = props
  return projectFrame(
    props,
    {
      tab: 'rules',
      title: rule === null ? 'New rule' : 'Edit rule',
      crumbs: [
        { label: 'Rules', href: rulesHref(project.id) },
        ...(rule === null ? [] : [{ label: ruleName(rule), href: backHref(props) }]),
      ],
    },
    html`
      ${
        props.isUnlocked &&
        notice({ tone: 'warn', message: 'The next push from the repository puts back what its files say.' })
      }
      <form method="post" class="cards rule-form" data-check>
        ${formError(props.error)} ${hidden('intent', 'save')}
        ${hidden('unlocked', props.isUnlocked ? 'true' : undefined)} ${matching(props)} ${deed(props)}
        ${pipeline(props)} ${headers(props)} ${more(props)}
        <div class="actions">
          ${button({ label: rule === null ? 'Create rule' : 'Save rule' })}
          ${linkButton({ label: 'Cancel', href: backHref(props), kind: 'secondary' })}
        </div>
      </form>
    `,
  )
}

function backHref({ project, rule, isUnlocked }: RuleEditPageProps): string {
  if (rule === null) return rulesHref(project.id)
  return ruleHref(project.id, rule.id, isUnlocked ? '?unlocked=true' : '')
}

/** Name, value and error of a field, as it was typed or stored. */
const of = ({ values, error }: RuleEditPageProps, name: string) => ({
  name,
  value: values[name],
  error: fieldError(error, name),
})

const tick = ({ values }: RuleEditPageProps, name: string, label: string, hint?: Content): Html =>
  checkbox({ name, label, checked: values[name] === 'true', ...(hint === undefined ? {} : { hint }) })

const matching = (props: RuleEditPageProps): Html =>
  card(
    { id: 'matching', title: 'Which requests it takes' },
    html`
      <div class="columns">
        ${field({
          ...of(props, 'pathPattern'),
          label: 'Path',
          hint: html`Such as <code>/api/*</code>, <code>*.json</code> or <code>/contact</code>. A <code>*</code> stands for anything.`,
          placeholder: '/api/*',
          verbatim: true,
        })}
        ${field({
          ...of(props, 'methods'),
          label: 'Methods',
          hint: html`Such as <code>GET, POST</code>. Empty: every method.`,
          required: false,
          verbatim: true,
        })}
      </div>
      ${
        props.rule === null &&
        props.aliases.length > 0 &&
        selectField({
          ...of(props, 'aliasId'),
          label: 'Where',
          options: [
            { value: '', label: 'Every site of the project' },
            ...props.aliases.map(({ id, name }) => ({ value: id, label: `Only on ${name}` })),
          ],
        })
      }
    `,
  )

const deed = (props: RuleEditPageProps): Html =>
  card(
    { id: 'deed', title: 'What it does' },
    html`
      ${selectField({
        ...of(props, 'proxyType'),
        label: 'Kind',
        options: [
          { value: 'external_proxy', label: 'Proxy: send the request on to a server' },
          { value: 'internal_rewrite', label: 'Rewrite: answer with another path of the deployment' },
          { value: 'pipeline', label: 'Pipeline: run steps and answer' },
        ],
      })}
      <div class="stack not-pipeline">
        ${field({
          ...of(props, 'targetUrl'),
          label: 'Target',
          hint: html`Of a proxy an address such as <code>https://api.example.com</code>, of a rewrite a path such as <code>/app/</code>.`,
          required: false,
          isPlain: true,
          verbatim: true,
        })}
        ${tick(props, 'stripPrefix', 'Cut off the prefix', html`<code>/api/users</code> taken by <code>/api/*</code> goes on as <code>/users</code>.`)}
      </div>
      <div class="stack only-proxy">
        ${tick(props, 'preserveHost', 'Keep the visitor’s Host header', 'Otherwise the server sees its own name.')}
        ${tick(props, 'forwardCookies', 'Send cookies on', 'Never the session of svc.')}
        <div class="narrow">
          ${field({
            ...of(props, 'timeout'),
            label: 'Waits, in milliseconds',
            hint: '100 to 60000. After that the visitor gets 504.',
            required: false,
            isPlain: true,
            inputmode: 'numeric',
          })}
        </div>
      </div>
    `,
  )

const pipeline = (props: RuleEditPageProps): Html => html`
  <div class="only-pipeline">
    ${card(
      {
        id: 'pipeline',
        title: 'Pipeline',
        about: html`Its steps as JSON. Files in the repository say the same in YAML, and can be tested: <code>svc rules init</code>.`,
      },
      html`
        ${textArea({
          ...of(props, 'pipelineConfig'),
          label: 'Steps, validators and post steps',
          rows: 18,
          // Of a pipeline it is needed, of other kinds it is not asked for.
          required: false,
          isPlain: true,
        })}
        <details class="more">
          <summary>An example to begin with</summary>
          ${copyable({ label: 'A form that answers', text: PIPELINE_EXAMPLE })}
        </details>
      `,
    )}
  </div>
`

const headers = (props: RuleEditPageProps): Html => html`
  <div class="only-proxy">
    ${card(
      {
        id: 'headers',
        title: 'Headers',
        about: 'Values are stored encrypted and never shown again.',
      },
      html`
        ${headerFields({
          stored: props.rule?.headers ?? [],
          values: props.values,
          error: props.error,
          maySee: props.can.manageSecrets,
        })}
        ${tick(props, 'limitForward', 'Pass on only the headers that are listed here', 'Otherwise all of the visitor pass, but for cookies, authorization and keys.')}
        <div class="columns">
          ${field({ ...of(props, 'forward'), label: 'Passed on', hint: 'Names, with commas between.', required: false, isPlain: true, verbatim: true })}
          ${field({ ...of(props, 'strip'), label: 'Held back', hint: 'Names, with commas between.', required: false, isPlain: true, verbatim: true })}
        </div>
      `,
    )}
  </div>
`

const more = (props: RuleEditPageProps): Html =>
  card(
    { id: 'more', title: 'In the list' },
    html`
      ${field({ ...of(props, 'description'), label: 'Description', required: false, maxlength: 2000 })}
      <div class="narrow">
        ${field({
          ...of(props, 'order'),
          label: 'Order',
          hint: 'Lower numbers are tried first. Empty: the last.',
          required: false,
          inputmode: 'numeric',
        })}
      </div>
      ${tick(props, 'isEnabled', 'Enabled', 'A disabled rule is skipped.')}
      <div class="only-pipeline">
        ${tick(props, 'debugEnabled', 'Keep input and output of each step in the run log', 'With secrets masked. Turn it off when you are done.')}
      </div>
    `,
  )
