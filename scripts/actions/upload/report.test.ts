import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManifestServer, startManifestServer } from '../../../src/cli/testing/manifest-server.ts'
import { runUploadAction } from '../../../src/cli/testing/run-action.ts'

/** What the upload action says of the deploy report. contract 13 §10. */
const KEY = 'svc_0123456789'
const PAGE = 'http://localhost/projects/p/deployments/d/report'
const ENV = { GITHUB_REPOSITORY: 'acme/site', GITHUB_SHA: '0'.repeat(40), GITHUB_EVENT_NAME: 'push' }
const EVIL = '\n::set-env name=A::1\n##[error]x | <img src=x> `a` [b](javascript:c) \\'

let workspace: string
let server: ManifestServer

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'svc-action-report-'))
  writeFileSync(join(workspace, 'index.html'), 'hi')
  server = startManifestServer(KEY)
})
afterEach(() => {
  server.stop()
  rmSync(workspace, { recursive: true })
})

const finding = (kind: string, severity: string, file: string, message: string) => ({
  kind,
  severity,
  file,
  line: null,
  target: null,
  message,
})
const REPORT = {
  status: 'complete',
  findings: [
    ...Array.from({ length: 12 }, (_, at) =>
      finding('link-missing', 'warning', `p${at}.html`, 'leads nowhere'),
    ),
    finding('secret-published', 'error', EVIL, EVIL),
    finding('nested-folder', 'warning', 'dist', 'said by a note'),
    finding('header-refused', 'error', '_headers', 'said as a line'),
    finding('left-out', 'info', '.env', 'nobody has to know'),
  ],
  kinds: { 'link-missing': 30, 'secret-published': 1, 'nested-folder': 1, 'header-refused': 1 },
}

/** One run of the action; the server answers the upload with `given`, then the report with `reports`. */
function runAgainst(given: Record<string, unknown>, ...reports: Response[]) {
  server.refusals.push(
    Response.json({ uploadId: 'u', missing: [] }, { status: 201 }),
    Response.json(
      { success: true, published: true, deployment: { id: 'd', urls: {} }, ...given },
      { status: 201 },
    ),
    ...reports,
  )
  return runUploadAction(
    { 'api-url': server.url, 'api-key': KEY, files: '**' },
    { workspace, env: ENV, event: {}, token: '' },
  )
}

const ANSWER = {
  notes: [{ code: 'NESTED_FOLDER', message: 'There is one in dist.', path: 'dist' }],
  routing: {
    redirects: 0,
    headers: 0,
    refused: 130,
    problems: [{ file: '_headers', line: 2, message: `no good: ${EVIL}` }],
  },
  report: { status: 'running', url: '/api/deployments/d/report', pageUrl: PAGE },
}
const running = () => Response.json({ status: 'running', findings: [], kinds: {} })

test('errors and warnings are annotations and a table in the summary, ten of a kind, each once', async () => {
  const { code, log, outputs, summary } = await runAgainst(ANSWER, running(), Response.json(REPORT))
  expect([code, outputs['report-url']]).toEqual([0, PAGE])
  expect(log).toContain('::notice::There is one in dist.\n')
  expect(log).toMatch(/^::warning::_headers:2 no good: .*%0Aand 129 more$/m)
  expect(log).toMatch(/^::error::secret-published /m)
  expect(log).toMatch(/^::warning::link-missing p0\.html: leads nowhere%0A.*%0Aand 20 more$/m)
  expect(log).toContain(`report: 1 error, 30 warnings  ${PAGE}\n`)
  for (const text of [log, summary])
    expect(
      ['said by a note', 'said as a line', 'nobody has to know'].filter((said) => text.includes(said)),
    ).toEqual([])
  expect(summary).toContain(`#### report: 1 error, 30 warnings ([the whole report](${PAGE}))`)
  expect(summary).toContain('| warning | link-missing p9.html: leads nowhere |')
  expect(summary).toContain('| | and 20 more |')
  expect(summary).not.toContain('p10.html')
})

test('names of files and messages are neither commands nor Markdown', async () => {
  const { log, summary } = await runAgainst(ANSWER, Response.json(REPORT))
  expect(log).not.toMatch(/^\s*::set-env/m)
  expect(log).not.toContain('##[')
  expect(summary).not.toMatch(/<img|`a`|\[b\]|^\s*::/m)
  for (const line of summary.split('\n').filter((one) => one.startsWith('| error')))
    expect(line.split('|')).toHaveLength(4)
})

test('an address of the page that is none is no link', async () => {
  const report = { status: 'complete', pageUrl: 'javascript:alert(1)' }
  const { code, summary } = await runAgainst({ report }, Response.json(REPORT))
  expect([code, summary.includes('javascript:alert')]).toEqual([0, false])
})

test('a server without reports is not asked for one', async () => {
  const { code, log, outputs, summary } = await runAgainst({})
  expect([code, outputs['report-url']]).toEqual([0, ''])
  expect(`${log}${summary}`).not.toContain('report')
  expect(server.requests.filter(({ method }) => method === 'GET')).toEqual([])
})

test('a report that cannot be read is a notice', async () => {
  const refused = Response.json({ error: 'FORBIDDEN', message: 'not for you' }, { status: 403 })
  const { code, log } = await runAgainst(ANSWER, refused)
  expect([code, log]).toEqual([
    0,
    expect.stringContaining('::notice::The report cannot be read: not for you\n'),
  ])
})

test('names what it leaves out of what the patterns take, but what every checkout has', async () => {
  for (const path of ['.git', 'dist/.git', 'dist/node_modules/a', '.svc'])
    mkdirSync(join(workspace, path), { recursive: true })
  for (const path of ['dist/.env', 'dist/index.html', '.npmrc']) writeFileSync(join(workspace, path), '')
  const run = (inputs: Record<string, string>) =>
    runUploadAction(
      { 'api-url': server.url, 'api-key': KEY, ...inputs },
      { workspace, env: ENV, event: {}, token: '' },
    )
  await run({ files: 'dist' })
  await run({ files: '**' })
  const named = server.manifests.map((manifest) => Object(manifest).leftOut.sort())
  expect(named).toEqual([
    ['dist/.env', 'dist/.git', 'dist/node_modules'],
    ['.npmrc', 'dist/.env', 'dist/.git', 'dist/node_modules'],
  ])
})
