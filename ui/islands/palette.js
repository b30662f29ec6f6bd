/* Search and commands on Ctrl+K or ⌘K: a combobox over a list that the server makes for this person. The focus stays in
   the input. Without scripts the button leads to a page with the same list. */

const OPENED_BY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'
const NAME = 'Find a page, a project or a command'
const RECENT_KEY = 'svc-recent'
const MAX_RECENT = 20
const TOLD_MS = 4000

const input = make('input', {
  type: 'text',
  role: 'combobox',
  placeholder: NAME,
  autocomplete: 'off',
  spellcheck: 'false',
  'aria-label': NAME,
  'aria-controls': 'palette-list',
  'aria-expanded': 'true',
  'aria-autocomplete': 'list',
})
const list = make('div', { id: 'palette-list', role: 'listbox', 'aria-label': 'Results' })
const count = make('p', { class: 'muted small', role: 'status' })
const dialog = make('dialog', { class: 'palette', 'aria-label': 'Commands' }, input, list, count)

let asking = new AbortController()
/** Ends when the list shows what was typed. */
let answered = Promise.resolve()
/** What each option does. @type {WeakMap<Element, any>} */
const commands = new WeakMap()

function open() {
  if (dialog.open) return
  if (!dialog.isConnected) document.body.append(dialog)
  input.value = ''
  list.replaceChildren()
  count.textContent = ''
  dialog.showModal()
  input.focus()
  fill()
}

function fill() {
  asking.abort()
  asking = new AbortController()
  answered = ask(asking.signal)
}

async function ask(signal) {
  const query = new URLSearchParams({ q: input.value })
  const project = /^\/projects\/([0-9a-f-]{36})/.exec(location.pathname)?.[1]
  if (project !== undefined) query.set('project', project)
  for (const id of recent()) query.append('recent', id)
  try {
    const answer = await fetch(`/commands.json?${query}`, { signal })
    if (!answer.ok) throw new Error(answer.statusText)
    const found = await answer.json()
    if (!signal.aborted) show(found.commands)
  } catch {
    if (!signal.aborted) count.textContent = 'The server did not answer. Try again.'
  }
}

// Without storage, as in some private windows, nothing is remembered.
function recent() {
  try {
    const stored = JSON.parse(localStorage.getItem(RECENT_KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string').slice(0, MAX_RECENT) : []
  } catch {
    return []
  }
}

function remember(id) {
  try {
    const ids = [id, ...recent().filter((other) => other !== id)]
    localStorage.setItem(RECENT_KEY, JSON.stringify(ids.slice(0, MAX_RECENT)))
  } catch {}
}

function show(found) {
  const groups = [...new Set(found.map(({ group }) => group))]
  list.replaceChildren(
    ...groups.map((name) =>
      groupOf(
        name,
        found.filter(({ group }) => group === name),
      ),
    ),
  )
  const all = options()
  all.forEach((option, at) => {
    option.id = `palette-${at}`
  })
  select(all[0])
  count.textContent =
    all.length === 0 ? 'Nothing found' : all.length === 1 ? '1 result' : `${all.length} results`
}

function groupOf(group, members) {
  const made = members.map((command) => {
    const option = make('div', { role: 'option', 'aria-selected': 'false' }, command.name)
    commands.set(option, command)
    option.addEventListener('click', () => act(command))
    return option
  })
  const title = make('p', { class: 'nav-label', 'aria-hidden': 'true' }, group)
  return make('div', { role: 'group', 'aria-label': group }, title, ...made)
}

async function act({ id, does }) {
  remember(id)
  dialog.close()
  if (does.kind === 'open') location.assign(does.href)
  else if (does.kind === 'keys') document.dispatchEvent(new Event('svc-keys'))
  else if (does.kind === 'send') send(does)
  else {
    await copy(does.text, make('span', {}, does.text))
    tell(`Copied ${does.text}`)
  }
}

function send({ action, fields }) {
  const inputs = Object.entries(fields).map(([name, value]) => make('input', { type: 'hidden', name, value }))
  const form = make('form', { method: 'post', action, hidden: '' }, ...inputs)
  document.body.append(form)
  form.requestSubmit()
}

function tell(text) {
  const note = make('p', { role: 'status', class: 'notice notice-good toast is-over' }, text)
  document.querySelector('main')?.prepend(note)
  setTimeout(() => note.remove(), TOLD_MS)
}

const options = () => [...list.querySelectorAll('[role=option]')]
const current = () => options().find((option) => option.getAttribute('aria-selected') === 'true')

function select(option) {
  for (const other of options()) other.setAttribute('aria-selected', String(other === option))
  if (option === undefined) input.removeAttribute('aria-activedescendant')
  else input.setAttribute('aria-activedescendant', option.id)
  option?.scrollIntoView({ block: 'nearest' })
}

function step(by) {
  const all = options()
  if (all.length > 0) select(all.at((all.indexOf(current()) + by) % all.length))
}

/** Whoever types fast means what the list is about to show. */
async function enter() {
  await answered
  const option = current()
  if (option !== undefined && dialog.open) act(commands.get(option))
}

input.addEventListener('input', fill)
dialog.addEventListener('keydown', (event) => {
  if (event.isComposing) return
  if (event.key === 'Enter') enter()
  else if (event.key === 'ArrowDown') step(1)
  else if (event.key === 'ArrowUp') step(-1)
  else return
  event.preventDefault()
})
// A click on the backdrop. The browser handles Escape.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close()
})

each('.opener', (opener) => {
  opener.setAttribute('aria-haspopup', 'dialog')
  opener.setAttribute('aria-keyshortcuts', 'Control+K Meta+K')
  opener.append(make('kbd', { 'aria-hidden': 'true' }, OPENED_BY))
  opener.addEventListener('click', (event) => {
    event.preventDefault()
    open()
  })
})

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || event.altKey || !(event.metaKey || event.ctrlKey)) return
  if (document.querySelector('.opener') === null) return
  event.preventDefault()
  open()
})
