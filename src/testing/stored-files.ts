import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { keepFile, stageFile } from '../modules/files/service.ts'
import { once } from '../platform/byte-stream.ts'
import type { TestApp } from './test-app.ts'

type Stored = { path: string; size: number; contentType: string; isRegistered: boolean }

/** The files of all projects, by path. */
export const storedFiles = ({ ctx }: TestApp): Stored[] =>
  ctx.db.sqlite
    .query<Omit<Stored, 'isRegistered'> & { isRegistered: number }, []>(
      `SELECT path, size_bytes AS size, content_type AS contentType, is_registered AS isRegistered
       FROM project_files ORDER BY path`,
    )
    .all()
    .map((row) => ({ ...row, isRegistered: row.isRegistered === 1 }))

/** What lies in the folders of contents, finished or not. */
export const contentsOnDisk = ({ ctx }: TestApp): string[] =>
  ['blobs', 'tmp']
    .flatMap((folder) =>
      readdirSync(join(ctx.config.dataDir, folder), { recursive: true, withFileTypes: true }),
    )
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()

/** Stores a file as if it had been sent. */
export async function storeFile(
  { ctx }: TestApp,
  projectId: string,
  path: string,
  { text = 'the bytes', type = 'image/png', isRegistered = false } = {},
): Promise<void> {
  const bytes = Buffer.from(text)
  const staged = await stageFile(ctx, projectId, once(bytes), { maxBytes: bytes.length })
  await keepFile(ctx, { projectId, path, contentType: type, isRegistered }, staged)
}
