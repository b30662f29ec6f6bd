// Says how long ago a note was written. Without this script the date itself stands there.
const formatter = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: 'auto' })
const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

function showAge(time) {
  const seconds = (new Date(time.dateTime).getTime() - Date.now()) / 1000
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  time.title = time.textContent.trim()
  time.textContent = formatter.format(Math.round(seconds / length), unit)
}

for (const time of document.querySelectorAll('time[datetime]')) showAge(time)

// Shows the notes that visitors hung on the wall. Without this script they are on a page of their own.
const wall = document.querySelector('[data-notes]')
if (wall) void showNotes(wall)

async function showNotes(list) {
  const answer = await fetch(list.dataset.notes).catch(() => undefined)
  if (!answer?.ok) return
  const notes = await answer.json()
  list.prepend(...notes.map(noteItem))
}

function noteItem({ name, text, createdAt }) {
  const time = Object.assign(document.createElement('time'), { dateTime: createdAt })
  time.textContent = createdAt.slice(0, 10)
  showAge(time)
  const item = Object.assign(document.createElement('li'), { className: 'note' })
  const footer = document.createElement('footer')
  footer.append(`${name}, `, time)
  item.append(Object.assign(document.createElement('p'), { textContent: text }), footer)
  return item
}

// Sends forms without leaving the page. Without this script they are sent as forms are.
for (const form of document.querySelectorAll('form[data-form]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const status = form.querySelector('[role=status]')
    const { page: _, ...fields } = Object.fromEntries(new FormData(form))
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(fields) }
    const answer = await fetch(form.action, sent).catch(() => undefined)
    const body = await answer?.json().catch(() => undefined)
    if (!answer?.ok) {
      status.textContent = body?.message ?? 'That did not go through. Please try again.'
      return
    }
    form.reset()
    status.textContent = 'Thank you.'
    if (wall && body?.text) wall.prepend(noteItem(body))
  })
}
