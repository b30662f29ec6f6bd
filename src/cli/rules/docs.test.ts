import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { handlerDocs } from '../../pipelines/language/registry.ts'
import { RULE_KEYS } from '../../rules/compile-rule.ts'
import { rulesCommand } from '../rules.ts'
import { runCommand } from '../run-command.ts'
import { testIo } from '../testing/test-io.ts'

const ROOT = join(import.meta.dir, '../../..')
const manual = readFileSync(join(ROOT, 'docs/rules.md'), 'utf8')

test('the manual holds every handler as the registry describes it', () => {
  expect(manual).toContain(handlerDocs())
})

test.each(Object.keys(RULE_KEYS))('the manual explains %s', (key) => {
  expect(manual).toContain(`| \`${key}\` |`)
})

test('npx svc is what the build leaves', () => {
  const { name, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect([name, bin]).toEqual(['svc', { svc: 'dist/svc' }])
})

// A sandbox is a process of its own, and a machine may be busy.
setDefaultTimeout(60_000)

async function testsOf(folder: string) {
  const io = testIo({ cwd: folder })
  const code = await runCommand({ rules: () => rulesCommand }, ['rules', 'test', '.'], io, 'serve')
  return { code, err: io.err(), out: io.out() }
}

test('the examples of the manual are a rule set whose tests pass', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-manual-'))
  try {
    let count = 0
    for (const [, path = '', text = ''] of manual.matchAll(/^```(?:yaml|ts) (\S+)\n([\s\S]*?)^```$/gm)) {
      if (path.endsWith('.test.yaml')) count += text.match(/^ {2}- name: /gm)?.length ?? 0
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const { code, err, out } = await testsOf(folder)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(count).toBeGreaterThan(20)
    expect(out).toContain(`${count} tests passed, 0 failed`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the tests of the example site pass', async () => {
  const { code, out } = await testsOf(join(ROOT, 'examples/guestbook/.svc/proxy-rules/guestbook'))
  expect(out).toContain('20 tests passed, 0 failed')
  expect(code).toBe(0)
})
