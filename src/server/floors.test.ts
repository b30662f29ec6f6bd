import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'

/** Draws the imports of all files, types included: every arrow between rooms points down. docs/architecture.md has the picture. */
const ROOT = join(import.meta.dir, '../..')

/** From the top. A room may import those on the floors below it, and itself. */
const FLOORS: readonly (readonly string[])[] = [
  ['src/main.ts'],
  ['src/cli'],
  ['src/server'],
  ['ui/samples'],
  ['ui'],
  ['ui/<area>'],
  ['ui/frame'],
  ['ui/components', 'ui/auth-dialog'],
  ['ui/assets'],
  ['ui/islands'],
  ['src/rules', 'src/site'],
  ['src/pipelines'],
  ['src/modules'],
  ['src/pipelines/language'],
  ['src/http'],
  ['src/context.ts'],
  ['src/db'],
  ['migrations', 'docs'],
  ['src/platform'],
  ['src/config'],
  ['src/domain', 'src/release-info.ts'],
  ['scripts/actions', 'package.json'],
]
const NAMED = ['ui/samples', 'ui/frame', 'ui/components', 'ui/auth-dialog', 'ui/assets', 'ui/islands']

function roomOf(file: string): string {
  if (file.startsWith('src/pipelines/language/')) return 'src/pipelines/language'
  const [top = '', folder = '', ...below] = file.split('/')
  if (top === 'migrations' || top === 'docs' || file === 'package.json') return top
  if (top === 'scripts') return `${top}/${folder}`
  if (top === 'src') return below.length === 0 ? file : `src/${folder}`
  if (below.length === 0) return 'ui'
  const named = `ui/${folder}`
  return NAMED.includes(named) ? named : 'ui/<area>'
}

/** Tests may start anything from anywhere, and so may what they start from. */
const IS_FOR_TESTS = /\.(test|e2e|child|fixture)\.ts$|(^|\/)testing(\/|\.ts$)|^ui\/e2e\//
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|\brequire\(\s*|^import\s+)['"](\.{1,2}\/[^'"]+)['"]/gm

type Arrow = { from: string; to: string }

const files = [...new Glob('{src,ui,migrations,docs}/**/*.ts').scanSync(ROOT)].filter(
  (file) => !IS_FOR_TESTS.test(file) && !file.endsWith('.d.ts'),
)
const arrows: Arrow[] = files.flatMap((from) =>
  [...readFileSync(join(ROOT, from), 'utf8').matchAll(IMPORT)].map(([, to = '']) => ({
    from,
    to: normalize(join(dirname(from), to)),
  })),
)
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room))

test('every file is in a room of the picture', () => {
  expect(files.length).toBeGreaterThan(500)
  expect(files.filter((file) => floorOf(roomOf(file)) === -1)).toEqual([])
})

test('no import points up, or to another room of the same floor', () => {
  const isWrong = ({ from, to }: Arrow) =>
    roomOf(from) !== roomOf(to) && floorOf(roomOf(from)) >= floorOf(roomOf(to))
  expect(arrows.filter(isWrong).map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('nothing but tests imports what tests start from', () => {
  expect(arrows.filter(({ to }) => IS_FOR_TESTS.test(to))).toEqual([])
})

test('modules see of pipelines what may be said, and nothing that runs', () => {
  const seen = arrows.filter(
    ({ from, to }) => from.startsWith('src/modules/') && to.startsWith('src/pipelines/'),
  )
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter(({ to }) => !to.startsWith('src/pipelines/language/'))).toEqual([])
})
