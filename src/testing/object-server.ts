import { sha256, signed } from '../platform/object-store/sign.ts'

/** What an object server does instead of, or after, what a good one does. */
export type StoreFault =
  /** Any answer, before the request is done or, `afterwards`, in place of its answer. */
  | { status: number; code?: string; headers?: Record<string, string>; body?: string; afterwards?: boolean }
  /** No answer. */
  | { hang: 'before' | 'after' }
  /** The connection is cut in the middle of the answer's body. */
  | { cut: true }
  /** Writes as if the request had no condition. */
  | { ignoresCondition: true }

type StartedUpload = {
  key: string
  headers: Record<string, string>
  startedAt: number
  parts: Map<number, StoredObject>
}

export type StoreRequestSeen = { method: string; key: string; query: URLSearchParams; headers: Headers }
type StoredObject = { bytes: Uint8Array; headers: Record<string, string>; modifiedAt?: number }

export type ObjectServer = {
  endpoint: string
  objects: Map<string, StoredObject>
  /** Multipart uploads that were begun and neither completed nor given up, by their id. */
  uploads: Map<string, StartedUpload>
  requests: StoreRequestSeen[]
  /** Asked for each request; undefined is a good answer. */
  fault: (request: StoreRequestSeen) => StoreFault | undefined
  buckets: Set<string>
  isReadOnly: boolean
  /** Refuses requests whose time is not its own, as stores do. */
  checksTime: boolean
  pageKeys: number
  /** How far away it is. */
  delayMs: number
  stop(): Promise<void>
}

export const STORE_KEYS = { region: 'us-east-1', accessKey: 'svckey', secretKey: 'svcsecret' }

/** A small S3 store on loopback, of the bucket `bucket`, that checks signatures and fails as it is told. */
export function startObjectServer(): ObjectServer {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 255,
    maxRequestBodySize: 2 ** 31,
    fetch: (request) => answer(store, request),
  })
  const store: ObjectServer = {
    endpoint: `http://127.0.0.1:${server.port}`,
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    fault: () => undefined,
    buckets: new Set(['bucket']),
    isReadOnly: false,
    checksTime: true,
    pageKeys: 1000,
    delayMs: 0,
    stop: () => server.stop(true),
  }
  return store
}

async function answer(store: ObjectServer, request: Request): Promise<Response> {
  const url = new URL(request.url)
  const [, bucket = '', ...rest] = url.pathname.split('/')
  const key = decodeURIComponent(rest.join('/'))
  const seen = { method: request.method, key, query: url.searchParams, headers: request.headers }
  const body = new Uint8Array(await request.arrayBuffer())
  store.requests.push(seen)
  if (store.delayMs > 0) await Bun.sleep(store.delayMs)
  const fault = store.fault(seen)
  if (fault !== undefined) {
    if ('hang' in fault && fault.hang === 'before') return never()
    if ('status' in fault && fault.afterwards !== true) return scripted(fault)
  }
  const good =
    refusalOf(store, request, url, body) ??
    (store.buckets.has(bucket) || (request.method === 'PUT' && key === '')
      ? done(store, bucket, seen, body, fault !== undefined && 'ignoresCondition' in fault)
      : refuse(404, 'NoSuchBucket'))
  if (fault === undefined || 'ignoresCondition' in fault) return good
  if ('hang' in fault) return never()
  return 'cut' in fault ? cutOff(good) : scripted(fault)
}

function done(
  store: ObjectServer,
  bucket: string,
  seen: StoreRequestSeen,
  body: Uint8Array,
  ignoresCondition: boolean,
): Response {
  const { method, key, query, headers } = seen
  if (store.isReadOnly && method !== 'GET' && method !== 'HEAD') return refuse(403, 'AccessDenied')
  if (query.has('uploads') || query.has('uploadId')) return multipart(store, seen, body)
  if (key === '') {
    if (method === 'GET') return listed(store, query)
    store.buckets.add(bucket)
    return new Response(null)
  }
  const found = store.objects.get(key)
  if (method === 'PUT') {
    if (found !== undefined && !ignoresCondition && headers.get('if-none-match') === '*')
      return refuse(412, 'PreconditionFailed')
    store.objects.set(key, { bytes: body, headers: metadataOf(headers), modifiedAt: Date.now() })
    return new Response(null, { headers: { etag: etagOf(body) } })
  }
  if (method === 'DELETE') {
    store.objects.delete(key)
    return new Response(null, { status: 204 })
  }
  if (found === undefined) return refuse(404, 'NoSuchKey', method === 'HEAD')
  return read(found, headers.get('range'), method)
}

const metadataOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-amz-meta-')))

const etags = new WeakMap<Uint8Array, string>()

/** Worked out once for each object, as stores do: ranges of large ones are read many times. */
function etagOf(bytes: Uint8Array): string {
  const known = etags.get(bytes)
  if (known !== undefined) return known
  const etag = `"${sha256(bytes)}"`
  etags.set(bytes, etag)
  return etag
}

const MIN_PART_BYTES = 5 * 2 ** 20

function multipart(
  { uploads, objects }: ObjectServer,
  { method, key, query, headers }: StoreRequestSeen,
  body: Uint8Array,
): Response {
  if (key === '') return listedUploads(uploads, query.get('prefix') ?? '')
  if (query.has('uploads')) {
    const id = `2~${crypto.randomUUID()}+/=&`
    uploads.set(id, { key, headers: metadataOf(headers), startedAt: Date.now(), parts: new Map() })
    const escaped = id.replace('&', '&amp;')
    return xml(
      `<InitiateMultipartUploadResult><UploadId>${escaped}</UploadId></InitiateMultipartUploadResult>`,
    )
  }
  const id = query.get('uploadId') ?? ''
  const upload = uploads.get(id)
  if (upload?.key !== key) return refuse(404, 'NoSuchUpload')
  if (method === 'PUT') {
    const etag = `"${sha256(body)}<&"`
    upload.parts.set(Number(query.get('partNumber')), { bytes: body, headers: { etag } })
    return new Response(null, { headers: { etag } })
  }
  if (method === 'POST') {
    const listedParts = [
      ...new TextDecoder()
        .decode(body)
        .matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^>]*)<\/ETag><\/Part>/g),
    ]
    const parts = listedParts.map(([, number, etag], i) => {
      const part = upload.parts.get(Number(number))
      const isGood = part?.headers['etag'] === etag?.replace('&lt;', '<').replace('&amp;', '&')
      return isGood && Number(number) === i + 1 ? part?.bytes : undefined
    })
    if (parts.length === 0 || parts.includes(undefined)) return refuse(400, 'InvalidPart')
    if (parts.slice(0, -1).some((part) => (part?.length ?? 0) < MIN_PART_BYTES))
      return refuse(400, 'EntityTooSmall')
    objects.set(key, {
      bytes: new Uint8Array(Buffer.concat(parts.filter((part) => part !== undefined))),
      headers: upload.headers,
    })
  }
  uploads.delete(id)
  return method === 'POST'
    ? xml('<CompleteMultipartUploadResult><ETag>"x-1"</ETag></CompleteMultipartUploadResult>')
    : new Response(null, { status: 204 })
}

