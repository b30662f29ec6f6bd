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

each('time[data-day]', (/** @type {HTMLTimeElement} */ time) => {
  time.title = exactly(new Date(time.dateTime))
  time.textContent = onDay(new Date(time.dateTime))
})

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

each('.copyable', (figure) => {
  const code = partOf(figure, 'code')
  const label = partOf(figure, 'figcaption').textContent.trim()
  const button = make(
    'button',
    { type: 'button', class: 'btn btn-quiet btn-small copy', 'aria-label': `Copy: ${label}` },
    'Copy',
  )
  button.addEventListener('click', async () => {
    await copy(code.textContent, code)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  figure.append(button)
})

/* Publishing: folders, several files, drag and drop, and progress, in addition to the zip of the plain form */

each('form[data-publish]', (/** @type {HTMLFormElement} */ form) => {
  const [owner = '', repo = ''] = form.dataset.publish?.split('/') ?? []
  const maxFiles = Number(form.dataset.maxFiles)
  const zone = partOf(form, '[data-dropzone]')
  /** @type {HTMLInputElement} */
  const zipInput = partOf(form, 'input[name=file]')
  /** @type {HTMLInputElement} */
  const folderInput = partOf(form, '#folder')
  const chosen = partOf(form, '[data-chosen]')
  /** The files to send, each with its path inside the deployment. */
  let entries = []

  /** @type {NodeListOf<HTMLElement>} */
  const scripted = form.querySelectorAll('[data-scripted]')
  for (const hidden of scripted) hidden.hidden = false

  const choose = (found) => {
    entries = found.filter(({ path }) => !path.split('/').some(isLeftOut))
    zipInput.required = entries.length === 0
    const bytes = entries.reduce((sum, { file }) => sum + file.size, 0)
    chosen.textContent = entries.length === 0 ? '' : `${summaryOf(entries)}, ${sizeOf(bytes)}`
    refuse(form, entries.length > maxFiles ? `Too many files: a deployment may have ${maxFiles}.` : '')
  }
  const chooseLoose = (files) => choose([...files].map((file) => ({ path: file.name, file })))
  zipInput.addEventListener('change', () => chooseLoose(zipInput.files))
  folderInput.addEventListener('change', () => {
    const files = [...(folderInput.files ?? [])]
    choose(withoutTop(files.map((file) => ({ path: file.webkitRelativePath, file }))))
  })

  zone.addEventListener('dragover', (event) => {
    event.preventDefault()
    zone.classList.add('is-over')
  })
  zone.addEventListener('dragleave', () => zone.classList.remove('is-over'))
  zone.addEventListener('drop', async (event) => {
    event.preventDefault()
    zone.classList.remove('is-over')
    zipInput.value = ''
    const dropped = await droppedFiles(event.dataTransfer).catch(() => undefined)
    if (dropped === undefined)
      refuse(form, 'The dropped files could not be read. Use a button to choose them instead.')
    else choose(dropped)
  })

  form.addEventListener('submit', (event) => {
    if (entries.length === 0) return
    event.preventDefault()
    const fields = new FormData(form)
    fields.delete('file')
    fields.set('owner', owner)
    fields.set('repo', repo)
    fields.set('commitSha', newSha())
    const isZip = entries.length === 1 && /\.zip$/i.test(entries[0].path)
    if (!isZip) fields.set('filePaths', JSON.stringify(entries.map(({ path }) => path)))
    for (const { path, file } of entries) fields.append('file', file, path)
    send(form, isZip ? '/api/deployments/zip' : '/api/deployments', fields)
  })
})

const summaryOf = (entries) => (entries.length === 1 ? entries[0].path : `${entries.length} files`)

/** The same files as the server leaves out, so that they are not sent. contract §5. */
const isLeftOut = (part) =>
  (part.startsWith('.') && part !== '.well-known') || part === 'node_modules' || part === '__MACOSX'

/** A chosen folder is the site, so its own name is not part of the paths. */
function withoutTop(entries) {
  const [top] = entries[0]?.path.split('/') ?? []
  const isOne = entries.every(({ path }) => path.startsWith(`${top}/`))
  return isOne ? entries.map(({ path, file }) => ({ path: path.slice(top.length + 1), file })) : entries
}

async function droppedFiles(transfer) {
  // Get all entries now: dropped items are accessible only until this task ends.
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  const roots = items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const found = roots.map(({ entry, file }) =>
    entry?.isDirectory === true ? filesBelow(entry, entry.name) : [{ path: file.name, file }],
  )
  return withoutTop((await Promise.all(found)).flat())
}

async function filesBelow(entry, path) {
  if (entry.isFile) return [{ path, file: await new Promise((done, fail) => entry.file(done, fail)) }]
  const reader = entry.createReader()
  const all = []
  // readEntries returns at most 100 entries per call, and none at the end.
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail))
    if (some.length === 0) break
    for (const child of some) all.push(...(await filesBelow(child, `${path}/${child.name}`)))
  }
  return all
}

/** Takes the place of a commit. Random, because crypto.subtle needs https. */
function newSha() {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function send(form, address, fields) {
  const button = form.querySelector('button[type=submit]')
  const box = form.querySelector('[data-progress]')
  const bar = box.querySelector('progress')
  const sent = box.querySelector('[data-sent]')
  const request = new XMLHttpRequest()
  const stop = (message) => {
    button.disabled = false
    box.hidden = true
    refuse(form, message)
  }
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = total === 0 ? 0 : (loaded / total) * 100
    sent.textContent = loaded < total ? `${sizeOf(loaded)} of ${sizeOf(total)}` : 'Storing the files'
  })
  request.addEventListener('load', () => {
    const answer = request.response ?? {}
    const id = answer.deploymentId ?? answer.deployment?.id
    if (request.status === 201 && id !== undefined)
      location.assign(`/projects/${form.dataset.project}/deployments/${id}?done=published`)
    else stop(answer.message ?? 'The server rejected the upload. Try again.')
  })
  request.addEventListener('error', () =>
    stop('The connection was lost and nothing was published. Try again.'),
  )
  request.open('POST', address)
  request.responseType = 'json'
  refuse(form, '')
  button.disabled = true
  box.hidden = false
  request.send(fields)
}

function refuse(form, message) {
  const place = form.querySelector('[data-refused]')
  place.textContent = message
  place.hidden = message === ''
}

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
    // Do not navigate away while an upload runs.
    if (document.hidden || document.querySelector('form[data-publish] button:disabled')) return
    const answer = await fetch(`/api/deployments?limit=1&projectId=${project}`).catch(() => undefined)
    if (answer?.ok !== true) return
    const { data } = await answer.json()
    if (data.length > 0) location.assign(`/projects/${project}?done=published`)
  }
  setInterval(look, 3000)
})
