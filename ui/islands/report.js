/* While a deploy report is being made: looks again while the page is visible, and shows it when it is there. */

const AGAIN_AFTER_MS = 2_000

each('[data-report]', ({ dataset }) => {
  const look = async () => {
    if (!document.hidden) {
      const answer = await fetch(`/api/deployments/${dataset.report}/report`).catch(() => undefined)
      if (answer?.ok === true && (await answer.json()).status !== 'running') return location.reload()
    }
    setTimeout(look, AGAIN_AFTER_MS)
  }
  setTimeout(look, AGAIN_AFTER_MS)
})
