/* Follows the request log: adds new rows to the top of the list until paused. */

const MAX_ROWS = 500
/** Rows are added in batches, so that a flood does not keep the browser busy. */
const SHOW_MS = 250
/** Screen readers should not announce every single request. */
const SAY_MS = 10_000

const filters = new URLSearchParams(location.search)
const filterOf = (name) => filters.get(name)?.trim() ?? ''

each('[data-tail]', (place) => {
  const button = partOf(place, 'button')
  const state = partOf(place, '[data-state]')
  const said = partOf(place, '[data-said]')
  const list = listOf(place, said)
  let lastId = place.dataset.tail
  let source
  const tell = (label, message) => {
    button.textContent = label
    state.textContent = message
    said.textContent = message
  }
  const stop = (label, message) => {
    source.close()
    source = undefined
    list.show()
    tell(label, message)
  }
  const follow = () => {
    source = open(place.dataset.href, lastId, {
      request(request) {
        lastId = request.id
        list.add(request)
      },
      skipped: ({ requests }) => tell('Pause', `Live. ${requests} requests came too fast to show.`),
      refused: () =>
        stop(
          'Follow live',
          'The server refused, perhaps because too many people are following. Try again later.',
        ),
    })
    tell('Pause', 'Live: new requests appear at the top.')
  }
  button.addEventListener('click', () => {
    if (source === undefined) follow()
    else stop('Resume', 'Paused. New requests are shown when you resume.')
  })
  place.hidden = false
})

/** Streams everything after `lastId` from `href`, which has the filters that the server supports. */
function open(href, lastId, { request, skipped, refused }) {
  const url = new URL(href, location.href)
  url.searchParams.set('after', lastId)
  const source = new EventSource(url)
  source.addEventListener('request', ({ data }) => request(JSON.parse(data)))
  source.addEventListener('skipped', ({ data }) => skipped(JSON.parse(data)))
  source.addEventListener('error', () => {
    // EventSource reconnects automatically.
    if (source.readyState === EventSource.CLOSED) refused()
  })
  return source
}

/** Adds the rows a moment later, and announces how many there are. */
function listOf(place, said) {
  const template = place.querySelector('template').content
  let waiting = []
  let unsaid = 0
  const show = () => {
    if (waiting.length === 0) return
    const body = bodyOf(place, template)
    for (const request of waiting.slice(-MAX_ROWS)) body.prepend(rowOf(template, request))
    while (body.rows.length > MAX_ROWS) body.lastElementChild.remove()
    unsaid += waiting.length
    waiting = []
  }
  setInterval(show, SHOW_MS)
  setInterval(() => {
    if (unsaid > 0) said.textContent = unsaid === 1 ? 'One new request' : `${unsaid} new requests`
    unsaid = 0
  }, SAY_MS)
  return {
    show,
    add(request) {
      if (isWanted(request)) waiting.push(request)
    },
  }
}

/** Applies the filters that the server's tail does not support. */
const isWanted = ({ host, path }) =>
  ['', host].includes(filterOf('host').toLowerCase()) && path.startsWith(filterOf('path'))

/** The body of the list. Creates the list if the page shows that nothing was found. */
function bodyOf(place, template) {
  /** @type {HTMLTableElement | null} */
  const table = document.querySelector('.cards > .table')
  if (table !== null) return table.tBodies[0]
  const made = template.querySelector('table').cloneNode(true)
  made.tBodies[0].replaceChildren()
  document.querySelector('.cards > .empty')?.remove()
  place.after(made)
  return made.tBodies[0]
}

function rowOf(template, { method, path, host, status, bot, durationMs, sizeBytes, at }) {
  const row = template.querySelector('tbody tr').cloneNode(true)
  const cell = (label) => row.querySelector(`[data-label="${label}"]`)
  row.querySelector('code').textContent = `${method} ${path}`
  row.querySelector('.small').textContent = host
  cell('Status').replaceChildren(make('span', { class: `badge badge-${toneOf(status)}` }, String(status)))
  if (bot !== null) cell('By').replaceChildren(make('span', { class: 'nowrap' }, bot))
  cell('Took').textContent = `${Math.round(durationMs)}\u00a0ms`
  cell('Size').textContent = sizeBytes === null ? '' : sizeOf(sizeBytes)
  const time = make('time', { datetime: at, 'data-ago': '' })
  tellAge(time)
  cell('When').replaceChildren(time)
  return row
}

function toneOf(status) {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status < 300 ? 'good' : 'plain'
}
