/* Shows the errors of a rule at their lines while somebody types. The server finds them, as it does when the form is sent. */

const SHORT_PAUSE_MS = 200

each('textarea[data-validate]', (/** @type {HTMLTextAreaElement} */ area) => {
  const list = /** @type {HTMLElement} */ (document.getElementById('yaml-errors'))
  const numbers = partOf(/** @type {HTMLElement} */ (area.parentElement), '.yaml-lines')
  let timer
  let asked = 0
  let wrong = new Set()

  const number = () => {
    const count = area.value.split('\n').length
    numbers.replaceChildren(
      ...Array.from({ length: count }, (_, at) =>
        make('span', wrong.has(at + 1) ? { class: 'wrong' } : {}, `${at + 1}\n`),
      ),
    )
    numbers.scrollTop = area.scrollTop
  }

  const show = ({ errors, warnings }) => {
    wrong = new Set(errors.map(({ line }) => line))
    list.replaceChildren(
      ...errors.map(({ line, message }) => make('li', {}, `Line ${line}: ${message}`)),
      ...warnings.map((message) => make('li', { class: 'doubt' }, message)),
    )
    if (errors.length > 0) area.setAttribute('aria-invalid', 'true')
    else area.removeAttribute('aria-invalid')
    number()
  }

  const check = async () => {
    asked += 1
    const mine = asked
    const answer = await fetch(/** @type {string} */ (area.dataset['validate']), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ yaml: area.value }),
    }).catch(() => undefined)
    if (answer?.ok === true && mine === asked) show(await answer.json())
  }

  area.addEventListener('input', () => {
    number()
    clearTimeout(timer)
    timer = setTimeout(check, SHORT_PAUSE_MS)
  })
  area.addEventListener('scroll', () => {
    numbers.scrollTop = area.scrollTop
  })
})
