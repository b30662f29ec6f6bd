import type { Parser, Tree } from '@lezer/common'
import { parser as css } from '@lezer/css'
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { configureNesting, parser as html } from '@lezer/html'
import { parser as javascript } from '@lezer/javascript'
import { parser as json } from '@lezer/json'
import { parser as markdown } from '@lezer/markdown'
import { parser as yaml } from '@lezer/yaml'
import { nextTurn } from '../../src/platform/next-turn.ts'
import type { Language, Piece, PieceKind } from './highlight-language.ts'

/**
 * The complete text, split into pieces. Null if parsing exceeds the limits: contributors write the files, and some
 * texts keep any parser busy for minutes. Parsing yields to other requests between its steps.
 */
export async function piecesOf(language: Language, text: string): Promise<Piece[] | null> {
  if (language === 'markdown' && longestBlock(text) > MAX_BLOCK) return null
  try {
    const tree = await readWithin(PARSERS[language], text)
    return tree === null ? null : cut(text, tree)
  } catch {
    // The library walks trees recursively, and this text is nested too deeply for it.
    return null
  }
}

/** A parser step is short, so these limits hold within a few milliseconds. */
const SLICE_MS = 10
/** CPU time, not wall-clock time: on a busy machine the same file takes longer. */
const MAX_CPU_MS = 400

/** Markdown is parsed block by block, in quadratic time. */
const MAX_BLOCK = 4096

const PARSERS: Readonly<Record<Language, Parser>> = {
  html: html.configure({
    wrap: configureNesting([
      { tag: 'script', parser: javascript },
      { tag: 'style', parser: css },
    ]),
  }),
  css,
  javascript: javascript.configure({ dialect: 'jsx' }),
  typescript: javascript.configure({ dialect: 'ts jsx' }),
  json,
  yaml,
  markdown,
}

async function readWithin(parser: Parser, text: string): Promise<Tree | null> {
  const parse = parser.startParse(text)
  for (let spentMs = 0; spentMs < MAX_CPU_MS; ) {
    const startedAt = performance.now()
    const before = process.cpuUsage()
    while (performance.now() - startedAt < SLICE_MS) {
      const tree = parse.advance()
      if (tree !== null) return tree
    }
    const { user, system } = process.cpuUsage(before)
    spentMs += (user + system) / 1000
    await nextTurn()
  }
  return null
}

/** The length of the longest block between two empty lines. */
const longestBlock = (text: string): number =>
  text.split(/\n[ \t\r]*\n/).reduce((longest, block) => Math.max(longest, block.length), 0)

const KINDS: readonly { tag: (typeof tags)['comment'] | (typeof tags)['comment'][]; class: PieceKind }[] = [
  { tag: [tags.keyword, tags.modifier, tags.self, tags.operatorKeyword], class: 'keyword' },
  { tag: [tags.string, tags.regexp, tags.attributeValue, tags.url, tags.monospace], class: 'string' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.color, tags.attributeName], class: 'value' },
  { tag: [tags.comment, tags.meta, tags.quote], class: 'comment' },
  { tag: [tags.tagName, tags.heading, tags.typeName, tags.className, tags.propertyName], class: 'name' },
]
const highlighter = tagHighlighter(KINDS)

function cut(text: string, tree: Tree): Piece[] {
  const pieces: Piece[] = []
  const add = (from: number, to: number, kind: PieceKind | null) => {
    if (from >= to) return
    const last = pieces.at(-1)
    if (last?.kind === kind) last.text += text.slice(from, to)
    else pieces.push({ text: text.slice(from, to), kind })
  }
  let at = 0
  highlightTree(tree, highlighter, (from, to, classes) => {
    add(at, from, null)
    add(from, to, KINDS.find((one) => classes.split(' ').at(-1) === one.class)?.class ?? null)
    at = to
  })
  add(at, text.length, null)
  return pieces
}
