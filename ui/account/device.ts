import type { AskingDevice } from '../../src/modules/auth/device.ts'
import { button } from '../components/button.ts'
import { details } from '../components/details.ts'
import { type FormError, field, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { time } from '../components/time.ts'
import { authLayout } from '../frame/layout.ts'

type DevicePageProps = {
  /** Whose device it will be. */
  email: string
  /** As typed, or from the link. */
  code: string
  /** Undefined until a code was entered that waits. */
  asking?: AskingDevice | undefined
  error?: FormError | undefined
}

/** `svc login`: asks for its code, then for the person's word. Sends `userCode` and `intent`: `look`, then `approve` or `deny`. */
export const devicePage = (props: DevicePageProps): Html =>
  authLayout(
    'Let the command line in',
    html`
      <h1>Let the command line in?</h1>
      ${formError(props.error)}
      ${props.asking === undefined ? codeForm(props) : decision(props, props.asking)}
    `,
  )

const codeForm = ({ code }: DevicePageProps): Html => html`
  <p class="muted"><code>svc login</code> shows a code. Enter it only if you ran that command yourself.</p>
  <form method="post" action="/device" class="stack">
    ${hidden('intent', 'look')}
    ${field({
      name: 'userCode',
      label: 'Code',
      value: code,
      placeholder: 'XXXX-XXXX',
      maxlength: 100,
      autofocus: true,
      verbatim: true,
    })}
    ${button({ label: 'Continue' })}
  </form>
`

const decision = ({ email, code }: DevicePageProps, asking: AskingDevice): Html => html`
  <p class="muted">
    It will act as <strong>${email}</strong>, as contributor at most, until you end it in your account. Go on only if you
    ran <code>svc login</code> yourself and it shows this code.
  </p>
  ${details([
    ['Code', html`<code>${code}</code>`],
    ['Device', asking.clientName],
    ['Address', html`<code>${asking.ip}</code>`],
    ['Asked', time(asking.createdAt)],
  ])}
  <form method="post" action="/device" class="stack">
    ${hidden('userCode', code)}
    <div class="actions">
      ${button({ label: 'Let it in', name: 'intent', value: 'approve' })}
      ${button({ label: 'Refuse', name: 'intent', value: 'deny', kind: 'secondary' })}
    </div>
  </form>
`

/** After the person's word. */
export const deviceDonePage = ({ isApproved }: { isApproved: boolean }): Html =>
  authLayout(
    isApproved ? 'It is let in' : 'It is refused',
    html`
      <h1>${isApproved ? 'It is let in' : 'It is refused'}</h1>
      ${notice({
        tone: isApproved ? 'good' : 'warn',
        live: true,
        message: isApproved
          ? 'Go back to the terminal. You can close this page.'
          : 'Nothing was let in. You can close this page.',
      })}
      <ul class="auth-links"><li><a href="/account#sessions">Your sessions</a></li></ul>
    `,
  )
