import { expect, test } from 'bun:test'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inNames, withDocumentsOf, writtenNames } from './documents.ts'
import { OTHER_NAMES } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

const root = join(import.meta.dir, '../..')
const WRITTEN = writtenNames(root)

test.each([
  ['uses: svc/upload@v1', 'uses: egret/put@v1'],
  ['the action `svc/deploy-proxy-rules`', 'the action `egret/rule`'],
  ['npx svc deploy', 'npx heron deploy'],
  ['npm install --save-dev svc', 'npm install --save-dev heron'],
  ['npm i -g svc@1.2.0', 'npm i -g heron@1.2.0'],
  ['`@svc/linux-x64`', '`@kingfisher/linux-x64`'],
  ['docker pull ghcr.io/svc/svc:1.2.0', 'docker pull registry.bittern.example/heron:1.2.0'],
  ['apt install ./svc_1.2.0_amd64.deb', 'apt install ./grebe_1.2.0_amd64.deb'],
  ['https://releases.svc.example/1.2.0/install.sh', 'https://bittern.example/list/1.2.0/install.sh'],
  ...[
    'svc deploy dist',
    'PUT /_svc/uploads',
    'DATA_DIR=/var/lib/svc svc check',
    'src/svc/upload',
    'svc_0123',
  ].map((text): [string, string] => [text, text]),
])('%p becomes %p', (text, expected) => {
  expect(inNames(text, WRITTEN, OTHER_NAMES)).toBe(expected)
  expect(inNames(text, WRITTEN, WRITTEN)).toBe(text)
})

test('a build under the names of the documents is of the project itself', async () => {
  await withDocumentsOf({ root, config: WRITTEN }, async (sources) => expect(sources).toBe(root))
})

test('under others it is of a copy, whose documents have them, and which is removed', async () => {
  let copy = ''
  await withDocumentsOf({ root, config: OTHER_NAMES }, async (sources) => {
    copy = sources
    expect(lstatSync(join(copy, 'node_modules')).isSymbolicLink()).toBe(true)
    const documents = filesBelow(join(copy, 'docs')).filter((path) => path.endsWith('.md'))
    const text = documents.map((path) => readFileSync(join(copy, 'docs', path), 'utf8')).join('')
    expect(text).toContain(`npx ${OTHER_NAMES.npm.package} deploy`)
    expect(text).toContain(`uses: ${OTHER_NAMES.actions.rules}@v1`)
    const { npm, actions, image } = WRITTEN
    for (const name of [`npx ${npm.package} `, `${actions.upload}@`, `${actions.rules}@`, image])
      expect(text).not.toContain(name)
    expect(readFileSync(join(copy, 'src/main.ts'), 'utf8')).toBe(
      readFileSync(join(root, 'src/main.ts'), 'utf8'),
    )
  })
  expect(existsSync(copy)).toBe(false)
})
