/**
 * <svc-auth>: sign-in, sign-up and sign-out on a site hosted by svc. One file, no framework, nothing from another host.
 *
 * <script type="module" src="/_svc/auth.js"></script>  <svc-auth></svc-auth>
 *
 * Attributes: `label` (of the button), `reload` (reload after signing in or out), `dialog-only` (no button: open
 * it with `svc.open()`). Events on document: `svc-signin`, `svc-signout`, with `detail.user`. Script: `svc.session()`,
 * `svc.signOut()`, `svc.open('signin' | 'signup' | 'forgot')`. Looks: the custom properties at the top of STYLE.
 */
const HUB = '%ADMIN_URL%'
const CAN_MAIL = Boolean('%CAN_MAIL%')
const AUTH = '/_svc/auth'

const STYLE = `
:host {
  --accent: var(--svc-accent, #1d55c4); --on-accent: var(--svc-on-accent, #fff);
  --bg: var(--svc-background, #fff); --text: var(--svc-text, #1b1f27); --muted: var(--svc-muted, #586174);
  --line: var(--svc-border, #c3c9d4); --control: var(--svc-border, #7c8796);
  --bad: var(--svc-error, #b3261e); --radius: var(--svc-radius, 8px);
  display: inline-block; max-width: 100%; font: var(--svc-font, 16px/1.5 system-ui, sans-serif);
  color-scheme: light dark;
}
:host([dialog-only]) { display: contents; }
@media (prefers-color-scheme: dark) { :host {
  --accent: var(--svc-accent, #8ab4ff); --on-accent: var(--svc-on-accent, #0b1a33);
  --bg: var(--svc-background, #1b1f27); --text: var(--svc-text, #eef1f6); --muted: var(--svc-muted, #a9b2c3);
  --line: var(--svc-border, #495267); --control: var(--svc-border, #7f8aa0); --bad: var(--svc-error, #ff8a80);
} }
* { box-sizing: border-box; font: inherit; }
button, .provider { padding: .5em 1em; border: 1px solid var(--control); border-radius: var(--radius);
  background: none; color: inherit; cursor: pointer; }
.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
.link, a { padding: 0; border: 0; color: var(--accent); text-decoration: underline; }
button:disabled { opacity: .6; cursor: progress; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.bar { display: inline-flex; align-items: center; gap: .6em; max-width: 100%; }
.bar button { flex: none; }
.who { max-width: 16em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
/* The button keeps its place until it is known who is signed in. */
:host(:not([data-state])) .bar { visibility: hidden; }
dialog { width: min(26rem, calc(100vw - 2rem)); padding: 1.5rem; border: 1px solid var(--line);
  border-radius: calc(var(--radius) * 1.5); background: var(--bg); color: var(--text); text-align: start; }
dialog::backdrop { background: rgb(0 0 0 / .45); }
header { display: flex; justify-content: space-between; align-items: start; gap: 1rem; }
h2 { margin: 0; font-size: 1.35em; font-weight: 700; line-height: 1.3; }
form, .providers { display: grid; gap: .9rem; margin-top: 1rem; }
label { display: grid; gap: .25rem; font-weight: 600; }
input { width: 100%; padding: .5em .7em; border: 1px solid var(--control); border-radius: var(--radius);
  background: transparent; color: inherit; font-weight: 400; }
.provider { display: block; text-align: center; color: inherit; text-decoration: none; }
p { margin: .75rem 0 0; }
.error { color: var(--bad); font-weight: 600; }
.hint, footer { color: var(--muted); font-size: .9em; font-weight: 400; }
footer { margin-top: 1.25rem; padding-top: .75rem; border-top: 1px solid var(--line); }
[hidden], :host([dialog-only]) .bar { display: none !important; }
`
/** A site's CSP allows this, unlike a style element with the same text. Safari before 16.4 does not have it. */
const SHEET = 'adoptedStyleSheets' in Document.prototype ? new CSSStyleSheet() : undefined
SHEET?.replaceSync(STYLE)

const FIELDS = {
  email: { label: 'Email', type: 'email', autocomplete: 'username' },
  password: { label: 'Password', type: 'password', autocomplete: 'current-password' },
  newPassword: { label: 'Password', type: 'password', autocomplete: 'new-password', minLength: 8 },
  code: { label: 'Code from your app, or a recovery code', type: 'text', autocomplete: 'one-time-code' },
}

