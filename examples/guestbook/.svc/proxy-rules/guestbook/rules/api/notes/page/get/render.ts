import { escapeHtml } from './escape.ts'

type Note = { name: string; text: string; picture?: string | null; createdAt: string }

/** The notes as a list. `steps.notes` is what the step before found. */
export const handler = ({ steps }: { steps: { notes: Note[] } }): string => {
  if (steps.notes.length === 0) return '<p>Nobody has left a note yet.</p>'
  return `<ul>${steps.notes.map(item).join('')}</ul>`
}

const item = ({ name, text, picture, createdAt }: Note): string =>
  `<li><p>${escapeHtml(text)}</p>${image(name, picture ?? null)}<footer>${escapeHtml(name)}, ${createdAt.slice(0, 10)}</footer></li>`

/** Seen from this page, so that it works below any address. */
const image = (name: string, picture: string | null): string =>
  picture === null
    ? ''
    : `<img src="..${escapeHtml(picture.slice('/api'.length))}" alt="Picture of ${escapeHtml(name)}" width="320">`
