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

function noteItem({ name, text, picture, createdAt }) {
  const time = Object.assign(document.createElement('time'), { dateTime: createdAt })
  time.textContent = createdAt.slice(0, 10)
  showAge(time)
  const item = Object.assign(document.createElement('li'), { className: 'note' })
  const footer = document.createElement('footer')
  footer.append(`${name}, `, time)
  item.append(Object.assign(document.createElement('p'), { textContent: text }))
  if (picture) item.append(pictureOf(name, picture))
  item.append(footer)
  return item
}

// The address begins with /api/, like that of the notes.
function pictureOf(name, picture) {
  const src = wall.dataset.notes.replace(/notes$/, picture.slice('/api/'.length))
  return Object.assign(document.createElement('img'), {
    className: 'picture',
    src,
    alt: `Picture of ${name}`,
  })
}

// Sends forms without leaving the page. Without this script they are sent as forms are.
for (const form of document.querySelectorAll('form[data-form]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const status = form.querySelector('[role=status]')
    const fields = new FormData(form)
    fields.delete('page')
    const hasPicture = fields.get('file')?.size > 0
    const answer = await fetch(form.action, sent(form, fields)).catch(() => undefined)
    const body = await answer?.json().catch(() => undefined)
    if (!answer?.ok) {
      status.textContent = body?.message ?? 'That did not go through. Please try again.'
      return
    }
    form.reset()
    status.textContent = hasPicture
      ? 'Thank you. The picture follows once the hut has seen it.'
      : 'Thank you.'
    if (wall && body?.text) wall.prepend(noteItem(body))
  })
}

// A form with a picture goes as a form.
function sent(form, fields) {
  if (form.enctype === 'multipart/form-data') return { method: 'POST', body: fields }
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(Object.fromEntries(fields)) }
}
