import type { ByteStream } from '../../platform/byte-stream.ts'
import { DOCS, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { keepFile, type StoredFile, stageFile } from './service.ts'

export const PROJECT = { owner: DOCS.owner, name: DOCS.repo }

/** A project with a site, and files in it. */
export type FilesWorld = Seeded & {
  app: TestApp
  put: (path: string, content: string | Uint8Array, contentType?: string) => Promise<StoredFile>
  close: () => void
}

export async function filesWorld(env: Record<string, string> = {}): Promise<FilesWorld> {
  const app = await testApp(env)
  const seeded = await seedDeployment(app, { ...DOCS, alias: 'production' })
  return {
    app,
    ...seeded,
    close: () => app.close(),
    async put(path, content, contentType = 'application/octet-stream') {
      const { projectId } = seeded
      const staged = await stageFile(app.ctx, projectId, bytesOf(content), { maxBytes: 2 ** 30, path })
      const kept = await keepFile(app.ctx, { projectId, path, contentType, isRegistered: false }, staged)
      return kept.file
    },
  }
}

export async function* bytesOf(...pieces: (string | Uint8Array)[]): ByteStream {
  for (const piece of pieces) yield Buffer.from(piece)
}