const VIEWS = {
  signin: { title: 'Sign in', fields: ['email', 'password'], submit: 'Sign in', links: ['forgot', 'signup'] },
  signup: {
    title: 'Create an account',
    fields: ['email', 'newPassword'],
    submit: 'Create account',
    links: ['signin'],
  },
  code: { title: 'Enter your code', fields: ['code'], submit: 'Continue', links: ['signin'] },
  forgot: {
    title: 'Forgot your password?',
    ...(CAN_MAIL
      ? { fields: ['email'], submit: 'Send a link' }
      : { fields: [], hint: 'This server cannot send mail. Ask an admin to create a link for you.' }),
    links: ['signin'],
  },
}

const LINKS = { signin: 'Sign in instead', signup: 'Create an account', forgot: 'Forgot your password?' }

/** The response body. If the request failed, `ok` is false, with `error` and `message`. */
async function call(path, body) {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) }
  try {
    const answer = await fetch(AUTH + path, {
      ...init,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
    })
    const json = await answer.json().catch(() => ({}))
    return { ok: answer.ok, status: answer.status, ...json }
  } catch {
    return { ok: false, status: 0, message: 'The server cannot be reached. Try again in a moment.' }
  }
}

let known
const elements = new Set()

/** The signed-in user: `{ id, email, role }` or null. The answer is kept; `isFresh` asks the server again. */
async function session(isFresh = false) {
  if (isFresh || known === undefined) known = call('/session').then(({ user }) => user ?? null)
  return known
}

function announce(name, user) {
  known = Promise.resolve(name === 'svc-signin' ? user : null)
  for (const element of elements) element.show()
  document.dispatchEvent(new CustomEvent(name, { detail: { user } }))
}

async function signOut() {
  const user = await session()
  const { ok, status } = await call('/signout', {})
  // 401: the session had already ended.
  if (!ok && status !== 401) return false
  announce('svc-signout', user)
  return true
}

/** Whether this page is not for strangers: it must not stay on the screen. Its address then redirects or is an error. */
async function isHidden() {
  try {
    return !(await fetch(location.href, { method: 'HEAD', redirect: 'manual', cache: 'no-store' })).ok
  } catch {
    return false
  }
}

/** The dialog of the first element on the page. Adds an element if there is none. */
function open(view = 'signin') {
  let [element] = elements
  if (element === undefined) {
    element = document.createElement('svc-auth')
    element.setAttribute('dialog-only', '')
    document.body.append(element)
  }
  return element.open(view)
}

/** Creates an element. Text is set as text, so received data is never parsed as markup. */
function make(tag, props = {}, ...children) {
  const element = Object.assign(document.createElement(tag), props)
  element.append(...children)
  return element
}

class SvcAuth extends HTMLElement {
  #root = this.attachShadow({ mode: 'open' })
  #button = make('button', { type: 'button', className: 'main' })
  #who = make('span', { className: 'who' })
  #title = make('h2', { id: 'title', tabIndex: -1 })
  #error = make('p', { className: 'error' })
  #status = make('p', { className: 'hint' })
  #body = make('div')
  #dialog = make('dialog')
  #methods = { providers: [], allowSignup: false }
  /** The typed values. The password is kept only until the code is entered or the dialog closes. */
  #typed = {}
  #pending = '/signin'
  #isBusy = false

  constructor() {
    super()
    if (SHEET === undefined) this.#root.append(make('style', { textContent: STYLE }))
    else this.#root.adoptedStyleSheets = [SHEET]
    this.#dialog.setAttribute('aria-labelledby', 'title')
    this.#error.setAttribute('role', 'alert')
    this.#status.setAttribute('role', 'status')
    const close = make('button', { type: 'button', textContent: '×', onclick: () => this.#dialog.close() })
    close.setAttribute('aria-label', 'Close')
    const hub = make('a', { href: `${HUB}/account`, textContent: 'Manage your account' })
    const footer = make('footer', { role: 'presentation' }, hub, ' · one account for every site here')
    this.#dialog.append(
      make('header', { role: 'presentation' }, this.#title, close),
      this.#error,
      this.#status,
      this.#body,
      footer,
    )
    this.#dialog.addEventListener('close', () => {
      this.#typed = {}
      this.#body.replaceChildren()
    })
    this.#button.onclick = () => this.#press()
    this.#root.append(make('span', { className: 'bar' }, this.#who, this.#button), this.#dialog)
  }

  connectedCallback() {
    elements.add(this)
    this.#button.textContent = this.#label()
    this.show()
  }

  disconnectedCallback() {
    elements.delete(this)
  }

