/* Shows errors beside the fields while somebody fills in the form. The server checks it as it does on submit. */

const PAUSE_MS = 700

each('form[data-check]', (/** @type {HTMLFormElement} */ form) => {
  /** Only fields that were touched show an error. */
  const touched = new Set()
  let timer
  let asked = 0

  const check = async () => {
    asked += 1
    const mine = asked
    const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)])
    const body = new URLSearchParams(fields)
    body.set('intent', 'check')
    const answer = await fetch(form.action, { method: 'POST', body }).catch(() => undefined)
    if (answer?.ok !== true || mine !== asked) return
    const { details } = await answer.json()
    const all = /** @type {HTMLInputElement[]} */ ([...form.elements])
    const controls = all.filter(({ name }) => touched.has(name))
    for (const control of controls)
      mark(control, details.find(({ path }) => path === control.name)?.message ?? '')
  }

  form.addEventListener('input', ({ target }) => {
    const { name } = /** @type {HTMLInputElement} */ (target)
    if (name === 'yaml') return
    touched.add(name)
    clearTimeout(timer)
    timer = setTimeout(check, PAUSE_MS)
  })
})

function mark(control, message) {
  const id = `${control.id}-error`
  const known = document.getElementById(id)
  if (message === '') known?.remove()
  else {
    const place = known ?? make('p', { class: 'field-error', id, 'aria-live': 'polite' })
    if (known === null) control.before(place)
    place.textContent = message
  }
  const ids = [id, `${control.id}-hint`].filter((one) => document.getElementById(one) !== null)
  if (ids.length === 0) control.removeAttribute('aria-describedby')
  else control.setAttribute('aria-describedby', ids.join(' '))
  if (message === '') control.removeAttribute('aria-invalid')
  else control.setAttribute('aria-invalid', 'true')
}
