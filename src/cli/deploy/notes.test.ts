import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { deployFixture } from '../testing/deploy-fixture.ts'

const at = deployFixture()

test('nothing is said of earlier uploads of the commit, whose files do not add up', async () => {
  const again = ['--sha', 'abcdef1234', '--alias', 'production']
  at.write('index.html', '<h1>hello</h1>')
  const old = at.write('old.html', '<h1>old</h1>')
  await at.deploy(again)
  rmSync(old)
  expect((await at.deploy(again)).err()).not.toContain('this commit')
  expect((await at.deploy(['--sha', 'abcdef1234', '--alias', 'staging'])).err()).not.toContain('this commit')
})

test('a node_modules folder inside of what was built is left out, and it is named', async () => {
  at.write('index.html', '<h1>hello</h1>')
  at.write('node_modules/react/index.js', 'the project itself')
  expect((await at.deploy()).err()).not.toContain('node_modules')
  at.write('assets/node_modules/icons/a.ttf', 'needed')
  at.write('lib/node_modules/x.js', 'needed')
  const { code, err } = await at.deploy()
  expect([code, err()]).toEqual([
    0,
    expect.stringMatching(/left out, .*: (assets|lib)\/node_modules and 1 more; rename it where pages need/),
  ])
  expect([...at.server.site().keys()]).toEqual(['index.html'])
  expect((await at.deploy(['--dry-run'])).err()).toContain('node_modules and 1 more')
})

const NOTE = {
  code: 'NESTED_FOLDER',
  message: 'There is one in the folder dist.\nSay \u001b[2J',
  path: 'dist',
}

/** The server's answers of the next deploy, as it gives them with notes. */
const answerWith = (...notes: unknown[]) => {
  const deployment = { id: 'd', commitSha: 'abcdef1', urls: {} }
  at.server.refusals.push(
    Response.json({ uploadId: 'u', missing: [] }, { status: 201 }),
    Response.json({ success: true, published: true, deployment, notes }, { status: 201 }),
  )
}

test('what the server says besides is printed on stderr, and with --json it is in the JSON only', async () => {
  at.write('dist/index.html', '<h1>hello</h1>')
  answerWith(NOTE, null, 'x', { code: 'x' })
  const plain = await at.deploy()
  expect([plain.code, plain.err(), plain.out()]).toEqual([
    0,
    expect.stringContaining('There is one in the folder dist. Say  [2J\n'),
    expect.not.stringContaining('There is one'),
  ])
  expect(plain.err()).not.toContain('there is no index.html at the top of')
  answerWith(NOTE)
  const json = await at.deploy(['--json'])
  expect(json.err()).not.toContain('There is one')
  expect(JSON.parse(json.out()).notes).toEqual([NOTE])
})

test('--unwrap publishes what is in the only folder, as if that were the one', async () => {
  at.write('site/index.html', '<h1>hello</h1>')
  at.write('site/a/b.css', 'b{}')
  at.write('.git/HEAD', 'left out')
  const shown = JSON.parse((await at.deploy(['--unwrap', '--dry-run', '--json'])).out())
  expect(shown.files.map(({ path }: { path: string }) => path)).toEqual(['a/b.css', 'index.html'])
  expect((await at.deploy(['--unwrap'])).code).toBe(0)
  expect([...at.server.site().keys()]).toEqual(['a/b.css', 'index.html'])
  expect(at.server.manifests[0]?.commitSha).toBe(shown.commitSha)
  at.write('README.md', 'same')
  at.write('site/README.md', 'same')
  expect((await at.deploy(['--unwrap'])).code).toBe(0)
  expect([...at.server.site().keys()]).toEqual(['README.md', 'a/b.css', 'index.html'])
  at.write('README.md', 'other')
  const { code, err } = await at.deploy(['--unwrap'])
  expect([code, err()]).toEqual([1, expect.stringContaining('README.md is both at the top and in site')])
  at.write('index.html', '<h1>top</h1>')
  await at.deploy(['--unwrap'])
  expect(at.server.site().has('site/index.html')).toBe(true)
})
