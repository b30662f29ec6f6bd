import { afterEach, beforeEach } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deployCommand } from '../deploy.ts'
import { runCommand } from '../run-command.ts'
import { type ManifestServer, startManifestServer } from './manifest-server.ts'
import { type TestIo, testIo } from './test-io.ts'

type DeployFixture = {
  readonly folder: string
  readonly server: ManifestServer
  readonly key: string
  /** Writes a file below the folder and returns where it is. */
  write(path: string, content: string): string
  /** Runs `svc deploy` on the folder, with address, key and the project acme/site unless `flags` say otherwise. */
  deploy(flags?: string[], given?: Partial<TestIo>): Promise<TestIo & { code: number }>
}

/** A new folder and a new server before each test of the file that calls this. */
export function deployFixture(): DeployFixture {
  const key = 'svc_0123456789'
  let folder = ''
  let server: ManifestServer | undefined
  const fixture: DeployFixture = {
    get folder() {
      return folder
    },
    get server() {
      if (server === undefined) throw new Error('there is a server inside tests only')
      return server
    },
    key,
    write(path, content) {
      const absolute = join(folder, path)
      mkdirSync(dirname(absolute), { recursive: true })
      writeFileSync(absolute, content)
      return absolute
    },
    async deploy(flags = [], given = {}) {
      const env = { SVC_API_URL: fixture.server.url, SVC_API_KEY: key, PATH: process.env['PATH'] }
      const io = testIo({ env, cwd: folder, ...given })
      const args = ['deploy', folder, '--project', 'acme/site', ...flags]
      const code = await runCommand({ deploy: () => deployCommand }, args, io, 'serve')
      return { ...io, code }
    },
  }
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-deploy-')))
    server = startManifestServer(key)
  })
  afterEach(() => {
    server?.stop()
    rmSync(folder, { recursive: true })
  })
  return fixture
}
