import { connect, createServer, type Socket } from 'node:net'

type ReceivedManifest = {
  owner: string
  repo: string
  commitSha: string
  alias?: string
  preview?: string
  files: { path: string; size: number; sha256: string }[]
  [more: string]: unknown
}

export type ManifestServer = {
  url: string
  /** Method, path and headers of each request, oldest first. */
  requests: { method: string; path: string; headers: Headers }[]
  manifests: ReceivedManifest[]
  /** What the last published deployment serves, by path. */
  site(): Map<string, string>
  publishedCount(): number
  /** Names of the tar entries that came whole, in the order of arrival. */
  arrived: string[]
  /** Answers that the next requests get instead, before their bodies are read. */
  refusals: Response[]
  lockedAliases: Set<string>
  /** Previews that were ended. */
  ended: string[]
  /** Previews that are there. */
  previews: Set<string>
  /** Called when a manifest was answered, before any content is sent. */
  onManifest: () => void
  stop(): void
}

/** The other end of the delta upload (contract: 5.2), for clients to be tested against; it checks every hash. */
export function startManifestServer(apiKey: string): ManifestServer {
  const held = new Map<string, string>()
  const uploads = new Map<string, ReceivedManifest>()
  const state: ManifestServer = {
    url: '',
    requests: [],
    manifests: [],
    site: () => published.at(-1) ?? new Map(),
    publishedCount: () => published.length,
    arrived: [],
    refusals: [],
    lockedAliases: new Set(),
    ended: [],
    previews: new Set(),
    onManifest: () => {},
    stop: () => server.stop(true),
  }
  const published: Map<string, string>[] = []
  const receiving = new Set<Promise<Response>>()

  const openUpload = async (request: Request) => {
    const manifest = (await request.json()) as ReceivedManifest
    // What an upload that was cut off brought counts, also where this end is still busy with it.
    await Promise.allSettled(receiving)
    state.manifests.push(manifest)
    const { preview } = manifest
    const uploadId = crypto.randomUUID()
    uploads.set(uploadId, { ...manifest, ...(preview === undefined ? {} : { alias: preview }) })
    if (preview !== undefined) state.previews.add(preview)
    const missing = missingOf(manifest, held)
    state.onManifest()
    return Response.json({ uploadId, missing, expiresAt: '2030-01-01T00:00:00.000Z' }, { status: 201 })
  }
  const receive = async (request: Request, uploadId: string) => {
    const manifest = uploads.get(uploadId)
    if (manifest === undefined) return failure(404, 'Not Found', 'There is no such upload')
    for await (const { name, bytes } of readTar(request.body)) {
      if (new Bun.CryptoHasher('sha256').update(bytes).digest('hex') !== name)
        return failure(400, 'Bad Request', `${name} does not match its bytes`)
      held.set(name, new TextDecoder().decode(bytes))
      state.arrived.push(name)
    }
    const [missing] = missingOf(manifest, held)
    if (missing !== undefined) return failure(400, 'UPLOAD_INCOMPLETE', `${missing} is missing`)
    published.push(new Map(manifest.files.map(({ path, sha256 }) => [path, held.get(sha256) ?? ''])))
    const isPublished = manifest.alias !== undefined && !state.lockedAliases.has(manifest.alias)
    return Response.json(publishedAnswer(manifest, isPublished), { status: 201 })
  }
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    state.requests.push({ method: request.method, path: pathname, headers: request.headers })
    const refusal = state.refusals.shift()
    if (refusal !== undefined) return refusal
    if (request.headers.get('x-api-key') !== apiKey)
      return failure(401, 'Unauthorized', 'This API key is unknown')
    const uploadId = /^\/api\/deployments\/manifest\/([^/]+)$/.exec(pathname)?.[1]
    if (request.method === 'PUT' && uploadId !== undefined) {
      const received = receive(request, uploadId)
      receiving.add(received)
      return received.finally(() => receiving.delete(received))
    }
    if (request.method === 'POST' && pathname === '/api/deployments/manifest') return openUpload(request)
    return aboutPreviews(state, request.method, pathname)
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: answer,
    error: (error) => failure(500, 'Internal Server Error', error.message),
  })
  state.url = `http://127.0.0.1:${server.port}`
  return state
}

