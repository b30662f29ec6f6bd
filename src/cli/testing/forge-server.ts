/**
 * Local stand-ins of three forges, for clients to be tested against. Each knows the few routes that svc uses, and keeps in
 * `faults` what the real one would not have taken: another route, method, body or token.
 */
export type Flavor = 'github' | 'forgejo' | 'gitlab'

export type Comment = { id: number; body: string; author: Author }
type Author = { id: number; login: string; type?: string }
type Status = Record<string, unknown> & { state: string }
type Deployment = Record<string, unknown> & { id: number; statuses: Status[] }

export type Forge = {
  /** What the job calls the base of the API. */
  apiUrl: string
  token: string
  requests: { method: string; path: string; body: unknown }[]
  faults: string[]
  comments: Comment[]
  deployments: Deployment[]
  /** Commit statuses by SHA. */
  statuses: Map<string, Status[]>
  /** Answers a request in place of the forge, before anything is looked at. */
  instead: (method: string, path: string) => Response | Promise<Response> | undefined
  /** Adds a comment of a stranger. */
  strangerSays(body: string): void
  stop(): Promise<void>
}

const BASES: Record<Flavor, string> = { github: '/api/v3', forgejo: '/api/v1', gitlab: '/api/v4' }
/** Whom the token of a job writes as. */
const SELVES: Record<Flavor, Author> = {
  github: { id: 41_898_282, login: 'github-actions[bot]', type: 'Bot' },
  forgejo: { id: -2, login: 'forgejo-actions' },
  gitlab: { id: 99, login: 'project_1_bot' },
}
const STRANGER: Author = { id: 7, login: 'mallory', type: 'User' }

export function startForge(flavor: Flavor, { repository = 'acme/site', number = 7 } = {}): Forge {
  let lastId = 100
  const nextId = () => {
    lastId += 1
    return lastId
  }
  const forge: Forge = {
    apiUrl: '',
    token: `forge-token-${flavor}-0123456789`,
    requests: [],
    faults: [],
    comments: [],
    deployments: [],
    statuses: new Map(),
    instead: () => undefined,
    strangerSays: (body) => void forge.comments.push({ id: nextId(), body, author: STRANGER }),
    stop: () => server.stop(true),
  }
  const routes = flavor === 'gitlab' ? gitlabRoutes(number) : githubRoutes(flavor, repository, number)
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, search, searchParams } = new URL(request.url)
    const { method, headers } = request
    const text = await request.text()
    const body = text === '' ? undefined : JSON.parse(text)
    const path = pathname.slice(BASES[flavor].length)
    forge.requests.push({ method, path: path + search, body })
    const other = await forge.instead(method, path)
    if (other !== undefined) return other
    if (!isAllowed(flavor, headers, forge.token)) return fault(401, 'Bad credentials')
    const call = { forge, flavor, searchParams, body, nextId, method }
    for (const [verb, pattern, run] of routes) {
      const match = verb === method && pathname.startsWith(BASES[flavor]) && pattern.exec(path)
      if (match) return run(call, match[1] ?? '')
    }
    return fault(404, 'Not Found', flavor !== 'github' && path.endsWith('/deployments'))
  }
  const fault = (status: number, message: string, isExpected = false) => {
    const last = forge.requests.at(-1)
    if (!isExpected) forge.faults.push(`${last?.method} ${last?.path}: ${message}`)
    return Response.json({ message }, { status })
  }
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
  forge.apiUrl = `http://127.0.0.1:${server.port}${BASES[flavor]}`
  return forge
}

function isAllowed(flavor: Flavor, headers: Headers, token: string): boolean {
  return flavor === 'gitlab'
    ? headers.get('private-token') === token && headers.get('authorization') === null
    : headers.get('authorization') === `Bearer ${token}`
}

type Call = {
  forge: Forge
  flavor: Flavor
  searchParams: URLSearchParams
  body: unknown
  nextId: () => number
}
type Route = [method: string, path: RegExp, run: (call: Call, id: string) => Response]

function githubRoutes(flavor: Flavor, repository: string, number: number): Route[] {
  const at = (path: string) => new RegExp(`^/repos/${repository}/${path}$`)
  const shared: Route[] = [
    ['GET', /^\/user$/, () => Response.json({ message: 'Resource not accessible' }, { status: 403 })],
    ['GET', at(`issues/${number}/comments`), listComments],
    ['POST', at(`issues/${number}/comments`), addComment],
    ['PATCH', at('issues/comments/(\\d+)'), editComment],
    ['POST', at('statuses/([0-9a-f]{40})'), addCommitStatus],
  ]
  if (flavor === 'forgejo') return shared
  return [
    ...shared,
    ['POST', at('deployments'), addDeployment],
    ['GET', at('deployments'), listDeployments],
    ['POST', at('deployments/(\\d+)/statuses'), addDeploymentStatus],
  ]
}

