/* Shows the next times of a schedule while it is typed, and in the reader's own time zone. */

const SCHEDULE_TYPING_MS = 300

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone
const ownTime = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

const tellOwnTimes = () =>
  each('[data-next-times] table', (table) => {
    const label = `Where you are (${ownZone})`
    partOf(table, 'th:last-child').textContent = label
    for (const cell of table.querySelectorAll('td:has(> time[data-own-zone])')) {
      const time = partOf(cell, 'time')
      time.textContent = ownTime.format(new Date(time.getAttribute('datetime') ?? ''))
      cell.setAttribute('data-label', label)
    }
  })
tellOwnTimes()

each('form[data-schedule]', (form) => {
  partOf(form, '[value=preview]').hidden = true
  let timer
  let asking = new AbortController()

  const renew = async () => {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    const query = new URLSearchParams()
    for (const name of ['cron', 'timezone']) {
      const field = /** @type {HTMLInputElement} */ (partOf(form, `[name=${name}]`))
      query.set(name, field.value)
    }
    try {
      const answer = await fetch(`${location.pathname}?${query}`, { signal })
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const found = fresh.querySelector('[data-next-times]')
      if (found === null || signal.aborted) return
      // The sentence stays in its place, so that it is announced.
      const shown = partOf(document, '[data-next-times]')
      const status = partOf(shown, '[role=status]')
      status.textContent = partOf(found, '[role=status]').textContent
      shown.replaceChildren(status, ...[...found.children].slice(1))
      tellOwnTimes()
    } catch {
      // What is shown stays until something more is typed.
    }
  }

  for (const name of ['cron', 'timezone'])
    partOf(form, `[name=${name}]`).addEventListener('input', () => {
      clearTimeout(timer)
      timer = setTimeout(renew, SCHEDULE_TYPING_MS)
    })
})
