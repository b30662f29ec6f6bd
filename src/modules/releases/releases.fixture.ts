import { afterAll, beforeAll, beforeEach } from 'bun:test'
import { zip } from '../../platform/archive/zip.fixture.ts'
import { ask as askJson } from '../../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { tar } from '../deployments/upload/upload.fixture.ts'
import type { Release } from './model.ts'
import { siteEngine } from './site-port.ts'

export type Files = Record<string, string>
export type Fields = Record<string, string>
type Answer = {
  status: number
  body: {
    deploymentId?: string
    deployment?: { id: string }
    uploadId?: string
    version?: number
    published?: boolean
    release?: Release
    error?: string
    message?: string
  }
}

export const REPOSITORY = 'acme/web'

/** An app with the project acme/web and one deployment of `files`. Each test has a name for an alias of its own. */
export function withWebSite(files: Files, seedAlias?: string) {
  const world = {
    app: undefined as unknown as TestApp,
    seeded: undefined as unknown as Seeded,
    alias: '',
    nextSha,
    call: (method: string, path: string, json?: unknown) =>
      askJson(world.app, method, path, { as: SEED_OWNER, ...(json === undefined ? {} : { json }) }),
  }
  let count = 0
  function nextSha(): string {
    count += 1
    return count.toString(16).padStart(40, '0')
  }
  beforeAll(async () => {
    world.app = await testApp()
    const site = { owner: 'acme', repo: 'web', sha: 'f'.repeat(40), files }
    world.seeded = await seedDeployment(
      world.app,
      seedAlias === undefined ? site : { ...site, alias: seedAlias },
    )
  })
  beforeEach(() => {
    world.alias = `site-${count}`
  })
  afterAll(() => world.app.close())
  return world
}

function formOf(files: Files, fields: Fields): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ repository: REPOSITORY, ...fields })) form.append(name, value)
  for (const [path, content] of Object.entries(files))
    form.append('files', new Blob([content]), path.split('/').at(-1))
  form.append('filePaths', JSON.stringify(Object.keys(files)))
  return form
}

async function ask(app: TestApp, method: string, path: string, options: object): Promise<Answer> {
  const answer = await app.call(method, path, { as: SEED_OWNER, ...options })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

const byManifest = async (app: TestApp, files: Files, fields: Fields): Promise<Answer> => {
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    sha256: Bun.SHA256.hash(text, 'hex'),
    size: Buffer.byteLength(text),
  }))
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ repository: REPOSITORY, ...fields, files: entries })
  const begun = await ask(app, 'POST', '/api/deployments/manifest', { body, headers })
  if (begun.status !== 201) return begun
  return sendContents(app, begun.body.uploadId ?? '', files)
}

/** The second request of a delta upload, which may be sent again. */
export async function sendContents(app: TestApp, uploadId: string, files: Files): Promise<Answer> {
  const contents = Object.values(files).map((text) => [Bun.SHA256.hash(text, 'hex'), text] as const)
  const body = await tar(Object.fromEntries(contents))
  const headers = { 'content-type': 'application/x-tar' }
  return ask(app, 'PUT', `/api/deployments/manifest/${uploadId}`, { body, headers })
}

/** The four uploads of contract §5.2. */
export const UPLOADS: Record<string, (app: TestApp, files: Files, fields: Fields) => Promise<Answer>> = {
  form: (app, files, fields) => ask(app, 'POST', '/api/deployments', { body: formOf(files, fields) }),
  assets: (app, files, fields) => ask(app, 'POST', '/api/assets/upload', { body: formOf(files, fields) }),
  zip(app, files, fields) {
    const form = formOf({}, fields)
    form.delete('filePaths')
    form.append('file', new Blob([Uint8Array.from(zip(files))]), 'site.zip')
    return ask(app, 'POST', '/api/deployments/zip', { body: form })
  },
  manifest: byManifest,
}

export const upload = (app: TestApp, files: Files, fields: Fields): Promise<Answer> =>
  (UPLOADS['form'] as NonNullable<(typeof UPLOADS)['form']>)(app, files, fields)

/** Holds the checks of the app until `release` is called; `reached` is when so many releases came to theirs. */
export function holdChecks({ ctx }: TestApp, releases = 1): { reached: Promise<void>; release: () => void } {
  const engine = siteEngine(ctx)
  const { shownBy } = engine
  let held = 0
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  engine.shownBy = (alias) => {
    const site = shownBy(alias)
    return (
      site &&
      (async (path) => {
        held += 1
        if (held === releases) reached.resolve()
        await released.promise
        return site(path)
      })
    )
  }
  return {
    reached: reached.promise,
    release() {
      engine.shownBy = shownBy
      released.resolve()
    },
  }
}
