/* For a domain that is not verified yet: checks again while the page is visible, and shows the result. */

const EVERY_MS = 10_000

each('[data-domain]', (place) => {
  const { domain, verifies } = place.dataset
  const found = partOf(place, '[data-found]')
  const checked = partOf(place, '[data-checked]')
  const reason = partOf(place, '[data-reason]')
  partOf(place, '[data-scripted]').hidden = false

  // People who may not verify see the last result.
  const ask = () =>
    verifies === 'true'
      ? fetch(`/api/domains/${domain}/verify`, { method: 'POST' })
      : fetch(`/api/domains/${domain}`)

  const tell = ({ checkedAt, error }) => {
    if (checkedAt === null) return
    found.textContent = 'Not found.'
    const time = make('time', { datetime: checkedAt, 'data-ago': '' })
    tellAge(time)
    checked.replaceChildren(time)
    // Announce the result only if it changed.
    if (reason.textContent !== error) reason.textContent = error
  }

  const look = async () => {
    if (!document.hidden) {
      const answer = await ask().catch(() => undefined)
      if (answer?.ok === true) {
        const { verification } = await answer.json()
        if (verification.verifiedAt !== null) return location.assign(`${location.pathname}?done=verified`)
        tell(verification)
      }
    }
    setTimeout(look, EVERY_MS)
  }
  setTimeout(look, EVERY_MS)
})
