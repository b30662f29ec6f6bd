/* Shows the result of a form over the page, visible at any scroll position. It can be closed, disappears automatically
   unless somebody points at it, and does not come back on reload. */

const SHOWN_MS = 10_000
const LOOK_MS = 1000

each('.toast', (toast) => {
  const close = make('button', {
    type: 'button',
    class: 'btn btn-quiet btn-small nowrap',
    'aria-label': 'Close: message',
  })
  close.textContent = 'Close'
  close.addEventListener('click', () => toast.remove())
  toast.append(close)
  toast.classList.add('is-over')

  let leftMs = SHOWN_MS
  const clock = setInterval(() => {
    const isLookedAt = toast.matches(':hover, :focus-within')
    if (isLookedAt || document.hidden) return
    leftMs -= LOOK_MS
    if (leftMs > 0) return
    clearInterval(clock)
    toast.remove()
  }, LOOK_MS)
})

const address = new URL(location.href)
if (address.searchParams.has('done')) {
  address.searchParams.delete('done')
  history.replaceState(history.state, '', address)
}
