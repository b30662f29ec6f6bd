import { isRecord } from '../domain/is-record.ts'
import { apiClient } from './api-client.ts'
import {
  type Command,
  CommandFailure,
  EXIT,
  type Io,
  parseFlags,
  printable,
  printableJson,
  UsageError,
} from './command.ts'
import { readChecks, refuseWrongChecks } from './deploy/checks.ts'
import { type FoundFile, findFiles } from './deploy/files.ts'
import { type HashThread, startHashThread } from './deploy/hash-thread.ts'
import { type HashedFile, hashFiles, manifestSha, unwrapped } from './deploy/manifest.ts'
import { noteLeftOut, noteUncommitted, writeNotes } from './deploy/notes.ts'
import { type Amount, createProgress, describeAmount, formatBytes, type Progress } from './deploy/progress.ts'
import { isHeldBack, writeFailedChecks, writeRelease } from './deploy/release.ts'
import { readReport, reportIn, writeRefused, writeReport } from './deploy/report.ts'
import { readRouting, summaryOf, writeProblems } from './deploy/routing.ts'
import {
  type DeployFlags,
  type DeploySettings,
  folderOf,
  readDeploySettings,
  requireConnection,
} from './deploy/settings.ts'
import { type Published, publish, type Target } from './deploy/upload.ts'
import { isInCheckout, uncommittedChanges } from './git.ts'
import { announce, endOf, leaveVariables } from './preview/announce.ts'
import { isOfFork } from './preview/ci-review.ts'
import { numberAt } from './remote/project.ts'

const USAGE = `usage: svc deploy DIR [FLAGS]

Publishes the folder DIR. Only what the project does not hold yet is sent.

  --api-url URL         the server; else SVC_API_URL, else "apiUrl" in .svc/config.json
  --api-key KEY         else SVC_API_KEY, which keeps the key out of the list of processes; else what svc login got
  --project OWNER/REPO  else "project" in .svc/config.json, else the git remote origin
  --sha SHA             the commit; else git's HEAD (in a job for a pull request its head), else, and where tracked
                        files differ from HEAD, the SHA-256 of the contents; HEAD insists on HEAD
  --alias NAME          the alias to move here, such as production; without it none is moved
  --preview NAME|auto   publish as a preview, an alias that ends by itself; auto: pr-NUMBER in the job of a pull or
                        merge request, else the branch as a slug
  --expires T           how long after each publish, such as 12h, 7d or 4w; without it the project's default
  --comment             write the preview's address into one comment on the pull or merge request, with GITHUB_TOKEN
                        or GITLAB_TOKEN, and on GitHub a deployment (elsewhere a commit status); what the forge
                        refuses is a note, and the publish stands
  --dotenv FILE         write SVC_PREVIEW_URL, SVC_PREVIEW_NAME and SVC_EXPIRES_AT to FILE
  --branch NAME         else git's branch, else the one that the CI job names
  --message TEXT        the deployment's description; else the first line of the commit's message
  --public              when this makes the project (a global key may): its site is for everybody; a project that
                        is there keeps its visibility, which its settings change
  --force               move the alias or preview although checks of the release fail, and say which
  --unwrap              without an index.html at the top, and with one in the only folder there, publish what is in
                        that folder, as if DIR were it
  --dry-run             show what would be published, and what is wrong in _redirects, _headers and .svc/checks.yaml;
                        send nothing
  --json                print one JSON object on stdout

A proxy of HTTPS_PROXY or HTTP_PROXY is used, except for the hosts of NO_PROXY. Where git refuses to read the checkout, give
--sha or allow it (safe.directory).

Names that begin with a dot are left out, except .well-known; node_modules and __MACOSX too.
What is refused of _redirects and _headers is printed as _redirects:12 and the reason. Then the server reads the pages; its
report is awaited for 30 s, and its errors and warnings are printed, ten of a kind, with the address of the whole. They
do not change the exit code. --json has all of it in "routing", "release" and "report".
What the server says of it is printed on stderr, or is "notes" in the JSON: no start page (NO_START_PAGE), a site that
lies in a folder (NESTED_FOLDER), a project that not everybody sees (PRIVATE_PROJECT).
A .svc/checks.yaml in DIR, else the nearest above it, says what is checked before the alias moves; what fails is named.
Exit code: 0 published, 1 refused or held back by a check, 2 wrong usage, 3 server not reachable after 5 tries.`

