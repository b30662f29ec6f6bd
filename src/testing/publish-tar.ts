import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ServerProcess } from './server-process.ts'

/** A commit for each number. */
export const shaOf = (i: number): string => `${i.toString(16).padStart(8, '0')}${'c'.repeat(32)}`

export type TarFiles = Record<string, string>

/** Uploads a tar.gz like `tar cz | curl`. `target`: the fields that name it. True if it was acknowledged. */
export async function publishTar(
  /** For what is packed. */
  work: string,
  to: ServerProcess,
  apiKey: string,
  repo: string,
  sha: string,
  files: TarFiles,
  target = 'alias=live',
): Promise<boolean> {
  const folder = mkdtempSync(join(work, 'tar-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const tar = Bun.spawn(['tar', 'cz', '-C', folder, '.'], { stdout: 'pipe' })
  const answer = await fetch(
    `${to.url}/api/deployments?owner=acme&repo=${repo}&commitSha=${sha}&${target}&isPublic=true`,
    {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/gzip' },
      body: await new Response(tar.stdout).arrayBuffer(),
    },
  ).catch(() => undefined)
  return answer?.status === 201
}
