import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { AppError, messageOf } from '../domain/errors.ts'
import { formatProblem } from '../domain/file-problems.ts'
import { type FileProblem, problemLine } from '../domain/routing/compile.ts'
import { Arrival, type Peer } from '../http/arrival.ts'
import { createSockets, type SocketOwner } from '../http/wire.ts'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { putSecret } from '../modules/secrets/service.ts'
import { signalled } from '../platform/signalled.ts'
import { listeningAt } from '../server/listeners.ts'
import { type Command, CommandFailure, EXIT, type Io, parseFlags, printable, UsageError } from './command.ts'
import { findFiles } from './deploy/files.ts'
import { folderOf } from './deploy/settings.ts'
import { isOwnHost, notOurs } from './dev-host.ts'
import { devPage, LIVE_SCRIPT, withLiveScript } from './dev-page.ts'
import { isSchedulePath, runDevSchedule, schedulesText } from './dev-schedules.ts'
import { headersWithoutValue, withHeaderValues } from './header-values.ts'
import { type Lab, openLab, SITE_OWNER } from './lab.ts'
import { devSettings, LAB_HELP, LAB_OPTIONS, type LabFlags } from './lab-settings.ts'
import { ruleFolders, rulesElsewhere } from './rules/rule-folders.ts'
import { loadSet, warningsBeyond, writeWarnings } from './rules/settings.ts'
import { signIn } from './rules/test-run.ts'
import { watchFolder } from './watch-folder.ts'

const USAGE = `usage: svc dev DIR [--port 4400] [--host 127.0.0.1] [FLAGS]

Serves a folder with its rules as a server would: the same router, engine and headers, and a store that is thrown away
in the end. The rules are the "ruleSets" of .svc/config.json, else all of .svc/proxy-rules, in DIR or the nearest above
it. Schedules are printed and not fired: POST /_dev/schedules/NAME runs one. The page reloads when a file changes. /_dev/ says who is signed in, and signs somebody else in. SVC_SECRET_NAME=value
is the secret NAME of the project, SVC_HEADER_X_KEY=value the value of the secret header x-key of a proxy rule. Mails
are printed and not sent.

${LAB_HELP}

Exit code: 0 when it is stopped; 1 when it cannot serve; 2 wrong usage; 78 a bad setting.`

const REPO = 'site'
/** The longest that Bun allows: the stream of changes is often silent. */
const IDLE_SECONDS = 255

export const devCommand: Command = {
  summary: 'Serve a folder with its rules while you work on it',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: {
        port: { type: 'string', default: '4400' },
        host: { type: 'string', default: '127.0.0.1' },
        ...LAB_OPTIONS,
      },
      allowPositionals: true,
    })
    const [argument, extra] = positionals
    if (argument === undefined || extra !== undefined) throw new UsageError('name one folder')
    const port = Number(values.port)
    if (!/^\d{1,5}$/.test(values.port) || port > 65_535) throw new UsageError(`"${values.port}" is no port`)
    if (values.host === '') throw new UsageError('--host is empty, which would stand for every address')
    const folder = folderOf(argument, io)
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new UsageError(`there is no folder ${argument}`)
    const twin = await startTwin(folder, io, { port, hostname: values.host }, values)
    io.stdout.write(greeting(folder, io, twin.url))
    await signalled()
    await twin.close()
    return EXIT.ok
  },
}

/** Rules are also searched in the folders above, so the ones found are printed. */
export function greeting(folder: string, io: Io, url: string): string {
  const shown = (path: string) => printable(relative(io.cwd, path) || '.')
  const rules = ruleFolders(folder).map(shown).join(', ') || 'none here; svc rules init makes some'
  return `${shown(folder)} is at ${url}; who is signed in is at ${url}/_dev/\nrules: ${rules}\n`
}

export type Twin = { url: string; close(): Promise<void> }

/** The folder as a site, published again at every change. */
export async function startTwin(
  folder: string,
  io: Io,
  at: { port: number; hostname: string },
  flags: LabFlags = {},
): Promise<Twin> {
  const settings = { LOG_FORMAT: 'pretty', ...devSettings(flags, io.env) }
  const lab = await openLab(settings, (line) => io.stderr.write(line))
  lab.onMail = ({ to, subject, text }) =>
    io.stderr.write(`mail to ${printable(to.join(', '))}: ${printable(subject)}\n${indented(text)}\n`)
  const site = { host: `production--${REPO}--${SITE_OWNER}.${lab.ctx.config.baseDomain}`, projectId: '' }
  const listeners: Shown['listeners'] = new Set()
  const publish = async () => {
    site.projectId = await publishFolder(lab, folder, io)
    putSecrets(lab, site.projectId, io)
    await publishRules(lab, site.projectId, folder, io)
    tellSchedules(schedulesText(lab, site.projectId))
    for (const listener of listeners) listener.enqueue('data: changed\n\n')
  }
  let told = ''
  /** When they change. */
  const tellSchedules = (text: string) => {
    if (text !== told) io.stdout.write(text)
    told = text
  }
  const listen = () =>
    Bun.serve({
      ...at,
      idleTimeout: IDLE_SECONDS,
      fetch: (request, server) =>
        isOwnHost(request.headers.get('host'), at.hostname)
          ? answer({ lab, site, listeners }, request, server)
          : notOurs(server.url.host),
      error(error) {
        complain(error, io)
        return new Response(error.message, { status: 400 })
      },
      websocket: createSockets().handlers,
    })
  const server = await publish()
    .then(() => listeningAt({ host: at.hostname, port: at.port }, listen))
    .catch(async (error) => {
      await lab.close()
      throw error instanceof AppError ? new CommandFailure(error.message) : error
    })
  let published: Promise<void> = Promise.resolve()
  const again = () => {
    published = published.then(publish).catch((error) => complain(error, io))
    return published
  }
  const watches = [folder, ...rulesElsewhere(folder)].map((one) => watchFolder(one, again))
  return {
    url: server.url.origin,
    async close() {
      await Promise.all(watches.map((stop) => stop()))
      for (const listener of listeners) listener.close()
      await server.stop(true)
      await lab.close()
    },
  }
}

