import { ownProgram } from './own-program.ts'

const PROGRAM = new URL('../main.ts', import.meta.url)

export type BackupProcess = {
  /** Resolves when the file is complete and durable; rejects with the error output of the process. */
  done: Promise<void>
  kill(): void
}

/**
 * Writes a backup in a child process, because copying a large database takes a while and must not block the server. `env`
 * is what it needs beside the place, such as the keys of a store.
 */
export function spawnBackup(dataDir: string, place: string, env: Record<string, string>): BackupProcess {
  const child = Bun.spawn([...ownProgram(PROGRAM), 'backup', place, '--data-dir', dataDir], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return { done: finished(child), kill: () => child.kill('SIGTERM') }
}

async function finished(child: { stderr: ReadableStream; exited: Promise<number> }): Promise<void> {
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(said.trim() || `svc backup ended with exit code ${code}`)
}
