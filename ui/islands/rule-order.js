/* Reorders rules by drag or keyboard. The buttons also work without scripts; with scripts they keep the focus. */

each('form[data-order]', (/** @type {HTMLFormElement} */ form) => {
  const list = partOf(form, 'ol')
  const said = partOf(form, '[data-said]')
  const refused = partOf(form, '[data-refused]')
  const rows = () => /** @type {HTMLElement[]} */ ([...list.children])
  let saved = rows()
  /** Saves run one after another, so that the last order wins. */
  let saving = Promise.resolve()

  /** Moves the other rows around this one, so that it keeps the focus and the pointer. */
  const put = (row, to) => {
    const all = rows()
    const at = all.indexOf(row)
    if (to > at) row.before(...all.slice(at + 1, to + 1))
    else if (to < at) row.after(...all.slice(to, at))
    return to !== at
  }

  const save = async () => {
    const wanted = rows()
    const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)])
    const body = new URLSearchParams(fields)
    body.set('order', wanted.map((row) => row.dataset.id).join(','))
    // Accept further moves immediately.
    const answer = await fetch(form.action, {
      method: 'POST',
      body,
      redirect: 'manual',
      keepalive: true,
    }).catch(() => undefined)
    // An accepted form redirects back to its page.
    const isSaved = answer?.type === 'opaqueredirect'
    if (isSaved) saved = wanted
    else list.replaceChildren(...saved)
    refused.textContent = isSaved ? '' : 'The order could not be saved. Reload the page, then try again.'
    refused.hidden = isSaved
    disableEnds(rows())
  }

  const settle = (row) => {
    disableEnds(rows())
    said.textContent = `${row.dataset.name} is now number ${rows().indexOf(row) + 1} of ${rows().length}.`
    saving = saving.then(save)
  }

  const move = (row, to) => {
    const at = Math.min(rows().length - 1, Math.max(0, to))
    if (put(row, at)) settle(row)
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const button = /** @type {HTMLButtonElement} */ (event.submitter)
    const row = /** @type {HTMLElement} */ (button.closest('li'))
    const isUp = button.value.startsWith('up')
    move(row, rows().indexOf(row) + (isUp ? -1 : 1))
    /** @type {HTMLElement | null} */
    const other = row.querySelector('[name=move]:enabled')
    if (button.disabled) other?.focus()
    else button.focus()
  })

  for (const row of rows()) row.prepend(gripOf(row, { rows, put, move, settle }))
})

/** The first row cannot move up, nor the last down. */
function disableEnds(rows) {
  rows.forEach((row, at) => {
    const buttons = [...row.querySelectorAll('[name=move]')]
    const [up, down] = /** @type {[HTMLButtonElement, HTMLButtonElement]} */ (buttons)
    up.disabled = at === 0
    down.disabled = at === rows.length - 1
  })
}

function gripOf(row, { rows, put, move, settle }) {
  const grip = make('button', {
    type: 'button',
    class: 'btn btn-quiet btn-small grip',
    'aria-label': `Reorder ${row.dataset.name}: drag, or press the arrow keys`,
    title: 'Drag, or press the arrow keys',
  })
  grip.textContent = '⠿'
  let before

  grip.addEventListener('keydown', (event) => {
    const at = rows().indexOf(row)
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows().length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(row, to)
  })
  grip.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    grip.setPointerCapture(event.pointerId)
    before = rows().indexOf(row)
    row.classList.add('is-moving')
  })
  grip.addEventListener('pointermove', ({ clientY }) => {
    if (before === undefined) return
    put(row, placeAt(row, rows(), clientY))
  })
  const drop = () => {
    if (before === undefined) return
    row.classList.remove('is-moving')
    if (rows().indexOf(row) !== before) settle(row)
    before = undefined
  }
  grip.addEventListener('pointerup', drop)
  grip.addEventListener('pointercancel', drop)
  return grip
}

/** The index at the pointer: after all rows whose middle it has passed. */
const placeAt = (row, all, y) => all.filter((other) => other !== row && middleOf(other) < y).length

function middleOf(row) {
  const { top, height } = row.getBoundingClientRect()
  return top + height / 2
}