/** The project `p1` and its previews. */
function aboutPreviews(state: ManifestServer, method: string, path: string): Response {
  if (method === 'GET' && path === '/api/projects/acme/site') return Response.json({ id: 'p1' })
  const name = /^\/api\/projects\/p1\/previews\/([\w-]+)$/.exec(path)?.[1] ?? ''
  if (method !== 'DELETE' || !state.previews.delete(name))
    return failure(404, 'Not Found', 'There is no such preview')
  state.ended.push(name)
  return new Response(null, { status: 204 })
}

export function failure(status: number, error: string, message: string, headers = {}): Response {
  return Response.json({ statusCode: status, message, error }, { status, headers })
}

function missingOf(manifest: ReceivedManifest, held: ReadonlyMap<string, unknown>): string[] {
  return [...new Set(manifest.files.map(({ sha256 }) => sha256))].filter((sha256) => !held.has(sha256))
}

function publishedAnswer(manifest: ReceivedManifest, isPublished: boolean): object {
  const { owner, repo, commitSha, alias = '', files } = manifest
  const host = (name: string) => `http://${name}--${repo}--${owner}.localhost/`
  const deployment = {
    id: 'd1',
    commitSha,
    version: 1,
    fileCount: files.length,
    aliases: isPublished ? [alias] : [],
    totalSize: files.reduce((sum, { size }) => sum + size, 0),
    urls: {
      sha: `http://localhost/repo/${owner}/${repo}/${commitSha}/`,
      preview: host(commitSha.slice(0, 12)),
      alias: isPublished ? host(alias) : null,
    },
  }
  const expiresAt = manifest.preview === undefined ? null : '2030-01-08T00:00:00.000Z'
  const record = alias === '' ? {} : { alias: { name: alias, url: host(alias), expiresAt } }
  return { success: true, deployment, published: isPublished, ...record }
}

/** Entries as they complete. A body that ends without the two empty blocks throws. */
async function* readTar(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<{ name: string; bytes: Uint8Array }> {
  if (body === null) return
  let buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    buffer = Buffer.concat([buffer, chunk])
    for (;;) {
      if (buffer.length >= 1024 && buffer.subarray(0, 1024).every((byte) => byte === 0)) return
      const size = Number.parseInt(buffer.toString('latin1', 124, 135), 8)
      if (buffer.length < 512 || buffer.length < 512 + size) break
      checkHeader(buffer)
      const end = 512 + Math.ceil(size / 512) * 512
      if (buffer.length < end) break
      yield { name: buffer.toString('latin1', 0, 64), bytes: buffer.subarray(512, 512 + size) }
      buffer = buffer.subarray(end)
    }
  }
  if (buffer.length > 0) throw new Error('the tar was cut off')
}

function checkHeader(buffer: Buffer): void {
  const stated = Number.parseInt(buffer.toString('latin1', 148, 154), 8)
  const sum = buffer
    .subarray(0, 512)
    .reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0)
  if (buffer.toString('latin1', 257, 262) !== 'ustar' || stated !== sum) throw new Error('bad tar header')
}

/** A line to `url` that breaks after `afterBytes` of requests, `times` times; then it holds. */
export async function startCuttingProxy(
  url: string,
  { afterBytes, times }: { afterBytes: number; times: number },
): Promise<{ url: string; stop(): void }> {
  const port = Number(new URL(url).port)
  const open = new Set<Socket>()
  let cutsLeft = times
  let seen = 0
  const server = createServer((client) => {
    const backend = connect(port, '127.0.0.1')
    for (const socket of [client, backend]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        client.destroy()
        backend.destroy()
      })
    }
    backend.pipe(client)
    client.on('data', (bytes) => {
      seen += bytes.length
      backend.write(bytes)
      if (cutsLeft === 0 || seen < afterBytes) return
      cutsLeft -= 1
      seen = 0
      // What was written has to arrive, so that the test knows how much got through: the server, which closes behind
      // it, ends the client's line too.
      client.pause()
      backend.unpipe(client)
      backend.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
