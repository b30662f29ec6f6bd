import { putFile } from '../../testing/put-file.ts'
import { DOCS, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import type { StoredFile } from './service.ts'

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
    put: (path, content, contentType) => putFile(app.ctx, seeded.projectId, path, content, contentType),
  }
}