const SECRET = 'SVC_SECRET_'

/** Secrets for the rules come from the environment, because no file holds them. */
function putSecrets({ ctx }: Lab, projectId: string, io: Io): void {
  for (const [variable, value] of Object.entries(io.env)) {
    if (!variable.startsWith(SECRET) || value === undefined) continue
    try {
      putSecret(ctx, operatorGrant(projectId), variable.slice(SECRET.length), value)
    } catch (error) {
      throw error instanceof AppError ? new AppError(error.kind, `${variable}: ${error.message}`) : error
    }
  }
}

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${printable(line)}`)
    .join('\n')

/** The current deployment, and the open pages to notify when it changes. */
type Shown = {
  lab: Lab
  site: { host: string; projectId: string }
  listeners: Set<ReadableStreamDefaultController<string>>
}

async function answer(
  { lab, site, listeners }: Shown,
  request: Request,
  server: Bun.Server<SocketOwner>,
): Promise<Response> {
  const peer: Peer = {
    address: server.requestIP(request)?.address ?? '127.0.0.1',
    shownHost: request.headers.get('host') ?? site.host,
    allowSilence: (isAllowed) => server.timeout(request, isAllowed ? 0 : IDLE_SECONDS),
    upgrade: (answered, owner) => server.upgrade(request, { headers: answered, data: owner }),
  }
  const { plain } = new Arrival(lab.ctx.config, request, peer)
  if (plain === '/_dev/live') return liveStream(listeners)
  if (plain === '/_dev/live.js')
    return new Response(LIVE_SCRIPT, { headers: { 'content-type': 'text/javascript' } })
  if (isSchedulePath(plain)) return runDevSchedule(lab, site.projectId, { path: plain, request })
  if (plain === '/_dev/')
    return devPage(request, {
      signIn: (user) => signIn(lab, site.projectId, user),
      current: () => signedIn(lab, site.host, request),
    })
  const headers = new Headers(request.headers)
  headers.set('host', site.host)
  if (request.headers.get('sec-fetch-dest') === 'document') headers.set('accept-encoding', 'identity')
  const response = await lab.app.fetch(new Request(request, { headers }), peer)
  return request.headers.get('sec-fetch-dest') === 'document' ? withLiveScript(response) : response
}

async function signedIn(lab: Lab, host: string, request: Request): Promise<string | null> {
  const headers = { cookie: request.headers.get('cookie') ?? '' }
  const { user } = await (await lab.fetch(host, 'GET', '/api/auth/session', { headers })).json()
  return user?.email ?? null
}

function liveStream(listeners: Shown['listeners']): Response {
  let own: ReadableStreamDefaultController<string> | undefined
  const stream = new ReadableStream<string>({
    start(controller) {
      own = controller
      listeners.add(controller)
      controller.enqueue(': here\n\n')
    },
    cancel() {
      if (own !== undefined) listeners.delete(own)
    },
  })
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })
}

/** Publishes like an upload: a new deployment each time, which replaces the one before. */
async function publishFolder(lab: Lab, folder: string, io: Io): Promise<string> {
  const form = new FormData()
  const commitSha = Bun.SHA1.hash(lab.ctx.newId(), 'hex')
  const fields = { owner: SITE_OWNER, repo: REPO, commitSha, alias: 'production', isPublic: 'true' }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  const files = findFiles(folder)
  if (files.length === 0)
    throw new CommandFailure(`${folder} holds nothing to serve; an index.html is enough`)
  for (const { path, absolutePath } of files)
    form.append('file', new File([await Bun.file(absolutePath).bytes()], path))
  const { deployment, routing } = (await lab.api('POST', '/api/deployments', form)) as {
    deployment: { projectId: string }
    routing: { problems: FileProblem[] }
  }
  for (const problem of routing.problems) io.stderr.write(`${printable(problemLine(problem))}\n`)
  return deployment.projectId
}

async function publishRules(lab: Lab, projectId: string, folder: string, io: Io): Promise<void> {
  for (const set of ruleFolders(folder)) {
    const loaded = await loadSet(set, io)
    const { compiled } = loaded
    writeWarnings([loaded], io)
    for (const problem of compiled.problems) io.stderr.write(`${printable(formatProblem(problem))}\n`)
    if (compiled.push === null) continue
    const push = {
      ...withHeaderValues(compiled.push, io.env),
      options: { ...compiled.push.options, prune: true },
    }
    for (const missing of headersWithoutValue(push.rules)) io.stderr.write(`warning: ${printable(missing)}\n`)
    const { warnings } = await lab.api('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, push)
    for (const warning of warningsBeyond(loaded, warnings as string[]))
      io.stderr.write(`warning: ${printable(warning)}\n`)
  }
}

/** An error is printed and waits for the next change: a file may disappear while it is read. */
function complain(error: unknown, io: Io): void {
  io.stderr.write(`${printable(messageOf(error))}\n`)
}
