import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { deployFixture } from '../testing/deploy-fixture.ts'

const at = deployFixture()
const STAYS = 'this commit was published before with'

test('files of an earlier upload of the commit stay, and it is said how many', async () => {
  const again = ['--sha', 'abcdef1234', '--alias', 'production']
  at.write('index.html', '<h1>hello</h1>')
  const old = at.write('old.html', '<h1>old</h1>')
  expect((await at.deploy(again)).err()).not.toContain(STAYS)
  rmSync(old)
  expect((await at.deploy(again)).err()).toContain(
    `${STAYS} 1 other file, which stays in its deployment; publish a new commit, or another --sha, to be without`,
  )
  at.write('new.html', '<h1>new</h1>')
  expect((await at.deploy(['--sha', 'abcdef1235'])).err()).not.toContain(STAYS)
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

test('what other aliases show of the same commit changes too, and it is said', async () => {
  const to = (alias: string) => at.deploy(['--sha', 'abcdef1234', '--alias', alias])
  at.write('index.html', '<h1>first</h1>')
  expect((await to('production')).err()).not.toContain('this commit too')
  expect((await to('staging')).err()).not.toContain('this commit too')
  at.write('index.html', '<h1>unfinished</h1>')
  expect((await to('staging')).err()).toContain(
    'production shows this commit too, and so what was just published',
  )
})