  #label() {
    return this.getAttribute('label') ?? 'Sign in'
  }

  async show() {
    const user = await session()
    this.#who.textContent = user?.email ?? ''
    this.#who.title = user?.email ?? ''
    this.#who.hidden = user === null
    this.#button.textContent = user === null ? this.#label() : 'Sign out'
    this.#button.classList.toggle('main', user === null)
    this.dataset.state = user === null ? 'anonymous' : 'signed-in'
  }

  async open(view = 'signin') {
    this.#methods = { ...this.#methods, ...(await call('/login-methods')) }
    this.#show(Object.hasOwn(VIEWS, view) && view !== 'code' ? view : 'signin')
    if (!this.#dialog.open) this.#dialog.showModal()
    this.#focus()
  }

  /** The button is not disabled meanwhile: it would lose the focus that the dialog returns to it. */
  async #press() {
    if (this.#isBusy) return
    this.#isBusy = true
    if ((await session()) === null) await this.open()
    else if ((await signOut()) && (this.hasAttribute('reload') || (await isHidden()))) location.reload()
    this.#isBusy = false
  }

  #show(name, message = VIEWS[name].hint ?? '') {
    const view = VIEWS[name]
    this.#title.textContent = view.title
    this.#say('', message)
    const form = view.submit === undefined ? [] : [this.#form(name, view)]
    const links = view.links.filter((link) => link !== 'signup' || this.#methods.allowSignup)
    const nav = make('p', {}, ...links.flatMap((link) => [this.#link(link), ' ']))
    this.#body.replaceChildren(...form, ...(name === 'signin' ? this.#providers() : []), nav)
    this.#focus()
  }

  #form(name, { fields, submit }) {
    const button = make('button', { type: 'submit', className: 'main', textContent: submit })
    const form = make('form', { method: 'dialog' }, ...fields.map((field) => this.#field(field)), button)
    form.onsubmit = (event) => {
      event.preventDefault()
      this.#submit(name, form, button)
    }
    return form
  }

  #field(name) {
    const { label, ...props } = FIELDS[name]
    const kept = name === 'email' ? (this.#typed.email ?? '') : ''
    const input = make('input', { name, required: true, value: kept, ...props })
    const hint =
      name === 'newPassword' ? make('span', { className: 'hint', textContent: '8 to 256 characters' }) : ''
    return make('label', {}, label, input, hint)
  }

  #link(name) {
    const onclick = () => this.#show(name)
    return make('button', { type: 'button', className: 'link', textContent: LINKS[name], onclick })
  }

  #providers() {
    const { providers } = this.#methods
    if (providers.length === 0) return []
    const back = encodeURIComponent(location.pathname + location.search)
    const links = providers.map(({ id, displayName }) =>
      make('a', {
        className: 'provider',
        href: `${AUTH}/oidc/${encodeURIComponent(id)}/start?redirect=${back}`,
        textContent: `Continue with ${displayName}`,
      }),
    )
    return [make('div', { className: 'providers' }, ...links)]
  }

  async #submit(name, form, button) {
    const { newPassword, ...fields } = Object.fromEntries(new FormData(form))
    this.#typed = { ...this.#typed, ...fields, ...(newPassword && { password: newPassword }) }
    if (name !== 'code')
      this.#pending = { signin: '/signin', signup: '/signup', forgot: '/forgot-password' }[name]
    const { email, password, code } = this.#typed
    const body = name === 'forgot' ? { email } : { email, password, ...(name === 'code' && { code }) }
    button.disabled = true
    const answer = await call(this.#pending, body)
    button.disabled = false
    if (!this.#dialog.open) return
    if (!answer.ok) return this.#refuse(answer)
    if (name === 'forgot')
      return this.#show(
        'signin',
        'If this email has an account, a link is on its way. No mail? Ask an admin.',
      )
    this.#dialog.close()
    announce('svc-signin', answer.user)
    if (this.hasAttribute('reload')) location.reload()
  }

  #refuse({ error, message }) {
    if (error === 'MFA_REQUIRED') return this.#show('code', 'Enter the six digits from your app.')
    this.#say(message ?? 'That did not work. Try again.', '')
    if (error === 'EMAIL_ALREADY_EXISTS_ERROR') this.#error.append(' ', this.#link('signin'))
    this.#focus()
  }

  #say(error, status) {
    this.#error.textContent = error
    this.#status.textContent = status
    this.#error.hidden = error === ''
    this.#status.hidden = status === ''
  }

  /** The first empty field. */
  #focus() {
    const inputs = [...this.#body.querySelectorAll('input')]
    const target = inputs.find(({ value }) => value === '') ?? inputs.at(-1) ?? this.#title
    target.focus()
  }
}

const page = /** @type {Window & { svc?: object }} */ (window)
page.svc = { ...page.svc, session, signOut, open }
if (!customElements.get('svc-auth')) customElements.define('svc-auth', SvcAuth)
