import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inTransaction } from '../../../db/open.ts'
import { tarEntries } from '../../../platform/archive/tar-write.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'
import { collect } from '../../../platform/chunks.fixture.ts'
import { type CallOptions, type TestApp, testApp } from '../../../testing/test-app.ts'
import { createOperatorKey } from '../../api-keys/service.ts'
import { openSession } from '../../auth/sessions.ts'
import { addProject } from '../../projects/service.ts'
import { stopVariants } from '../variants.ts'

export const SHA = '3f2a9c1d00aa'
export const sha256 = (content: string | Uint8Array): string => Bun.SHA256.hash(content, 'hex')

export type Content = string | Uint8Array

/** Bodies as clients send them. */

export async function tar(files: Readonly<Record<string, Content>>): Promise<Uint8Array> {
  const entries = Object.entries(files).map(([name, content]) => ({ name, body: Buffer.from(content) }))
  return collect(tarEntries(entries.map((entry) => ({ ...entry, sizeBytes: entry.body.length }))))
}

export type Part =
  | { field: string; value: string }
  | { file: string; content: Content; part?: string | undefined }

/** A form built by hand, to control the order of its parts and the names of its files exactly. */
export function form(...parts: Part[]): { body: Uint8Array<ArrayBuffer>; headers: Record<string, string> } {
  const pieces: Buffer[] = []
  for (const part of parts) {
    const isFile = 'file' in part
    const filename = isFile ? `; filename="${part.file.replaceAll('"', '%22')}"` : ''
    const name = isFile ? (part.part ?? 'file') : part.field
    pieces.push(
      Buffer.from(`--XyZ\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n\r\n`),
      Buffer.from(isFile ? part.content : part.value),
      Buffer.from('\r\n'),
    )
  }
  pieces.push(Buffer.from('--XyZ--\r\n'))
  return {
    body: new Uint8Array(Buffer.concat(pieces)),
    headers: { 'content-type': 'multipart/form-data; boundary=XyZ' },
  }
}

export const fieldParts = (fields: Readonly<Record<string, string>>): Part[] =>
  Object.entries(fields).map(([field, value]) => ({ field, value }))
export const fileParts = (files: Readonly<Record<string, Content>>): Part[] =>
  Object.entries(files).map(([file, content]) => ({ file, content }))

export const DOCS = { owner: 'acme', repo: 'docs', commitSha: SHA }
/** The same fields in the query string, for a body with only the files. */
export const QUERY = new URLSearchParams(DOCS).toString()
export const SITE = { 'index.html': '<h1>Hi</h1>', 'css/main.css': 'body{}' }

/** A body that is an archive. */
export const archive = (type: string, bytes: Uint8Array): Pick<CallOptions, 'body' | 'headers'> => ({
  body: new Uint8Array(bytes),
  headers: { 'content-type': type },
})

/** Sends these bytes and then breaks off, like a client that disconnects. */
export function brokenOff(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let isSent = false
  return new ReadableStream({
    pull(controller) {
      if (isSent) return controller.error(new Error('The connection was closed.'))
      isSent = true
      controller.enqueue(bytes)
    },
  })
}

export type Answer = { status: number; body: Record<string, unknown> & { message?: string; error?: string } }

/**
 * A workspace with ann's private project acme/docs and bob's project bob/blog. On acme/docs there are also the viewer
 * vera, the contributor cora and the guest gus. The user nobody has no role anywhere. There are three keys.
 */
export type World = Omit<TestApp, 'close'> & {
  keys: { global: string; docs: string; blog: string }
  docsId: string
  send(method: string, path: string, options?: CallOptions): Promise<Answer>
  sendForm(path: string, key: string, ...parts: Part[]): Promise<Answer>
  /** The `Cookie` header of a session of ann, bob and so on. */
  cookie(name: string): string
  /** The files of a commit's newest version as stored, by path. */
  filesOf(commitSha?: string): Record<string, string>
  /** Everything that an upload can leave behind: rows by table, and files in the data directory. */
  leftovers(): Record<string, unknown>
  close(): Promise<void>
}

