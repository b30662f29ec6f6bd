import { MAX_DESCRIPTION } from '../../src/domain/description.ts'
import { REDIRECT_STATUSES, type RedirectStatus } from '../../src/domain/redirect-status.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import {
  checkbox,
  type FormError,
  field,
  fieldError,
  formError,
  hidden,
  selectField,
} from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { ShownRule } from './rule.ts'
import { ruleEditor } from './rule-editor.ts'
import { headerFields } from './rule-headers.ts'
import type { RuleValues } from './rule-values.ts'
import { ruleHref, ruleName, rulesHref } from './rule-words.ts'

type RuleEditPageProps = ProjectPageBase & {
  /** Null for a new rule. */
  rule: ShownRule | null
  values: RuleValues
  /** The aliases a new rule may belong to, instead of the whole project. */
  aliases: readonly { id: string; name: string }[]
  isUnlocked: boolean
  error?: FormError | undefined
  /** What the redirect of the form makes of the address that was typed. */
  preview?: string | undefined
}

/** The form for a rule. Sends `intent=save`. A script sends `intent=check` to get the errors. */
export const ruleEditPage = (props: RuleEditPageProps): Html => {
  const { project, rule } = props
  return projectFrame(
    props,
    {
      tab: 'rules',
      title: rule === null ? 'New rule' : 'Edit rule',
      about:
        rule === null &&
        html`<p class="muted">For a form on a page: <a href=${rulesHref(project.id, '/new?form=contact')}>make a contact form</a>.</p>`,
      crumbs: [
        { label: 'Rules', href: rulesHref(project.id) },
        ...(rule === null ? [] : [{ label: ruleName(rule), href: backHref(props) }]),
      ],
    },
    html`
      ${
        props.isUnlocked &&
        notice({
          tone: 'warn',
          message: 'The next push from the repository overwrites these changes, except header values.',
        })
      }
      <form method="post" class="cards rule-form" data-check>
        ${formError(props.error)} ${hidden('intent', 'save')}
        ${hidden('unlocked', props.isUnlocked ? 'true' : undefined)} ${deed(props)} ${matching(props)}
        ${pipeline(props)} ${headers(props)} ${more(props)}
        <div class="actions">
          ${button({ label: rule === null ? 'Create rule' : 'Save rule' })}
          ${linkButton({ label: 'Cancel', href: backHref(props), kind: 'secondary' })}
        </div>
        ${preview(props)}
      </form>
    `,
  )
}

function backHref({ project, rule, isUnlocked }: RuleEditPageProps): string {
  if (rule === null) return rulesHref(project.id)
  return ruleHref(project.id, rule.id, isUnlocked ? '?unlocked=true' : '')
}

/** The name, value (typed or stored) and error of a field. */
const of = ({ values, error }: RuleEditPageProps, name: string) => ({
  name,
  value: values[name],
  error: fieldError(error, name),
})

const tick = ({ values }: RuleEditPageProps, name: string, label: string, hint?: Content): Html =>
  checkbox({ name, label, checked: values[name] === 'true', ...(hint === undefined ? {} : { hint }) })

const matching = (props: RuleEditPageProps): Html => html`
  <div class="not-pipeline">${requests(props)}</div>
`

