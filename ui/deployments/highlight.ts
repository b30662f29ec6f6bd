import type { Language, Piece } from './highlight-language.ts'

/** Longer texts are shown plain, because the page would be many times as large as the file. */
const MAX_LETTERS = 64 * 1024

/**
 * The highlighted pieces of a file. Null if the file is shown plain, because its language is unknown, it is too long or
 * parsing takes too long. The first file that needs the parsers loads them.
 */
export async function highlight(path: string, text: string): Promise<readonly Piece[] | null> {
  const language = languageOf(path)
  if (language === undefined || text.length > MAX_LETTERS) return null
  const { piecesOf } = await import('./highlight-parsers.ts')
  return piecesOf(language, text)
}

/** Languages by file extension. */
export function languageOf(path: string): Language | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase()
  return extension === undefined ? undefined : LANGUAGES.get(extension)
}

const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['html', 'html'],
  ['htm', 'html'],
  ['css', 'css'],
  ['js', 'javascript'],
  ['mjs', 'javascript'],
  ['cjs', 'javascript'],
  ['jsx', 'javascript'],
  ['ts', 'typescript'],
  ['mts', 'typescript'],
  ['cts', 'typescript'],
  ['tsx', 'typescript'],
  ['json', 'json'],
  ['map', 'json'],
  ['webmanifest', 'json'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['md', 'markdown'],
  ['markdown', 'markdown'],
])
