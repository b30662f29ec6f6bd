import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runUploadAction } from '../cli/testing/run-action.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** `svc deploy` and the upload action against a real server that checks releases. contract 13 §8. */
const data = makeDataDir()
const work = mkdtempSync(join(tmpdir(), 'svc-checked-'))
let server: ServerProcess
let key = ''
beforeAll(async () => {
  const admin = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'correct horse battery' }
  server = await startServer(data.path, admin)
  key = (await runSvc(['key', 'create', 'ci', '--data-dir', data.path])).stdout.trim()
})
afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  data.remove()
  rmSync(work, { recursive: true })
})

const CHECKS = 'startPage: false\nchecks:\n  - { name: imprint, path: /imprint.html, contains: Register }\n'
const GOOD = { 'site/index.html': 'home', 'site/imprint.html': 'Register 1' }
const BAD = { 'site/index.html': 'home', 'site/imprint.html': 'nobody' }

/** A folder with these files, whose site lies in `site`. */
function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(work, 'folder-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

type Run = { code: number; said: string; status: string | undefined }
type Publisher = (folder: string, options: { sha: string; alias: string; force: boolean }) => Promise<Run>

const byCommand: Publisher = async (folder, { sha, alias, force }) => {
  const flags = ['--project', `acme/cli`, '--sha', sha, '--alias', alias, ...(force ? ['--force'] : [])]
  const connection = ['--api-url', server.url, '--api-key', key]
  const { code, stdout, stderr } = await runSvc([
    'deploy',
    join(folder, 'site'),
    '--json',
    ...flags,
    ...connection,
  ])
  return { code, said: stderr + stdout, status: JSON.parse(stdout).release?.status }
}

const byAction: Publisher = async (folder, { sha, alias, force }) => {
  const inputs = { 'api-url': server.url, 'api-key': key, path: 'site', files: '**', alias, comment: 'false' }
  const { code, log, outputs } = await runUploadAction(
    {
      ...inputs,
      'commit-sha': sha,
      owner: 'acme',
      repo: 'action',
      force: String(force),
      deployment: 'false',
    },
    { env: {}, event: {}, workspace: folder, token: '' },
  )
  return { code, said: log, status: outputs['release-status'] }
}

const shaOf = (n: number): string => n.toString(16).padStart(40, 'a')

test.each<[string, Publisher, string]>([
  ['svc deploy', byCommand, '--force'],
  ['the action', byAction, 'force: true'],
])(
  '%s: passed, failed, forced, locked, a wrong checks file',
  async (_name, publish, way) => {
    const above = { '.svc/checks.yaml': CHECKS }
    const options = { sha: shaOf(1), alias: 'production', force: false }
    expect(await publish(folderOf({ ...GOOD, ...above }), options)).toMatchObject({
      code: 0,
      status: 'passed',
    })
    const bad = folderOf({ ...BAD, ...above })
    const failed = await publish(bad, { ...options, sha: shaOf(2) })
    expect([failed.code, failed.status]).toEqual([1, 'failed'])
    expect(failed.said).toContain('imprint (/imprint.html): the body does not contain "Register"')
    expect(failed.said).toContain(way)
    expect(await publish(bad, { ...options, sha: shaOf(2), force: true })).toMatchObject({
      code: 0,
      status: 'forced',
    })
    const own = { ...BAD, ...above, 'site/.svc/checks.yaml': 'startPage: false\n' }
    expect(await publish(folderOf(own), { ...options, sha: shaOf(3) })).toMatchObject({
      code: 0,
      status: 'moved',
    })
    const wrong = folderOf({ ...GOOD, '.svc/checks.yaml': 'checks: 3\n' })
    const refused = await publish(wrong, { ...options, sha: shaOf(4) })
    expect([refused.code, refused.said]).toEqual([
      1,
      expect.stringContaining('.svc/checks.yaml:1:9 checks: must be a list'),
    ])
  },
  120_000,
)