const OPTIONS = {
  'api-url': { type: 'string' },
  'api-key': { type: 'string' },
  project: { type: 'string' },
  sha: { type: 'string' },
  alias: { type: 'string' },
  preview: { type: 'string' },
  expires: { type: 'string' },
  comment: { type: 'boolean', default: false },
  dotenv: { type: 'string' },
  branch: { type: 'string' },
  message: { type: 'string' },
  public: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  unwrap: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

export const deployCommand: Command = {
  summary: 'Publish a folder',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({ args, options: OPTIONS, allowPositionals: true })
    const [argument, extra] = positionals
    if (argument === undefined) throw new UsageError('which folder? give it as DIR')
    if (extra !== undefined) throw new UsageError(`one folder at a time, so not "${extra}" too`)
    const folder = folderOf(argument, io)
    const thread = startHashThread()
    try {
      if (!values['dry-run']) return await deploy(folder, values, io, thread)
      await showDeploy(folder, values, io, thread)
      return EXIT.ok
    } catch (error) {
      if (values.json && error instanceof CommandFailure)
        writeJson(io, { success: false, exitCode: error.exitCode, message: error.message })
      throw error
    } finally {
      thread?.end()
    }
  },
}

type Flags = DeployFlags & { json: boolean; unwrap: boolean }

/** Returns the exit code. */
async function deploy(folder: string, flags: Flags, io: Io, thread: HashThread | undefined): Promise<number> {
  const { settings, found, leftOut } = await prepare(folder, flags, io)
  const progress = createProgress(io)
  if (isLeftToOthers(settings, io)) {
    progress.note('this pull request comes from a fork and has no API key, so nothing was published')
    if (flags.json) writeJson(io, { published: false, skipped: 'fork' })
    return EXIT.ok
  }
  const client = apiClient(requireConnection(settings, io))
  const read = await readTarget(found(), { settings, folder, flags, io, progress, thread })
  const { files } = read
  const target = { ...read.target, ...namedLeftOut(leftOut) }
  const sent = [...files, ...(await readChecks(folder, found(), flags.unwrap))]
  const job = { target, flags, io, progress }
  const published = await publish(client, { target, files: sent, progress, io }).catch(async (error) => {
    await announce(job, null)
    throw error
  })
  leaveVariables(job, published)
  if (!flags.json) {
    writeSummary(io, target, files, published)
    writeRelease(io, published)
    writeRefused(io, published)
  }
  const said = writeNotes({ folder, files, leftOut, isJson: flags.json }, target, published, progress)
  writeFailedChecks(io, target, published)
  await announce(job, isHeldBack(published) ? null : published)
  const report = await readReport(client, published, io, progress)
  if (flags.json) {
    const { answer, urls, sent } = published
    writeJson(io, { ...answer, ...reportIn(published, report), urls, sent })
  } else writeReport(io, published, report, said)
  return isHeldBack(published) ? EXIT.failed : EXIT.ok
}

/** The server takes so many of them. contract 13 §7. */
const MOST_LEFT_OUT = 100

/** Without svc's own folder, which is read where it has to be. */
/** What lies at the top of every checkout says nothing about this one. */
const OF_A_CHECKOUT = /^\.(?:svc|git[a-z]*)$/

function namedLeftOut(leftOut: readonly string[]): Pick<Target, 'leftOut'> {
  const named = leftOut.filter((path) => !OF_A_CHECKOUT.test(path)).slice(0, MOST_LEFT_OUT)
  return named.length === 0 ? {} : { leftOut: named }
}

/** CI gives no secrets to the code of strangers, whose pull requests are no failures. contract 16 §2. */
const isLeftToOthers = ({ apiKey, target }: DeploySettings, io: Io): boolean =>
  target.preview !== undefined && apiKey === undefined && isOfFork(io.env)

