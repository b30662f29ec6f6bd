/* Shares that always add up to 100: each number gets a slider, and moving one balances the others. */

each('form[data-weights]', (form) => {
  const total = form.querySelector('[data-total]')
  const rows = [...form.querySelectorAll('[data-weight]')].map(rowOf)
  /** The proportion of the other shares before a slider moved. It is needed while one share is at 100. */
  let before = []
  const remember = () => {
    before = rows.map((row) => (row.isIn() ? row.value() : 0))
  }
  const update = (moved) => {
    balance(rows, moved, before)
    tell(rows, total)
  }
  for (const row of rows) {
    row.slider.addEventListener('input', () => {
      row.set(Number(row.slider.value))
      update(row)
    })
    row.slider.addEventListener('change', remember)
    for (const control of row.controls)
      control.addEventListener('change', () => {
        row.tidy()
        update(row)
        remember()
      })
  }
  remember()
  tell(rows, total)
})

/** Distributes the rest among the other shares, in their previous proportion. */
function balance(rows, moved, before) {
  const others = rows.filter((row) => row !== moved && row.isIn())
  if (moved.isIn() && others.length === 0) moved.set(100)
  const left = 100 - (moved.isIn() ? moved.value() : 0)
  const wanted = others.map((row) => before[rows.indexOf(row)])
  dealt(left, wanted).forEach((share, at) => {
    others[at].set(share)
  })
}

function tell(rows, total) {
  const sum = rows.filter((row) => row.isIn()).reduce((all, row) => all + row.value(), 0)
  total.textContent =
    sum === 100 ? 'The shares add up to 100.' : `The shares add up to ${sum} and must add up to 100.`
  for (const row of rows) row.slide()
}

function rowOf(element) {
  const number = element.querySelector('input[type=number]')
  // The last row has a select for its alias.
  const choice = element.querySelector('select')
  const name = () => choice?.value ?? element.querySelector('label').textContent.trim()
  const slider = make('input', { type: 'range', min: '0', max: '100', step: '1' })
  number.parentElement.before(slider)
  const isIn = () => number.value !== '' && name() !== ''
  return {
    slider,
    controls: choice === null ? [number] : [number, choice],
    isIn,
    value: () => Number(number.value),
    set(value) {
      number.value = String(value)
    },
    /** Sets a share when an alias is chosen, clears it when the choice is undone, and drops invalid numbers. */
    tidy() {
      if (choice !== null) number.value = choice.value === '' ? '' : number.value || '0'
      if (number.value !== '')
        number.value = String(Math.min(100, Math.max(0, Math.round(Number(number.value)))))
    },
    slide() {
      slider.value = number.value === '' ? '0' : number.value
      slider.disabled = !isIn()
      slider.setAttribute('aria-label', `Share of ${name() || 'the other alias'} in percent`)
    },
  }
}

/** Whole numbers that add up to `sum`, in the proportion of `wanted`; equal if all of `wanted` is 0. */
function dealt(sum, wanted) {
  const all = wanted.reduce((total, one) => total + one, 0)
  const exact = wanted.map((one) => (all === 0 ? sum / wanted.length : (sum * one) / all))
  const shares = exact.map(Math.floor)
  const order = exact.map((value, at) => [value - shares[at], at]).sort(([a], [b]) => b - a)
  let left = sum - shares.reduce((total, one) => total + one, 0)
  for (const [, at] of order) {
    if (left <= 0) break
    shares[at] += 1
    left -= 1
  }
  return shares
}
