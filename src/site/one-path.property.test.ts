import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodePath, normalizeAssetPath } from '../domain/asset-path.ts'
import { plainPath } from '../domain/plain-path.ts'
import { rounds, seedOf } from '../testing/rounds.ts'
import { type Seeded, seedDeployment } from '../testing/seed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

const SPELLINGS_OF_A_FILE = 20
const FILES_OF_A_SITE = 5
const PIECES = [
  ...['()@:+\',;=&!$[]{}|^~*#?"<>` _-.abZ059'],
  ...[
    'é',
    'e\u0301',
    'ü',
    '日',
    '😀',
    '\ufeff',
    '\u212a',
    '%',
    '%41',
    '%2F',
    '%2f',
    '%zz',
    '%FF',
    '/',
    '/',
    '-',
    'x',
  ],
].flatMap((text) => (text.length > 10 ? [...text] : [text]))

const seed = seedOf('one path')
const random = seededRandom(seed)
const below = (count: number): number => Math.floor(random() * count)
const one = <T>(items: readonly T[]): T => items[below(items.length)] as T
const several = (least: number, most: number): string =>
  Array.from({ length: least + below(most - least + 1) }, () => one(PIECES)).join('')

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

/** A name that an upload may have, as it is stored. */
function fileName(): string {
  const found = normalizeAssetPath(several(1, 8), 'sender')
  return found.kind === 'file' && !/(^|\/)\.\.?(\/|$)/.test(found.path) ? found.path : fileName()
}

function distinct(count: number, make: () => string): string[] {
  const found = new Set<string>()
  while (found.size < count) found.add(make())
  return [...found]
}

const triplets = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .map((triplet) => (random() < 0.5 ? triplet : triplet.toUpperCase()))
    .join('')

/** Another spelling of a plain text: each character as it is or in triplets, in one Unicode form or the other. */
function spellingOf(plain: string): string {
  const whole = random() < 0.2 ? plain.normalize('NFD') : plain
  const share = random()
  const spelled = [...whole]
    .map((character) =>
      character === '/' || (isRaw(character) && random() < share) ? character : triplets(character),
    )
    .join('')
  // A `%` as it is may make a triplet of what follows.
  return readAgain(spelled) === plain ? spelled : encodePath(plain)
}

