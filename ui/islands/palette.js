/* A command palette on Ctrl+K or ⌘K: a combobox over a list. The focus stays in the input. */

const OPENED_BY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'
const NAME = 'Go to a page or project'
const MAX_SHOWN = 20
const ASK_AFTER_MS = 150

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
const list = make('div', { id: 'palette-list', role: 'listbox', 'aria-label': 'Places' })
const count = make('p', { class: 'muted small', 'aria-live': 'polite' })
const dialog = make('dialog', { class: 'palette', 'aria-label': 'Go to' }, input, list, count)

/** The links of the page when the palette was opened. */
let here = []
let asking = new AbortController()
let timer

function open() {
  if (dialog.open) return
  if (!dialog.isConnected) document.body.append(dialog)
  here = placesHere()
  input.value = ''
  list.replaceChildren()
  fill()
  dialog.showModal()
  input.focus()
}

function fill() {
  const sought = input.value.trim().toLowerCase()
  const found = here
    .filter(({ label }) => holds(label, sought))
    .sort((a, b) => rank(a, sought) - rank(b, sought))
  show(found)
  clearTimeout(timer)
  asking.abort()
  if (sought === '') return
  asking = new AbortController()
  const { signal } = asking
  timer = setTimeout(async () => {
    const projects = await findProjects(sought, signal).catch(() => [])
    const known = new Set(found.map(({ href }) => href))
    if (!signal.aborted) show([...found, ...projects.filter(({ href }) => !known.has(href))])
  }, ASK_AFTER_MS)
}

/** The links of this page without duplicates, the nearest first. */
function placesHere() {
  const found = new Map()
  const collect = (group, selector) =>
    each(selector, (/** @type {HTMLAnchorElement} */ link) => {
      const label = link.textContent.replace(/\s+/g, ' ').trim()
      if (label !== '' && !found.has(link.href)) found.set(link.href, { group, label, href: link.href })
    })
  collect(document.querySelector('.tabs')?.getAttribute('aria-label') ?? '', '.tabs a')
  collect('Workspace', '.sidebar a, .menu-panel a')
  collect('This page', '.crumbs a, .page-head a.btn, .table tbody th a')
  return [...found.values()]
}

function holds(label, sought) {
  const text = label.toLowerCase()
  return sought.split(/\s+/).every((word) => text.includes(word))
}

/** Matches at the beginning of a word come first. */
const rank = ({ label }, sought) => (` ${label.toLowerCase()}`.includes(` ${sought}`) ? 0 : 1)

/** Projects with that name, except those where the person is only a guest. */
async function findProjects(sought, signal) {
  const query = new URLSearchParams({ q: sought, limit: '10' })
  const answer = await fetch(`/api/projects?${query}`, { signal })
  if (!answer.ok) return []
  const { projects } = await answer.json()
  return projects
    .filter(({ role }) => role !== 'guest')
    .map(({ id, owner, name, displayName }) => ({
      group: 'Projects',
      label: displayName === name ? `${owner}/${name}` : `${displayName} (${owner}/${name})`,
      href: new URL(`/projects/${id}`, location.href).href,
    }))
}

function show(places) {
  const before = current()?.href
  const shown = places.slice(0, MAX_SHOWN)
  const groups = [...new Set(shown.map(({ group }) => group))]
  list.replaceChildren(
    ...groups.map((name) =>
      groupOf(
        name,
        shown.filter(({ group }) => group === name),
      ),
    ),
  )
  const all = options()
  all.forEach((option, at) => {
    option.id = `palette-${at}`
  })
  select(all.find(({ href }) => href === before) ?? all[0])
  count.textContent =
    all.length === 0 ? 'Nothing found.' : all.length === 1 ? '1 place' : `${all.length} places`
}

function groupOf(group, members) {
  const links = members.map(({ label, href }) =>
    make('a', { role: 'option', href, tabindex: '-1', 'aria-selected': 'false' }, label),
  )
  const title = make('p', { class: 'nav-label', 'aria-hidden': 'true' }, group)
  return make('div', { role: 'group', 'aria-label': group }, title, ...links)
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

input.addEventListener('input', fill)
dialog.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') current()?.click()
  else if (event.key === 'ArrowDown') step(1)
  else if (event.key === 'ArrowUp') step(-1)
  else return
  event.preventDefault()
})
// A click on the backdrop. The browser handles Escape.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close()
})

each('.topbar .menu', (menu) => {
  const opener = make('button', {
    type: 'button',
    class: 'btn btn-secondary btn-small opener',
    'aria-keyshortcuts': 'Control+K Meta+K',
  })
  opener.append('Go to ', make('kbd', {}, OPENED_BY))
  opener.addEventListener('click', open)
  menu.before(opener)
})

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || event.altKey || !(event.metaKey || event.ctrlKey)) return
  event.preventDefault()
  open()
})
