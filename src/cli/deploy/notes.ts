import { isRecord } from '../../domain/is-record.ts'
import type { ApiClient } from '../api-client.ts'
import { CommandFailure, printable } from '../command.ts'
import type { HashedFile } from './manifest.ts'
import type { Progress } from './progress.ts'
import type { Published, Target } from './upload.ts'

/** What `svc deploy` did unexpectedly, or what the person may have forgotten to ask for. */
export function writeNotes(
  { folder, files, leftOut }: { folder: string; files: readonly HashedFile[]; leftOut: readonly string[] },
  target: Target,
  published: Published,
  progress: Progress,
): void {
  noteAlias(target, published, progress)
  noteIndex(files, folder, progress)
  noteEarlier(files, published, progress)
  noteOthers(target, published, progress)
  noteLeftOut(leftOut, progress)
}

/** For whoever publishes under HEAD's SHA. `changes` are paths in the checkout. */
export function noteUncommitted(
  [first, ...more]: readonly string[],
  commitSha: string,
  progress: Progress,
): void {
  if (first === undefined) return
  const files = `${printable(first)}${more.length === 0 ? '' : ` and ${more.length} more`}`
  progress.note(
    `there are changes that are not committed (${files}), and this goes under the commit ${commitSha.slice(0, 12)} all the same; commit first, or give another --sha, to tell the two apart`,
  )
}

/** `--public` only affects the upload that creates the project. Given later, people would wonder why nobody sees the site. */
export async function noteStillPrivate(
  client: ApiClient,
  { owner, repo, isPublic }: Target,
  { answer }: Published,
  progress: Progress,
): Promise<void> {
  if (isPublic === undefined || (isRecord(answer['alias']) && answer['alias']['isPublic'] === true)) return
  const path = `/api/projects/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`
  const project = await client.json('GET', path).catch((error) => {
    // The deployment is published anyway.
    if (error instanceof CommandFailure) return undefined
    throw error
  })
  if (isRecord(project) && project['isPublic'] === false)
    progress.note(
      `${owner}/${repo} was there before and is private; --public changes nothing of that, the project's settings do`,
    )
}

/** Some builds put files that pages need into such a folder, and nobody notices at first that they are missing. */
export function noteLeftOut([first, ...more]: readonly string[], progress: Progress): void {
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  progress.note(
    `left out, as every folder called node_modules is: ${printable(first)}${others}; rename it where pages need its files`,
  )
}

function noteAlias({ alias }: Target, { isPublished }: Published, progress: Progress): void {
  if (alias === undefined) progress.note('no alias was named, so none was moved; --alias NAME moves one')
  else if (!isPublished)
    progress.note(`the alias ${alias} is locked, so it was not moved; the deployment is kept`)
}

/** A common mistake: the folder above the one with the build. */
function noteIndex(files: readonly HashedFile[], folder: string, progress: Progress): void {
  if (!files.some(({ path }) => path === 'index.html'))
    progress.note(
      `there is no index.html at the top of ${printable(folder)}, so the address itself shows nothing`,
    )
}

/** Uploads of one commit add up (contract §5), so a page deleted without a new commit is still served. */
function noteEarlier(files: readonly HashedFile[], { answer }: Published, progress: Progress): void {
  const { fileCount } = isRecord(answer['deployment']) ? answer['deployment'] : {}
  const more = typeof fileCount === 'number' ? fileCount - files.length : 0
  if (more > 0)
    progress.note(
      `this commit was published before with ${more} other ${more === 1 ? 'file, which stays' : 'files, which stay'} in its deployment; publish a new commit, or another --sha, to be without`,
    )
}

/** The same again: whoever only thought of one alias has changed what the others show. */
function noteOthers({ alias }: Target, { answer, sent }: Published, progress: Progress): void {
  const { aliases } = isRecord(answer['deployment']) ? answer['deployment'] : {}
  if (!Array.isArray(aliases) || sent.files === 0) return
  const others = aliases.filter((name) => typeof name === 'string' && name !== alias).map(printable)
  if (others.length > 0)
    progress.note(
      `${others.join(', ')} ${others.length === 1 ? 'shows' : 'show'} this commit too, and so what was just published; commit first, or give another --sha, to change one alias`,
    )
}
