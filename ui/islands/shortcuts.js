/* Shortcuts without Ctrl; `?` lists them. They can be turned off for people who use speech input. WCAG 2.1.4 */

const STORED = 'svc-single-keys'
const KEYS = [
  ['Ctrl K or ⌘ K', 'Search and commands'],
  ['/', 'Search the list of this page'],
  ['1 to 9', 'Open a tab of the project'],
  ['?', 'Show these keys'],
  ['Esc', 'Close what is open'],
]

// Without storage, as in some private windows, the choice lasts until the page closes.
let areOn = readStored() !== 'off'

function readStored() {
  try {
    return localStorage.getItem(STORED)
  } catch {
    return null
  }
}

function turn(on) {
  areOn = on
  try {
    localStorage.setItem(STORED, on ? 'on' : 'off')
  } catch {}
}

function makeHelp() {
  const box = make('input', { type: 'checkbox', id: 'single-keys' })
  box.checked = areOn
  box.addEventListener('change', () => turn(box.checked))
  const rows = KEYS.map(([key, what]) =>
    make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, what)),
  )
  const close = make('button', { type: 'button', class: 'btn btn-secondary', autofocus: '' }, 'Close')
  const body = make('div', { class: 'stack' })
  body.append(
    make('h2', { id: 'keys-title' }, 'Keyboard shortcuts'),
    make('dl', { class: 'details' }, ...rows),
    make(
      'div',
      { class: 'check' },
      box,
      make('label', { for: 'single-keys' }, 'Enable single-key shortcuts'),
    ),
    make('div', { class: 'actions' }, close),
  )
  const dialog = make('dialog', { class: 'dialog', 'aria-labelledby': 'keys-title' }, body)
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  document.body.append(dialog)
  return dialog
}

let help

function openHelp() {
  help ??= makeHelp()
  help.showModal()
}

document.addEventListener('svc-keys', openHelp)

each('.menu-panel ul', (menu) => {
  const opener = make('button', { type: 'button', 'aria-keyshortcuts': '?' }, 'Keyboard shortcuts')
  opener.addEventListener('click', openHelp)
  menu.prepend(make('li', {}, opener))
})

/** The action of a key; undefined if it has none. */
function deedOf(key) {
  if (key === '?') return openHelp
  if (key === '/') {
    /** @type {HTMLInputElement | null} */
    const search = document.querySelector('form[role=search] input')
    return search === null ? undefined : () => search.focus()
  }
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const tabs = document.querySelectorAll('.tabs:not(.tabs-inner) a')
  const tab = /^[1-9]$/.test(key) ? tabs[Number(key) - 1] : undefined
  return tab === undefined ? undefined : () => tab.click()
}

document.addEventListener('keydown', (event) => {
  const { key, metaKey, ctrlKey, altKey } = event
  const at = /** @type {Element} */ (event.target)
  const field = at.closest('input, textarea, select, [contenteditable], dialog')
  // A dialog that was just closed may keep the focus for a moment.
  const isTyping = field !== null && isShown(field)
  if (!areOn || isTyping || metaKey || ctrlKey || altKey) return
  const deed = deedOf(key)
  if (deed === undefined) return
  event.preventDefault()
  deed()
})
