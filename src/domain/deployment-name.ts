export type Named = { number: number; title: string | null }

/** What people call a deployment: `#12 Title`, or `#12`. */
export const deploymentName = ({ number, title }: Named): string =>
  title === null ? `#${number}` : `#${number} ${title}`

const MAX_TITLE = 120

/** The first line of a description; null if nothing is left of it. contract 17.1. */
export function titleOf(description: string | null): string | null {
  if (description === null) return null
  const [line = ''] = description.split(/[\n\r\u2028\u2029]/, 1)
  const plain = line
    .toWellFormed()
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, ' ')
    .trim()
  if (plain === '') return null
  const characters = [...plain]
  return characters.length <= MAX_TITLE ? plain : `${characters.slice(0, MAX_TITLE - 1).join('')}…`
}

/** `12` is a number of a deployment; undefined for anything that is none, such as `0`, `012`, `1e3`. */
export const parseDeploymentNumber = (text: string): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
