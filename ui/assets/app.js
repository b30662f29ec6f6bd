// Improves pages for browsers with scripts. Each page also works without scripts.
// The islands (ui/islands) follow in the same script, each in its own block, and use the functions declared here.

/** @template {HTMLElement} T @param {string} selector @param {(element: T) => void} enhance */
const each = (selector, enhance) => {
  for (const element of /** @type {NodeListOf<T>} */ (document.querySelectorAll(selector))) enhance(element)
}

/** An element that always exists. @template {HTMLElement} T @param {ParentNode} place @param {string} selector */
const partOf = (place, selector) => /** @type {T} */ (place.querySelector(selector))

/** Safari before 17.4 has no checkVisibility. @param {Element} element */
const isShown = (element) => element.checkVisibility?.() ?? element.getClientRects().length > 0

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/* Times: shows how long ago, and on hover the exact time in the viewer's time zone. */

/** @type {[unit: Intl.RelativeTimeFormatUnit, seconds: number][]} */
const STEPS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const month = new Intl.DateTimeFormat('en-US', { month: 'short' })
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'long' })

/** Dates are written as the server writes them: `20 Nov 2026`, `20 Nov 2026, 09:05:00 UTC`. */
const onDay = (date) => `${date.getDate()} ${month.format(date)} ${date.getFullYear()}`
const exactly = (date) => `${onDay(date)}, ${clock.format(date)}`

function tellAge(time) {
  time.title = exactly(new Date(time.dateTime))
  const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000
  const step = STEPS.find(([, least]) => Math.abs(seconds) >= least)
  time.textContent = step === undefined ? 'just now' : words.format(Math.round(seconds / step[1]), step[0])
}

const tellAges = () => each('time[data-ago]', tellAge)
tellAges()
setInterval(tellAges, 60_000)

function tellDay(time) {
  time.title = exactly(new Date(time.dateTime))
  time.textContent = onDay(new Date(time.dateTime))
}

each('time[data-day]', tellDay)

// On a phone the row of tabs is wider than the screen.
each('.tabs [aria-current]', (tab) => tab.scrollIntoView({ block: 'nearest', inline: 'center' }))

/* Browsers without popovers, such as Safari before 17, show their content in the page, where the button toggles it. */

const hasPopovers = 'popover' in HTMLElement.prototype

each('button[popovertarget]', (/** @type {HTMLButtonElement} */ opener) => {
  const target = document.getElementById(opener.getAttribute('popovertarget') ?? '')
  // The navigation stays visible: below the page on a phone, beside it elsewhere.
  if (hasPopovers || target === null || target.localName === 'nav') return
  target.hidden = true
  opener.addEventListener('click', () => {
    target.hidden = !target.hidden
  })
})

/* `#roll-back-…` opens the dialog, `#invite` starts in the form below that heading: as a link of the page, and as a command. */

function enterFragment() {
  const target = document.getElementById(location.hash.slice(1))
  if (target === null) return
  if (target.matches('.dialog[popover]')) {
    if (hasPopovers) target.showPopover()
    else target.hidden = false
  } else {
    /** @type {HTMLElement | null | undefined} */
    const input = target
      .closest('.card')
      ?.querySelector(':scope > form.narrow :is(input:not([type=hidden]), select, textarea)')
    if (input == null) return
    input.focus()
  }
  // So that the same command does it again.
  history.replaceState(history.state, '', location.pathname + location.search)
}

addEventListener('hashchange', enterFragment)

/* After a rejected form, focus the first field with an error, or the message, unless the page has its own autofocus. */

const startsElsewhere = [...document.querySelectorAll('main [autofocus]')].some(isShown)
/** @type {HTMLElement | null} */
const wrong =
  document.querySelector('main [aria-invalid=true]') ??
  document.querySelector('main .notice[role=alert]:not([hidden])')
