import { escapeHtml } from '../../../notes/page/get/escape.ts'

type Note = { name: string; text: string; pictureId: string; picture: string | null }

/** The pictures with what can be done about each. */
export const handler = ({ steps }: { steps: { notes: Note[] } }): string => {
  if (steps.notes.length === 0) return '<p>No note has a picture.</p>'
  return `<ul>${steps.notes.map(item).join('')}</ul>`
}

const item = ({ name, text, pictureId, picture }: Note): string => {
  const id = escapeHtml(pictureId)
  const shown = picture === null ? form('show', id, 'Show') : '<p>Everybody sees it.</p>'
  return `<li><img src="look/${id}" alt="Picture of ${escapeHtml(name)}" width="320">
<p>${escapeHtml(name)}: ${escapeHtml(text)}</p>${shown}${form('remove', id, 'Remove')}</li>`
}

const form = (action: string, id: string, label: string): string =>
  `<form action="${action}" method="post"><input type="hidden" name="id" value="${id}"><button>${label}</button></form>`