function listedUploads(uploads: ObjectServer['uploads'], prefix: string): Response {
  const entries = [...uploads]
    .filter(([, { key }]) => key.startsWith(prefix))
    .map(
      ([id, { key, startedAt }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id.replace('&', '&amp;')}</UploadId><Initiated>${new Date(startedAt).toISOString()}</Initiated></Upload>`,
    )
  return xml(`<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`)
}

const xml = (text: string): Response =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`, {
    headers: { 'content-type': 'application/xml' },
  })

function read({ bytes, headers }: StoredObject, range: string | null, method: string): Response {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  const type = { ...headers, etag: etagOf(bytes), 'content-type': 'application/octet-stream' }
  if (from === undefined || method === 'HEAD')
    return new Response(method === 'HEAD' ? null : bytes.slice(), {
      headers: { ...type, 'content-length': String(bytes.length) },
    })
  if (Number(from) >= bytes.length) return refuse(416, 'InvalidRange')
  const part = bytes.slice(Number(from), Number(to) + 1)
  const place = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`
  return new Response(part, { status: 206, headers: { ...type, 'content-range': place } })
}

function listed({ objects, pageKeys }: ObjectServer, query: URLSearchParams): Response {
  const prefix = query.get('prefix') ?? ''
  const after = decodeURIComponent(query.get('continuation-token') ?? '') || (query.get('start-after') ?? '')
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = keys.slice(0, pageKeys)
  const entries = page.map(
    (key) =>
      `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${objects.get(key)?.bytes.length}</Size>${lastModified(objects.get(key))}</Contents>`,
  )
  const more = keys.length > page.length
  const token = more
    ? `<NextContinuationToken>${encodeURIComponent(page.at(-1) ?? '')}</NextContinuationToken>`
    : ''
  return new Response(
    `<ListBucketResult><EncodingType>url</EncodingType>${entries.join('')}<IsTruncated>${more}</IsTruncated>${token}</ListBucketResult>`,
    { headers: { 'content-type': 'application/xml' } },
  )
}

/** Signs the request again and compares, as a store does. */
function refusalOf(
  { checksTime }: ObjectServer,
  request: Request,
  url: URL,
  body: Uint8Array,
): Response | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=\w+$/.exec(
      request.headers.get('authorization') ?? '',
    )
  const [, accessKey, region, names = ''] = match ?? []
  if (accessKey !== STORE_KEYS.accessKey) return refuse(403, 'InvalidAccessKeyId')
  if (region !== STORE_KEYS.region) return refuse(400, 'AuthorizationHeaderMalformed')
  const at = timeOf(request.headers.get('x-amz-date') ?? '')
  if (checksTime && !(Math.abs(at - Date.now()) < 15 * 60_000)) return refuse(403, 'RequestTimeTooSkewed')
  const payload = request.headers.get('x-amz-content-sha256') ?? ''
  if (payload !== sha256(body)) return refuse(400, 'XAmzContentSHA256Mismatch')
  const isAdded = (name: string) => ['host', 'x-amz-content-sha256', 'x-amz-date'].includes(name)
  const headers = names.split(';').filter((name) => !isAdded(name))
  const again = signed(
    {
      method: request.method,
      host: url.host,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: Object.fromEntries(headers.map((name) => [name, request.headers.get(name) ?? ''])),
      payload,
    },
    STORE_KEYS,
    at,
  )
  const isUnsigned = [...request.headers.keys()].some(
    (name) => /^(x-amz-|if-)/.test(name) && !names.split(';').includes(name),
  )
  return isUnsigned || again['authorization'] !== request.headers.get('authorization')
    ? refuse(403, 'SignatureDoesNotMatch')
    : undefined
}

const timeOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

const refuse = (status: number, code: string, isHead = false): Response =>
  new Response(isHead ? null : `<Error><Code>${code}</Code></Error>`, {
    status,
    headers: { 'content-type': 'application/xml' },
  })

const scripted = ({ status, code, headers, body }: Extract<StoreFault, { status: number }>): Response =>
  new Response(body ?? (code === undefined ? '' : `<Error><Code>${code}</Code></Error>`), {
    status,
    ...(headers !== undefined && { headers }),
  })

const never = (): Promise<Response> => new Promise(() => {})

function cutOff(good: Response): Response {
  const pieces = new ReadableStream({
    async start(controller) {
      controller.enqueue(new Uint8Array(await good.arrayBuffer()).slice(0, 1))
      controller.error(new Error('cut by the test'))
    },
  })
  return new Response(pieces, { status: good.status, headers: good.headers })
}

const lastModified = (object: StoredObject | undefined): string =>
  object?.modifiedAt === undefined
    ? ''
    : `<LastModified>${new Date(object.modifiedAt).toISOString()}</LastModified>`