export async function uploadWorld(env: Record<string, string> = {}): Promise<World> {
  const app = await testApp(env)
  const { ctx } = app
  addPeople(app)
  const docsId = addProjectOf(app, 'acme', 'docs', 'ann')
  addProjectOf(app, 'bob', 'blog', 'bob')
  inTransaction(ctx.db, () => {
    const grant = ctx.db.sqlite.query('INSERT INTO permissions VALUES (?, ?, ?, 0)')
    for (const [name, role] of [
      ['vera', 'viewer'],
      ['cora', 'contributor'],
      ['gus', 'guest'],
    ] as const)
      grant.run(docsId, name, role)
  })
  const key = (repository: string | null) => createOperatorKey(ctx, { name: 'ci', repository })
  const send: World['send'] = async (method, path, options = {}) => {
    const answer = await app.call(method, path, options)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) }
  }
  return {
    ...app,
    docsId,
    keys: { global: key(null), docs: key('acme/docs'), blog: key('bob/blog') },
    send,
    sendForm: (path, key, ...parts) => send('POST', path, { key, ...form(...parts) }),
    cookie: (name) => sessionOf(app, name),
    filesOf: (commitSha = SHA) => filesOf(app, commitSha),
    leftovers: () => leftovers(app),
    async close() {
      await stopVariants(ctx)
      app.close()
    },
  }
}

/** Without passwords: hashing them would cost each test half a second. */
function addPeople({ ctx }: TestApp): void {
  inTransaction(ctx.db, () => {
    const insert = ctx.db.sqlite.query(
      'INSERT INTO users (id, email, role, created_at, updated_at) VALUES (?, ?, ?, 0, 0)',
    )
    insert.run('root', 'root@example.com', 'admin')
    for (const name of ['ann', 'bob', 'vera', 'cora', 'gus', 'nobody'])
      insert.run(name, `${name}@example.com`, 'user')
  })
}

function addProjectOf({ ctx }: TestApp, owner: string, name: string, userId: string): string {
  return inTransaction(ctx.db, (tx) => addProject(ctx, tx, { kind: 'operator' }, { owner, name }, userId)).id
}

function sessionOf({ ctx }: TestApp, userId: string): string {
  const from = { ip: '127.0.0.1', userAgent: 'test' }
  const { access } = inTransaction(ctx.db, (tx) => openSession(ctx, tx, userId, from)).tokens
  return `sAccessToken=${access}`
}

function filesOf({ ctx }: TestApp, commitSha: string): Record<string, string> {
  const rows = ctx.db.sqlite
    .query<StoredBlob & { path: string }, [string]>(
      `SELECT f.path, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object FROM deployments d
       JOIN assets f ON f.deployment_id = d.id JOIN blobs b ON b.id = f.blob_id
       WHERE d.id = (SELECT id FROM deployments WHERE commit_sha = ? ORDER BY version DESC LIMIT 1) ORDER BY f.path`,
    )
    .all(commitSha)
  return Object.fromEntries(
    rows.map(({ path, ...blob }) => [path, Buffer.from(ctx.blobs.readSync(blob)).toString()]),
  )
}

const TABLES = [
  'projects',
  'deployments',
  'assets',
  'aliases',
  'alias_history',
  'host_labels',
  'blobs',
  'upload_blobs',
]

function leftovers({ ctx }: TestApp): Record<string, unknown> {
  const rows = TABLES.map((table) => {
    const found = ctx.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()
    return [table, found?.n]
  })
  const filesIn = (folder: string) =>
    readdirSync(join(ctx.config.dataDir, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  return { ...Object.fromEntries(rows), tmp: filesIn('tmp'), stored: filesIn('blobs') }
}
