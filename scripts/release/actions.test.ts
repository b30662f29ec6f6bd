import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parse } from 'yaml'
import { createOperatorKey } from '../../src/modules/api-keys/service.ts'
import { seedDeployment } from '../../src/testing/seed.ts'
import { listening, testApp } from '../../src/testing/test-app.ts'
import { makeActions } from './actions.ts'
import { actionRun } from './testing/action-run.ts'
import { OTHER_NAMES, type SampleRelease, sampleRelease } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

/** The two actions as repositories of their own. contract 19.2 */
const ACTIONS = ['upload', 'deploy-proxy-rules']

let release: SampleRelease
beforeAll(async () => {
  release = sampleRelease()
  await makeActions(release)
})
afterAll(() => release.remove())

const folderOf = (action: string) => join(release.out, 'actions', action)
const read = (action: string, path: string) => readFileSync(join(folderOf(action), path), 'utf8')

test.each(ACTIONS)('%s has what a repository needs and nothing of the tests', (action) => {
  const paths = filesBelow(folderOf(action))
  expect(paths.filter((path) => !path.startsWith('lib/'))).toEqual([
    'LICENSE',
    'README.md',
    'action.yml',
    'index.mjs',
  ])
  expect(paths.filter((path) => path.startsWith('lib/') && !path.endsWith('.mjs'))).toEqual([])
  expect(read(action, 'LICENSE')).toContain('MIT License')
  expect(parse(read(action, 'action.yml')).runs).toEqual({ using: 'node20', main: 'index.mjs' })
})

test.each(ACTIONS)('%s refers to nothing outside of its folder but what Node has', (action) => {
  const folder = folderOf(action)
  for (const path of filesBelow(folder).filter((path) => path.endsWith('.mjs'))) {
    const text = read(action, path)
    // Those in comments are of types alone.
    for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^'"]*?\bfrom '([^']+)'/gm)) {
      if (name.startsWith('node:')) continue
      const target = relative(folder, join(folder, dirname(path), name))
      expect([path, name, target.startsWith('..')]).toEqual([path, name, false])
      expect([path, filesBelow(folder).includes(target)]).toEqual([path, true])
    }
    expect(text).not.toMatch(/import\.meta|\.\.\/\.\.\/\.\./)
  }
})

test('the rules action installs the version of the release unless told otherwise', () => {
  expect(parse(read('deploy-proxy-rules', 'action.yml')).inputs['svc-version'].default).toBe('1.2.3')
  expect(read('deploy-proxy-rules', 'README.md')).toContain(`uses: ${OTHER_NAMES.actions.rules}@v1`)
  expect(read('upload', 'README.md')).toContain(`uses: ${OTHER_NAMES.actions.upload}@v1`)
})

test('upload publishes to a server with Node alone on the PATH', async () => {
  const app = await testApp()
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'book',
    sha: 'b'.repeat(40),
    files: { 'index.html': 'hi' },
  })
  const server = listening(app)
  const runner = actionRun(folderOf('upload'), [])
  writeFileSync(join(runner.workspace, 'index.html'), '<title>Published by the action</title>')
  const { code, outputs } = await runner.run({
    'api-url': server.url.origin,
    'api-key': createOperatorKey(app.ctx, { name: 'ci', repository: null }),
    files: '**',
    'commit-sha': 'a'.repeat(40),
    alias: 'production',
  })
  expect([code, outputs['published'], outputs['file-count']]).toEqual([0, 'true', '1'])
  runner.remove()
  await server.stop(true)
  app.close()
}, 60_000)
