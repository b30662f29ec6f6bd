import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { accountHint, type FormError, field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'

export type MfaState = {
  totp: boolean
  recoveryCodesLeft: number
  /** Set while two-step sign-in is being turned on but is not confirmed yet. */
  enrollment?: MfaEnrollment | undefined
  /** Just created. Only this response contains them. */
  recoveryCodes?: readonly string[] | undefined
}

/** The response of `POST /api/account/mfa/totp`. */
type MfaEnrollment = { secret: string; otpauthUrl: string; qrSvg: string }

type MfaErrors = {
  confirm: FormError | undefined
  codes: FormError | undefined
  disable: FormError | undefined
}

export function mfaSection(email: string, mfa: MfaState, errors: MfaErrors): Html {
  return card(
    {
      id: 'mfa',
      title: 'Two-step sign-in',
      about: 'After your password, you enter a code from an app on your phone.',
      aside: mfa.totp ? badge('On', 'good') : badge('Off'),
    },
    html`
      ${mfa.recoveryCodes && recoveryCodes(mfa.recoveryCodes)}
      ${mfa.totp ? enabled(email, mfa, errors) : disabled(mfa, errors.confirm)}
    `,
  )
}

function disabled(mfa: MfaState, error: FormError | undefined): Html {
  if (mfa.enrollment !== undefined) return enrollment(mfa.enrollment, error)
  return html`
    <form method="post" action="#mfa">${hidden('intent', 'mfa-start')} ${button({ label: 'Turn on', kind: 'secondary' })}</form>
  `
}

/** Its forms post to `#mfa`, so the response shows this section. The QR code is an image, so it cannot run scripts. */
const enrollment = ({ secret, qrSvg }: MfaEnrollment, error: FormError | undefined): Html => html`
  <ol class="steps">
    <li>
      <h3>Scan this with your authenticator app</h3>
      <img
        class="qr"
        src=${`data:image/svg+xml,${encodeURIComponent(qrSvg)}`}
        alt="QR code with the secret of your account"
        width="176"
        height="176"
      />
      ${copyable({ label: 'Or type this key into the app', text: inFours(secret) })}
    </li>
    <li>
      <h3>Enter the code that the app shows</h3>
      <form method="post" action="#mfa" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'mfa-confirm')}
        ${field({
          name: 'code',
          label: 'Six-digit code',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          autofocus: error !== undefined,
          error: fieldError(error, 'code'),
        })}
        <div class="actions">
          ${button({ label: 'Turn on' })} ${linkButton({ label: 'Cancel', href: '/account', kind: 'secondary' })}
        </div>
      </form>
    </li>
  </ol>
`

const recoveryCodes = (codes: readonly string[]): Html => html`
  <div class="stack">
    ${notice({
      tone: 'warn',
      live: true,
      message: html`
        <strong>Save these recovery codes now.</strong> They are not shown again. Each one signs you in once if you lose
        your phone.
      `,
    })}
    ${copyable({ label: 'Recovery codes', text: codes.join('\n'), copyName: 'Copy' })}
    <div class="actions">
      <a
        role="button"
        class="btn btn-secondary"
        download="svc-recovery-codes.txt"
        href=${`data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`}
      >Download</a>
      <a class="btn btn-secondary" href="/account">I have saved them</a>
    </div>
  </div>
`

const enabled = (email: string, mfa: MfaState, { codes, disable: error }: MfaErrors): Html => html`
  <p>${codesLeft(mfa.recoveryCodesLeft)}</p>
  <form method="post" action="#mfa" class="stack narrow">
    ${formError(codes)} ${hidden('intent', 'mfa-codes')} ${accountHint(email)}
    ${field({
      name: 'password',
      id: 'codes-password',
      label: 'Password',
      type: 'password',
      autocomplete: 'current-password',
      hint: 'The old codes are void then.',
      autofocus: codes !== undefined,
      error: fieldError(codes, 'password'),
    })}
    <div>${button({ label: 'Make new recovery codes', kind: 'secondary' })}</div>
  </form>
  <details class="more" open=${error !== undefined}>
    <summary>Turn off</summary>
    <form method="post" class="stack narrow">
      ${formError(error)} ${hidden('intent', 'mfa-disable')} ${accountHint(email)}
      ${field({
        name: 'password',
        id: 'mfa-password',
        label: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        autofocus: error !== undefined,
        error: fieldError(error, 'password'),
      })}
      <div>${button({ label: 'Turn off two-step sign-in', kind: 'danger' })}</div>
    </form>
  </details>
`

function codesLeft(count: number): string {
  if (count === 0) return 'No recovery codes are left. Make new ones.'
  return `${count} recovery ${count === 1 ? 'code is' : 'codes are'} left.`
}

function inFours(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? secret
}