function gitlabRoutes(number: number): Route[] {
  const notes = `/projects/1/merge_requests/${number}/notes`
  return [
    ['GET', /^\/user$/, () => Response.json(SELVES.gitlab)],
    ['GET', new RegExp(`^${notes}$`), listComments],
    ['POST', new RegExp(`^${notes}$`), addComment],
    ['PUT', new RegExp(`^${notes}/(\\d+)$`), editComment],
  ]
}

/** Forgejo gives all at once, whatever page is asked for. */
function listComments({ forge, flavor, searchParams }: Call): Response {
  const key = flavor === 'gitlab' ? 'author' : 'user'
  const rows = forge.comments.map(({ author, ...comment }) => ({ ...comment, [key]: author }))
  return flavor === 'forgejo' ? Response.json(rows) : paged(rows, searchParams)
}

const listDeployments = ({ forge, searchParams }: Call): Response =>
  paged(
    forge.deployments.filter(({ environment }) => environment === searchParams.get('environment')),
    searchParams,
  )

function paged(rows: readonly object[], searchParams: URLSearchParams): Response {
  const size = Math.min(Number(searchParams.get('per_page') ?? 30), 100)
  const page = Number(searchParams.get('page') ?? 1)
  const isLast = rows.length <= page * size
  return Response.json(rows.slice((page - 1) * size, page * size), {
    headers: isLast ? {} : { link: `<http://elsewhere.example/?page=${page + 1}>; rel="next"` },
  })
}

function addComment({ forge, flavor, body, nextId }: Call): Response {
  const text = commentBody(body)
  if (text === undefined) return invalid(forge, body)
  const comment = { id: nextId(), body: text, author: SELVES[flavor] }
  forge.comments.push(comment)
  return Response.json({ id: comment.id }, { status: 201 })
}

function editComment({ forge, flavor, body }: Call, id: string): Response {
  const text = commentBody(body)
  const comment = forge.comments.find((one) => one.id === Number(id))
  if (text === undefined || comment?.author !== SELVES[flavor]) return invalid(forge, body)
  comment.body = text
  return Response.json({ id: comment.id })
}

function commentBody(body: unknown): string | undefined {
  const { body: text, ...more } = body as { body?: unknown }
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : undefined
}

const DEPLOYMENT = {
  ref: 'string',
  environment: 'string',
  auto_merge: 'boolean',
  required_contexts: 'object',
  transient_environment: 'boolean',
  production_environment: 'boolean',
}

function addDeployment({ forge, body, nextId }: Call): Response {
  if (!hasShape(body, DEPLOYMENT) || /^[0-9a-f]{40}$/.test(String(body['ref']))) return invalid(forge, body)
  const deployment = { ...body, id: nextId(), statuses: [] }
  forge.deployments.push(deployment)
  return Response.json({ id: deployment.id }, { status: 201 })
}

function addDeploymentStatus({ forge, body }: Call, id: string): Response {
  const deployment = forge.deployments.find((one) => one.id === Number(id))
  const states = ['success', 'failure', 'inactive']
  if (deployment === undefined || !isStatus(body, states, ['environment_url', 'log_url']))
    return invalid(forge, body)
  deployment.statuses.push(body)
  return Response.json({ id: 1 }, { status: 201 })
}

function addCommitStatus({ forge, body }: Call, sha: string): Response {
  if (!isStatus(body, ['success', 'failure'], ['context', 'target_url'])) return invalid(forge, body)
  forge.statuses.set(sha, [...(forge.statuses.get(sha) ?? []), body])
  return Response.json({ id: 1 }, { status: 201 })
}

function isStatus(body: unknown, states: string[], others: string[]): body is Status {
  const { state, ...more } = body as Record<string, unknown>
  return (
    states.includes(String(state)) &&
    Object.entries(more).every(([name, value]) => others.includes(name) && typeof value === 'string')
  )
}

function hasShape(body: unknown, shape: Record<string, string>): body is Record<string, unknown> {
  const given = body as Record<string, unknown>
  const names = Object.keys(given)
  return (
    names.length === Object.keys(shape).length && names.every((name) => typeof given[name] === shape[name])
  )
}

function invalid(forge: Forge, body: unknown): Response {
  forge.faults.push(`a body that no forge takes: ${JSON.stringify(body)}`)
  return Response.json({ message: 'Validation Failed' }, { status: 422 })
}
