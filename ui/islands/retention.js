/* Shows what a run by the typed rules would remove, while they are typed. */

const TYPING_MS = 300

each('form[data-retention]', (form) => {
  partOf(form, '[value=try]').hidden = true
  /** @returns {HTMLInputElement} */
  const ruleOf = (name) => partOf(form, `[name=${name}]`)
  let timer
  let asking = new AbortController()

  const renew = async () => {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    const query = new URLSearchParams()
    for (const name of ['keepLast', 'keepDays']) query.set(name, ruleOf(name).value || '0')
    try {
      const answer = await fetch(`${location.pathname}?${query}`, { signal })
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const found = fresh.querySelector('[data-would-remove]')
      if (found === null || signal.aborted) return
      // The sentence stays in its place, so that it is announced.
      const shown = partOf(document, '[data-would-remove]')
      partOf(shown, '[role=status]').textContent = partOf(found, '[role=status]').textContent
      shown.replaceChildren(partOf(shown, '[role=status]'), ...[...found.children].slice(1))
      tellAges()
    } catch {
      // What is shown stays until something more is typed.
    }
  }

  for (const name of ['keepLast', 'keepDays'])
    ruleOf(name).addEventListener('input', () => {
      clearTimeout(timer)
      timer = setTimeout(renew, TYPING_MS)
    })
})
