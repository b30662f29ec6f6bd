import { printable } from '../command.ts'
import type { HashedFile } from './manifest.ts'
import type { Progress } from './progress.ts'
import { isHeldBack, releaseOf } from './release.ts'
import type { Published, Target } from './upload.ts'

type Sent = { folder: string; files: readonly HashedFile[]; leftOut: readonly string[]; isJson: boolean }

/**
 * What `svc deploy` did unexpectedly, or what the person may have forgotten to ask for. What the server says of it is in
 * the JSON already, if that is asked for. Returns the kinds of findings that need not be told again.
 */
export function writeNotes(
  { folder, files, leftOut, isJson }: Sent,
  target: Target,
  published: Published,
  progress: Progress,
): string[] {
  if (!isJson) for (const { message } of published.notes) progress.note(message)
  noteAlias(target, published, progress)
  const isIndexMissed = noteIndex(files, folder, published, progress)
  noteStillPrivate(target, published, progress)
  noteLeftOut(leftOut, progress)
  return isIndexMissed ? ['start-page-missing'] : []
}

/** For a changed working tree. `changes` are paths in the checkout. */
export function noteUncommitted(
  [first = '', ...more]: readonly string[],
  { commitSha, baseSha = '' }: Target,
  progress: Progress,
): void {
  const files = `${printable(first)}${more.length === 0 ? '' : ` and ${more.length} more`}`
  progress.note(
    `there are changes that are not committed (${files}), so this goes under the SHA-256 of its contents, ${commitSha.slice(0, 12)}, and not under the commit ${baseSha.slice(0, 12)}; --sha HEAD insists on the commit`,
  )
}

/**
 * Some builds put files that pages need into a folder called node_modules, and nobody notices at first that they are missing.
 * The one at the top is the project's own.
 */
export function noteLeftOut(leftOut: readonly string[], progress: Progress): void {
  const [first, ...more] = leftOut.filter((path) => path.endsWith('/node_modules'))
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  progress.note(
    `left out, as every folder called node_modules is: ${printable(first)}${others}; rename it where pages need its files`,
  )
}

function noteAlias({ alias, preview }: Target, published: Published, progress: Progress): void {
  const place = preview === undefined ? `alias ${alias}` : `preview ${preview}`
  if (alias === undefined && preview === undefined)
    progress.note('no alias was named, so none was moved; --alias NAME moves one')
  else if (releaseOf(published)?.status === 'overtaken')
    progress.note(`somebody moved the ${place} while this was checked, so it stays where they put it`)
  else if (!published.isPublished && !isHeldBack(published))
    progress.note(`the ${place} is locked, so it was not moved; the deployment is kept`)
}

/** A common mistake: the folder above the one with the build. The server says it too where an alias shows it. Whether it was said. */
function noteIndex(
  files: readonly HashedFile[],
  folder: string,
  published: Published,
  progress: Progress,
): boolean {
  if (has(published, 'NO_START_PAGE') || has(published, 'NESTED_FOLDER')) return false
  if (files.some(({ path }) => path === 'index.html')) return false
  progress.note(
    `there is no index.html at the top of ${printable(folder)}, so the address itself shows nothing`,
  )
  return true
}

/** `--public` only affects the upload that creates the project. Given later, people would wonder why nobody sees the site. */
function noteStillPrivate({ owner, repo, isPublic }: Target, published: Published, progress: Progress): void {
  if (isPublic === true && has(published, 'PRIVATE_PROJECT'))
    progress.note(
      `${owner}/${repo} was there before and is private; --public changes nothing of that, the project's settings do`,
    )
}

const has = ({ notes }: Published, code: string): boolean => notes.some((note) => note.code === code)
