/* Rows with checkboxes: adds one that selects all rows, and shows the number of selected rows on the button
   and in its question. */

each('[data-selection]', (cell) => {
  const { selection } = cell.dataset
  /** @type {NodeListOf<HTMLInputElement>} */
  const found = document.querySelectorAll(`input[form="${selection}"]`)
  const boxes = [...found]
  const inDialog = (/** @type {string} */ selector) =>
    /** @type {HTMLButtonElement} */ (document.querySelector(`[data-opens="${selection}"] ${selector}`))
  const opener = inDialog('> button')
  const label = opener.textContent
  const question = inDialog('h2')
  const all = make('input', { type: 'checkbox', class: 'tick', 'aria-label': 'Select all on this page' })

  const tell = () => {
    const count = boxes.filter(({ checked }) => checked).length
    all.checked = count === boxes.length
    all.indeterminate = count > 0 && count < boxes.length
    opener.disabled = count === 0
    opener.textContent = count === 0 ? label : `${label} (${count})`
    question.textContent = `Delete ${count} ${count === 1 ? 'record' : 'records'}?`
  }
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked
    tell()
  })
  for (const box of boxes) box.addEventListener('change', tell)
  cell.append(all)
  // Going back to the page restores the checkboxes after this script has run.
  addEventListener('pageshow', tell)
})