const isRaw = (character: string): boolean => /^[\w.~!$&'()*+,;=:@|[\]%-]$/.test(character)

/** The plain path as the contract has it, read byte by byte: the model that the code is compared with. */
function readAgain(path: string): string {
  let text = ''
  for (let at = 0; at < path.length; ) {
    const [run = ''] = /^(?:%[0-9a-f]{2})+/i.exec(path.slice(at)) ?? []
    text += run === '' ? path.charAt(at) : readRun(Buffer.from(run.replaceAll('%', ''), 'hex'))
    at += run.length || 1
  }
  return text.normalize('NFC')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readRun(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find(
      (some) => at + some <= bytes.length && isText(bytes.subarray(at, at + some)),
    )
    const hex = `%${Buffer.from(bytes.subarray(at, at + 1))
      .toString('hex')
      .toUpperCase()}`
    text += length === undefined || hex === '%2F' ? hex : utf8.decode(bytes.subarray(at, at + length))
    at += length ?? 1
  }
  return text
}

function isText(bytes: Uint8Array): boolean {
  try {
    return [...utf8.decode(bytes)].length === 1
  } catch {
    return false
  }
}

type Rule = { pieces: string[]; written: string }

/** A pattern that may match one of the names: its pieces are parts of one, or random. */
function rule(names: readonly string[]): Rule {
  const path = `/${one(names)}`
  const from = below(path.length)
  const piece = () =>
    (random() < 0.8 ? path.slice(from, from + below(6)) : several(0, 2)).toWellFormed().normalize('NFC')
  const first = random() < 0.5 ? path.slice(0, 1 + below(path.length)).toWellFormed() : '/'
  const pieces = [random() < 0.3 ? '' : first, ...Array.from({ length: below(3) }, piece)].map(plainPiece)
  const whole = pieces[0] === '' && pieces.length === 1 ? ['', ''] : pieces
  return { pieces: whole, written: whole.map(writtenPiece).join('*') }
}

/** Half a surrogate is nothing that somebody can write. */
const plainPiece = (piece: string): string => piece.replaceAll('\ufffd', '').normalize('NFC')

/** As people write patterns: a star, `?` and `#` in triplets, the rest as it is or not. */
function writtenPiece(piece: string): string {
  const written = [...piece]
    .map((character) =>
      /[*?#%]/.test(character) || (character !== '/' && random() < 0.3) ? triplets(character) : character,
    )
    .join('')
  return readAgain(written) === piece ? written : encodePath(piece).replaceAll('*', '%2A')
}

/** The model of a pattern: a regular expression over the plain path. */
const matches = ({ pieces }: Rule, plain: string): boolean =>
  new RegExp(`^${pieces.map((piece) => RegExp.escape(piece)).join('.*')}$`, 'su').test(plain)

function writeRules(site: Seeded, rules: readonly Rule[]): void {
  const { sqlite } = app.ctx.db
  sqlite.run('DELETE FROM proxy_rules')
  for (const [order, { written }] of rules.entries())
    sqlite.run(
      `INSERT INTO proxy_rules (id, project_id, path_pattern, proxy_type, target_url, strip_prefix, rule_order, timeout_ms,
         preserve_host, forward_cookies, is_enabled, debug_enabled, created_at, updated_at)
       VALUES (?, ?, ?, 'internal_rewrite', ?, 1, ?, 30000, 0, 0, 1, 0, 0, 0)`,
      [app.ctx.newId(), site.projectId, written, `/rule-${order}.txt`, order],
    )
  app.ctx.db.writes += 1
}

/** 2000 cases, or 10,000. */
const SITES = rounds(20, 10_000 / (FILES_OF_A_SITE * SPELLINGS_OF_A_FILE))

test(`a spelling reaches a file if and only if the plain spelling does, past the same rules (seed ${seed})`, async () => {
  for (let round = 0; round < SITES; round++) await checkSite(round)
})

async function checkSite(round: number): Promise<void> {
  const names = distinct(FILES_OF_A_SITE, fileName)
  const rules = Array.from({ length: below(4) }, () => rule(names))
  const site = await seedDeployment(app, {
    owner: 'acme',
    repo: `site${round}`,
    sha: round.toString(16).padStart(40, 'a'),
    alias: 'production',
    files: {
      ...Object.fromEntries(rules.map((_, order) => [`rule-${order}.txt`, `rule ${order}`])),
      ...Object.fromEntries(names.map((name) => [name, `file ${name}`])),
    },
  })
  writeRules(site, rules)
  const answerTo = async (path: string) => {
    const answer = await app.call('GET', path, { host: site.aliasHost ?? '' })
    return `${answer.status} ${answer.status === 200 ? await answer.text() : ''}`
  }
  for (const name of names)
    for (let turn = 0; turn < SPELLINGS_OF_A_FILE; turn++) {
      // Some are one triplet away, and so another path or the same.
      const path = mutated(spellingOf(`/${name}`))
      const plain = readAgain(path)
      expect([path, plainPath(path)]).toEqual([path, plain])
      const taken = rules.findIndex((each) => matches(each, plain))
      const expected =
        taken >= 0
          ? `200 rule ${taken}`
          : names.includes(plain.slice(1))
            ? `200 file ${plain.slice(1)}`
            : null
      const context = JSON.stringify({ path, plain, names, rules: rules.map(({ written }) => written) })
      const got = await answerTo(path)
      // Without a file there may be a clean address or 404; what counts is that the plain spelling has the same.
      expect([context, got]).toEqual([context, expected ?? (await answerTo(`${encodeAgain(plain)}`))])
    }
}

/** The plain spelling of a plain path: `%2F` and broken bytes have no other, unless they would be one character together. */
function encodeAgain(plain: string): string {
  const kept = plain.replace(/%2F|%[89A-F][0-9A-F]|[^/]/gu, (part) =>
    part.length > 2 ? part : encodeURIComponent(part),
  )
  return readAgain(kept) === plain ? kept : plain.replace(/[^/]/gu, encodeURIComponent)
}

function mutated(path: string): string {
  if (random() < 0.7) return path
  const at = 1 + below(path.length)
  const change = one(['%25', '%2F', '%ff', '%', '%41', ''])
  return noDots(`${path.slice(0, at)}${change}${path.slice(change === '' ? at + 1 : at)}`, path)
}

/** The runtime resolves dots before svc sees the path. */
const noDots = (path: string, otherwise: string): string =>
  /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || path.startsWith('//') ? otherwise : path