async function showDeploy(
  folder: string,
  flags: Flags,
  io: Io,
  thread: HashThread | undefined,
): Promise<void> {
  const { settings, found, leftOut } = await prepare(folder, flags, io)
  const progress = createProgress(io)
  const { files, target } = await readTarget(found(), { settings, folder, flags, io, progress, thread })
  noteLeftOut(leftOut, progress)
  const routing = readRouting(files)
  if (routing !== null) writeProblems(routing, io)
  await refuseWrongChecks(await readChecks(folder, found(), flags.unwrap))
  const { files: fileCount, bytes: totalSize } = amountOf(files)
  if (flags.json) {
    const entries = files.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
    writeJson(io, {
      dryRun: true,
      apiUrl: settings.api?.url,
      ...target,
      fileCount,
      totalSize,
      files: entries,
      ...(routing === null ? {} : { routing: summaryOf(routing) }),
    })
    return
  }
  const name = target.alias ?? target.preview
  const alias = name === undefined ? '' : ` as ${name}`
  const lines = files.map(({ path, size }) => `${formatBytes(size).padStart(9)}  ${printable(path)}`)
  lines.push(`would publish ${describeAmount(amountOf(files))}, to ${nameOf(target)}${alias}`)
  io.stdout.write(`${lines.join('\n')}\n`)
}

/** Lists the folder while git answers. `found` reports problems with the folder, after those with the settings. */
async function prepare(
  folder: string,
  flags: Flags,
  io: Io,
): Promise<{ settings: DeploySettings; found: () => FoundFile[]; leftOut: readonly string[] }> {
  const reading = readDeploySettings(folder, flags, io)
  const leftOut: string[] = []
  const found = outcomeOf(() => {
    const files = findFiles(folder, (path) => leftOut.push(path))
    if (files.length === 0) throw new CommandFailure(`${folder} holds nothing to publish`)
    return files
  })
  return { settings: await reading, found, leftOut }
}

/** Runs it now and reports its result or error later. */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const value = work()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

type Reading = {
  settings: DeploySettings
  folder: string
  flags: Flags
  io: Io
  progress: Progress
  thread: HashThread | undefined
}

/** What is to be published, and as what. Says first when the SHA stands for something else. */
async function readTarget(
  found: readonly FoundFile[],
  { settings, folder, flags, io, progress, thread }: Reading,
): Promise<{ files: HashedFile[]; target: Target }> {
  const { commitSha: head } = settings.target
  const reading = flags.sha === undefined && head !== undefined ? uncommittedChanges(folder, io.env) : []
  const hashed = await readFiles(found, progress, thread)
  const files = flags.unwrap ? unwrapped(hashed) : hashed
  const changes = await reading
  if (head === undefined || changes.length === 0)
    return { files, target: withSha(settings.target, files, folder, progress) }
  const target = { ...settings.target, commitSha: manifestSha(files), baseSha: head }
  noteUncommitted(changes, target, progress)
  return { files, target }
}

async function readFiles(
  found: readonly FoundFile[],
  progress: Progress,
  thread: HashThread | undefined,
): Promise<HashedFile[]> {
  progress.begin('reading', { files: found.length, bytes: 0 })
  try {
    return await hashFiles(found, (bytes, files) => progress.add(bytes, files), thread)
  } finally {
    progress.end()
  }
}

function withSha(
  target: DeploySettings['target'],
  files: readonly HashedFile[],
  folder: string,
  progress: Progress,
): Target {
  if (target.commitSha !== undefined) return { ...target, commitSha: target.commitSha }
  if (isInCheckout(folder)) progress.note('git names no commit here, so the SHA is that of the contents')
  return { ...target, commitSha: manifestSha(files) }
}

function amountOf(files: readonly HashedFile[]): Amount {
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) }
}

function nameOf({ owner, repo, commitSha }: Target): string {
  return `${owner}/${repo} ${commitSha}`
}

function writeSummary(io: Io, target: Target, files: HashedFile[], published: Published): void {
  const { answer, urls, sent, isPublished } = published
  const number = isRecord(answer['deployment']) ? numberAt(answer['deployment']) : ''
  const rows: [name: string, url: string | null][] = [
    [target.alias ?? target.preview ?? '', isPublished ? urls.alias : null],
    ['ends', (target.preview !== undefined && isPublished && endOf(published)) || null],
    ['preview', urls.preview],
    ['sha', urls.sha],
  ]
  const shown = rows.flatMap(([name, url]) => (url === null ? [] : [{ name, url }]))
  const width = Math.max(...shown.map(({ name }) => name.length))
  const lines = [
    `${number === '' ? '' : `${number} `}${nameOf(target)}: ${describeAmount(amountOf(files))}; sent ${describeAmount(sent)}`,
    ...shown.map(({ name, url }) => `  ${name.padEnd(width)}  ${printable(url)}`),
  ]
  io.stdout.write(`${lines.join('\n')}\n`)
}

function writeJson(io: Io, value: unknown): void {
  io.stdout.write(`${printableJson(value)}\n`)
}