const requests = (props: RuleEditPageProps): Html =>
  card(
    { id: 'matching', title: 'Requests to match' },
    html`
      <div class="columns">
        ${field({
          ...of(props, 'pathPattern'),
          label: 'Path',
          hint: html`Such as <code>/api/*</code>, <code>*.json</code> or <code>/contact</code>. A <code>*</code> matches anything.`,
          placeholder: '/api/*',
          // A pipeline has it in its text.
          required: false,
          isPlain: true,
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
    `,
  )

const where = (props: RuleEditPageProps): Html | false =>
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

const deed = (props: RuleEditPageProps): Html =>
  card(
    { id: 'deed', title: 'Action' },
    html`
      ${selectField({
        ...of(props, 'proxyType'),
        label: 'Kind',
        options: [
          { value: 'external_proxy', label: 'Proxy: forward the request to a server' },
          { value: 'internal_rewrite', label: 'Rewrite: answer with another path of the deployment' },
          { value: 'pipeline', label: 'Pipeline: run steps and answer' },
          { value: 'redirect', label: 'Redirect: send the visitor to another address' },
        ],
      })}
      ${where(props)}
      <div class="stack not-pipeline">
        ${field({
          ...of(props, 'targetUrl'),
          label: 'Target',
          hint: html`For a proxy, an address such as <code>https://api.example.com</code>. For a rewrite, a path such as <code>/app/</code>. For a redirect, either: <code>:splat</code> is what <code>*</code> stood for.`,
          required: false,
          isPlain: true,
          verbatim: true,
        })}
        <div class="not-redirect">
          ${tick(props, 'stripPrefix', 'Strip the prefix', html`<code>/api/users</code> matched by <code>/api/*</code> is forwarded as <code>/users</code>.`)}
        </div>
      </div>
      <div class="narrow only-redirect">
        ${selectField({ ...of(props, 'status'), label: 'Status', options: STATUSES })}
      </div>
      <div class="stack only-proxy">
        ${tick(props, 'preserveHost', 'Keep the visitor’s Host header', 'Otherwise the server sees its own host name.')}
        ${tick(props, 'forwardCookies', 'Forward cookies', 'Never includes the svc session.')}
        <div class="narrow">
          ${field({
            ...of(props, 'timeout'),
            label: 'Timeout in milliseconds',
            hint: '100 to 60\u00a0000. After that, the visitor gets 504.',
            required: false,
            isPlain: true,
            inputmode: 'numeric',
          })}
        </div>
      </div>
    `,
  )

const STATUS_WORDS: Record<RedirectStatus, string> = {
  301: '301: moved for good',
  302: '302: found elsewhere for now',
  303: '303: see the result there, by GET',
  307: '307: for now, with the same method',
  308: '308: for good, with the same method',
}

const STATUSES = REDIRECT_STATUSES.map((status) => ({ value: String(status), label: STATUS_WORDS[status] }))

/** Behind the button that saves, so that the return key does not send this one. */
const preview = (props: RuleEditPageProps): Html => html`
  <div class="only-redirect">
    ${card(
      {
        id: 'preview',
        title: 'Try an address',
        about: 'Shows where the redirect above leads. Nothing is saved.',
      },
      html`
        ${props.preview !== undefined && notice({ tone: 'info', message: props.preview, live: true })}
        <div class="inline-form">
          ${field({
            ...of(props, 'previewPath'),
            label: 'Address on the site',
            placeholder: '/old/page?a=1',
            required: false,
            isPlain: true,
            verbatim: true,
          })}
          ${button({ label: 'Try it', kind: 'secondary', name: 'preview', value: 'true', skipsChecks: true })}
        </div>
      `,
    )}
  </div>
`

const pipeline = (props: RuleEditPageProps): Html => html`
  <div class="only-pipeline">
    ${card(
      {
        id: 'pipeline',
        title: 'Pipeline',
        about: html`The whole rule: its path, its methods and its steps, with the keys of a <a href="/docs/rules">rule file</a>.`,
      },
      ruleEditor({ projectId: props.project.id, values: props.values, error: props.error }),
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
        ${tick(props, 'limitForward', 'Forward only the headers listed here', 'Otherwise all request headers are forwarded except cookies, authorization and keys.')}
        <div class="columns">
          ${field({ ...of(props, 'forward'), label: 'Forwarded', hint: 'Header names, separated by commas.', required: false, isPlain: true, verbatim: true })}
          ${field({ ...of(props, 'strip'), label: 'Removed', hint: 'Header names, separated by commas.', required: false, isPlain: true, verbatim: true })}
        </div>
      `,
    )}
  </div>
`

const more = (props: RuleEditPageProps): Html => html`<div class="not-pipeline">${placing(props)}</div>`

const placing = (props: RuleEditPageProps): Html =>
  card(
    { id: 'more', title: 'Place in the list' },
    html`
      ${field({ ...of(props, 'description'), label: 'Description', required: false, maxlength: MAX_DESCRIPTION })}
      <div class="narrow">
        ${field({
          ...of(props, 'order'),
          label: 'Order',
          hint: 'Lower numbers are tried first. Leave it empty to try this rule last.',
          required: false,
          inputmode: 'numeric',
        })}
      </div>
      ${tick(props, 'isEnabled', 'Enabled', 'A disabled rule is skipped.')}
    `,
  )