if (wrong !== null && !startsElsewhere) {
  wrong.closest('details')?.setAttribute('open', '')
  /** @type {HTMLElement | null} */
  const popover = wrong.closest('[popover]')
  if (hasPopovers) popover?.showPopover()
  else popover?.removeAttribute('hidden')
  if (wrong.matches('.notice')) wrong.setAttribute('tabindex', '-1')
  wrong.focus()
  // `/people#invite`: the browser goes to the fragment after this script, and takes the focus away.
  const again = () => document.activeElement === document.body && wrong.focus()
  if (location.hash !== '') addEventListener('load', () => setTimeout(again))
}

/* After any other form, focus what it says, or the heading. */

const SENT = 'svc-form-sent'

function afterForm() {
  try {
    const isAfter = sessionStorage.getItem(SENT) !== null
    sessionStorage.removeItem(SENT)
    return isAfter
  } catch {
    return false
  }
}

const isAfterForm = afterForm()
// The browser goes to the fragment after this script.
if (!isAfterForm && wrong === null && location.hash !== '')
  addEventListener('load', () => setTimeout(enterFragment))

if (isAfterForm && wrong === null && !startsElsewhere) {
  /** @type {HTMLElement | null} */
  const said =
    document.querySelector('main .notice:not(.toast, [hidden])') ?? document.querySelector('main h1')
  said?.setAttribute('tabindex', '-1')
  said?.focus({ preventScroll: location.hash !== '' })
}

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (event.defaultPrevented || form.method !== 'post') return
  try {
    sessionStorage.setItem(SENT, '1')
  } catch {}
})

/*
 * Ignore a second submit for a while, because the first may already have created something. The server answers a second
 * one for as long with the first answer (obey-once.ts).
 */

const AGAIN_MS = 5000
const sentAt = new WeakMap()

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  const before = sentAt.get(form)
  if (event.defaultPrevented) return
  if (before !== undefined && event.timeStamp - before < AGAIN_MS) event.preventDefault()
  else sentAt.set(form, event.timeStamp)
})

/* Copying */

async function copy(text, source) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  // The clipboard API needs https. Copying a selection works without it.
  getSelection()?.selectAllChildren(source)
  document.execCommand('copy')
}

/** Says so for a while. */
function copied(button) {
  const label = button.textContent
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = label
  }, 2000)
}

each('button[data-copy]', (/** @type {HTMLButtonElement} */ button) => {
  button.hidden = false
  button.addEventListener('click', async () => {
    const whole = make('pre', { class: 'visually-hidden' }, button.dataset.copy ?? '')
    button.after(whole)
    await copy(whole.textContent, whole)
    whole.remove()
    copied(button)
  })
})

function makeCopyable(figure) {
  const code = partOf(figure, 'code')
  const label = figure.querySelector('figcaption')?.textContent.trim()
  const button = make('button', { type: 'button', class: 'btn btn-quiet btn-small copy' }, 'Copy')
  if (label !== undefined) button.setAttribute('aria-label', figure.dataset.copyName ?? `Copy: ${label}`)
  button.addEventListener('click', async () => {
    await copy(code.textContent, code)
    copied(button)
  })
  figure.append(button)
}

each('.copyable', makeCopyable)

/* Pictures of sites */

each('.picture template', (/** @type {HTMLTemplateElement} */ template) => {
  template.replaceWith(template.content.cloneNode(true))
})

/** Decimal, as disks are sold: `12.3 KB`. @param {number} bytes */
function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} B`
  const units = ['KB', 'MB', 'GB']
  const at = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  const value = bytes / 1000 ** at
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at - 1]}`
}

/* The page of a project without deployments goes on to the first one when it arrives. */

each('[data-wait-for]', (place) => {
  const project = place.dataset.waitFor
  const look = async () => {
    // Do not navigate away from what is about to be published.
    if (document.hidden || document.querySelector('form[data-publish].is-picked')) return
    const answer = await fetch(`/api/deployments?limit=1&projectId=${project}`).catch(() => undefined)
    if (answer?.ok !== true) return
    const { data } = await answer.json()
    if (data.length > 0) location.assign(`/projects/${project}?done=published`)
  }
  setInterval(look, 3000)
})
