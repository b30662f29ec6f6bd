import { escapeHtml } from './escape.ts'

type Note = { name: string; text: string; createdAt: string }

/** The notes as a list. `steps.notes` is what the step before found. */
export const handler = ({ steps }: { steps: { notes: Note[] } }): string => {
  if (steps.notes.length === 0) return '<p>Nobody has left a note yet.</p>'
  return `<ul>${steps.notes.map(item).join('')}</ul>`
}

const item = ({ name, text, createdAt }: Note): string =>
  `<li><p>${escapeHtml(text)}</p><footer>${escapeHtml(name)}, ${createdAt.slice(0, 10)}</footer></li>`
