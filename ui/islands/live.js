/* Parts of a page that change by themselves: loads it again while it is visible, and shows what changed. */

const LOAD_MS = 5_000
/** @type {HTMLElement[]} */
const places = []
each('[data-live]', (place) => places.push(place))

/** What was sent last: times in words differ from it. */
const sent = new Map(places.map((place) => [place, place.cloneNode(true)]))

/** The page as it is now; null while the server does not answer. */
const load = () =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.open('GET', location.href)
    request.responseType = 'document'
    request.timeout = LOAD_MS
    request.addEventListener('loadend', () => resolve(request.status === 200 ? request.response : null))
    request.send()
  })

function show(place, fresh) {
  if (fresh === null || fresh.isEqualNode(sent.get(place)) || place.contains(document.activeElement)) return
  sent.set(place, fresh.cloneNode(true))
  place.replaceChildren(...fresh.childNodes)
  for (const time of place.querySelectorAll('time[data-ago]')) tellAge(time)
  for (const time of place.querySelectorAll('time[data-day]')) tellDay(time)
  for (const figure of place.querySelectorAll('.copyable')) makeCopyable(figure)
}

if (places.length > 0) {
  const look = async () => {
    const page = document.hidden ? null : await load()
    for (const place of places)
      show(place, page?.querySelector(`[data-live="${place.dataset.live}"]`) ?? null)
    setTimeout(look, LOAD_MS)
  }
  setTimeout(look, LOAD_MS)
}
