import { expect, test } from 'bun:test'
import { deployFixture } from '../testing/deploy-fixture.ts'
import { failure } from '../testing/manifest-server.ts'

const at = deployFixture()

const PAGE = 'http://localhost/projects/p/deployments/d/report'
const finding = (kind: string, severity: string, number: number) => ({
  kind,
  severity,
  file: 'index.html',
  line: number,
  target: `/gone-${number}`,
  message: `nothing answers \u001b[2Jhere ${number}`,
})
const REPORT = {
  deploymentId: 'd',
  status: 'complete',
  routing: { redirects: 1, headers: 0, refused: 1, problems: [] },
  findings: [
    ...Array.from({ length: 12 }, (_, index) => finding('link-missing', 'warning', index + 1)),
    { ...finding('secret-published', 'error', 1), file: 'id_rsa', line: null, target: null },
    { ...finding('redirect-refused', 'error', 12), file: '_redirects', message: 'the line has no target' },
    {
      ...finding('start-page-missing', 'warning', 1),
      file: null,
      line: null,
      target: null,
      message: 'no start page',
    },
    finding('left-out', 'info', 77),
  ],
  kinds: { 'link-missing': 250, 'secret-published': 1, 'redirect-refused': 1, 'start-page-missing': 1 },
  truncated: false,
}
const PROBLEMS = [{ file: '_redirects', line: 12, message: 'the line has no target' }]

/** The server's answers of the next deploy: the upload's, then those of its report. */
function answerWith(given: Record<string, unknown>, ...reports: Response[]): void {
  at.server.refusals.push(
    Response.json({ uploadId: 'u', missing: [] }, { status: 201 }),
    Response.json(
      {
        success: true,
        published: true,
        deployment: { id: 'd', commitSha: 'abcdef1', urls: {} },
        notes: [],
        routing: { redirects: 1, headers: 0, refused: 1, problems: PROBLEMS },
        release: { status: 'none', alias: null, checks: [] },
        report: { status: 'running', url: 'http://elsewhere.example/report', pageUrl: PAGE },
        ...given,
      },
      { status: 201 },
    ),
    ...reports,
  )
}

const timesIn = (text: string, part: string): number => text.split(part).length - 1

test('prints refused lines, then errors and warnings, ten of a kind, and the address of the page', async () => {
  at.write('index.html', '<h1>hello</h1>')
  answerWith({}, Response.json({ ...REPORT, status: 'running', findings: [] }), Response.json(REPORT))
  const { code, err, out } = await at.deploy()
  expect(code).toBe(0)
  const lines = err().split('\n')
  expect(lines).toContain('_redirects:12 the line has no target')
  expect(timesIn(err(), 'the line has no target')).toBe(1)
  const error = lines.indexOf('error secret-published id_rsa: nothing answers  [2Jhere 1')
  expect(error).toBeGreaterThan(0)
  expect(lines[error + 1]).toBe('warning link-missing index.html:1: nothing answers  [2Jhere 1 (/gone-1)')
  expect(timesIn(err(), 'link-missing')).toBe(10)
  expect(lines).toContain('  and 240 more')
  expect(lines).toContain('warning start-page-missing: no start page')
  expect(err()).not.toContain('left-out')
  expect(out()).toContain(`report: 1 error, 251 warnings  ${PAGE}\n`)
})

test('what a note said is no finding any more, and neither is what the command itself said', async () => {
  at.write('a.html', '<h1>hello</h1>')
  const note = { code: 'NO_START_PAGE', message: 'There is no index.html.', path: null }
  answerWith({ notes: [note] }, Response.json(REPORT))
  const first = await at.deploy()
  expect(first.err()).toContain('There is no index.html.')
  expect(first.err()).not.toContain('start-page-missing')
  answerWith({}, Response.json(REPORT))
  const second = await at.deploy()
  expect(second.err()).toContain('there is no index.html at the top of')
  expect(second.err()).not.toContain('start-page-missing')
})

test('--json carries routing, release and the report whole, and prints none of it besides', async () => {
  at.write('index.html', '<h1>hello</h1>')
  answerWith({}, Response.json(REPORT))
  const { code, err, out } = await at.deploy(['--json'])
  const json = JSON.parse(out())
  expect([code, json.routing.problems, json.release.status]).toEqual([0, PROBLEMS, 'none'])
  expect(json.report).toMatchObject({ ...REPORT, url: 'http://elsewhere.example/report', pageUrl: PAGE })
  expect(err()).not.toContain('_redirects:12')
  expect(err()).not.toContain('link-missing')
})

test('a server without reports is not asked for one', async () => {
  at.write('index.html', '<h1>hello</h1>')
  answerWith({ report: undefined, routing: undefined, release: undefined })
  const { code, err, out } = await at.deploy()
  expect(code).toBe(0)
  expect(`${err()}${out()}`).not.toContain('report')
  expect(at.server.requests.filter(({ method }) => method === 'GET')).toEqual([])
})

test.each([
  ['that is refused', [failure(403, 'FORBIDDEN', 'not for you')], 'the report cannot be read: not for you'],
  ['that is down for a moment', [failure(503, 'BUSY', 'later'), Response.json(REPORT)], 'secret-published'],
])('a report %s does not fail the publish', async (_what, reports, said) => {
  at.write('index.html', '<h1>hello</h1>')
  answerWith({}, ...reports)
  const { code, err } = await at.deploy()
  expect([code, err()]).toEqual([0, expect.stringContaining(said)])
})

test('a report that takes longer than 30 s is left to its page', async () => {
  at.write('index.html', '<h1>hello</h1>')
  const running = Array.from({ length: 60 }, () =>
    Response.json({ ...REPORT, status: 'running', findings: [] }),
  )
  answerWith({}, ...running)
  const { code, out } = await at.deploy()
  expect([code, out()]).toEqual([0, expect.stringContaining(`the report is still being made  ${PAGE}\n`)])
})

test('names what it leaves out, the first hundred, without the folder of svc itself', async () => {
  at.write('index.html', '<h1>hello</h1>')
  for (const path of ['.env', '.git/config', '.svc/config.json', 'node_modules/a/i.js', 'a/.hidden'])
    at.write(path, '{}')
  await at.deploy()
  expect(Object(at.server.manifests[0]).leftOut.sort()).toEqual(['.env', 'a/.hidden', 'node_modules'])
  for (let number = 0; number < 120; number += 1) at.write(`.dot-${number}`, '')
  await at.deploy()
  expect(Object(at.server.manifests[1]).leftOut).toHaveLength(100)
})

test('--dry-run names all that is wrong in the file of checks', async () => {
  at.write('index.html', '<h1>hello</h1>')
  at.write('.svc/checks.yaml', 'startPage: maybe\nchekcs: []\n')
  const { code, err } = await at.deploy(['--dry-run'])
  expect(code).toBe(1)
  expect(err()).toContain('.svc/checks.yaml:1:12')
  expect(err()).toContain('.svc/checks.yaml:2:1')
  at.write('.svc/checks.yaml', 'startPage: true\n')
  expect((await at.deploy(['--dry-run'])).code).toBe(0)
})
